import { encodeTables } from "../model/fact-columns.ts";
import {
  CALL,
  COMPLETE,
  type FactTables,
  HAS_USAGE,
  NONE,
  PROMPT,
  RESULT,
  STATUSES,
  USE,
} from "../model/fact-tables.ts";
import { type PackedTools, type PackedUsage, QUARTER_MS } from "../model/packed.ts";
import { ENDED_IDLE } from "../model/session.ts";
import type { Writable } from "../model/writable.ts";
import { NO_TOTALS, type Totals } from "../telemetry/totals.ts";
import { CALL_NUMBERS, ownedBy, type PackOptions, type Unpriced } from "./pack.ts";
import { OPEN, Runs, UNKNOWN_TOOL } from "./runs.ts";
import { NO_USAGE, plus } from "./sums.ts";

/**
 * The same as `pack` of the facts in tables, without making any of them an object: for sessions of prompts, answers and tools,
 * as nearly all are.
 *
 * @returns `undefined` for a session that holds anything that decides how a turn went, or belongs to no prompt: those are built
 */
export function packTables(tables: FactTables, options: PackOptions): Unpriced | undefined {
  const runs = new Runs(tables);
  return runs.areSimple && runs.turns.size > 0 ? new TableSums(tables, runs, options).packed() : undefined;
}

/** Times of the first and last record. */
export function spanOf({ calls, uses, results, prompts, others }: FactTables): { firstMs: number; lastMs: number } {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const see = (ms: number): void => {
    if (ms < firstMs) firstMs = ms;
    if (ms > lastMs) lastMs = ms;
  };
  for (const [{ times }, shape] of [
    [calls, CALL] as const,
    [uses, USE] as const,
    [results, RESULT] as const,
    [prompts, PROMPT] as const,
  ]) {
    for (let at: number = shape.timeMs; at < times.length; at += shape.times) see(times[at] ?? firstMs);
  }
  for (const { timeMs } of others) see(timeMs);
  return { firstMs, lastMs };
}

// --- internal ---

/** The sums of `sumsOf` and `segmentTotals`, and what `callsOf` notes of the calls. */
class TableSums {
  readonly #tables: FactTables;
  readonly #runs: Runs;
  readonly #options: PackOptions;
  readonly #startMs: number;
  /** Of the one segment: nothing tells of another. */
  readonly #endMs: number;

  constructor(tables: FactTables, runs: Runs, options: PackOptions) {
    this.#tables = tables;
    this.#runs = runs;
    this.#options = options;
    let [startMs, endMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { markMs } of runs.turns.values()) {
      startMs = Math.min(startMs, markMs);
      endMs = Math.max(endMs, markMs);
    }
    for (const tool of runs.tools) endMs = Math.max(endMs, tool.endMs);
    const { times } = tables.calls;
    for (let at: number = CALL.endMs; at < times.length; at += CALL.times) endMs = Math.max(endMs, times[at] ?? endMs);
    this.#startMs = startMs;
    this.#endMs = endMs;
  }

