// From what records say to facts that count once; the rules of proof are in docs/openhook.md

import type { FactSink } from "#core/model/fact-sink.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { isRandomId, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { usagesIn } from "#core/rules/usage-shapes.ts";
import { sumOfAll } from "#kit/numbers.ts";
import { knownProvider } from "../shared/names/providers.ts";
import type { Fields } from "../shared/payload/json.ts";
import { type Found, type FoundTool, factsOf } from "./records.ts";
import { isSame, type Shape } from "./usage.ts";

/** What a reader has to remember between two readings. Plain JSON. */
export interface ShapeState {
  /** Number of records so far. */
  records: number;
  shapes: readonly Shape[];
  /** Time of records without one: the last one that a record had, otherwise when the file was written. */
  timeMs: number;
  /** The latest answers. */
  answers: readonly Answer[];
  /** The answer whose next parts have no id. */
  open?: Answer | undefined;
  /** Usage of which nothing shows yet whether it is of a call or a sum. */
  counters: readonly Counter[];
  /** `calls`: such usage was proven to be of calls. `many`: too much to keep. */
  countersAre: "unproven" | "calls" | "many";
  /** The first counter was passed on as the session's sum. */
  isCounted: boolean;
  /** Something is in the file that no call has. */
  isMore: boolean;
  /** Sums over the calls, and as they were at the last record that ended some. */
  calls?: Sum | undefined;
  callsBefore?: Sum | undefined;
  /** The last running total, and the sum of those that were started anew. */
  total?: TokenUsage | undefined;
  totalBefore?: TokenUsage | undefined;
  /** Calls of tools that were started and have no result yet, and ids that had one. */
  openTools: readonly OpenTool[];
  endedTools: readonly string[];
}

export const shapeState = (timeMs: number, stored: Partial<ShapeState> = {}): ShapeState => ({
  ...{ records: 0, timeMs, isCounted: false, isMore: false, countersAre: "unproven" },
  ...{ shapes: [], answers: [], counters: [], openTools: [], endedTools: [] },
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
  if (found.length === 0 && usagesIn(record).some(({ path }) => !SENT.test(path))) state.isMore = true;
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
  const { calls, counters, total, timeMs } = state;
  const sum = total && plus(state.totalBefore, total);
  if (calls === undefined) {
    const isSingle = counters.length === 1 && state.countersAre === "unproven" && !state.isCounted;
    const usage = sum ?? (isSingle ? counters[0]?.usage : undefined);
    if (sum === undefined && isSingle) state.isCounted = true;
    if (usage !== undefined) {
      if (counters[0] !== undefined) noteShape(counters[0], state);
      // The key of the sums in a session's end, which are not added to these
      const base = { key: "openhook:session", timeMs };
      sink.modelCall(base, { endMs: timeMs, model: counters[0]?.model, usage, complete: true, covers: "session" });
    }
  }
  const isMore =
    calls === undefined
      ? state.isCounted && counters.length > 1
      : state.isMore ||
        counters.some(({ usage }) => !isSame(usage, calls)) ||
        (sum !== undefined && isOver(sum, calls));
  if (isMore) sink.modelCall({ key: "openhook:unproven", timeMs }, { endMs: timeMs, complete: true, covers: "turn" });
}

// --- internal ---

interface Answer {
  readonly key: string;
  readonly id?: string | undefined;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
}
interface OpenTool {
  readonly callId: string;
  readonly given: string | undefined;
  readonly name: string | undefined;
}
interface Sum {
  readonly input: number;
  readonly output: number;
}
type Counter = Pick<Found, "place" | "shape" | "usage" | "model" | "timeMs">;

/** Members with what was sent: earlier answers, and arguments and results of tools. */
const SENT = /(?:^|\.)(?:request|input|prompt|messages|content|parts|args|arguments)(?:\.|$)/;
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
  const { usage, basis, total, id } = found;
  if (found.timeMs !== undefined) state.timeMs = found.timeMs;
  const isUnchanged = isSame(total, state.total);
  if (total !== undefined || basis === "sum") readTotal(total ?? usage, state, found.shape);
  if (basis === "sum") noteShape(found, state);
  if (isUnchanged || basis === "sum") return;
  const isUnproven = basis === "counter" && state.countersAre !== "calls";
  const isEnd = isUnproven || (found.isEnd && id === undefined);
  const since = callsSince(state);
  if (isEnd && (isUnproven || since !== undefined) && isKnown(usage, since, state)) noteShape(found, state);
  else if (isUnproven) readCounter(found, state, sink);
  else if (isEnd && basis === "run" && since !== undefined) state.isMore = true;
  else putCall(found, state, sink);
  if (isEnd) state.callsBefore = state.calls;
}

