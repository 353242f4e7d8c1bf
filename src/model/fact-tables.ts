import type { Packed, PackedUsage } from "./packed.ts";
import type { EntryOf, ToolStatus, TranscriptEntry } from "./transcript.ts";
import type { Writable } from "./writable.ts";

/**
 * Facts of a session as tables: rows of numbers, that refer to texts by theirs. What a reader writes so is kept so, without an
 * object for each fact ever being made.
 *
 * The ids of their agent are unique: keys are made of them. Whatever does not fit a table is one of `others`.
 */
export interface FactTables {
  /** ASCII, a line feed behind each; their numbers count from 0. */
  readonly texts: Uint8Array;
  /** One of them. */
  readonly text: (number: number) => string;
  /** How many rows each table has, in the order of `COLUMNS`. */
  readonly rows: readonly number[];
  /** Whole numbers of the calls, row by row. */
  readonly calls: Int32Array;
  /**
   * Of each column of a table that has rows: how many bytes a number it has in `body`, and what 0 stands for there. NaN: no
   * row tells anything.
   */
  readonly columns: Float64Array;
  readonly body: Uint8Array;
  /** Digests of what the session owns of them; see `digestOf`. */
  readonly owned: Float64Array;
  /** Names that uses have numbers of: a list of their own. */
  readonly programs: Readonly<Record<number, string>>;
  readonly others: readonly TranscriptEntry[];
  /** When the first and the last record of any table was written; infinite where there are none. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** What all of them add up to; `undefined` where that has to be weighed. */
  readonly sums: TableSums | undefined;
}

/** Sums of a session in the words of `Unpriced`: no call has its price yet. */
export interface TableSums extends Pick<Packed, "tools" | "turns"> {
  readonly usage: readonly Writable<PackedUsage>[];
  /** Calls that may have a price, `CALL_NUMBERS` each. */
  readonly calls: Float64Array;
  /** Of the one segment that it is, and of its runs. */
  readonly startMs: number;
  readonly endMs: number;
  readonly totals: SummedTotals;
}

/** Sums over runs, but for their cost. Tokens count calls whose usage is known only; how many are not, stands beside them. */
export interface SummedTotals {
  readonly turns: number;
  readonly subagents: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly callsWithUsage: number;
  readonly incompleteCalls: number;
  readonly compactions: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Where no text, name or number is told. */
export const NONE = -1;

/** Places among the whole numbers of a row, and among its numbers of eight bytes. */
export const CALL = {
  ints: 22,
  times: 11,
  id: 0,
  request: 1,
  model: 2,
  requested: 3,
  finish: 4,
  prompt: 5,
  agent: 6,
  flags: 7,
  input: 8,
  output: 9,
  cacheRead: 10,
  cacheWrite: 11,
  cacheWrite5m: 12,
  cacheWrite1h: 13,
  reasoning: 14,
  timeMs: 8,
  /** NaN where nobody told. */
  startMs: 9,
  endMs: 10,
} as const;
/** `flags` of a call. */
export const [COMPLETE, ASKS_FOR_TOOLS, HAS_USAGE] = [1, 2, 4] as const;
export const USE = { ints: 8, times: 4, call: 0, name: 1, program: 2, prompt: 3, agent: 4, timeMs: 3 } as const;
export const RESULT = {
  ints: 12,
  times: 6,
  call: 0,
  status: 1,
  error: 2,
  prompt: 3,
  agent: 4,
  spawned: 5,
  exitCode: 6,
  added: 7,
  removed: 8,
  timeMs: 5,
} as const;
/** By their number in a result. */
export const STATUSES = ["success", "error", "denied", "unfinished"] as const satisfies readonly ToolStatus[];
export const PROMPT = { ints: 8, times: 4, line: 0, origin: 1, length: 2, prompt: 3, agent: 4, timeMs: 3 } as const;
/** By their number in a prompt. */
export const ORIGINS = ["human", "machine", "command"] as const satisfies readonly EntryOf<"prompt">["origin"][];

/** What keys begin with. */
export const KEYS = { call: "response:", use: "use:", result: "result:", prompt: "prompt:" } as const;

/** Of an answer: its id and that of the request, where it is told. */
export const callKey = (id: string, request: string | undefined): string => `${KEYS.call}${id}:${request ?? ""}`;

/** Places of a row that hold something: the whole numbers, then the times. */
export const COLUMNS = {
  calls: [numbered(15), [CALL.timeMs, CALL.startMs, CALL.endMs]],
  uses: [numbered(5), [USE.timeMs]],
  results: [numbered(9), [RESULT.timeMs]],
  prompts: [numbered(5), [PROMPT.timeMs]],
} as const satisfies Record<string, readonly [readonly number[], readonly number[]]>;

// --- internal ---

function numbered(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i);
}
