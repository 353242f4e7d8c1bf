// https://kiro.dev/docs/cli/hooks/, /docs/cli/v3/hooks/ and public captures, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { Event, EventType, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asExitCode, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { outcomeOf, type ToolOutcome } from "../shared/payload/outcome.ts";
import { eventOf, sessionOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "kiro";

/** Replaces the event on command lines in agent files: v3 runs those in addition to its own hook files. */
export const FROM_AGENT_FILE = "agent";

export const EMITS = [
  "session.start",
  "prompt.submit",
  "tool.start",
  "tool.end",
  "session.end",
  "turn.end",
] as const satisfies readonly EventType[];

/** Certain by an event name that only Kiro has, a v3 session id, or Kiro's variable. Likely by names of its tools. */
export function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined || FOREIGN.some((name) => p[name] !== undefined)) return "no";
  const native = asString(p["hook_event_name"]);
  const named = intake.source === SOURCE;
  if (native === undefined) {
    return named && (intake.event === FROM_AGENT_FILE || typeOf(intake.event) !== undefined) ? "possible" : "no";
  }
  if (typeOf(native) === undefined) return named ? "possible" : "no";
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

/** One payload of any of the four hook systems → its event. No payload has a call id, a duration or a time. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["hook_event_name"]) ?? intake.event;
  const type = typeOf(native);
  if (p === undefined || native === undefined || type === undefined) return [];
  const reportedId = asString(p["session_id"]);
  const isV3 = V3_SESSION.test(reportedId ?? "") || /^[A-Z]/.test(native);
  // In v3, our separate hook file reports the same event
  if (isV3 && intake.event === FROM_AGENT_FILE) return [];

  const cwd = asString(p["cwd"]);
  const name = asString(p["tool_name"]) ?? asString(p["toolName"]);
  const input = parsedJson(p["tool_input"] ?? p["toolArgs"]);
  const isTool = type === "tool.start" || type === "tool.end";
  const ended = type === "tool.end" ? endOf(p) : undefined;
  const prompt = type === "prompt.submit" ? asString(p["prompt"]) : undefined;
  return [
    eventOf(
      {
        source: SOURCE,
        type,
        native,
        session: sessionOf(SOURCE, intake, { payload: reportedId, environment: intake.env["KIRO_SESSION_ID"], cwd }),
        cwd,
        key: startKey(type, intake) ?? arrivalKey(intake),
        // v3 can send an empty text for any prompt, so an empty text has no length
        promptLength: prompt?.length,
        reason: type === "session.end" ? "completed" : undefined,
        tool: { name, status: ended?.status },
        extras: defined<Extras>({
          agent_version: asString(intake.env["KIRO_VERSION"]),
          input_digest: isTool ? inputDigest(input) : undefined,
          mcp_server: isTool ? /^@([^/]+)\//.exec(name ?? "")?.[1] : undefined,
          executable: isTool ? executableOf(asObject(input)?.["command"]) : undefined,
          exit_code: ended?.exitCode,
          status_origin: ended?.origin,
          native_reason: type === "session.end" ? asCode(p["reason"]) : undefined,
        }),
      },
      intake,
    ),
  ];
}

// --- internal ---

/** Fields of other agents' payloads. */
const FOREIGN = ["cursor_version", "conversation_id", "openhook", "sessionId", "hookEventName"];

const V3_SESSION = /^sess_[0-9a-f]{8}-[0-9a-f-]{27}$/i;

const OWN_TOOL = /^(?:fs_read|fs_write|execute_bash|execute_command|execute_pwsh|use_aws|@[^/]+\/.+)$/;

/** Camel case in CLI 2.x, capitals in v3 and IDE 1.x, separate names in IDE 0.x. */
function typeOf(native: string | undefined): (typeof EMITS)[number] | undefined {
  switch (native?.toLowerCase()) {
    case "agentspawn":
    case "sessionstart":
      return "session.start";
    case "sessionend":
      return "session.end";
    case "userpromptsubmit":
    case "promptsubmit":
      return "prompt.submit";
    case "pretooluse":
      return "tool.start";
    case "posttooluse":
      return "tool.end";
    case "stop":
    case "agentstop":
      return "turn.end";
    default:
      return undefined;
  }
}

/**
 * One start per process counts: it is sent again when the user chooses another agent, and by IDE 1.0.52 before every prompt.
 */
const startKey = (type: EventType, { parentPid, parentStart }: IntakeFacts): string | undefined =>
  type !== "session.start" || parentPid === undefined ? undefined : `${parentPid}:${parentStart ?? ""}`;

/** IDE 0.x has a flag, the CLI an object or a list of typed parts, IDE 1.x the text that the model receives. */
function endOf(p: Readonly<Record<string, unknown>>): ToolOutcome {
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
