import { defined } from "../../model/defined.ts";
import type { EntryOf } from "../../model/transcript.ts";
import { knownProvider } from "../shared/names/providers.ts";
import { asCount, asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import type { JsonLine } from "../shared/transcript/jsonl.ts";
import { isEnough } from "./enough.ts";
import { agentTypeOf, headOf } from "./head.ts";
import { itemEntries } from "./items.ts";
import { tokenCount, usageRecord } from "./model-calls.ts";
import { answering, asking, at, type Here, inTurn, type Line, type LineState, type Read } from "./state.ts";
import { toolCall, toolOutput } from "./tool-calls.ts";
import { modelError, prompt, turnAborted, turnEnd } from "./turns.ts";

/**
 * One rollout line → its entries.
 *
 * @returns `undefined` when the line is no JSON object; no entries for kinds of lines that tell us nothing
 */
export function readLine(line: JsonLine, before: LineState): Read | undefined {
  // Many bytes are instructions, snapshots and messages: their kind and time are all that matters
  const { bytes } = line;
  const skipped = skip(bytes.toString("latin1", 0, HEAD_BYTES), before);
  if (skipped !== undefined) return { entries: [], state: skipped };
  const short = line.isCut ? parsedObject(line.text()) : undefined;
  const o = short !== undefined && isEnough(short) ? short : parsedObject(bytes);
  if (o === undefined) return undefined;
  const p = asObject(o["payload"]) ?? {};
  const timeMs = asTimeMs(o["timestamp"]) ?? before.timeMs;
  const state = ownAgain({ ...before, timeMs }, o, p);
  const read = readKind(String(o["type"]), { p, timeMs, state });
  if (state.copied !== true) return read;
  // A copy tells where the totals stood and which model was set; everything else was told in its own file
  const { model, totals } = read.state;
  return { entries: [], state: defined<LineState>({ ...state, model, totals }) };
}

// --- internal ---

const HEAD_BYTES = 400;
/** The first version that was seen to write usage records. */
const RECORDS_SINCE = "0.160.0";
/** What Codex itself called a provider of its own before. */
const OLDER_IDS: ReadonlyMap<unknown, string> = new Map([
  ["ollama-chat", "ollama"],
  ["oss", "ollama"],
]);
/** The first version of which every turn is known to begin with its id. */
const TURN_IDS_SINCE = "0.107.0";
/** Copied lines without ordinals or turn ids are written in one go when the thread begins. */
const COPIED_WITHIN_MS = 1_000;

const OPENING =
  /^\{\s*"timestamp":\s*"([^"]*)",(?:\s*"ordinal":\s*\d+,)?\s*"type":\s*"(world_state|response_item)",\s*"payload":\s*\{\s*/;
const MESSAGE = /^"type":\s*"message",(?:\s*"(?:id|status)":\s*"[^"]*",)*\s*"role":\s*"(\w+)"/;

/** The state after a line that need not be parsed; `undefined` for all others, and for forms it does not know. */
function skip(head: string, state: LineState): LineState | undefined {
  const opening = OPENING.exec(head);
  if (opening === null) return undefined;
  if (opening[2] === "world_state") return state;
  if (state.copied === true) return undefined;
  const timeMs = asTimeMs(opening[1]) ?? state.timeMs;
  const rest = head.slice(opening[0].length);
  if (/^"type":\s*"reasoning"/.test(rest)) return answering({ ...state, timeMs });
  const role = MESSAGE.exec(rest)?.[1];
  if (role === undefined) return undefined;
  return role === "assistant" ? answering({ ...state, timeMs }) : { ...state, timeMs, inputMs: timeMs };
}

/** Whether the thread's own lines begin here: by their ordinal, by a turn that began after it, else by the clock. */
function ownAgain(state: LineState, o: Line, p: Line): LineState {
  if (state.copied !== true) return state;
  const ordinal = asCount(o["ordinal"]);
  const turnId = asString(p["turn_id"]);
  const isOwn =
    state.ownOrdinal !== undefined && ordinal !== undefined
      ? ordinal >= state.ownOrdinal
      : turnId !== undefined && isV7(turnId) && isV7(state.threadId)
        ? turnId > (state.threadId ?? "")
        : turnId === undefined && state.turnsTell !== true && state.timeMs - (state.beganMs ?? 0) > COPIED_WITHIN_MS;
  if (!isOwn) return state;
  const { copied: _, ...own } = state;
  return own;
}

/** Ids of version 7 begin with the time: as texts they are in the order in which they were made. */
const isV7 = (id: string | undefined): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id ?? "");

function readKind(kind: string, here: Here): Read {
  const { p, state } = here;
  switch (kind) {
    case "session_meta":
      return sessionMeta(here);
    case "turn_context":
      return {
        entries: [],
        state: inTurn(defined<LineState>({ ...state, model: asString(p["model"]) ?? state.model }), p),
      };
    case "token_usage_record":
      return usageRecord(here);
    case "response_item":
      return responseItem(here);
    case "event_msg":
      return eventMessage(here);
    case "compacted": {
      const key = `compaction:${asString(p["window_id"]) ?? here.timeMs}`;
      const { isWaiting: _, ...quiet } = state;
      return { entries: [{ kind: "compaction", ...at(here, key) }], state: quiet };
    }
    default:
      return { entries: [], state };
  }
}

