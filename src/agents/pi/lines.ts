import { isRandomId, repeatedCallId } from "../../model/call-ids.ts";
import { defined } from "../../model/defined.ts";
import { lostCallKey } from "../../model/lost-calls.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { helperEntries } from "./helpers.ts";
import { answerEntries, callsIn, lengthOf, type Message, timestampOf } from "./messages.ts";
import { resultEntry, useEntry } from "./tools.ts";

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
  if (kind === "compaction") return { ...compaction(place), kind };
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
  } as EntryOf<"session">);

const compaction = ({ id, timeMs, state }: Place): Walked => ({
  entries: [{ kind: "compaction", key: `compaction:${id}`, globalKey: `compaction:${id}`, timeMs, ...baseOf(state) }],
  state,
});

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
  } as EntryOf<"prompt">);
  const lost = openHelpers === undefined || state.promptKey === undefined ? [] : [lostCall(state.promptKey, id, state)];
  return { entries: [...lost, entry], state: { ...rest, promptKey } };
}

/** The process was killed in a call that had started helpers: what they used is unknown. */
const lostCall = (promptKey: string, id: string, { timeMs }: LineState): EntryOf<"model_call"> => ({
  kind: "model_call",
  key: lostCallKey(promptKey),
  globalKey: `lost:${id}`,
  timeMs,
  promptKey,
  startMs: timeMs,
  endMs: timeMs,
  complete: false,
});

function answer(message: Message, { id, timeMs, state }: Place): Walked {
  const base = baseOf(state);
  const { failures = 0, ...rest } = state;
  const entries = [...answerEntries(message, timeMs, base, failures)];
  let after: LineState = message["stopReason"] === "error" ? { ...rest, failures: failures + 1 } : rest;
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
  return {
    entries: [
      resultEntry(message, ended.callId, endMs, base, id),
      ...helperEntries(message["details"], ended.callId, base),
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
