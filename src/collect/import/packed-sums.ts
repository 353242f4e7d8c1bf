import type { CallSums, ModelCall } from "#core/model/model-call.ts";
import {
  CALL_NUMBERS,
  HAS_FEES,
  IS_SUM,
  type PackedTools,
  type PackedTurns,
  type PackedUsage,
  QUARTER_MS,
} from "#core/model/packed.ts";
import type { Session, ToolCall, Turn } from "#core/model/session.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import { callsIn, isWholeUsage } from "#core/rules/calls.ts";
import { plusKnown } from "#kit/numbers.ts";
import type { Writable } from "#kit/objects.ts";
import type { Unpriced } from "./price.ts";

/**
 * Sums of a packed session per quarter of an hour and commit or change, with the columns of the views `usage`, `tool_usage` and
 * `turn_usage`. Calls have no price yet.
 */
export class PackedSums {
  readonly #boundaries: readonly number[];
  readonly #usage = new Groups<UsageSum>();
  readonly #tools = new Groups<PackedTools>();
  readonly #turns = new Groups<PackedTurns>();

  /** @param boundaries times of the session's commits and changes, ascending: no row has calls of both sides of one */
  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
  }

  get usage(): readonly PackedUsage[] {
    return this.#usage.rows;
  }

  get tools(): readonly PackedTools[] {
    return this.#tools.rows;
  }

  get turns(): readonly PackedTurns[] {
    return this.#turns.rows;
  }

  /**
   * @param tokens its tokens in the order of `TOKEN_KINDS` from `at` on, NaN if unknown; all NaN without usage
   * @returns index of its row in `usage`
   */
  addCall(
    call: {
      readonly model: string | undefined;
      readonly isSubagents: boolean;
      /** See `callsIn`. */
      readonly calls: number | undefined;
      readonly complete: boolean;
      readonly startMs: number;
      readonly endMs: number;
      readonly webSearches?: number | undefined;
      readonly nanoCredits?: number | undefined;
    },
    tokens: ArrayLike<number>,
    at: number,
  ): number {
    const { model, isSubagents, endMs, calls = 1 } = call;
    const timeMs = this.#partOf(endMs);
    const subagent = isSubagents ? 1 : 0;
    const place = this.#usage.place(`${timeMs} ${subagent} ${model ?? "\0"}`, () => ({
      ...{ timeMs, model: model ?? null, subagent, calls: 0, aggregateRecords: 0, withoutUsage: 0, unpriced: 0 },
      ...{ incomplete: 0, tokens: TOKEN_KINDS.map(() => null), costNanoUsd: null, durationMs: 0, noPrice: null },
      ...{ unpricedCalls: null, webSearches: null, unpricedSearches: null, feeNanoUsd: null, nanoCredits: null },
    }));
    const row = this.#usage.at(place);
    if (call.calls === undefined) row.aggregateRecords++;
    else row.calls += calls;
    row.unpriced += calls;
    if (!call.complete) row.incomplete += calls;
    row.durationMs += Math.max(0, endMs - call.startMs);
    if (call.webSearches !== undefined) {
      row.webSearches = (row.webSearches ?? 0) + call.webSearches;
      row.unpricedSearches = (row.unpricedSearches ?? 0) + call.webSearches;
    }
    if (call.nanoCredits !== undefined) row.nanoCredits = (row.nanoCredits ?? 0) + call.nanoCredits;
    if (Number.isNaN(tokens[at + INPUT]) || Number.isNaN(tokens[at + OUTPUT])) row.withoutUsage += calls;
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) addTokens(row, kind, tokens[at + kind]);
    return place;
  }

  addTool({ name, mcpServer, skill, agentId, status, startMs, endMs }: SummedTool): void {
    const timeMs = this.#partOf(startMs);
    const subagent = agentId === undefined ? 0 : 1;
    const key = `${timeMs} ${subagent} ${name}\0${mcpServer ?? "\0"}\0${skill ?? "\0"}`;
    const place = this.#tools.place(key, () => [
      timeMs,
      name,
      mcpServer ?? null,
      skill ?? null,
      subagent,
      0,
      0,
      0,
      0,
      0,
    ]);
    const row = this.#tools.at(place);
    row[5]++;
    if (status === "error") row[6]++;
    if (status === "denied") row[7]++;
    if (status === "unfinished") row[8]++;
    row[9] += Math.max(0, endMs - startMs);
  }

  addTurn({ origin, state, startMs }: Pick<Turn, "origin" | "state" | "startMs">): void {
    const timeMs = this.#partOf(startMs);
    const row = this.#turns.at(this.#turns.place(`${timeMs} ${origin}`, () => [timeMs, origin, 0, 0, 0]));
    row[2]++;
    if (state === "failed") row[3]++;
    if (state === "interrupted") row[4]++;
  }

  /** Sums over all calls. */
  calls(): CallSums {
    const sums = { modelCalls: 0, aggregateRecords: 0, callsWithoutUsage: 0, unpricedCalls: 0, incompleteCalls: 0 };
    const all: Writable<CallSums> = sums;
    for (const row of this.#usage.rows) {
      sums.modelCalls += row.calls;
      sums.aggregateRecords += row.aggregateRecords;
      sums.callsWithoutUsage += row.withoutUsage;
      sums.unpricedCalls += row.unpriced;
      sums.incompleteCalls += row.incomplete;
      for (const [i, kind] of TOKEN_KINDS.entries()) {
        const sum = plusKnown(all[kind], row.tokens[i]);
        if (sum !== undefined) all[kind] = sum;
      }
    }
    return all;
  }

  /** The time that all calls between the same two boundaries of a quarter get: the quarter's start, or just after a boundary. */
  #partOf(ms: number): number {
    const quarter = quarterOf(ms);
    if (this.#boundaries.length === 0) return quarter;
    const before = this.#boundaries.findLast((one) => one < ms);
    return before === undefined || before < quarter ? quarter : before + AFTER_MS;
  }
}

