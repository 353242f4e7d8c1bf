import { defined } from "../../model/defined.ts";
import type { EntryOf } from "../../model/transcript.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asCount, asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { PLAN_MARK } from "./adapter.ts";
import { assistantMessage, sums, usageRecord } from "./call-lines.ts";
import { at, type Fields, type Here, type LineResult, type LineState, nothing, one } from "./line-context.ts";
import { typeBefore } from "./line-type.ts";
import { endOpenCalls, permission, subagent, toolResult, toolUse, userCall } from "./tool-lines.ts";

/**
 * One line of a session file → its entries.
 *
 * @returns `undefined` if the line is no JSON object; no entries for kinds of lines without facts
 */
export function readLine(line: Buffer, state: LineState): (LineResult & { readonly kind: unknown }) | undefined {
  const type = typeBefore(line);
  if (type !== undefined && !READERS.has(type) && !line.includes(BEGINNING, 1)) {
    return { entries: [], state, kind: type };
  }
  const o = parsedObject(line);
  if (o === undefined) return undefined;
  const data = asObject(o["data"]) ?? {};
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const here: Here = {
    data,
    // Old lines may have no id: time and length are the same at every read
    id: asString(o["id"]) ?? `${timeMs}:${line.length}`,
    timeMs,
    state: { ...state, timeMs },
    agentId: asString(o["agentId"]) ?? asString(data["parentToolCallId"]),
  };
  const kind = o["type"];
  const reader = READERS.get(String(kind));
  return { ...(reader === undefined ? { entries: [], state } : reader(here)), kind };
}

// --- internal ---

/** Of a record; a second one in the line is read, too. */
const BEGINNING = '{"type":"';

const READERS: ReadonlyMap<string, (here: Here) => LineResult> = new Map([
  ["session.start", sessionFacts],
  ["session.resume", sessionFacts],
  ["session.context_changed", contextChanged],
  ["user.message", userMessage],
  ["system.notification", notification],
  ["assistant.turn_start", (here) => turnOf(here, false)],
  ["assistant.turn_end", (here) => turnOf(here, true)],
  ["session.usage_record", usageRecord],
  ["assistant.message", assistantMessage],
  ["tool.user_requested", userCall],
  ["tool.execution_start", toolUse],
  ["tool.execution_complete", toolResult],
  ["permission.requested", permission],
  ["permission.completed", permission],
  ["subagent.started", subagent],
  ["session.error", sessionError],
  ["abort", interruption],
  ["session.task_complete", taskComplete],
  ["session.compaction_start", compactionStart],
  ["session.compaction_complete", compaction],
  ["session.usage_checkpoint", sums],
  ["session.shutdown", sums],
]);

// --- the session ---

function sessionFacts(here: Here): LineResult {
  return changedFacts(here, here.data["copilotVersion"], here.data["context"]);
}

function contextChanged(here: Here): LineResult {
  return changedFacts(here, undefined, here.data);
}

function changedFacts(here: Here, version: unknown, context: unknown): LineResult {
  if (here.agentId !== undefined) return nothing(here);
  const facts = defined<{ agentVersion: string; cwd: string; gitBranch: string }>({
    agentVersion: asString(version),
    cwd: asString(asObject(context)?.["cwd"]),
    gitBranch: asString(asObject(context)?.["branch"]),
  });
  // The state only has to know whether the facts changed
  const digest = inputDigest(facts);
  if (digest === undefined || digest === here.state.facts) return nothing(here);
  return {
    entries: [{ kind: "session", ...at(here, `session:${digest}`), ...facts }],
    state: { ...here.state, facts: digest },
  };
}

// --- prompts ---

/**
 * The origin of a message in the user's name. `companion`: text that the program added to a running turn. The names are from
 * the schemas of 1.0.102 and of the first published version.
 */
function originOf(data: Fields): "human" | "machine" | "command" | "companion" {
  const source = asString(data["source"]) ?? "user";
  const startsRun = data["delivery"] === "idle" || data["delivery"] === "queued";
  if (data["isAutopilotContinuation"] === true || source === "autopilot") return "machine";
  if (/^(?:user|unknown|other|immediate-prompt|command(?:-.*)?)$/.test(source)) {
    return data["agentMode"] === "shell" ? "command" : "human";
  }
  // Skills, reminders and similar texts arrive during a turn
  return startsRun && !source.startsWith("skill-") ? "machine" : "companion";
}

