import type { EntryOf } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asCode, asCount, asObject, asString, asTimeMs, type Fields, parsedObject } from "../shared/payload/json.ts";
import { PLAN_PREFIX } from "./adapter.ts";
import { assistantMessage, sums, usageRecord } from "./call-lines.ts";
import {
  entryBase,
  type LineContext,
  type LineResult,
  type LineState,
  lineType,
  noEntries,
  oneEntry,
} from "./line-context.ts";
import { nextRun } from "./run-sums.ts";
import { endOpenCalls, permission, subagent, toolResult, toolUse, userCall } from "./tool-lines.ts";

/**
 * One line of a session file → its entries.
 *
 * @returns `undefined` if the line is no JSON object; no entries for kinds of lines without facts
 */
export function readLine(line: Buffer, state: LineState): (LineResult & { readonly kind: unknown }) | undefined {
  const type = lineType(line);
  if (type !== undefined && !READERS.has(type) && !line.includes(RECORD_START, 1)) {
    return { entries: [], state, kind: type };
  }
  const o = parsedObject(line);
  if (o === undefined) return undefined;
  const data = asObject(o["data"]) ?? {};
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const context: LineContext = {
    data,
    // Lines of old versions can have no id; time and length are the same at every read
    id: asString(o["id"]) ?? `${timeMs}:${line.length}`,
    timeMs,
    state: { ...state, timeMs },
    agentId: asString(o["agentId"]) ?? asString(data["parentToolCallId"]),
  };
  const kind = o["type"];
  const reader = READERS.get(String(kind));
  return { ...(reader === undefined ? { entries: [], state } : reader(context)), kind };
}

// --- internal ---

// Two records can be in one line if a newline is missing
const RECORD_START = '{"type":"';