/** Sums over all runs of a session, with the calls that may have a price. @param boundaries as in `PackOptions` */
export function sumsOf(
  { turns, subagents, segments }: Pick<Session, "turns" | "subagents" | "segments">,
  boundaries: readonly number[],
): Pick<Unpriced, "usage" | "tools" | "turns" | "calls" | "sellers"> {
  const sums = new PackedSums(boundaries);
  const priced = new PricedCalls();
  const ordinals = segments.map(({ ordinal }) => ordinal);
  const tokens = new Float64Array(TOKEN_KINDS.length);
  for (const run of [...turns, ...subagents]) {
    const segment = ordinals.indexOf(run.segment);
    for (const call of run.modelCalls) {
      putTokens(tokens, call);
      const { model, provider = null, agentId, covers, complete, startMs, endMs, webSearches, hasOtherFees } = call;
      const summed = { model, isSubagents: agentId !== undefined, calls: callsIn(call), complete };
      const charged = { webSearches, nanoCredits: call.nanoCredits };
      const place = sums.addCall({ ...summed, startMs, endMs, ...charged }, tokens, 0);
      if (!isWholeUsage(call.usage)) continue;
      const flags = (covers === undefined ? 0 : IS_SUM) + (hasOtherFees === true ? HAS_FEES : 0);
      const seller = { provider, tier: call.tier ?? null };
      const amounts = { endMs, webSearches: webSearches ?? 0, flags, calls: summed.calls ?? 1 };
      priced.add({ place, segment, ...seller, ...amounts }, tokens, 0);
    }
    for (const tool of run.toolCalls) sums.addTool(tool);
  }
  // A continuation of a closed turn (key with `~`) is not counted as another turn
  for (const turn of turns) if (!turn.key.includes("~")) sums.addTurn(turn);
  const { calls, sellers } = priced;
  return { usage: sums.usage, tools: sums.tools, turns: sums.turns, calls, sellers };
}