/** The first one is the thread's own; another one says that lines of that thread follow. */
function sessionMeta(here: Here): Read {
  const { p, timeMs, state } = here;
  const own = headOf(p);
  if (own === undefined) return { entries: [], state };
  if (state.threadId !== undefined) {
    return { entries: [], state: own.threadId === state.threadId ? state : { ...state, copied: true } };
  }
  const version = parseVersion(asString(p["cli_version"]) ?? "");
  const turnsTell = version !== undefined && compareVersions(version, TURN_IDS_SINCE) >= 0 && isV7(own.threadId);
  // Whether or not a head of its own stands before it: where only the last turns are copied there is none
  const isBranch = own.threadId !== own.rootId || asString(p["forked_from_id"]) !== undefined;
  const began = defined<LineState>({
    ...state,
    threadId: own.threadId,
    rootId: own.rootId,
    beganMs: timeMs,
    ownOrdinal: asCount(p["subagent_history_start_ordinal"]),
    turnsTell: turnsTell ? true : undefined,
    copied: isBranch && turnsTell ? true : undefined,
    isFork: asString(p["forked_from_id"]) === undefined ? undefined : true,
    provider: knownProvider(OLDER_IDS.get(p["model_provider"]) ?? p["model_provider"]),
    isReviewer: agentTypeOf(p["source"]) === "review" ? true : undefined,
    hasRecords: version !== undefined && compareVersions(version, RECORDS_SINCE) >= 0 ? true : undefined,
  });
  const there = { ...here, state: began };
  if (own.threadId !== own.rootId) {
    const subagent = defined<EntryOf<"subagent">>({
      kind: "subagent",
      ...at(there, `subagent:${own.threadId}`),
      agentType: agentTypeOf(p["source"]),
      parentAgentId: own.parentId === own.rootId ? undefined : own.parentId,
    } as EntryOf<"subagent">);
    return { entries: [subagent], state: began };
  }
  const facts = defined<{ agentVersion: string; cwd: string; gitBranch: string }>({
    agentVersion: asString(p["cli_version"]),
    cwd: asString(p["cwd"]),
    gitBranch: asString(asObject(p["git"])?.["branch"]),
  });
  return { entries: [{ kind: "session", ...at(there, `session:${own.threadId}`), ...facts }], state: began };
}

function responseItem(here: Here): Read {
  const { p, timeMs, state } = here;
  switch (p["type"]) {
    case "function_call":
    case "custom_tool_call":
    case "tool_search_call":
    case "local_shell_call":
      return toolCall(here, "asked");
    // The provider ran it while it answered
    case "web_search_call":
    case "image_generation_call":
      return toolCall(here, "hosted");
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
    case "local_shell_call_output":
      return toolOutput(here);
    case "reasoning":
      return { entries: [], state: answering(state) };
    case "message":
      if (p["role"] === "assistant") return { entries: [], state: answering(state) };
      return { entries: [], state: { ...state, inputMs: timeMs } };
    case "agent_message":
      return { entries: [], state: asking(state, timeMs) };
    default:
      return { entries: [], state };
  }
}

function eventMessage(here: Here): Read {
  const { p, state } = here;
  switch (p["type"]) {
    case "task_started":
    case "turn_started":
      return { entries: [], state: turnStart(here) };
    case "entered_review_mode":
      return { entries: [], state: { ...state, isReviewed: true } };
    case "user_message":
      return prompt(here, p["message"]);
    case "item_completed": {
      const item = asObject(p["item"]);
      if (item?.["type"] === "UserMessage") return prompt(here, item["content"]);
      if (item?.["type"] === "EnteredReviewMode") return { entries: [], state: { ...state, isReviewed: true } };
      return { entries: itemEntries(here), state };
    }
    case "token_count":
      return tokenCount(here);
    case "task_complete":
    case "turn_complete":
      return turnEnd({ ...here, state: atEnd(state, p) });
    case "turn_aborted":
      return turnAborted({ ...here, state: atEnd(state, p) });
    case "error":
      return { entries: modelError(here, p), state };
    default:
      return { entries: itemEntries(here), state };
  }
}

/** Versions that write usage records name the root's turn as well. */
function turnStart({ p, timeMs, state }: Here): LineState {
  const { isOlderTurn: _, ...rest } = inTurn(state, p);
  return { ...rest, inputMs: timeMs, ...(asString(p["root_turn_id"]) === undefined && { isOlderTurn: true }) };
}

/** The turn that a line ends. */
function atEnd({ isReviewed, ...state }: LineState, p: Line): LineState {
  return isReviewed === undefined ? inTurn(state, p) : state;
}
