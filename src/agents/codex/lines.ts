import type { FactSink } from "#core/model/fact-sink.ts";
import { UNKNOWN_TIER } from "#core/model/model-call.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { knownProvider } from "../shared/names/providers.ts";
import { asCode, asCount, asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { hasAllFacts } from "./cut-lines.ts";
import { agentTypeOf, headOf } from "./head.ts";
import { item } from "./items.ts";
import {
  enterTurn,
  factBase,
  type Line,
  type LineContext,
  type LineState,
  noteAnswerPart,
  noteInput,
} from "./line-context.ts";
import { tokenCount, usageRecord } from "./model-calls.ts";
import { toolCall, toolOutput } from "./tool-calls.ts";
import { modelError, prompt, turnAborted, turnEnd } from "./turns.ts";

/**
 * Reads one rollout line: passes its facts to the sink and updates the state.
 *
 * @returns the line's kind; `UNREADABLE` when it is no JSON object
 */
export function readLine(line: JsonLine, state: LineState, sink: FactSink): unknown {
  // Many bytes are instructions, snapshots and messages: only their kind and time matter
  const skipped = skipLine(line, state);
  if (skipped !== undefined) return skipped;
  const short = line.isCut ? parsedObject(line.text()) : undefined;
  const o =
    short !== undefined && hasAllFacts(short, sink) ? short : parsedObject(line.isCut ? line.bytes : line.text());
  if (o === undefined) {
    state.isAfterGap = true;
    return UNREADABLE;
  }
  const p = asObject(o["payload"]) ?? {};
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  state.timeMs = timeMs;
  if (state.copied === true && isOwnLine(state, o, p)) state.copied = undefined;
  const kind = o["type"];
  if (state.copied !== true) readKind(kind, { p, timeMs, state, sink });
  else {
    // Copied lines set the totals, the model and its tier; everything else counts in the original file
    const copy = { ...state };
    readKind(kind, { p, timeMs, state: copy, sink: new EntrySink() });
    state.model = copy.model;
    state.tier = copy.tier;
    state.series = copy.series?.map(({ calls: _, ...series }) => series);
    state.seenTotals = copy.seenTotals;
  }
  return kind;
}

// --- internal ---

const HEAD_BYTES = 400;
/** The start of a record. Inside a string its quotes would be escaped. */
const RECORD_START = '{"timestamp":"';
/** The first version known to write usage records. */
const RECORDS_SINCE = "0.160.0";
/** Earlier names of Codex's own providers. */
const OLDER_IDS: ReadonlyMap<unknown, string> = new Map([
  ["ollama-chat", "ollama"],
  ["oss", "ollama"],
]);
/** The first version in which every turn begins with its id. */
const TURN_IDS_SINCE = "0.107.0";
/** Copied lines without ordinals or turn ids are written within this time of the thread's start. */
const COPIED_WITHIN_MS = 1_000;

const OPENING =
  /^\{\s*"timestamp":\s*"([^"]*)",(?:\s*"ordinal":\s*\d+,)?\s*"type":\s*"(world_state|response_item)",\s*"payload":\s*\{\s*/;
const MESSAGE = /^"type":\s*"message",(?:\s*"(?:id|status)":\s*"[^"]*",)*\s*"role":\s*"(\w+)"/;

/** Reads a line that needs no parsing. @returns its kind; `undefined` for all other lines and unknown forms */
function skipLine(line: JsonLine, state: LineState): string | undefined {
  const head = line.head(HEAD_BYTES);
  const opening = OPENING.exec(head);
  if (opening === null) return undefined;
  const kind = opening[2];
  const rest = head.slice(opening[0].length);
  const isReasoning = REASONING.test(rest);
  const role = isReasoning ? undefined : MESSAGE.exec(rest)?.[1];
  const isSnapshot = kind === "world_state";
  if (!isSnapshot && (state.copied === true || (!isReasoning && role === undefined))) return undefined;
  if (line.bytes.includes(RECORD_START, 1)) return undefined;
  if (isSnapshot) return kind;
  state.timeMs = asTimeMs(opening[1]) ?? state.timeMs;
  if (isReasoning || role === "assistant") noteAnswerPart(state);
  else state.inputMs = state.timeMs;
  return kind;
}

const REASONING = /^"type":\s*"reasoning"/;

/** Whether a line is not copied: by its ordinal, by a turn that is younger than the thread, otherwise by its time. */
function isOwnLine(state: LineState, o: Line, p: Line): boolean {
  const ordinal = asCount(o["ordinal"]);
  const turnId = asString(p["turn_id"]);
  if (state.ownOrdinal !== undefined && ordinal !== undefined) return ordinal >= state.ownOrdinal;
  if (turnId !== undefined && isV7(turnId) && isV7(state.threadId)) return turnId > (state.threadId ?? "");
  return turnId === undefined && state.turnsTell !== true && state.timeMs - (state.beganMs ?? 0) > COPIED_WITHIN_MS;
}

/** Version 7 ids begin with the time, so they sort as texts in the order of creation. */
const isV7 = (id: string | undefined): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id ?? "");

function readKind(kind: unknown, context: LineContext): void {
  const { p, state } = context;
  switch (kind) {
    case "session_meta":
      sessionMeta(context);
      return;
    case "turn_context":
      state.model = asString(p["model"]) ?? state.model;
      enterTier(state, p);
      enterTurn(state, p);
      return;
    case "token_usage_record":
      usageRecord(context);
      return;
    case "response_item":
      responseItem(context);
      return;
    case "event_msg":
      eventMessage(context);
      return;
    case "compacted": {
      const key = `compaction:${asString(p["window_id"]) ?? context.timeMs}`;
      context.sink.other({ kind: "compaction", ...factBase(context, key) });
      state.isWaiting = undefined;
      return;
    }
    default:
  }
}

