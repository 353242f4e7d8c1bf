import * as z from "zod";
import { Envelope } from "./envelope.ts";

/**
 * What our adapters put under `extensions`: facts that OpenHook v0.1 has no field for. All optional, all metadata:
 * ids, names, sizes, counts, codes. Never a prompt, an argument or an output.
 */
export const Extras = z.object({
  /** The event's name as the agent gave it, e.g. `PostToolUseFailure`. */
  native_event: z.string().optional(),
  /** The agent's id of the user prompt this belongs to; joins hooks with transcripts. */
  prompt_id: z.string().optional(),
  /** Who wrote the prompt: a human, or the agent's own machinery. @default human */
  prompt_origin: z.enum(["human", "machine"]).optional(),
  /** Set when the event happened inside a subagent; absent means the main thread. */
  agent_id: z.string().optional(),
  agent_type: z.string().optional(),
  agent_version: z.string().optional(),
  transcript_path: z.string().optional(),
  /** How the session came to be: `startup`, `resume`, `fork`, `clear`, `compact` … as the agent says. */
  start_origin: z.string().optional(),
  /** True where the agent goes on with a session that has history of its own or of another. */
  continues: z.enum(["same-session", "fork", "compaction"]).optional(),
  native_reason: z.string().optional(),
  session_id_origin: z.string().optional(),
  permission_mode: z.string().optional(),
  mcp_server: z.string().optional(),
  /** A tool call that was refused before it ran: by a rule, a hook or the user. */
  denied: z.boolean().optional(),
  status_origin: z.enum(["native", "assumed"]).optional(),
  exit_code: z.number().int().optional(),
  error_type: z.string().optional(),
  /** Tool calls of one batch whose end only the batch tells. */
  tool_call_ids: z.array(z.string()).optional(),
  lines_added: z.number().int().nonnegative().optional(),
  lines_removed: z.number().int().nonnegative().optional(),
  /** The subagent that this tool call started. */
  spawned_agent_id: z.string().optional(),
  /** The program of a shell command, without path or arguments; only where one is known for sure. */
  executable: z.string().optional(),
  /** The words that say which of a program's commands it was, e.g. `pr create`; never an argument. */
  subcommand: z.string().optional(),
  trigger: z.string().optional(),
  /** Digest of a tool call's input: pairs start and end where the agent gives no call id. Absent for an empty input. */
  input_digest: z.string().optional(),
  /** The call's id once more, where other calls can have the same: start, end and transcript find each other by it, nothing goes by it. */
  given_id: z.string().optional(),
  /** The session that this one is a subagent of: what it tells belongs there. */
  parent_session_id: z.string().optional(),
  http_status: z.number().int().optional(),
  /** Work that goes on in the background after the turn's end. */
  background_count: z.number().int().nonnegative().optional(),
  /** The agent's own process, as far as the intake could see it; tells two runs of one session apart. */
  process: z.string().optional(),
  /** Bytes of the native payload, and whether the intake had to cut it. */
  payload_bytes: z.number().int().nonnegative().optional(),
  truncated: z.boolean().optional(),
});
export type Extras = z.infer<typeof Extras>;

/** The shape of an envelope, for what OpenHook v0.1 has no type for. Signals are never shown as envelopes. */
export const Signal = z.object({
  id: z.string().min(1),
  source: z.string().min(1),
  type: z.enum([
    "turn.end",
    "turn.error",
    "subagent.start",
    "subagent.end",
    "model.start",
    "model.end",
    "tool.batch",
    "compaction",
    "permission",
    "notice",
  ]),
  time: z.iso.datetime({ offset: true }),
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  extensions: Extras.optional(),
});
export type Signal = z.infer<typeof Signal>;

/** One thing an agent told us: an OpenHook envelope or a signal. */
export const Event = z.union([Envelope, Signal]);
export type Event = z.infer<typeof Event>;
export type EventType = Event["type"];
