import { encodeTables } from "../model/fact-columns.ts";
import {
  CALL,
  COMPLETE,
  type FactTables,
  HAS_USAGE,
  NONE,
  ORIGINS,
  PROMPT,
  RESULT,
  STATUSES,
  USE,
} from "../model/fact-tables.ts";
import { type PackedTools, type PackedUsage, QUARTER_MS } from "../model/packed.ts";
import { ENDED_IDLE } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { NO_PROMPT } from "../session/assign.ts";
import { NO_TOTALS, type Totals } from "../telemetry/totals.ts";
import { CALL_NUMBERS, type PackOptions, type Unpriced } from "./pack.ts";

/**
 * The same as `pack` of the facts in tables, without making any of them an object: for sessions of prompts, answers and tools,
 * as nearly all are.
 *
 * @returns `undefined` for a session that holds anything that decides how a turn went, or belongs to no prompt: those are built
 */
export function packTables(tables: FactTables, options: PackOptions): Unpriced | undefined {
  const runs = new Runs(tables);
  return runs.areSimple && runs.turns.size > 0 ? new Sums(tables, runs, options).packed() : undefined;
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

/** A turn or subagent, as far as sums need it. */
interface Run {
  /** Of its first sign of life; a turn's prompt where it has one. */
  markMs: number;
  readonly hasPrompt: boolean;
  readonly isMachine: boolean;
  startMs: number;
  endMs: number;
  /** It called a model or a tool. */
  isAtWork: boolean;
}

interface Tool {
  readonly name: number;
  readonly run: Run;
  readonly isSubagents: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** Number of a status; `OPEN` for one that nobody answered. */
  readonly status: number;
}

const OPEN = -1;
/** As `pairTools` names what nobody named. */
const UNKNOWN_TOOL = "unknown";

/** Which calls and tools belong together, as `assign` and `pairTools` have it. */
class Runs {
  readonly turns = new Map<number, Run>();
  readonly subagents = new Map<string | number, Run>();
  readonly tools: Tool[] = [];
  readonly runOfCall: Run[] = [];
  readonly compactions: number[] = [];
  areSimple = true;
  /** What other entries name: made when the first of them does. */
  readonly #named: { subagents?: ReadonlyMap<string, Run>; turns?: ReadonlyMap<string, Run> } = {};
  readonly #tables: FactTables;

  constructor(tables: FactTables) {
    this.#tables = tables;
    this.#takePrompts();
    this.#takeCalls();
    this.#takeTools();
    this.#takeOthers();
    // What nobody asked for and did nothing is no turn
    for (const [key, run] of this.turns) if (!run.hasPrompt && !run.isAtWork) this.turns.delete(key);
  }

  #takePrompts(): void {
    const { ints, times } = this.#tables.prompts;
    const taken = new Set<number>();
    for (let row = 0, at = 0; row < ints.length; row += PROMPT.ints, at += PROMPT.times) {
      const prompt = ints[row + PROMPT.prompt] ?? NONE;
      const origin = ORIGINS[ints[row + PROMPT.origin] ?? 0];
      // A fork gives its own id to prompts that it copies
      if (prompt === NONE || taken.has(prompt) || this.#isOwnWord(prompt)) this.areSimple = false;
      else if (origin !== "command") {
        const ms = times[at + PROMPT.timeMs] ?? 0;
        this.turns.set(prompt, { ...runAt(ms), hasPrompt: true, isMachine: origin === "machine" });
      }
      taken.add(prompt);
    }
  }

  #takeCalls(): void {
    const { ints, times } = this.#tables.calls;
    for (let row = 0, at = 0; row < ints.length; row += CALL.ints, at += CALL.times) {
      const [timeMs = 0, startMs = 0, endMs = 0] = [
        times[at + CALL.timeMs],
        times[at + CALL.startMs],
        times[at + CALL.endMs],
      ];
      const run = this.#runOf(ints[row + CALL.prompt] ?? NONE, ints[row + CALL.agent] ?? NONE);
      this.runOfCall.push(run);
      const told = Number.isNaN(startMs) ? timeMs : startMs;
      see(run, Math.min(told, timeMs), Math.min(told, endMs), endMs);
    }
  }

  #takeTools(): void {
    const { uses, results } = this.#tables;
    const answered = new Map<number, number>();
    for (let n = 0; n < results.count; n++) answered.set(results.ints[n * RESULT.ints + RESULT.call] ?? NONE, n);
    for (let n = 0; n < uses.count; n++) {
      const call = uses.ints[n * USE.ints + USE.call] ?? NONE;
      this.#takeTool(n, answered.get(call) ?? NONE);
      answered.delete(call);
    }
    for (const n of answered.values()) this.#takeTool(NONE, n);
    // A tool can have the name that those get which nobody named
    const isUnknown = (name: number): boolean => name !== NONE && this.#tables.text(name) === UNKNOWN_TOOL;
    if (answered.size > 0 && this.tools.some(({ name }) => isUnknown(name))) this.areSimple = false;
  }

  #takeTool(use: number, result: number): void {
    const { uses, results } = this.#tables;
    const [usedAt, resultAt] = [use * USE.ints, result * RESULT.ints];
    const ofUse = (place: number): number => (use === NONE ? NONE : (uses.ints[usedAt + place] ?? NONE));
    const ofResult = (place: number): number => (result === NONE ? NONE : (results.ints[resultAt + place] ?? NONE));
    const usedMs = use === NONE ? undefined : (uses.times[use * USE.times + USE.timeMs] ?? 0);
    const answeredMs = result === NONE ? undefined : (results.times[result * RESULT.times + RESULT.timeMs] ?? 0);
    const isForward = usedMs !== undefined && (answeredMs === undefined || usedMs <= answeredMs);
    const startMs = isForward ? usedMs : (answeredMs ?? usedMs ?? 0);
    const endMs = Math.max(startMs, answeredMs ?? startMs);
    const agent = orElse(ofUse(USE.agent), ofResult(RESULT.agent));
    const run = this.#runOf(orElse(ofUse(USE.prompt), ofResult(RESULT.prompt)), agent);
    see(run, startMs, startMs, endMs);
    this.tools.push({
      name: ofUse(USE.name),
      run,
      isSubagents: agent !== NONE,
      startMs,
      endMs,
      status: result === NONE ? OPEN : ofResult(RESULT.status),
    });
  }

  #takeOthers(): void {
    for (const entry of this.#tables.others) {
      if (entry.kind === "compaction") this.compactions.push(entry.timeMs);
      else if (entry.kind === "subagent" && entry.agentId !== undefined)
        this.#takeSubagent(entry.agentId, entry.timeMs);
      else if (entry.kind === "turn_end" && entry.agentId === undefined && entry.promptKey !== undefined)
        this.#takeEnd(entry);
      else this.areSimple = false;
    }
  }

  /** Its file tells when it began; what it did counts more. */
  #takeSubagent(agentId: string, timeMs: number): void {
    this.#named.subagents ??= this.#byName(this.subagents);
    if (!this.#named.subagents.has(agentId)) this.subagents.set(agentId, runAt(timeMs));
  }

  #takeEnd({ promptKey = "", timeMs }: Pick<TranscriptEntry, "promptKey" | "timeMs">): void {
    this.#named.turns ??= this.#byName(this.turns);
    const known = this.#named.turns.get(promptKey);
    if (known === undefined) return;
    if (!known.hasPrompt) known.markMs = Math.min(known.markMs, timeMs);
    known.endMs = Math.max(known.endMs, timeMs);
    if (!known.hasPrompt) known.startMs = Math.min(known.startMs, timeMs);
  }

  /** Runs by the texts that their numbers stand for. */
  #byName(runs: ReadonlyMap<string | number, Run>): ReadonlyMap<string, Run> {
    return new Map([...runs].map(([key, run]) => [typeof key === "number" ? this.#tables.text(key) : key, run]));
  }

  #runOf(prompt: number, agent: number): Run {
    if (agent !== NONE) {
      const known = this.subagents.get(agent) ?? {
        ...runAt(Number.POSITIVE_INFINITY),
        endMs: Number.NEGATIVE_INFINITY,
      };
      this.subagents.set(agent, known);
      return known;
    }
    const known = this.turns.get(prompt);
    if (known !== undefined) return known;
    // By time alone it is told which turn it belongs to
    if (prompt === NONE || this.#isOwnWord(prompt)) this.areSimple = false;
    const made = { ...runAt(Number.POSITIVE_INFINITY), endMs: Number.NEGATIVE_INFINITY };
    this.turns.set(prompt, made);
    return made;
  }

  /** A key that says something in ours. */
  #isOwnWord(prompt: number): boolean {
    const text = this.#tables.text(prompt);
    return text === NO_PROMPT || text.includes("~");
  }
}