/** The first such line describes the thread itself; a later one precedes lines that were copied from another thread. */
function sessionMeta(context: LineContext): void {
  const { p, timeMs, state, sink } = context;
  const own = headOf(p);
  if (own === undefined) return;
  if (state.threadId !== undefined) {
    if (own.threadId !== state.threadId) state.copied = true;
    return;
  }
  const agentVersion = asString(p["cli_version"]);
  const version = parseVersion(agentVersion ?? "");
  const turnsTell = version !== undefined && compareVersions(version, TURN_IDS_SINCE) >= 0 && isV7(own.threadId);
  const isFork = asString(p["forked_from_id"]) !== undefined;
  state.threadId = own.threadId;
  state.rootId = own.rootId;
  state.beganMs = timeMs;
  state.ownOrdinal = asCount(p["subagent_history_start_ordinal"]);
  state.turnsTell = turnsTell ? true : undefined;
  // If only the last turns were copied, the other thread's first line is missing
  state.copied = (own.threadId !== own.rootId || isFork) && turnsTell ? true : undefined;
  state.isFork = isFork ? true : undefined;
  state.provider = knownProvider(OLDER_IDS.get(p["model_provider"]) ?? p["model_provider"]);
  state.isReviewer = agentTypeOf(p["source"]) === "review" ? true : undefined;
  state.hasRecords = version !== undefined && compareVersions(version, RECORDS_SINCE) >= 0 ? true : undefined;
  if (own.threadId !== own.rootId) {
    sink.other({
      kind: "subagent",
      ...factBase(context, `subagent:${own.threadId}`),
      agentType: agentTypeOf(p["source"]),
      parentAgentId: own.parentId === own.rootId ? undefined : own.parentId,
    });
    return;
  }
  const [cwd, gitBranch] = [asString(p["cwd"]), asString(asObject(p["git"])?.["branch"])];
  const facts = { agentVersion, cwd, gitBranch, branches: "once" as const };
  sink.other({ kind: "session", ...factBase(context, `session:${own.threadId}`), ...facts });
}

function responseItem(context: LineContext): void {
  const { p, timeMs, state } = context;
  switch (p["type"]) {
    case "function_call":
    case "custom_tool_call":
    case "tool_search_call":
    case "local_shell_call":
      toolCall(context, "agent");
      return;
    // The provider ran it during the answer
    case "web_search_call":
      if (isSearch(p)) state.searches = (state.searches ?? 0) + 1;
      toolCall(context, "provider");
      return;
    case "image_generation_call":
      toolCall(context, "provider");
      return;
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
    case "local_shell_call_output":
      toolOutput(context);
      return;
    case "reasoning":
      noteAnswerPart(state);
      return;
    case "message":
      if (p["role"] === "assistant") noteAnswerPart(state);
      else state.inputMs = timeMs;
      return;
    case "agent_message":
      noteInput(state, timeMs);
      return;
    default:
  }
}

/** Opening a page and finding text in it are free. */
function isSearch({ status, action }: Line): boolean {
  const type = asObject(action)?.["type"];
  return status !== "failed" && (type === undefined || type === "search");
}

function eventMessage(context: LineContext): void {
  const { p, state } = context;
  switch (p["type"]) {
    case "task_started":
    case "turn_started":
      turnStart(context);
      return;
    case "entered_review_mode":
      state.isReviewed = true;
      return;
    case "user_message":
      prompt(context, p["message"]);
      return;
    case "item_completed": {
      const completed = asObject(p["item"]);
      if (completed?.["type"] === "UserMessage") prompt(context, completed["content"]);
      else if (completed?.["type"] === "EnteredReviewMode") state.isReviewed = true;
      else item(context);
      return;
    }
    case "thread_settings_applied":
      enterTier(state, asObject(p["thread_settings"]));
      return;
    case "token_count":
      tokenCount(context);
      return;
    case "task_complete":
    case "turn_complete":
      enterEndedTurn(state, p);
      turnEnd(context);
      return;
    case "turn_aborted":
      enterEndedTurn(state, p);
      turnAborted(context);
      return;
    case "error":
      modelError(context, p);
      return;
    default:
      item(context);
      return;
  }
}

function turnStart({ p, timeMs, state }: LineContext): void {
  enterTurn(state, p);
  state.inputMs = timeMs;
  // Versions that write usage records also name the root's turn
  state.isOlderTurn = asString(p["root_turn_id"]) === undefined ? true : undefined;
}

/** Sets the current turn to the one that a line ends. */
function enterEndedTurn(state: LineState, p: Line): void {
  if (state.isReviewed === undefined) enterTurn(state, p);
  state.isReviewed = undefined;
}

/**
 * Sets the service tier that settings name: `priority` (fast mode) costs 2 to 2.5 times the list price, `flex` half of it. It
 * applies until settings name another one. Settings without the member change nothing: the standard tier is never assumed after
 * another one.
 */
function enterTier(state: LineState, settings: Line | undefined): void {
  if (settings === undefined || !("service_tier" in settings)) return;
  const tier = settings["service_tier"];
  state.tier = LISTED.has(tier) ? undefined : (asCode(asString(tier)) ?? UNKNOWN_TIER);
}

/** Tiers to which the public price list applies. */
const LISTED: ReadonlySet<unknown> = new Set([null, "", "default", "standard", "auto"]);