const READERS: ReadonlyMap<string, (context: LineContext) => LineResult> = new Map([
  ["session.start", sessionStart],
  ["session.resume", resumption],
  ["session.context_changed", contextChanged],
  ["user.message", userMessage],
  ["system.notification", notification],
  ["assistant.turn_start", (context) => turnOf(context, false)],
  ["assistant.turn_end", (context) => turnOf(context, true)],
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

function sessionStart(context: LineContext): LineResult {
  const startMs = context.state.startMs ?? asTimeMs(context.data["startTime"]);
  return sessionFacts(startMs === undefined ? context : { ...context, state: { ...context.state, startMs } });
}

function sessionFacts(context: LineContext): LineResult {
  return changedFacts(context, context.data["copilotVersion"], context.data["context"]);
}

function resumption(context: LineContext): LineResult {
  const { entries, state } = sessionFacts({ ...context, state: nextRun(context.state, context.id) });
  return { entries: [{ kind: "resumption", ...entryBase(context, `resumption:${context.id}`) }, ...entries], state };
}

function contextChanged(context: LineContext): LineResult {
  return changedFacts(context, undefined, context.data);
}

function changedFacts(context: LineContext, version: unknown, folderFacts: unknown): LineResult {
  if (context.agentId !== undefined) return noEntries(context);
  const facts = defined<{ agentVersion: string; cwd: string; gitBranch: string }>({
    agentVersion: asString(version),
    cwd: asString(asObject(folderFacts)?.["cwd"]),
    gitBranch: asString(asObject(folderFacts)?.["branch"]),
  });
  // The digest is enough to detect a change
  const digest = inputDigest(facts);
  if (digest === undefined || digest === context.state.facts) return noEntries(context);
  return {
    // The file names the branch when a run begins, and not when another branch is checked out
    entries: [{ kind: "session", ...entryBase(context, `session:${digest}`), ...facts, branches: "once" }],
    state: { ...context.state, facts: digest },
  };
}

// --- prompts ---

/**
 * The origin of a user message. `companion`: text that the program added to a running turn. The names are from the schemas of
 * 1.0.102 and of the first published version.
 */
function originOf(data: Fields): "human" | "machine" | "command" | "companion" {
  const source = asString(data["source"]) ?? "user";
  const startsRun = data["delivery"] === "idle" || data["delivery"] === "queued";
  if (data["isAutopilotContinuation"] === true || source === "autopilot") return "machine";
  if (/^(?:user|unknown|other|immediate-prompt|command(?:-.*)?)$/.test(source)) {
    return data["agentMode"] === "shell" ? "command" : "human";
  }
  // Skills, reminders and similar texts belong to the running turn
  return startsRun && !source.startsWith("skill-") ? "machine" : "companion";
}

function userMessage(context: LineContext): LineResult {
  const origin = originOf(context.data);
  return context.agentId !== undefined || origin === "companion" ? noEntries(context) : prompt(context, origin);
}

/** Background work ended. If the model is idle, this starts a turn; otherwise its next request contains the notification. */
function notification(context: LineContext): LineResult {
  return context.agentId === undefined && context.state.isAtRest === true
    ? prompt(context, "machine")
    : noEntries(context);
}

/** Copilot's "turn" is one request. No other line is written between two requests of the same prompt. */
function turnOf(context: LineContext, isAtRest: boolean): LineResult {
  if (context.agentId !== undefined) return noEntries(context);
  const { isAtRest: _, ...state } = context.state;
  return { entries: [], state: isAtRest ? { ...state, isAtRest } : state };
}

function prompt(context: LineContext, origin: EntryOf<"prompt">["origin"]): LineResult {
  const { isAtRest: _, ...before } = context.state;
  const state = { ...before, promptKey: context.id };
  const entry = defined<EntryOf<"prompt">>({
    kind: "prompt",
    ...entryBase({ ...context, state }, `prompt:${context.id}`),
    origin,
    length: lengthOf(context.data),
  });
  return { entries: [entry], state };
}

/**
 * Hooks report the text that the model receives, without notices around it. For `/plan`, `/fleet`, skills and autopilot, that
 * text differs from the typed one, so the length is unknown.
 */
function lengthOf({ content, transformedContent: given }: Fields): number | undefined {
  if (typeof content !== "string") return undefined;
  if (typeof given !== "string") return content.length;
  const starts = ["", "\n\n", `\n\n${PLAN_PREFIX}`].map((before) => `${before}${content}`);
  const isCompleteText = starts.some((text, index) => {
    const at = index === 0 ? (given.startsWith(text) ? 0 : -1) : given.lastIndexOf(text);
    return at !== -1 && /^(?:\n|$)/.test(given.slice(at + text.length, at + text.length + 1));
  });
  return isCompleteText && content !== "" ? content.length : undefined;
}

// --- errors, interruptions, ends ---

/** Errors that end a turn. Lines of this type also report problems that belong to no request. */
const REQUEST_ERRORS = new Set(["query", "rate_limit", "quota", "authentication", "authorization", "context_limit"]);

function sessionError(context: LineContext): LineResult {
  const { data } = context;
  const kind = asCode(data["errorType"]) ?? "_OTHER";
  const httpStatus = asCount(data["statusCode"]);
  if (httpStatus === undefined && data["originatingMessageId"] === undefined && !REQUEST_ERRORS.has(kind)) {
    return noEntries(context);
  }
  // "query" means only that a request failed
  const errorType = kind === "query" && httpStatus !== undefined ? String(httpStatus) : kind;
  return oneEntry(
    context,
    defined<EntryOf<"model_error">>({
      kind: "model_error",
      ...entryBase(context, `error:${context.id}`),
      errorType: asCode(data["errorCode"]) ?? asCode(data["providerErrorType"]) ?? errorType,
      httpStatus,
      final: true,
    }),
  );
}

function interruption(context: LineContext): LineResult {
  const { entries, state } = endOpenCalls(context);
  return {
    entries: [...entries, { kind: "interruption", ...entryBase(context, `interruption:${context.id}`) }],
    state,
  };
}

/** Ends the turn: the model writes no more text, so its last output is a tool call. */
function taskComplete(context: LineContext): LineResult {
  const { data } = context;
  const continues = data["success"] === false || data["outcome"] === "continue";
  return continues
    ? noEntries(context)
    : oneEntry(context, { kind: "turn_end", ...entryBase(context, `turn_end:${context.id}`) });
}

function compactionStart(context: LineContext): LineResult {
  const { compactionTrigger: _, ...state } = context.state;
  const trigger = asCode(context.data["trigger"]);
  return { entries: [], state: trigger === undefined ? state : { ...state, compactionTrigger: trigger } };
}

/** The compaction's own request has no record, so its tokens are not counted. */
function compaction(context: LineContext): LineResult {
  const { compactionTrigger: trigger, ...state } = context.state;
  if (context.data["success"] === false) return { entries: [], state };
  const entry = defined<EntryOf<"compaction">>({
    kind: "compaction",
    ...entryBase(context, `compaction:${context.id}`),
    trigger,
  });
  return { entries: [entry], state };
}
