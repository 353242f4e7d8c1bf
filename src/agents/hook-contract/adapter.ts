// The contracts' fields: README.md beside this file. Only payloads like Claude Code's fit a table: those of both contracts do not name
// their event, and one form can be the start or the end of a call.

import { basename } from "node:path/posix";
import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { adapterOf } from "../shared/payload/adapter-of.ts";
import { CLAUDE_EVENTS, CLAUDE_LIKE, FAMILY_FIELDS, FAMILY_NOT_NEEDED } from "../shared/payload/claude-like.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { arrivalKey } from "../shared/payload/identity.ts";
import { asObject, asString, type Fields } from "../shared/payload/json.ts";
import {
  absolutePath,
  eventOf,
  type PayloadEvent,
  type PayloadSession,
  sessionOf,
} from "../shared/payload/payload-event.ts";

const SOURCE = "hook-contract";

/** Payloads like Claude Code's contain their event and session. */
const claudeLike = adapterOf({
  ...CLAUDE_LIKE,
  source: SOURCE,
  recognises,
  events: CLAUDE_EVENTS,
  notNeeded: `BeforeTool AfterTool BeforeShellExecution AfterFileEdit ${FAMILY_NOT_NEEDED}`,
  fields: `agent task result transcript tool_outputs ${FAMILY_FIELDS}`,
  nameIn: ["hook_event_name"],
});

/** Names of both contracts in both spellings; a subagent is reported as a call of the tool `agent:<name>`. */
const EVENTS = {
  BeforeSubmitPrompt: "prompt.submit",
  UserPromptSubmit: "prompt.submit",
  SessionStart: "session.start",
  SessionEnd: "session.end",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  SubagentStart: "tool.start",
  SubagentStop: "tool.end",
  Stop: "turn.end",
  PreCompact: "compaction",
} as const satisfies Readonly<Record<string, NativeEventType>>;

export const adapter = {
  ...claudeLike,
  emits: [...new Set([...Object.values(EVENTS), ...claudeLike.emits])],
  known: {
    ...claudeLike.known,
    events: [...new Set([...Object.keys(EVENTS), ...claudeLike.known.events])],
  },
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
    const p = asObject(payload);
    if (p === undefined) return [];
    if (asString(p["hook_event_name"]) !== undefined) return claudeLike.toEvents(payload, intake);
    const event = envelopeOf(p, intake) ?? lifecycleOf(p, intake);
    return event === undefined ? [] : [eventOf(event, intake)];
  },
};

/** Content of either contract's payload; a subagent's task and result belong to its call. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const input = asObject(p["tool_input"]);
  return contentOfEvents(events, {
    prompt: p["prompt"] ?? input?.["prompt"],
    arguments: p["tool_input"] ?? (p["task"] === undefined ? undefined : { task: p["task"] }),
    result: p["tool_response"] ?? p["tool_output"] ?? p["result"] ?? p["error"],
    answer: p["last_assistant_message"],
  });
}

// --- internal ---

/** These payloads do not name their agent. The command line does; without it, the exact set of fields decides. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || FOREIGN.some((name) => p[name] !== undefined)) return "no";
  if (p["hook_event_name"] === undefined && shapeOf(p) !== undefined) return "likely";
  return intake.source === SOURCE ? "possible" : "no";
}

/** The type of a name in any spelling. */
const typeOf = (name: string): NativeEventType | undefined => TYPES.get(name.toLowerCase());

const TYPES: ReadonlyMap<string, NativeEventType> = new Map(
  Object.entries(EVENTS).map(([name, type]) => [name.toLowerCase(), type]),
);

/** Fields of payloads that name their own agent. */
const FOREIGN = ["cursor_version", "openhook", "clineVersion", "agent_action_name", "sessionId"];

/** The contract with exactly these fields. */
function shapeOf(p: Fields): "envelope" | "lifecycle" | undefined {
  const names = Object.keys(p).sort().join(" ");
  const holds = (name: string): boolean => typeof p[name] === "string";
  if (names === "tool_input tool_name") return holds("tool_name") && asObject(p["tool_input"]) ? "envelope" : undefined;
  const isLifecycle =
    (names === "prompt" && holds("prompt")) ||
    (names === "agent task" && holds("agent") && holds("task")) ||
    (names === "agent result" && holds("agent") && holds("result")) ||
    (names === "tool_outputs transcript" && holds("transcript") && Array.isArray(p["tool_outputs"]));
  return isLifecycle ? "lifecycle" : undefined;
}

