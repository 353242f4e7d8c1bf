// From what records say to facts that count once; the rules of proof are in docs/openhook.md
import { isRandomId, isSequenceNumber, repeatedCallId } from "../../model/call-ids.ts";
import type { FactSink } from "../../model/fact-sink.ts";
import type { TokenUsage } from "../../model/transcript.ts";
import { knownProvider } from "../shared/names/providers.ts";
import { type Found, type FoundTool, factsOf } from "./records.ts";
import type { Fields, Shape } from "./usage.ts";

/** What a reader has to remember between two readings. Plain JSON. */
export interface ShapeState {
  /** Number of records so far. */
  records: number;
  shapes: readonly Shape[];
  /** Time of records without one: the last one that a record had, otherwise when the file was written. */
  timeMs: number;
  /** The latest answers with an id. */
  answers: readonly Answer[];
  /** Key of the answer whose next parts have no id, and its input. */
  open: Answer | undefined;
  /** Usage of which nothing shows yet whether it is of a call or a sum. */
  counters: readonly Counter[];
  /** `calls`: such usage was proven to be of calls. `many`: too much to keep. */
  countersAre: "unproven" | "calls" | "many";
  /** The first counter was passed on as the session's sum. */
  isCounted: boolean;
  /** Something is in the file that no call has. */
  isMore: boolean;
  /** Sums over the calls, and as they were at the last counter. */
  calls: Sum | undefined;
  callsBefore: Sum | undefined;
  /** The last running total, and the sum of those that were started anew. */
  total: TokenUsage | undefined;
  totalBefore: TokenUsage | undefined;
  /** Calls of tools that were started and have no result yet, and ids that had one. */
  openTools: readonly {
    readonly callId: string;
    readonly given: string | undefined;
    readonly name: string | undefined;
  }[];
  endedTools: readonly string[];
}

export const shapeState = (modifiedMs: number, stored: Partial<ShapeState> = {}): ShapeState => ({
  records: 0,
  shapes: [],
  timeMs: modifiedMs,
  answers: [],
  open: undefined,
  counters: [],
  countersAre: "unproven",
  isCounted: false,
  isMore: false,
  calls: undefined,
  callsBefore: undefined,
  total: undefined,
  totalBefore: undefined,
  openTools: [],
  endedTools: [],
  ...stored,
});

/**
 * Passes the facts of a record to the sink.
 *
 * @param times of the document's answers so far: a program that rewrites a document can leave records out, so that an answer's time
 *   identifies it better than its position
 */
export function readRecord(record: Fields, state: ShapeState, sink: FactSink, times?: Times): void {
  const { found, tools } = factsOf(record);
  const place = `${state.records++}`;
  const seen: Times = times ?? new Map();
  for (const one of found) {
    const at = times !== undefined || one.place !== "" ? timePlace(one.timeMs, seen) : undefined;
    readUsage({ ...one, place: at ?? place + one.place }, state, sink);
  }
  for (const [at, tool] of tools.entries()) readTool({ ...tool, place: `${place}${tool.place}:${at}` }, state, sink);
}

/** Times in milliseconds, with their number. */
export type Times = Map<number, number>;

/** Passes on what only the end of a reading shows: sums, and that there is usage of which nothing is known. */
export function concludeReading(state: ShapeState, sink: FactSink): void {
  const { calls, counters, total } = state;
  const [only, ...others] = counters;
  const sum = total === undefined ? undefined : plus(state.totalBefore, total);
  if (calls === undefined) {
    const isSingle = only !== undefined && others.length === 0 && !state.isCounted && state.countersAre === "unproven";
    const usage = sum ?? (isSingle ? only.usage : undefined);
    if (usage !== undefined) putSum(state, sink, usage, only);
    if (usage !== undefined && only !== undefined) noteShape(only, state);
    if (sum === undefined && isSingle) state.isCounted = true;
    if (!state.isCounted || others.length === 0) return;
  }
  const isLess =
    calls !== undefined && sum !== undefined && (over(sum.input, calls.input) || over(sum.output, calls.output));
  if (!isLess && !state.isMore && (counters.length === 0 || (calls === undefined && others.length === 0))) return;
  const base = { key: "openhook:unproven", timeMs: state.timeMs };
  sink.modelCall(base, { endMs: state.timeMs, complete: true, covers: "turn" });
}