function userMessage(here: Here): LineResult {
  const origin = originOf(here.data);
  return here.agentId !== undefined || origin === "companion" ? nothing(here) : prompt(here, origin);
}

/** Background work has ended. An idle model gets a new turn for it; a working one learns of it with its next request. */
function notification(here: Here): LineResult {
  return here.agentId === undefined && here.state.isAtRest === true ? prompt(here, "machine") : nothing(here);
}

/** A model's turn is one request. Between two requests of a prompt nothing else is written. */
function turnOf(here: Here, isAtRest: boolean): LineResult {
  if (here.agentId !== undefined) return nothing(here);
  const { isAtRest: _, ...state } = here.state;
  return { entries: [], state: isAtRest ? { ...state, isAtRest } : state };
}

function prompt(here: Here, origin: EntryOf<"prompt">["origin"]): LineResult {
  const { isAtRest: _, ...before } = here.state;
  const state = { ...before, promptKey: here.id };
  const entry = defined<EntryOf<"prompt">>({
    kind: "prompt",
    ...at({ ...here, state }, `prompt:${here.id}`),
    origin,
    length: lengthOf(here.data),
  } as EntryOf<"prompt">);
  return { entries: [entry], state };
}

/**
 * Hooks report the text that the model received, without notices around it. For `/plan`, `/fleet`, skills and autopilot that
 * differs from the typed text, so the length is unknown.
 */
function lengthOf({ content, transformedContent: given }: Fields): number | undefined {
  if (typeof content !== "string") return undefined;
  if (typeof given !== "string") return content.length;
  const starts = ["", "\n\n", `\n\n${PLAN_MARK}`].map((before) => `${before}${content}`);
  const isWhole = starts.some((text, index) => {
    const at = index === 0 ? (given.startsWith(text) ? 0 : -1) : given.lastIndexOf(text);
    return at !== -1 && /^(?:\n|$)/.test(given.slice(at + text.length, at + text.length + 1));
  });
  return isWhole && content !== "" ? content.length : undefined;
}

// --- errors, interruptions, ends ---

/** Errors that end a turn. The same kind of line also reports other problems, which belong to no request. */
const REQUEST_ERRORS = new Set(["query", "rate_limit", "quota", "authentication", "authorization", "context_limit"]);

function sessionError(here: Here): LineResult {
  const { data } = here;
  const kind = asCode(data["errorType"]) ?? "_OTHER";
  const httpStatus = asCount(data["statusCode"]);
  if (httpStatus === undefined && data["originatingMessageId"] === undefined && !REQUEST_ERRORS.has(kind)) {
    return nothing(here);
  }
  // "query" only means that a request failed
  const errorType = kind === "query" && httpStatus !== undefined ? String(httpStatus) : kind;
  return one(
    here,
    defined<EntryOf<"model_error">>({
      kind: "model_error",
      ...at(here, `error:${here.id}`),
      errorType: asCode(data["errorCode"]) ?? asCode(data["providerErrorType"]) ?? errorType,
      httpStatus,
      final: true,
    } as EntryOf<"model_error">),
  );
}

function interruption(here: Here): LineResult {
  const { entries, state } = endOpenCalls(here);
  return { entries: [...entries, { kind: "interruption", ...at(here, `interruption:${here.id}`) }], state };
}

/** Ends the turn: after this the model writes no text, its last output is a tool call. */
function taskComplete(here: Here): LineResult {
  const { data } = here;
  const continues = data["success"] === false || data["outcome"] === "continue";
  return continues ? nothing(here) : one(here, { kind: "turn_end", ...at(here, `turn_end:${here.id}`) });
}

function compactionStart(here: Here): LineResult {
  const { compactionTrigger: _, ...state } = here.state;
  const trigger = asCode(here.data["trigger"]);
  return { entries: [], state: trigger === undefined ? state : { ...state, compactionTrigger: trigger } };
}

/** The compaction's own request has no record, so its tokens are not counted. */
function compaction(here: Here): LineResult {
  const { compactionTrigger: trigger, ...state } = here.state;
  if (here.data["success"] === false) return { entries: [], state };
  const entry = defined<EntryOf<"compaction">>({
    kind: "compaction",
    ...at(here, `compaction:${here.id}`),
    trigger,
  } as EntryOf<"compaction">);
  return { entries: [entry], state };
}
