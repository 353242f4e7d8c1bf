import { TOKEN_KINDS, type TokenKind } from "../model/token-kinds.ts";
import type { TranscriptEntry } from "../model/transcript.ts";

// Facts of a session as tables of numbers: one row per fact, without an object per fact, to save memory. Each text is stored
// once, and rows contain its number. NaN: the fact does not have that member.

/** What a column's values are: numbers, numbers of texts, numbers of JSON texts, or flags (1 for true, 0 for false). */
export type ColumnKind = "number" | "text" | "json" | "flag";

/** The columns that every table has. */
const COMMON_COLUMNS = {
  /** NaN if the key is the one that `derivedKey` returns. */
  key: "text",
  /** `SAME` if it equals the key. */
  globalKey: "text",
  timeMs: "number",
  promptKey: "text",
  agentId: "text",
} as const;

/** Beside each other and in the order of the list: rows are read and copied by it. */
const TOKEN_COLUMNS = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, "number"])) as Readonly<
  Record<TokenKind, "number">
>;

/** Columns by kind of fact, in the order in which they are stored. Other kinds of facts are rare and are kept as entries. */
export const COLUMNS = {
  prompt: { ...COMMON_COLUMNS, origin: "text", length: "number" },
  model_call: {
    ...COMMON_COLUMNS,
    responseId: "text",
    requestId: "text",
    besideResponseId: "text",
    model: "text",
    provider: "text",
    requestedModel: "text",
    startMs: "number",
    endMs: "number",
    ...TOKEN_COLUMNS,
    complete: "flag",
    finishReason: "text",
    asksForTools: "flag",
    covers: "text",
    tier: "text",
    webSearches: "number",
    hasOtherFees: "flag",
    purpose: "text",
    coveredCalls: "number",
    cacheMiss: "json",
    nanoCredits: "number",
  },
  tool_use: {
    ...COMMON_COLUMNS,
    callId: "text",
    name: "text",
    executable: "text",
    mcpServer: "text",
    skill: "text",
    inputDigest: "text",
    givenId: "text",
    files: "json",
  },
  tool_result: {
    ...COMMON_COLUMNS,
    callId: "text",
    status: "text",
    errorType: "text",
    exitCode: "number",
    linesAdded: "number",
    linesRemoved: "number",
    spawnedAgentId: "text",
    durationMs: "number",
    files: "json",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnKind>>>>;

export type TableKind = keyof typeof COLUMNS;
export const TABLE_KINDS = Object.keys(COLUMNS) as readonly TableKind[];
type ColumnOf<K extends TableKind> = keyof (typeof COLUMNS)[K];

/** Marks a `globalKey` that equals the key. */
export const SAME = -1;

/** Index of each column in a row, by column name. */
export const PROMPT = columnIndexes("prompt");
export const CALL = columnIndexes("model_call");
export const USE = columnIndexes("tool_use");
export const RESULT = columnIndexes("tool_result");

/** Rows of numbers, concatenated. */
export class FactTable {
  readonly kind: TableKind;
  /** Numbers per row. */
  readonly stride: number;
  data: Float64Array;
  rows = 0;

  constructor(kind: TableKind) {
    this.kind = kind;
    this.stride = Object.keys(COLUMNS[kind]).length;
    this.data = new Float64Array(this.stride * FIRST_ROWS);
  }

  /**
   * Makes room for one more row.
   *
   * @returns the index of its first number; the caller increases `rows` when the row is complete
   */
  next(): number {
    const at = this.rows * this.stride;
    if (at + this.stride > this.data.length) {
      const before = this.data;
      this.data = new Float64Array(before.length * 2);
      this.data.set(before);
    }
    return at;
  }
}

type Tables = { readonly [K in TableKind]: FactTable };

/** All facts of a session. */
export interface FactTables {
  readonly texts: readonly string[];
  /** Number of a text; `undefined` if no row contains it. */
  readonly numberOf: (text: string) => number | undefined;
  readonly tables: Tables;
  /** Facts of the kinds that have no table. */
  readonly others: readonly TranscriptEntry[];
}

/** Prefix of the keys of model calls with a response id. */
export const CALL_KEY = "response:";

/** The ids that a fact's key is usually derived from. */
export interface KeyIds {
  readonly responseId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly callId?: string | undefined;
}

/** The key that readers usually derive from a fact's ids; `undefined` without these ids. */
export function derivedKey(kind: TableKind, ids: KeyIds): string | undefined {
  switch (kind) {
    case "model_call":
      return ids.responseId === undefined ? undefined : `${CALL_KEY}${ids.responseId}:${ids.requestId ?? ""}`;
    case "tool_use":
      return ids.callId === undefined ? undefined : `use:${ids.callId}`;
    case "tool_result":
      return ids.callId === undefined ? undefined : `result:${ids.callId}`;
    default:
      return undefined;
  }
}

// --- internal ---

const FIRST_ROWS = 32;

function columnIndexes<K extends TableKind>(kind: K): { readonly [C in ColumnOf<K>]: number } {
  return Object.fromEntries(Object.keys(COLUMNS[kind]).map((name, place) => [name, place])) as {
    readonly [C in ColumnOf<K>]: number;
  };
}