// --- internal ---

interface Answer {
  readonly key: string;
  readonly id?: string | undefined;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
}
interface Sum {
  readonly input: number;
  readonly output: number;
}
type Counter = Pick<Found, "place" | "shape" | "usage" | "model" | "timeMs">;

/** An answer's parts are close to each other. */
const MAX_ANSWERS = 64;
/** Only so many are kept until there is proof. */
const MAX_COUNTERS = 200;
const MAX_TOOLS = 200;

function timePlace(timeMs: number | undefined, seen: Times): string | undefined {
  if (timeMs === undefined) return undefined;
  const n = (seen.get(timeMs) ?? 0) + 1;
  seen.set(timeMs, n);
  return `at:${timeMs}:${n}`;
}

function readUsage(found: Found, state: ShapeState, sink: FactSink): void {
  const { usage, basis, total } = found;
  if (found.timeMs !== undefined) state.timeMs = found.timeMs;
  const isUnchanged = total !== undefined && isSame(total, state.total);
  if (total !== undefined || basis === "sum") readTotal(total ?? usage, state);
  if (basis === "sum") noteShape(found, state);
  if (isUnchanged || basis === "sum") return;
  if (basis === "answer" || state.countersAre === "calls") putCall(found, state, sink);
  else readCounter(found, state, sink);
}

/** Only of usage that counts: without any, the session's usage is unknown. */
function noteShape({ shape, usage }: Pick<Found, "shape" | "usage">, state: ShapeState): void {
  if (shape !== undefined && usage !== undefined && !state.shapes.includes(shape))
    state.shapes = [...state.shapes, shape];
}

function readTotal(total: TokenUsage | undefined, state: ShapeState): void {
  if (total === undefined) return;
  // It starts anew after a restart or a compaction
  if (state.total !== undefined && over(state.total.input, total.input) && over(state.total.output, total.output))
    state.totalBefore = plus(state.totalBefore, state.total);
  state.total = total;
}

/** Usage that names no answer. One count that falls while the other does not cannot be of running totals. */
function readCounter(found: Found, state: ShapeState, sink: FactSink): void {
  const { usage } = found;
  const { calls, callsBefore: before } = state;
  state.callsBefore = calls;
  if (usage === undefined) {
    state.isMore = true;
    return;
  }
  if (calls !== undefined) {
    const last = state.answers.at(-1);
    const since = { input: calls.input - (before?.input ?? 0), output: calls.output - (before?.output ?? 0) };
    if ([calls, since, last].some((sum) => sum?.input === usage.input && sum?.output === usage.output)) return;
  }
  const last = state.counters.at(-1)?.usage;
  const { place, shape, model, timeMs } = found;
  if (state.countersAre === "unproven") state.counters = [...state.counters, { place, shape, model, timeMs, usage }];
  const [falls, rises] = [isFall(last?.input, usage.input), isFall(last?.output, usage.output)];
  if (last !== undefined && falls !== undefined && rises !== undefined && falls !== rises) {
    const own = state.isCounted ? state.counters.slice(1) : state.counters;
    state.counters = [];
    state.countersAre = "calls";
    for (const counter of own)
      putCall({ ...found, ...counter, id: undefined, piece: undefined, fees: {} }, state, sink);
  } else if (state.counters.length > MAX_COUNTERS) {
    state.countersAre = "many";
    state.counters = state.counters.slice(0, 2);
  }
}

const isFall = (before: number | undefined, now: number | undefined): boolean | undefined =>
  before === undefined || now === undefined ? undefined : now < before;