  packed(): Unpriced {
    const tools = this.#toolRows();
    const { usage, calls, totals } = this.#usage();
    const segment = {
      ordinal: 0,
      startMs: this.#startMs,
      lastActivityMs: this.#endMs,
      uses: [],
      endMs: this.#endMs,
      ...ENDED_IDLE,
    };
    return {
      facts: encodeTables(this.#tables),
      owned: this.#owned(),
      segments: [{ segment, totals: this.#totals(totals) }],
      usage,
      tools,
      turns: this.#turnRows(),
      calls,
      providers: calls.length === 0 ? [] : [null],
    };
  }

  /** Digests of the tables' keys, and of those that stand beside them. */
  #owned(): Float64Array {
    const { owned, others } = this.#tables;
    const more = ownedBy(this.#options.facts.source, others);
    const all = new Float64Array(owned.length + more.length);
    all.set(owned);
    all.set(more, owned.length);
    return all;
  }

  /** A call that nobody answered lasted as long as its session; that may be longer than its run was known to be. */
  #toolRows(): PackedTools[] {
    const rows: Writable<PackedTools>[] = [];
    const places = new Map<number, Writable<PackedTools>>();
    for (const { name, run, isSubagents, startMs, endMs: knownMs, status } of this.#runs.tools) {
      const endMs = status === OPEN ? Math.max(startMs, this.#endMs) : knownMs;
      if (endMs > run.endMs) run.endMs = endMs;
      const quarter = Math.floor(startMs / QUARTER_MS);
      const subagent = isSubagents ? 1 : 0;
      const key = (quarter * 2 + subagent) * KEYS_PER_QUARTER + name + 1;
      let row = places.get(key);
      if (row === undefined) {
        row = [quarter * QUARTER_MS, this.#nameOf(name) ?? UNKNOWN_TOOL, null, subagent, 0, 0, 0, 0, 0];
        places.set(key, row);
        rows.push(row);
      }
      row[4]++;
      const said = status === OPEN ? "unfinished" : STATUSES[status];
      if (said === "error") row[5]++;
      else if (said === "denied") row[6]++;
      else if (said === "unfinished") row[7]++;
      row[8] += endMs - startMs;
    }
    return rows;
  }

  #usage(): { usage: Writable<PackedUsage>[]; calls: Float64Array; totals: CallTotals } {
    const { ints, times, count } = this.#tables.calls;
    const rows: Writable<PackedUsage>[] = [];
    const places = new Map<number, number>();
    const calls = new Float64Array(count * CALL_NUMBERS);
    const totals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, callsWithUsage: 0, incompleteCalls: 0 };
    let noted = 0;
    for (let row = 0, at = 0; row < ints.length; row += CALL.ints, at += CALL.times) {
      const [timeMs = 0, beginMs = 0, endMs = 0] = [
        times[at + CALL.timeMs],
        times[at + CALL.startMs],
        times[at + CALL.endMs],
      ];
      const startMs = Math.min(Number.isNaN(beginMs) ? timeMs : beginMs, endMs);
      const model = ints[row + CALL.model] ?? NONE;
      const flags = ints[row + CALL.flags] ?? 0;
      const subagent = ints[row + CALL.agent] === NONE ? 0 : 1;
      const quarter = Math.floor(endMs / QUARTER_MS);
      const key = (quarter * 2 + subagent) * KEYS_PER_QUARTER + model + 1;
      let place = places.get(key);
      if (place === undefined) {
        place = rows.length;
        places.set(key, place);
        rows.push([quarter * QUARTER_MS, this.#nameOf(model), subagent, ...NO_USAGE]);
      }
      const sums = rows[place];
      if (sums === undefined) continue;
      sums[3]++;
      sums[6]++;
      sums[16] += endMs - startMs;
      if ((flags & COMPLETE) === 0) {
        sums[7]++;
        totals.incompleteCalls++;
      }
      if ((flags & HAS_USAGE) === 0) {
        sums[5]++;
        continue;
      }
      const [input, output] = [unsigned(ints[row + CALL.input]), unsigned(ints[row + CALL.output])];
      const [read, write] = [told(ints[row + CALL.cacheRead]), told(ints[row + CALL.cacheWrite])];
      const write1h = told(ints[row + CALL.cacheWrite1h]);
      sums[8] = plus(sums[8], input);
      sums[9] = plus(sums[9], output);
      sums[10] = plus(sums[10], read);
      sums[11] = plus(sums[11], write);
      sums[12] = plus(sums[12], told(ints[row + CALL.cacheWrite5m]));
      sums[13] = plus(sums[13], write1h);
      sums[14] = plus(sums[14], told(ints[row + CALL.reasoning]));
      totals.callsWithUsage++;
      totals.input += input;
      totals.output += output;
      totals.cacheRead += read ?? 0;
      totals.cacheWrite += write ?? 0;
      if (model === NONE) continue;
      calls[noted] = place;
      calls[noted + 3] = input;
      calls[noted + 4] = output;
      calls[noted + 5] = read ?? NONE;
      calls[noted + 6] = write ?? NONE;
      calls[noted + 7] = write1h ?? NONE;
      calls[noted + 8] = endMs;
      noted += CALL_NUMBERS;
    }
    return { usage: rows, calls: calls.slice(0, noted), totals };
  }

  #turnRows(): [number, string, number, number, number][] {
    const rows = new Map<string, [number, string, number, number, number]>();
    for (const { startMs, isMachine } of this.#runs.turns.values()) {
      const timeMs = Math.floor(startMs / QUARTER_MS) * QUARTER_MS;
      const origin = isMachine ? "machine" : "human";
      const row = rows.get(`${timeMs} ${origin}`) ?? [timeMs, origin, 0, 0, 0];
      row[2]++;
      rows.set(`${timeMs} ${origin}`, row);
    }
    return [...rows.values()];
  }

  #totals(ofCalls: CallTotals): Totals {
    const { turns, subagents, tools, compactions } = this.#runs;
    let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const runs of [turns, subagents]) {
      for (const run of runs.values()) {
        firstMs = Math.min(firstMs, run.startMs);
        lastMs = Math.max(lastMs, run.endMs);
      }
    }
    const { count } = this.#tables.calls;
    const { reported } = this.#options;
    return {
      ...NO_TOTALS,
      ...ofCalls,
      turns: turns.size,
      subagents: subagents.size,
      modelCalls: count,
      toolCalls: tools.length,
      unpricedCalls: count,
      compactions: compactions.filter((ms) => ms >= this.#startMs && ms <= this.#endMs).length,
      firstMs,
      lastMs,
      ...(reported !== undefined && { reported }),
    };
  }

  #nameOf(text: number): string | null {
    return text === NONE ? null : this.#tables.text(text);
  }
}

type CallTotals = Pick<Totals, "input" | "output" | "cacheRead" | "cacheWrite" | "callsWithUsage" | "incompleteCalls">;

/** More than any session has texts. */
const KEYS_PER_QUARTER = 2 ** 28;
/** Tokens of a call need all bits of their four bytes. */
const unsigned = (n: number | undefined): number => (n ?? 0) >>> 0;
const told = (tokens: number | undefined): number | undefined =>
  tokens === undefined || tokens === NONE ? undefined : unsigned(tokens);
