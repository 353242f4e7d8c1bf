// https://kiro.dev/docs/cli/hooks/, /docs/cli/v3/hooks/ and public captures, read 2026-11-21

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { NativeEventType } from "#core/model/event-schema.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { executableOf } from "../shared/names/executables.ts";
import { adapterOf, type EventRow, type EventTable, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asExitCode, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { outcomeOf, type ToolOutcome } from "../shared/payload/outcome.ts";
import { writeOfContent } from "../shared/payload/patches.ts";

export const SOURCE = "kiro";

/** Replaces the event on command lines in agent files: v3 runs those in addition to its own hook files. */
export const FROM_AGENT_FILE = "agent";

const START = row("session.start", startOf);
const PROMPT = row("prompt.submit", (p) => ({
  // v3 can send an empty text for any prompt, so an empty text has no length
  promptLength: asString(p["prompt"])?.length,
}));
const TURN_END = row("turn.end");

/** Camel case in CLI 2.x, whose names are the registered ones; capitals in v3 and IDE 1.x, separate names in IDE 0.x. */
const EVENTS = {
  agentSpawn: START,
  sessionStart: { ...START, hook: "none" },
  sessionEnd: {
    ...row("session.end", (p) => ({ reason: "completed", extras: { native_reason: asCode(p["reason"]) } })),
    hook: "none",
  },
  userPromptSubmit: PROMPT,
  promptSubmit: { ...PROMPT, hook: "none" },
  preToolUse: row("tool.start", callOf),
  postToolUse: row("tool.end", callEnd),
  stop: TURN_END,
  agentStop: { ...TURN_END, hook: "none" },
} as const satisfies EventTable;

/** For payloads of all four hook systems. None of them has a call id, a duration or a time. */
const table = adapterOf({
  source: SOURCE,
  recognises,
  events: EVENTS,
  inAnyCase: true,
  notNeeded: "preTaskExecution postTaskExecution fileCreated fileEdited fileDeleted userTriggered",
  fields: `hook_event_name cwd session_id prompt tool_name tool_input tool_response tool_use_id toolName toolArgs toolResult
    toolSuccess assistant_response permission_mode transcript_path reason source`,
  sessionVariable: "KIRO_SESSION_ID",
  extrasOf: (_, { env }) => ({ agent_version: asString(env["KIRO_VERSION"]) }),
});

export const adapter = {
  ...table,
  // On a command line, where it is not an event
  known: { ...table.known, events: [...table.known.events, FROM_AGENT_FILE] },
};

/**
 * Files that Kiro's tools changed: the CLI's `fs_write` from its arguments, the editor's tools from the text of their result, because
 * their arguments are missing there.
 */
export function toFileWrites(payload: unknown, { events: [event] }: PayloadFacts): readonly FileWrite[] {
  if (event?.type !== "tool.end" || !EDITORS.has(event.data?.tool_name ?? "")) return [];
  const p = asObject(payload);
  const input = asObject(p?.["tool_input"]) ?? asObject(p?.["toolArgs"]);
  const path = asString(input?.["path"]) ?? asString(input?.["targetFile"]);
  if (path === undefined) return writeIn(asString(p?.["tool_response"]) ?? "");
  const command = asString(input?.["command"]);
  if (command === "create") return [writeOfContent({ path }, asString(input?.["file_text"]) ?? "", false)];
  const isPart = command !== undefined || input?.["oldStr"] !== undefined;
  return [{ path, ...(isPart && { operation: "update" as const }) }];
}

// --- internal ---

/** Certain by an event name that only Kiro has, a v3 session id, or Kiro's variable. Likely by names of its tools. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || FOREIGN.some((name) => p[name] !== undefined)) return "no";
  const native = asString(p["hook_event_name"]);
  const named = intake.source === SOURCE;
  if (native === undefined) {
    return named && (intake.event === FROM_AGENT_FILE || isKnown(intake.event)) ? "possible" : "no";
  }
  if (!isKnown(native)) return named ? "possible" : "no";
  if (asString(p["transcript_path"]) !== undefined) return "possible";
  if (native.toLowerCase() === "agentspawn") return "certain";
  const sessionId = asString(p["session_id"]);
  const inherited = asString(intake.env["KIRO_SESSION_ID"]);
  if (sessionId !== undefined && (sessionId === inherited || V3_SESSION.test(sessionId))) return "certain";
  if (sessionId === undefined && inherited !== undefined) return "certain";
  // No other agent uses these names in a snake_case payload
  const isOwnTool = OWN_TOOL.test(asString(p["tool_name"]) ?? "");
  const isOwnResult = typeof asObject(p["tool_response"])?.["success"] === "boolean" && /^[a-z]/.test(native);
  return (isOwnTool || isOwnResult) && p["permission_mode"] === undefined ? "likely" : "possible";
}

/** Fields of other agents' payloads. */
const FOREIGN = ["cursor_version", "conversation_id", "openhook", "sessionId", "hookEventName"];

const V3_SESSION = /^sess_[0-9a-f]{8}-[0-9a-f-]{27}$/i;

const OWN_TOOL = /^(?:fs_read|fs_write|execute_bash|execute_command|execute_pwsh|use_aws|@[^/]+\/.+)$/;

/** Whether a name is one of the table, in any case. */
const isKnown = (native: string | undefined): boolean =>
  Object.keys(EVENTS).some((name) => name.toLowerCase() === native?.toLowerCase());

/** In v3, our separate hook file reports the same event as an agent file. */
const isRepeated = (p: Payload, intake: IntakeFacts): boolean =>
  intake.event === FROM_AGENT_FILE &&
  (V3_SESSION.test(asString(p["session_id"]) ?? "") || /^[A-Z]/.test(asString(p["hook_event_name"]) ?? ""));

/** A row for payloads that a second hook of ours may repeat. */
function row(type: NativeEventType, read: (p: Payload, intake: IntakeFacts) => Members = () => ({})): EventRow {
  return { type, or: ["nothing"], read: (p, intake) => (isRepeated(p, intake) ? undefined : read(p, intake)) };
}

/**
 * One start per process counts: it is sent again when the user chooses another agent, and by IDE 1.0.52 before every prompt.
 */
function startOf(_: Payload, { parentPid, parentStart }: IntakeFacts): Members {
  return { key: parentPid === undefined ? undefined : `${parentPid}:${parentStart ?? ""}` };
}

function callOf(p: Payload) {
  const name = asString(p["tool_name"]) ?? asString(p["toolName"]);
  const input = parsedJson(p["tool_input"] ?? p["toolArgs"]);
  return {
    tool: { name },
    extras: {
      input_digest: inputDigest(input),
      mcp_server: /^@([^/]+)\//.exec(name ?? "")?.[1],
      executable: executableOf(asObject(input)?.["command"]),
    },
  };
}

function callEnd(p: Payload): Members {
  const { tool, extras } = callOf(p);
  const { status, exitCode, origin } = endOf(p);
  return { tool: { ...tool, status }, extras: { ...extras, exit_code: exitCode, status_origin: origin } };
}

/** IDE 0.x has a flag, the CLI an object or a list of typed parts, IDE 1.x the text that the model receives. */
function endOf(p: Payload): ToolOutcome {
  if (typeof p["toolSuccess"] === "boolean") {
    return { status: p["toolSuccess"] ? "success" : "error", origin: "native" };
  }
  const response = p["tool_response"] ?? p["toolResult"];
  const tail = typeof response === "string" ? /(?:^|\n)Exit Code: (-?\d{1,10})\s*$/.exec(response.slice(-200)) : null;
  if (tail?.[1] === undefined) return outcomeOf(partsOf(response) ?? response);
  const exitCode = Number(tail[1]);
  return { status: exitCode === 0 ? "success" : "error", exitCode, origin: "native" };
}

/** `{items: [{Json: …} | {Text: …}]}` in the CLI's TUI, from its source; a shell's exit status is a text. */
function partsOf(response: unknown): readonly unknown[] | undefined {
  const items = asObject(response)?.["items"];
  if (!Array.isArray(items)) return undefined;
  return items.map((item) => {
    const part = asObject(asObject(item)?.["Json"]);
    const words = asString(part?.["exit_status"]);
    if (words === undefined || asExitCode(words) !== undefined) return part;
    const code = /^exit (?:status|code): (-?\d{1,10})$/.exec(words)?.[1];
    // A signal, or a code in Windows' notation: never 0
    return code === undefined ? { ...part, is_error: true } : { ...part, exit_status: code };
  });
}

const EDITORS: ReadonlySet<string> = new Set(["fs_write", "write", "str_replace", "fs_append"]);

function writeIn(text: string): readonly FileWrite[] {
  const [, created] = /^Created the (.+) file\.$/.exec(text) ?? [];
  const [, replaced] = /^Replaced text in (.+)$/.exec(text) ?? [];
  if (created !== undefined) return [{ path: created, operation: "create" }];
  return replaced === undefined ? [] : [{ path: replaced, operation: "update" }];
}
