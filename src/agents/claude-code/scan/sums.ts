import type { TableSums } from "../../../model/fact-tables.ts";
import { CALL_NUMBERS, type PackedTools, type PackedTurns, type PackedUsage } from "../../../model/packed.ts";
import type { TranscriptEntry } from "../../../model/transcript.ts";
import type { Writable } from "../../../model/writable.ts";
import type { Kernel } from "./kernel.ts";
import { numberOf, textAt } from "./texts.ts";

/**
 * What the kernel's tables add up to, with what stands beside them.
 *
 * @returns `undefined` where anything decides how a turn went, or belongs to no prompt: that has to be weighed
 * @throws Unfit where an id beside the tables is none that could stand in them
 */
export function sumsOf(kernel: Kernel, others: readonly TranscriptEntry[]): TableSums | undefined {
  if (kernel.join() === 0) return undefined;
  const compactionsMs: number[] = [];
  for (const { kind, agentId, promptKey, timeMs } of others) {
    if (kind === "compaction") compactionsMs.push(timeMs);
    else if (kind === "subagent" && agentId !== undefined) kernel.joinSubagent(numberOf(kernel, agentId), timeMs);
    else if (kind === "turn_end" && agentId === undefined && promptKey !== undefined)
      kernel.joinEnd(numberOf(kernel, promptKey), timeMs);
    else return undefined;
  }
  kernel.addUp();
  const { buffer } = kernel.memory;
  const figures = new Float64Array(buffer, kernel.figuresAt(), FIGURES.length);
  const figure = (name: (typeof FIGURES)[number]): number => figures[FIGURES.indexOf(name)] ?? 0;
  const [startMs, endMs] = [figure("startMs"), figure("endMs")];
  if (figure("turns") === 0) return undefined;
  const names = new Map<number, string>();
  const nameOf = (number: number): string | null => {
    if (number < 0) return null;
    const name = names.get(number) ?? textAt(kernel, number);
    names.set(number, name);
    return name;
  };
  /** A row's numbers, NaN for what nobody told; the second is that of a name. */
  const rowsOf = <T>(at: number, count: number, length: number, named: (n: number) => string | null): T[] => {
    const numbers = new Float64Array(buffer, at, count * length);
    const rows: T[] = [];
    for (let from = 0; from < numbers.length; from += length) {
      const row: (number | string | null)[] = [];
      for (let i = 0; i < length; i++) {
        const number = numbers[from + i] ?? 0;
        row.push(i === 1 ? named(number) : Number.isNaN(number) ? null : number);
      }
      rows.push(row as T);
    }
    return rows;
  };
  return {
    startMs,
    endMs,
    usage: rowsOf<Writable<PackedUsage>>(kernel.usageAt(), kernel.usageRows(), USAGE_NUMBERS, nameOf),
    calls: new Float64Array(buffer, kernel.notedAt(), kernel.notedRows() * CALL_NUMBERS).slice(),
    tools: rowsOf<PackedTools>(
      kernel.toolUsageAt(),
      kernel.toolUsageRows(),
      TOOL_NUMBERS,
      (name) => nameOf(name) ?? UNKNOWN_TOOL,
    ),
    turns: rowsOf<PackedTurns>(kernel.turnUsageAt(), kernel.turnUsageRows(), TURN_NUMBERS, (origin) =>
      origin === 0 ? "human" : "machine",
    ),
    totals: {
      turns: figure("turns"),
      subagents: figure("subagents"),
      modelCalls: kernel.callRows(),
      toolCalls: figure("toolCalls"),
      input: figure("input"),
      output: figure("output"),
      cacheRead: figure("cacheRead"),
      cacheWrite: figure("cacheWrite"),
      callsWithUsage: figure("callsWithUsage"),
      incompleteCalls: figure("incompleteCalls"),
      compactions: compactionsMs.filter((ms) => ms >= startMs && ms <= endMs).length,
      firstMs: figure("firstMs"),
      lastMs: figure("lastMs"),
    },
  };
}

// --- internal ---

/** In the kernel's order. */
const FIGURES = [
  "startMs",
  "endMs",
  "firstMs",
  "lastMs",
  "turns",
  "subagents",
  "toolCalls",
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "callsWithUsage",
  "incompleteCalls",
] as const;
/** So many numbers has a row of each. */
const [USAGE_NUMBERS, TOOL_NUMBERS, TURN_NUMBERS] = [17, 9, 5];
/** As `pairTools` names what nobody named. */
const UNKNOWN_TOOL = "unknown";