/** Calls that may have a price, `CALL_NUMBERS` numbers each; -1: unknown. */
export class PricedCalls {
  readonly sellers: (readonly [string | null, string | null])[] = [];
  #numbers = new Float64Array(CALL_NUMBERS * 64);
  #length = 0;

  get calls(): Float64Array {
    return this.#numbers.slice(0, this.#length);
  }

  /**
   * @param call `place` of its row in the sums of usage and of its `segment`; `flags`: `IS_SUM` and `HAS_FEES`
   * @param tokens in the order of `TOKEN_KINDS` from `at` on, NaN if unknown
   */
  add(
    call: Readonly<Record<"place" | "segment" | "endMs" | "webSearches" | "flags" | "calls", number>> &
      Readonly<Record<"provider" | "tier", string | null>>,
    tokens: ArrayLike<number>,
    at: number,
  ): void {
    const { place, segment, provider, tier, endMs } = call;
    if (this.#length === this.#numbers.length) {
      const before = this.#numbers;
      this.#numbers = new Float64Array(before.length * 2);
      this.#numbers.set(before);
    }
    let by = this.sellers.findIndex((one) => one[0] === provider && one[1] === tier);
    if (by === -1) by = this.sellers.push([provider, tier]) - 1;
    const to = this.#length;
    this.#numbers[to] = place;
    this.#numbers[to + 1] = segment;
    this.#numbers[to + 2] = by;
    for (const [i, kind] of PRICED.entries()) this.#numbers[to + 3 + i] = orUnknown(tokens[at + kind]);
    this.#numbers[to + 8] = endMs;
    this.#numbers[to + 9] = call.webSearches;
    this.#numbers[to + 10] = call.flags;
    this.#numbers[to + 11] = call.calls;
    this.#length += CALL_NUMBERS;
  }
}

// --- internal ---

type SummedTool = Pick<ToolCall, "name" | "status" | "startMs" | "endMs"> & {
  readonly mcpServer?: string | undefined;
  readonly skill?: string | undefined;
  /** Of the subagent that called it. */
  readonly agentId?: unknown;
};

const INPUT = TOKEN_KINDS.indexOf("input");
const OUTPUT = TOKEN_KINDS.indexOf("output");

type UsageSum = Omit<Writable<PackedUsage>, "tokens"> & { readonly tokens: (number | null)[] };

/** Half of the least difference between two boundaries, so that it is before the next one. */
const AFTER_MS = 1 / 2_048;

const quarterOf = (ms: number): number => Math.floor(ms / QUARTER_MS) * QUARTER_MS;

function addTokens(row: UsageSum, kind: number, tokens: number | undefined): void {
  if (tokens !== undefined && !Number.isNaN(tokens)) row.tokens[kind] = plusKnown(row.tokens[kind] ?? null, tokens);
}

/** One row per key. */
class Groups<T extends object> {
  readonly rows: Writable<T>[] = [];
  readonly #places = new Map<string, number>();
  #last = { key: "", place: -1 };

  place(key: string, make: () => T): number {
    // Facts come in order of time, so the key usually equals the previous one
    if (key === this.#last.key && this.#last.place !== -1) return this.#last.place;
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.rows.length;
      this.#places.set(key, place);
      this.rows.push(make() as Writable<T>);
    }
    this.#last = { key, place };
    return place;
  }

  at(place: number): Writable<T> {
    return this.rows[place] as Writable<T>;
  }
}

/** Token kinds that have a price, as indexes in `TOKEN_KINDS`. */
const PRICED = (["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h"] as const).map((kind) =>
  TOKEN_KINDS.indexOf(kind),
);

const orUnknown = (tokens = Number.NaN): number => (Number.isNaN(tokens) ? -1 : tokens);

function putTokens(tokens: Float64Array, { usage }: ModelCall): void {
  for (const [i, kind] of TOKEN_KINDS.entries()) tokens[i] = usage?.[kind] ?? Number.NaN;
}
