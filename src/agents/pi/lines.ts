import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import { lostCallKey } from "#core/rules/calls.ts";
import { defined } from "#kit/objects.ts";
import { asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { helperEntries } from "./helpers.ts";
import {
  answerEntries,
  callsIn,
  lengthOf,
  type Message,
  type ModelName,
  modelNameIn,
  paidEntries,
  timestampOf,
  toolUsage,
} from "./messages.ts";
import { nestedEntries, resultEntry, useEntry } from "./tools.ts";

/** State between two lines of a file. Plain JSON, stored between two drains. */
export interface LineState {
  /** Time of the last line; also used for lines without a time. */
  readonly timeMs: number;
  readonly promptKey?: string;
  /** Failed attempts since the last answer or prompt. */
  readonly failures?: number;
  /** Call ids that can repeat: some providers count them. */
  readonly usedIds?: readonly string[];
  /** Open calls with such ids: the given id, and the unique one. */
  readonly openIds?: readonly (readonly [given: string, callId: string])[];
  /** The model that is selected, which also summarizes. */
  readonly selected?: ModelName;
  /** The last answer, if it failed. */
  readonly failed?: EntryOf<"model_error"> & { readonly within: string };
  /** Open calls that start helpers, whose usage only the result has. */
  readonly openHelpers?: readonly string[];
}

/** One line of a session file → its entries. @returns `undefined` if the line is no JSON object */
export function readLine(
  line: Buffer,
  state: LineState,
): { readonly entries: readonly TranscriptEntry[]; readonly state: LineState; readonly kind: unknown } | undefined {
  const o = parsedObject(line);
  if (o === undefined) return undefined;
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const kind = o["type"];
  // Entry ids have 32 bits; with the time they are unique across sessions, and forks keep both
  const id = `${asString(o["id"]) ?? line.length}@${timeMs}`;
  const place: Place = { id, timeMs, state: { ...state, timeMs } };
  const message = asObject(o["message"]);
  if (kind === "session") return { entries: [header(o, timeMs)], state: place.state, kind };
  switch (kind) {
    case "compaction":
      return { entries: [compacted(place), ...summary(o, place)], state: place.state, kind };
    case "branch_summary":
      return { entries: summary(o, place), state: place.state, kind };
    case "usage":
      return { entries: extraRequest(o, place), state: place.state, kind };
    case "model_change":
      return { entries: [], state: { ...place.state, selected: modelNameIn(o, "modelId") }, kind };
    case "context_edit":
      return { ...repeated(o, place), kind };
    default:
  }
  if (kind !== "message" || message === undefined) return { entries: [], state: place.state, kind };
  switch (message["role"]) {
    case "user":
      return { ...prompt(message, place), kind };
    case "assistant":
      return { ...answer(message, place), kind };
    case "toolResult":
      return { ...toolResult(message, place), kind };
    default:
      return { entries: [], state: place.state, kind };
  }
}

// --- internal ---

interface Place {
  readonly id: string;
  readonly timeMs: number;
  readonly state: LineState;
}

interface Walked {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

/** Only ids that can repeat are stored: they are short and few. */
const REMEMBERED_IDS = 500;

const baseOf = ({ promptKey }: LineState): { readonly promptKey?: string } =>
  promptKey === undefined ? {} : { promptKey };

const header = (o: Message, timeMs: number): EntryOf<"session"> =>
  defined<EntryOf<"session">>({
    kind: "session",
    key: `session:${asString(o["id"]) ?? ""}`,
    timeMs,
    cwd: asString(o["cwd"]),
  });

const compacted = ({ id, timeMs, state }: Place): EntryOf<"compaction"> => ({
  kind: "compaction",
  key: `compaction:${id}`,
  globalKey: `compaction:${id}`,
  timeMs,
  ...baseOf(state),
});

/** The request for the summary of a conversation or a branch. Extensions can ask any model for it. */
const summary = (o: Message, { id, timeMs, state }: Place): readonly TranscriptEntry[] => {
  const by = o["fromHook"] === true ? undefined : state.selected;
  const request = { key: id, timeMs, purpose: "compaction", by, isOfTwo: isOfTwoRequests(o["summary"]) } as const;
  return paidEntries(o["usage"], request, baseOf(state));
};

/** In the middle of a turn, pi summarizes what was before it and the turn so far, each with a request, and records the sum. */
const isOfTwoRequests = (text: unknown): boolean =>
  typeof text === "string" && text.includes(OF_TURN) && !text.startsWith(NOTHING_BEFORE);

const OF_TURN = "\n\n---\n\n**Turn Context (split turn):**\n\n";
const NOTHING_BEFORE = `No prior history.${OF_TURN}`;

/** A request that is no message, such as one that keeps the provider's cache warm. */
const extraRequest = (o: Message, { id, timeMs, state }: Place): readonly TranscriptEntry[] =>
  paidEntries(o["usage"], { key: id, timeMs, purpose: "other", by: modelNameIn(o, "model") }, baseOf(state));

/** Before pi repeats a failed request, it takes the failure out of the conversation. */
function repeated(o: Message, { state }: Place): Walked {
  if (state.failed === undefined || o["replacement"] !== null) return { entries: [], state };
  const { within, ...error } = state.failed;
  return { entries: within.startsWith(`${o["targetId"]}@`) ? [{ ...error, final: false }] : [], state };
}

function prompt(message: Message, { id, timeMs, state }: Place): Walked {
  const sentMs = timestampOf(message) ?? timeMs;
  const promptKey = String(sentMs);
  const { failures: _, openHelpers, ...rest } = state;
  const entry = defined<EntryOf<"prompt">>({
    kind: "prompt",
    key: `prompt:${promptKey}`,
    globalKey: `prompt:${id}`,
    timeMs: sentMs,
    promptKey,
    origin: "human",
    length: lengthOf(message),
  });
  const lost = (openHelpers ?? []).map((callId) => lostCall(callId, id, state));
  return { entries: [...lost, entry], state: { ...rest, promptKey } };
}

/** The process was killed in a call that had started helpers: what they used is unknown, unless they have reported it. */
const lostCall = (callId: string, id: string, state: LineState): EntryOf<"model_call"> => ({
  kind: "model_call",
  key: lostCallKey(callId),
  globalKey: `lost:${id}:${callId}`,
  timeMs: state.timeMs,
  ...baseOf(state),
  startMs: state.timeMs,
  endMs: state.timeMs,
  complete: false,
});

function answer(message: Message, { id, timeMs, state }: Place): Walked {
  const base = baseOf(state);
  const { failures = 0, failed: _, ...rest } = state;
  const entries = [...answerEntries(message, timeMs, base, failures)];
  const failed = entries.find((entry) => entry.kind === "model_error");
  let after: LineState =
    failed === undefined ? rest : { ...rest, failures: failures + 1, failed: { ...failed, within: id } };
  // Extensions and old files may have selected a model without a record of it
  if (state.selected === undefined) after = { ...after, selected: modelNameIn(message, "model") };
  for (const call of callsIn(message)) {
    const started = startCall(after, String(call["id"]), id);
    after = started.state;
    if (call["name"] === HELPER_TOOL)
      after = { ...after, openHelpers: [...(after.openHelpers ?? []), started.callId].slice(-REMEMBERED_IDS) };
    entries.push(useEntry(call, started.callId, timeMs, base, id));
  }
  return { entries, state: after };
}

function toolResult(message: Message, { id, timeMs, state }: Place): Walked {
  const given = asString(message["toolCallId"]);
  if (given === undefined) return { entries: [], state };
  const ended = endCall(state, given);
  const base = baseOf(state);
  const endMs = timestampOf(message) ?? timeMs;
  const helpers = helperEntries(message["details"], ended.callId, base);
  return {
    entries: [
      resultEntry(message, ended.callId, endMs, base, id),
      ...nestedEntries(message, ended.callId, endMs, base, id),
      ...helpers,
      ...toolUsage(message, base, helpers),
    ],
    state: withoutHelper(ended.state, ended.callId),
  };
}

/** The tool of pi's own example extension. Other extensions can have other names. */
const HELPER_TOOL = "subagent";

function withoutHelper(state: LineState, callId: string): LineState {
  const { openHelpers = [], ...rest } = state;
  const open = openHelpers.filter((one) => one !== callId);
  return open.length === 0 ? rest : { ...rest, openHelpers: open };
}

/** The first call with an id keeps it, for later ones their line is added. */
function startCall(
  state: LineState,
  given: string,
  line: string,
): { readonly callId: string; readonly state: LineState } {
  if (isRandomId(given)) return { callId: given, state };
  const { usedIds = [], openIds = [] } = state;
  const isUsed = usedIds.includes(given);
  const callId = isUsed ? repeatedCallId(given, line) : given;
  return {
    callId,
    state: {
      ...state,
      ...(!isUsed && { usedIds: [...usedIds, given].slice(-REMEMBERED_IDS) }),
      openIds: [...openIds, [given, callId] as const].slice(-REMEMBERED_IDS),
    },
  };
}

/** If several calls with that id are open, the first ends. */
function endCall(state: LineState, given: string): { readonly callId: string; readonly state: LineState } {
  const { openIds = [], ...rest } = state;
  const ended = openIds.find(([id]) => id === given);
  if (ended === undefined) return { callId: given, state };
  const remaining = openIds.filter((one) => one !== ended);
  return { callId: ended[1], state: remaining.length === 0 ? rest : { ...rest, openIds: remaining } };
}