function putCall(found: Found, state: ShapeState, sink: FactSink): void {
  const { usage, model, provider, finishReason, piece } = found;
  noteShape(found, state);
  const answer = answerOf(found, state);
  const before = state.answers.find(({ key }) => key === answer.key);
  const own = {
    ...answer,
    input: Math.max(usage?.input ?? 0, before?.input ?? 0),
    output: Math.max(usage?.output ?? 0, before?.output ?? 0),
  };
  if (usage !== undefined || state.calls !== undefined)
    state.calls = {
      input: (state.calls?.input ?? 0) + own.input - (before?.input ?? 0),
      output: (state.calls?.output ?? 0) + own.output - (before?.output ?? 0),
    };
  const known = usage?.input === undefined && before?.input === undefined ? { ...own, input: undefined } : own;
  state.answers = [...state.answers.filter(({ key }) => key !== answer.key), known].slice(-MAX_ANSWERS);
  state.open = piece === undefined || piece === "last" ? undefined : known;
  const endMs = found.timeMs ?? state.timeMs;
  sink.modelCall(
    { key: answer.key, timeMs: endMs, globalKey: answer.id === undefined ? undefined : answer.key },
    {
      responseId: answer.id,
      model,
      provider: knownProvider(provider) ?? (provider?.includes(".") === true ? provider : undefined),
      startMs: found.startMs,
      endMs,
      usage,
      complete: piece !== "first" && (piece !== "part" || usage !== undefined),
      finishReason,
      asksForTools: found.asksForTools || undefined,
      noListPrice: found.isOtherTier || undefined,
      ...found.fees,
    },
  );
}

/**
 * The answer that a record is of. An id that is not random can be another answer's too, as those of local servers; two requests of a
 * conversation never have the same size.
 */
function answerOf({ id, usage, piece, place, timeMs }: Found, state: ShapeState): Answer {
  const isSize = (one: Answer): boolean =>
    one.input === undefined || usage?.input === undefined || one.input === usage.input;
  if (id === undefined) {
    const isPart = piece === "part" || piece === "last";
    const isOpen = piece === "next" || (isPart && state.open?.id === undefined && isSize(state.open ?? { key: "" }));
    return isOpen && state.open !== undefined ? state.open : { key: `answer:${place}` };
  }
  if (isRandomId(id)) return { key: `response:${id}`, id };
  const stamp = `${timeMs ?? place}:${usage?.input ?? ""}`;
  return state.answers.findLast((one) => one.id === id && isSize(one)) ?? { key: `response:${id}:${stamp}`, id };
}

function putSum(state: ShapeState, sink: FactSink, usage: TokenUsage, only: Counter | undefined): void {
  const endMs = state.timeMs;
  // The key of the sums in a session's end, which are not added to these
  sink.modelCall(
    { key: "openhook:session", timeMs: endMs },
    { endMs, model: only?.model, usage, complete: true, covers: "session" },
  );
}

function readTool(
  { kind, id: given, name, isError, place, timeMs = undefined }: FoundTool,
  state: ShapeState,
  sink: FactSink,
): void {
  const ms = timeMs ?? state.timeMs;
  const open = state.openTools.find((one) =>
    given === undefined ? one.given === undefined && one.name === name : one.given === given,
  );
  if (kind === "use") {
    if (open !== undefined && given !== undefined) return;
    const isAgain = given !== undefined && isSequenceNumber(given) && state.endedTools.includes(given);
    const callId = given === undefined ? `tool:${place}` : isAgain ? repeatedCallId(given, place) : given;
    state.openTools = [...state.openTools, { callId, given, name }].slice(-MAX_TOOLS);
    sink.toolUse(
      { key: `use:${callId}`, timeMs: ms, globalKey: globalOf("use", callId) },
      { callId, name: name ?? "unknown" },
    );
    return;
  }
  const callId = open?.callId ?? given;
  if (callId === undefined) return;
  state.openTools = state.openTools.filter((one) => one !== open);
  if (given !== undefined)
    state.endedTools = [...state.endedTools.filter((one) => one !== given), given].slice(-MAX_TOOLS);
  const status = isError ? ("error" as const) : ("success" as const);
  sink.toolResult({ key: `result:${callId}`, timeMs: ms, globalKey: globalOf("result", callId) }, { callId, status });
}

const globalOf = (kind: string, callId: string): string | undefined =>
  isRandomId(callId) ? `${kind}:${callId}` : undefined;

const isSame = (a: TokenUsage, b: TokenUsage | undefined): boolean =>
  b !== undefined && a.input === b.input && a.output === b.output;

const over = (a: number | undefined, b: number | undefined): boolean => a !== undefined && b !== undefined && a > b;

function plus(a: TokenUsage | undefined, b: TokenUsage): TokenUsage {
  if (a === undefined) return b;
  const names = Object.keys(b).filter((name) => a[name as keyof TokenUsage] !== undefined) as (keyof TokenUsage)[];
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)])) as TokenUsage;
}
