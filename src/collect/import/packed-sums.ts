import type { CallSums } from "#core/model/model-call.ts";
import { type PackedTools, type PackedTurns, type PackedUsage, QUARTER_MS } from "#core/model/packed.ts";
import type { ToolCall, Turn } from "#core/model/session.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import { plusKnown } from "#kit/numbers.ts";
import type { Writable } from "#kit/objects.ts";

/**
 * Sums of a packed session per quarter of an hour and commit or change, with the columns of the views `usage`, `tool_usage` and
 * `turn_usage`. Calls have no price yet.
 */
export class PackedSums {
  readonly #boundaries: readonly number[];
  readonly #usage = new Groups<PackedUsage>();
  readonly #tools = new Groups<PackedTools>();
  readonly #turns = new Groups<PackedTurns>();

  /** @param boundaries times of the session's commits and changes, ascending: no row has calls of both sides of one */
  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
  }

  get usage(): readonly Writable<PackedUsage>[] {
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
    },
    tokens: ArrayLike<number>,
    at: number,
  ): number {
    const { model, isSubagents, endMs, calls = 1 } = call;
    const timeMs = this.#partOf(endMs);
    const subagent = isSubagents ? 1 : 0;
    const place = this.#usage.place(`${timeMs} ${subagent} ${model ?? "\0"}`, () => [
      ...([timeMs, model ?? null, subagent, 0, 0, 0, 0, 0] as const),
      ...([null, null, null, null, null, null, null, null, 0, null, null] as const),
    ]);
    const row = this.#usage.at(place);
    if (call.calls === undefined) row[4]++;
    else row[3] += calls;
    row[6] += calls;
    if (!call.complete) row[7] += calls;
    row[16] += Math.max(0, endMs - call.startMs);
    if (Number.isNaN(tokens[at + INPUT]) || Number.isNaN(tokens[at + OUTPUT])) row[5] += calls;
    for (let kind = 0; kind < TOKEN_KINDS.length; kind++) addTokens(row, kind, tokens[at + kind]);
    return place;
  }

  addTool({ name, mcpServer, agentId, status, startMs, endMs }: SummedTool): void {
    const timeMs = this.#partOf(startMs);
    const subagent = agentId === undefined ? 0 : 1;
    const key = `${timeMs} ${subagent} ${name}\0${mcpServer ?? "\0"}`;
    const place = this.#tools.place(key, () => [timeMs, name, mcpServer ?? null, subagent, 0, 0, 0, 0, 0]);
    const row = this.#tools.at(place);
    row[4]++;
    if (status === "error") row[5]++;
    if (status === "denied") row[6]++;
    if (status === "unfinished") row[7]++;
    row[8] += Math.max(0, endMs - startMs);
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
    const all: [number, number, number, number, number] = [0, 0, 0, 0, 0];
    const tokens: Writable<Partial<Record<(typeof TOKEN_KINDS)[number], number>>> = {};
    for (const row of this.#usage.rows) {
      for (let i = 0; i < all.length; i++) all[i as 0] += row[(3 + i) as 3];
      for (const [i, kind] of TOKEN_KINDS.entries()) {
        const sum = plusKnown(tokens[kind], row[(FIRST_TOKENS + i) as 8]);
        if (sum !== undefined) tokens[kind] = sum;
      }
    }
    const [modelCalls, aggregateRecords, callsWithoutUsage, unpricedCalls, incompleteCalls] = all;
    return { modelCalls, aggregateRecords, callsWithoutUsage, unpricedCalls, incompleteCalls, ...tokens };
  }

  /** The time that all calls between the same two boundaries of a quarter get: the quarter's start, or just after a boundary. */
  #partOf(ms: number): number {
    const quarter = quarterOf(ms);
    if (this.#boundaries.length === 0) return quarter;
    const before = this.#boundaries.findLast((one) => one < ms);
    return before === undefined || before < quarter ? quarter : before + AFTER_MS;
  }
}

// --- internal ---

type SummedTool = Pick<ToolCall, "name" | "status" | "startMs" | "endMs"> & {
  readonly mcpServer?: string | undefined;
  /** Of the subagent that called it. */
  readonly agentId?: unknown;
};

const INPUT = TOKEN_KINDS.indexOf("input");
const OUTPUT = TOKEN_KINDS.indexOf("output");

/** Index of the first token count in a row of `usage`. */
const FIRST_TOKENS = 8;

/** Half of the least difference between two boundaries, so that it is before the next one. */
const AFTER_MS = 1 / 2_048;

const quarterOf = (ms: number): number => Math.floor(ms / QUARTER_MS) * QUARTER_MS;

function addTokens(row: Writable<PackedUsage>, kind: number, tokens: number | undefined): void {
  const place = (FIRST_TOKENS + kind) as 8;
  if (tokens !== undefined && !Number.isNaN(tokens)) row[place] = plusKnown(row[place], tokens);
}

/** One row per key. */
class Groups<T extends readonly unknown[]> {
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
      this.rows.push([...make()] as unknown as Writable<T>);
    }
    this.#last = { key, place };
    return place;
  }

  at(place: number): Writable<T> {
    return this.rows[place] as Writable<T>;
  }
}
