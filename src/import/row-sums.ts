import { defined } from "../model/defined.ts";
import { CALL, type FactTables } from "../model/fact-tables.ts";
import { CALL_NUMBERS, type PackedTools, type PackedTurns, type PackedUsage, QUARTER_MS } from "../model/packed.ts";
import { ENDED_IDLE } from "../model/session.ts";
import type { Writable } from "../model/writable.ts";
import { NO_TOTALS, type Totals } from "../telemetry/totals.ts";
import { type RowRun, type RowTool, runsOf } from "./row-runs.ts";
import type { PackOptions, Unpriced } from "./unpriced.ts";

/**
 * What the rows of a session add up to: the same as `buildSession` and the sums of what it builds, without building it.
 *
 * @returns `undefined` for a session that has to be built
 */
export function sumsOfRows(facts: FactTables, options: PackOptions): Omit<Unpriced, "facts" | "owned"> | undefined {
  if (options.facts.endsSilently === true) return undefined;
  const joined = runsOf(facts);
  if (joined === undefined) return undefined;
  const { runs, tools } = joined;
  const turns = runs.filter((run) => !run.isSubagent);
  if (turns.length === 0 || turns.some(isUndecided)) return undefined;
  const startMs = turns.reduce((ms, run) => Math.min(ms, run.markMs), Number.POSITIVE_INFINITY);
  const endMs = lastActivity(facts, turns, tools);
  const toolSums = sumTools(facts, tools, endMs);
  const { usage, calls, providers, ...tokens } = sumCalls(facts);
  const compactions = options.expectsTranscript ? facts.others.filter(({ kind }) => kind === "compaction") : [];
  return {
    segments: [
      {
        segment: { ordinal: 0, startMs, lastActivityMs: endMs, uses: [], endMs, ...ENDED_IDLE },
        totals: defined<Totals>({
          ...NO_TOTALS,
          ...tokens,
          turns: turns.length,
          subagents: runs.length - turns.length,
          modelCalls: facts.tables.model_call.rows,
          toolCalls: tools.length,
          unpricedCalls: facts.tables.model_call.rows,
          compactions: compactions.filter(({ timeMs }) => timeMs >= startMs && timeMs <= endMs).length,
          firstMs: runs.reduce((ms, run) => Math.min(ms, run.startMs), Number.POSITIVE_INFINITY),
          lastMs: runs.reduce((ms, run) => Math.max(ms, run.endMs), Number.NEGATIVE_INFINITY),
          reported: options.reported,
        }),
      },
    ],
    usage,
    tools: toolSums,
    turns: sumTurns(turns),
    calls,
    providers,
  };
}

/** Times of the first and last fact. */
export function spanOf({ tables, others }: FactTables): { readonly firstMs: number; readonly lastMs: number } {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const see = (ms: number): void => {
    if (ms < firstMs) firstMs = ms;
    if (ms > lastMs) lastMs = ms;
  };
  for (const { data, stride, rows } of Object.values(tables)) {
    for (let at = 0; at < rows * stride; at += stride) see(data[at + CALL.timeMs] ?? 0);
  }
  for (const { timeMs } of others) see(timeMs);
  return { firstMs, lastMs };
}

// --- internal ---

/** Which of two calls that ended together was the last decides how the turn went. */
const isUndecided = ({ lastCall, finalErrorMs, interruptionMs }: RowRun): boolean =>
  lastCall?.isTied === true && (finalErrorMs !== undefined || interruptionMs !== undefined);

const quarterOf = (ms: number): number => Math.floor(ms / QUARTER_MS) * QUARTER_MS;

function lastActivity({ tables }: FactTables, turns: readonly RowRun[], tools: readonly RowTool[]): number {
  let lastMs = turns.reduce((ms, run) => Math.max(ms, run.markMs), Number.NEGATIVE_INFINITY);
  for (const { endMs } of tools) if (endMs > lastMs) lastMs = endMs;
  const { data, stride, rows } = tables.model_call;
  for (let at = CALL.endMs; at < rows * stride; at += stride) if ((data[at] ?? 0) > lastMs) lastMs = data[at] ?? 0;
  return lastMs;
}

/** Sums over what has the same number, which each combination of names and time has. */
class Groups<T> {
  readonly rows: T[] = [];
  readonly #places = new Map<string, number>();

  place(key: string, make: () => T): number {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.rows.length;
      this.#places.set(key, place);
      this.rows.push(make());
    }
    return place;
  }
}