/** The sum of the calls since the last record that ended some. */
function callsSince({ calls, callsBefore: before }: ShapeState): Sum | undefined {
  if (calls === undefined) return undefined;
  const since = { input: calls.input - (before?.input ?? 0), output: calls.output - (before?.output ?? 0) };
  return since.input + since.output > 0 ? since : undefined;
}

/** Whether usage is that of known calls again: of all, of those since the last end, or of the last one. */
const isKnown = (usage: TokenUsage | undefined, since: Sum | undefined, { calls, answers }: ShapeState): boolean =>
  calls !== undefined && [calls, since, answers.at(-1)].some((one) => isSame(one, usage));

/** Only of usage that counts: without any, the session's usage is unknown. */
function noteShape({ shape, usage }: Pick<Found, "shape" | "usage">, state: ShapeState): void {
  if (shape !== undefined && usage !== undefined && !state.shapes.includes(shape))
    state.shapes = [...state.shapes, shape];
}

function readTotal(total: TokenUsage | undefined, state: ShapeState, shape: Shape | undefined): void {
  if (total === undefined) return;
  // Sums of spans do not grow: one can be of another agent, or part of another one
  if (shape === "gen-ai-attributes" && state.total !== undefined) {
    if (!isSame(total, state.total)) state.total = {};
    return;
  }
  // It starts anew after a restart or a compaction
  const [input, output] = [isFall(state.total?.input, total.input), isFall(state.total?.output, total.output)];
  if (input === true && output === true && state.total !== undefined)
    state.totalBefore = plus(state.totalBefore, state.total);
  state.total = total;
}

/** Usage that names no answer. One count that falls while the other does not cannot be of running totals. */
function readCounter(found: Found, state: ShapeState, sink: FactSink): void {
  const { place, shape, model, timeMs, usage } = found;
  if (usage === undefined) {
    state.isMore = true;
    return;
  }
  if (state.countersAre === "many") return;
  const last = state.counters.at(-1)?.usage;
  state.counters = [...state.counters, { place, shape, model, timeMs, usage }];
  const [input, output] = [isFall(last?.input, usage.input), isFall(last?.output, usage.output)];
  // The counters prove to be calls. After a sum of them was passed on, that is too late: the sum may have been exported
  if (!state.isCounted && input !== undefined && output !== undefined && input !== output) {
    const own = state.counters;
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
  const { basis, usage, model, provider, finishReason, piece } = found;
  noteShape(found, state);
  const answer = answerOf(found, state);
  const before = state.answers.find(({ key }) => key === answer.key);
  const own = { ...answer, input: larger(usage?.input, before?.input), output: larger(usage?.output, before?.output) };
  if (usage !== undefined)
    state.calls = {
      input: (state.calls?.input ?? 0) + (own.input ?? 0) - (before?.input ?? 0),
      output: (state.calls?.output ?? 0) + (own.output ?? 0) - (before?.output ?? 0),
    };
  state.answers = [...state.answers.filter(({ key }) => key !== answer.key), own].slice(-MAX_ANSWERS);
  state.open = piece === undefined || piece === "last" ? undefined : own;
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
      covers: basis === "run" ? "turn" : undefined,
      finishReason,
      asksForTools: found.asksForTools || undefined,
      tier: found.tier,
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

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

const isOver = (a: TokenUsage, b: Sum): boolean => (a.input ?? 0) > b.input || (a.output ?? 0) > b.output;

const plus = (a: TokenUsage | undefined, b: TokenUsage): TokenUsage =>
  a === undefined ? b : Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, sumOfAll(a[kind], b[kind])]));
