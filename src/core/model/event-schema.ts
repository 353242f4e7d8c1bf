import * as z from "zod";
import { Envelope } from "./envelope.ts";

/**
 * What our adapters add under `extensions`: facts that OpenHook v0.1 has no field for. All optional, all metadata: ids,
 * names, sizes, counts, codes. Never a prompt, an argument or an output.
 */
export const Extras = z.object({
  /** The event's native name, e.g. `PostToolUseFailure`. */
  native_event: z.string().optional(),
  /** The agent's id of the user prompt this belongs to; joins hooks with transcripts. */
  prompt_id: z.string().optional(),
  /** Who wrote the prompt: a human, or the agent itself. @default human */
  prompt_origin: z.enum(["human", "machine"]).optional(),
  /** Set for events inside a subagent; absent for the main agent. */
  agent_id: z.string().optional(),
  agent_type: z.string().optional(),
  agent_version: z.string().optional(),
  transcript_path: z.string().optional(),
  /** How the session began: `startup`, `resume`, `fork`, `clear`, `compact` …, as the agent names it. */
  start_origin: z.string().optional(),
  /** Set when the session continues an earlier one, or a copy of one. */
  continues: z.enum(["same-session", "fork", "compaction"]).optional(),
  native_reason: z.string().optional(),
  session_id_origin: z.string().optional(),
  permission_mode: z.string().optional(),
  mcp_server: z.string().optional(),
  /** The tool call was refused before it ran: by a rule, a hook or the user. */
  denied: z.boolean().optional(),
  status_origin: z.enum(["native", "assumed"]).optional(),
  exit_code: z.number().int().optional(),
  error_type: z.string().optional(),
  /** Tool calls whose end only this batch reports. */
  tool_call_ids: z.array(z.string()).optional(),
  lines_added: z.number().int().nonnegative().optional(),
  lines_removed: z.number().int().nonnegative().optional(),
  /** How many commits the call certainly made in its folder. Absent: unknown. */
  made_commits: z.number().int().positive().optional(),
  /** Of a `file.write` that we made: the event of the call's end. */
  tool_event: z.string().optional(),
  /** The subagent that this tool call started. */
  spawned_agent_id: z.string().optional(),
  /** The program of a shell command, without path or arguments; only if it is certain. */
  executable: z.string().optional(),
  /** A program's subcommand, e.g. `pr create`; never an argument. */
  subcommand: z.string().optional(),
  /** The skill that a tool call loads, as the agent names it. */
  skill: z.string().optional(),
  trigger: z.string().optional(),
  /** Digest of a tool call's input: pairs start and end if the agent sends no call id. Absent for empty input. */
  input_digest: z.string().optional(),
  /** The provider's call id, if several calls can share it: start, end and transcript are matched by it, but it identifies no call. */
  given_id: z.string().optional(),
  /**
   * For a start without a call id: the agent writes the call into its transcript first, so a start without an end is
   * not another call.
   */
  in_transcript: z.literal(true).optional(),
  /** For an end: the agent may report it after the call's end, together with others. The transcript's time is the end's. */
  reported_late: z.literal(true).optional(),
  /** Of a subagent's end without an id: a `turn.end` right before it is the subagent's. */
  follows_stop: z.boolean().optional(),
  /** The session that this one is a subagent of; its events belong there. */
  parent_session_id: z.string().optional(),
  http_status: z.number().int().optional(),
  /** Tasks that continue in the background after the turn's end. */
  background_count: z.number().int().nonnegative().optional(),
  /** The agent's process, if the intake could determine it; distinguishes two runs of one session. */
  process: z.string().optional(),
  /** Bytes of the native payload, and whether the intake cut it. */
  payload_bytes: z.number().int().nonnegative().optional(),
  truncated: z.boolean().optional(),
});
export type Extras = z.infer<typeof Extras>;

/** Same shape as an envelope, for what OpenHook v0.1 has no type for. Signals are never shown as envelopes. */
export const SignalEvent = z.object({
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
export type SignalEvent = z.infer<typeof SignalEvent>;

/** One event from an agent: an OpenHook envelope or a signal. */
export const Event = z.union([Envelope, SignalEvent]);
export type Event = z.infer<typeof Event>;
export type EventType = Event["type"];
/** Types that agents report in payloads of their own; writes of files are derived from tool calls. */
export type NativeEventType = Exclude<EventType, "file.write">;