function sumCalls({ texts, tables }: FactTables) {
  const { data, stride, rows } = tables.model_call;
  const groups = new Groups<Writable<PackedUsage>>();
  const providers: (string | null)[] = [];
  const numbers = new Float64Array(rows * CALL_NUMBERS);
  let noted = 0;
  const sums = { input: 0, output: 0, callsWithUsage: 0, incompleteCalls: 0 };
  let [cacheRead, cacheWrite]: [number | undefined, number | undefined] = [undefined, undefined];
  let last = { quarter: -1, subagent: 0, model: -1, place: 0 };
  for (let at = 0; at < rows * stride; at += stride) {
    const endMs = data[at + CALL.endMs] ?? 0;
    const began = data[at + CALL.startMs] ?? Number.NaN;
    const startMs = Math.min(Number.isNaN(began) ? (data[at + CALL.timeMs] ?? 0) : began, endMs);
    const model = data[at + CALL.model] ?? Number.NaN;
    const modelText = Number.isNaN(model) ? null : (texts[model] ?? "");
    const subagent = Number.isNaN(data[at + CALL.agentId]) ? 0 : 1;
    const quarter = quarterOf(endMs);
    if (quarter !== last.quarter || subagent !== last.subagent || !Object.is(model, last.model)) {
      const place = groups.place(`${quarter} ${subagent} ${model}`, () => [
        ...([quarter, modelText, subagent, 0, 0, 0, 0, 0] as const),
        ...([null, null, null, null, null, null, null, null, 0] as const),
      ]);
      last = { quarter, subagent, model, place };
    }
    const { place } = last;
    const row = groups.rows[place];
    if (row === undefined) continue;
    row[3]++;
    row[6]++;
    row[16] += endMs - startMs;
    if (data[at + CALL.complete] !== 1) {
      row[7]++;
      sums.incompleteCalls++;
    }
    const input = data[at + CALL.input] ?? Number.NaN;
    if (Number.isNaN(input)) {
      row[5]++;
      continue;
    }
    const output = data[at + CALL.output] ?? 0;
    sums.callsWithUsage++;
    sums.input += input;
    sums.output += output;
    for (let kind = 0; kind < 7; kind++) {
      const tokens = data[at + CALL.input + kind] ?? Number.NaN;
      if (!Number.isNaN(tokens)) row[(8 + kind) as 8] = (row[(8 + kind) as 8] ?? 0) + tokens;
    }
    const read = data[at + CALL.cacheRead] ?? Number.NaN;
    const written = data[at + CALL.cacheWrite] ?? Number.NaN;
    if (!Number.isNaN(read)) cacheRead = (cacheRead ?? 0) + read;
    if (!Number.isNaN(written)) cacheWrite = (cacheWrite ?? 0) + written;
    if (modelText === null || data[at + CALL.noListPrice] === 1) continue;
    const provider = data[at + CALL.provider] ?? Number.NaN;
    const providerText = Number.isNaN(provider) ? null : (texts[provider] ?? "");
    if (!providers.includes(providerText)) providers.push(providerText);
    const long = data[at + CALL.cacheWrite1h] ?? Number.NaN;
    numbers[noted] = place;
    numbers[noted + 2] = providers.indexOf(providerText);
    numbers[noted + 3] = input;
    numbers[noted + 4] = output;
    numbers[noted + 5] = Number.isNaN(read) ? -1 : read;
    numbers[noted + 6] = Number.isNaN(written) ? -1 : written;
    numbers[noted + 7] = Number.isNaN(long) ? -1 : long;
    numbers[noted + 8] = endMs;
    noted += CALL_NUMBERS;
  }
  return { ...sums, cacheRead, cacheWrite, usage: groups.rows, calls: numbers.slice(0, noted), providers };
}

/** A call without a result lasted as long as its session; that may be longer than its run was known to be. */
function sumTools({ texts }: FactTables, tools: readonly RowTool[], sessionEndMs: number): readonly PackedTools[] {
  const groups = new Groups<Writable<PackedTools>>();
  const STATUS: Readonly<Record<string, 5 | 6 | 7>> = { error: 5, denied: 6, unfinished: 7 };
  for (const { name, mcpServer, status, isSubagents, startMs, endMs, run } of tools) {
    const isOpen = Number.isNaN(status);
    const lastMs = isOpen ? Math.max(startMs, sessionEndMs) : endMs;
    if (lastMs > run.endMs) run.endMs = lastMs;
    const quarter = quarterOf(startMs);
    const nameText = Number.isNaN(name) ? "unknown" : (texts[name] ?? "");
    const server = Number.isNaN(mcpServer) ? null : (texts[mcpServer] ?? "");
    const subagent = isSubagents ? 1 : 0;
    const place = groups.place(`${quarter} ${subagent} ${nameText}\0${server ?? "\0"}`, () => [
      ...([quarter, nameText, server, subagent, 0, 0, 0, 0, 0] as const),
    ]);
    const row = groups.rows[place];
    if (row === undefined) continue;
    row[4]++;
    const counted = isOpen ? 7 : STATUS[texts[status] ?? ""];
    if (counted !== undefined) row[counted]++;
    row[8] += Math.max(0, lastMs - startMs);
  }
  return groups.rows;
}

function sumTurns(turns: readonly RowRun[]): readonly PackedTurns[] {
  const groups = new Groups<Writable<PackedTurns>>();
  for (const { startMs, isMachine, lastCall, finalErrorMs, interruptionMs } of turns) {
    const quarter = quarterOf(startMs);
    const origin = isMachine ? "machine" : "human";
    const row = groups.rows[groups.place(`${quarter} ${origin}`, () => [quarter, origin, 0, 0, 0])];
    if (row === undefined) continue;
    row[2]++;
    if (interruptionMs !== undefined && interruptionMs >= (lastCall?.startMs ?? 0)) row[4]++;
    else if (finalErrorMs !== undefined && finalErrorMs >= (lastCall?.endMs ?? 0)) row[3]++;
  }
  return groups.rows;
}