/** `{"tool_name", "tool_input"}` for every event: lifecycle events are tool names, and a tool event can be a start or an end. */
function envelopeOf(p: Fields, intake: IntakeFacts): PayloadEvent | undefined {
  const name = asString(p["tool_name"]);
  if (name === undefined) return undefined;
  const input = asObject(p["tool_input"]) ?? {};
  const transcriptPath = absolutePath(input["transcript_path"], intake);
  const cwd = asString(input["cwd"]);
  const lifecycle = LIFECYCLE.has(name.toLowerCase()) ? typeOf(name) : undefined;
  if (lifecycle !== undefined) {
    return {
      ...common(name, intake),
      type: lifecycle,
      session: ownSession(input, transcriptPath) ?? sessionOf(SOURCE, intake, {}),
      cwd,
      promptLength: lengthOf(input["prompt"]),
      extras: defined<Extras>({ transcript_path: transcriptPath }),
    };
  }
  const phase = intake.event === undefined ? undefined : typeOf(intake.event);
  const tool = {
    ...common(intake.event ?? "unknown", intake),
    session: sessionOf(SOURCE, intake, { payload: input["session_id"] }),
  };
  const extras = defined<Extras>({ executable: executableOf(input["command"]) });
  if (phase !== "tool.start" && phase !== "tool.end") {
    // It is unknown whether this is a start or an end: report an end that is never paired
    return { ...tool, type: "tool.end", tool: { name }, extras: { ...extras, input_digest: UNPAIRED } };
  }
  const digest = defined<Extras>({ input_digest: inputDigest(p["tool_input"]) });
  return phase === "tool.start"
    ? { ...tool, type: phase, tool: { name }, extras: { ...extras, ...digest } }
    : {
        ...tool,
        type: phase,
        tool: { name, status: "success" },
        extras: { ...extras, ...digest, status_origin: "assumed" },
      };
}

const LIFECYCLE = new Set(
  ["SessionStart", "SessionEnd", "BeforeSubmitPrompt", "UserPromptSubmit", "Stop", "PreCompact"].map((name) =>
    name.toLowerCase(),
  ),
);

/** No input has this digest, so such an end is never paired. */
const UNPAIRED = "unpaired";

/** Fields without an event name. The name is on the command line; otherwise the fields decide, and an empty object has no event. */
function lifecycleOf(p: Fields, intake: IntakeFacts): PayloadEvent | undefined {
  const native = intake.event ?? nameByFields(p);
  const type = native === undefined ? undefined : typeOf(native);
  if (native === undefined || type === undefined) return undefined;
  const base = { ...common(native, intake), session: sessionOf(SOURCE, intake, { payload: p["session_id"] }) };
  const agent = asString(p["agent"]);
  const name = agent === undefined ? undefined : `agent:${agent}`;
  switch (type) {
    case "tool.start":
      return { ...base, type, tool: { name } };
    case "tool.end":
      return { ...base, type, tool: { name, status: "success" }, extras: { status_origin: "assumed" } };
    case "turn.end":
      // `transcript` is a path, or the whole text, which is dropped
      return { ...base, type, extras: defined<Extras>({ transcript_path: absolutePath(p["transcript"], intake) }) };
    default:
      return { ...base, type, promptLength: lengthOf(p["prompt"]) };
  }
}

function nameByFields(p: Fields): string | undefined {
  if (shapeOf(p) !== "lifecycle") return undefined;
  if ("prompt" in p) return "UserPromptSubmit";
  if ("transcript" in p) return "Stop";
  return "task" in p ? "SubagentStart" : "SubagentStop";
}

const common = (native: string, intake: IntakeFacts) => ({ source: SOURCE, native, key: arrivalKey(intake) });

const lengthOf = (prompt: unknown): number | undefined => asString(prompt)?.length;

/** The session in the payload, otherwise the name of its transcript. */
function ownSession(input: Fields, transcriptPath: string | undefined): PayloadSession | undefined {
  const id = asString(input["session_id"]);
  if (id !== undefined) return { id };
  const stem = transcriptPath === undefined ? undefined : basename(transcriptPath.replaceAll("\\", "/"), ".jsonl");
  return stem === undefined || stem === "" ? undefined : { id: stem, origin: "transcript" };
}