const runAt = (ms: number): Run => ({
  markMs: ms,
  hasPrompt: false,
  isMachine: false,
  startMs: ms,
  endMs: ms,
  isAtWork: false,
});

const orElse = (a: number, b: number): number => (a === NONE ? b : a);

/** A call or tool in its run. @param firstMs what counts as its first sign of life */
function see(run: Run, firstMs: number, startMs: number, endMs: number): void {
  run.isAtWork = true;
  if (!run.hasPrompt && firstMs < run.markMs) run.markMs = firstMs;
  if (firstMs < run.startMs && !run.hasPrompt) run.startMs = firstMs;
  if (startMs < run.startMs) run.startMs = startMs;
  if (endMs > run.endMs) run.endMs = endMs;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The sums of `sumsOf` and `segmentTotals`, and what `callsOf` notes of the calls. */
class Sums {
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
      owned: this.#tables.owned.slice(),
      segments: [{ segment, totals: this.#totals(totals) }],
      usage,
      tools,
      turns: this.#turnRows(),
      calls,
      providers: calls.length === 0 ? [] : [null],
    };
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
      const [timeMs = 0, told = 0, endMs = 0] = [
        times[at + CALL.timeMs],
        times[at + CALL.startMs],
        times[at + CALL.endMs],
      ];
      const startMs = Math.min(Number.isNaN(told) ? timeMs : told, endMs);
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
      const [read, write] = [ints[row + CALL.cacheRead] ?? NONE, ints[row + CALL.cacheWrite] ?? NONE];
      const write1h = ints[row + CALL.cacheWrite1h] ?? NONE;
      sums[8] = (sums[8] ?? 0) + input;
      sums[9] = (sums[9] ?? 0) + output;
      sums[10] = plus(sums[10], read);
      sums[11] = plus(sums[11], write);
      sums[12] = plus(sums[12], ints[row + CALL.cacheWrite5m] ?? NONE);
      sums[13] = plus(sums[13], write1h);
      sums[14] = plus(sums[14], ints[row + CALL.reasoning] ?? NONE);
      totals.callsWithUsage++;
      totals.input += input;
      totals.output += output;
      totals.cacheRead += read === NONE ? 0 : unsigned(read);
      totals.cacheWrite += write === NONE ? 0 : unsigned(write);
      if (model === NONE) continue;
      calls[noted] = place;
      calls[noted + 3] = input;
      calls[noted + 4] = output;
      calls[noted + 5] = read === NONE ? NONE : unsigned(read);
      calls[noted + 6] = write === NONE ? NONE : unsigned(write);
      calls[noted + 7] = write1h === NONE ? NONE : unsigned(write1h);
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
/** calls, sumsTold, withoutUsage, unpriced, incomplete; seven kinds of tokens and their cost, told by nobody yet; durationMs */
const NO_USAGE = [0, 0, 0, 0, 0, null, null, null, null, null, null, null, null, 0] as const;

const unsigned = (n: number | undefined): number => (n ?? 0) >>> 0;
const plus = (sum: number | null, tokens: number): number | null =>
  tokens === NONE ? sum : (sum ?? 0) + unsigned(tokens);
