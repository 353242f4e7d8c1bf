export const SPAN_KINDS = ["session", "turn", "subagent", "model_call", "tool_call", "other"] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** Characters of a span's id. */
export const SPAN_ID_LENGTH = 16;

/** Bits of `flags`. */
export const FLAG = {
  error: 1,
  denied: 2,
  unfinished: 4,
  open: 8,
  /** A model was called, but its tokens are unknown. */
  unknownTokens: 16,
  unknownCost: 32,
  outputIsLowerBound: 64,
  costIsLowerBound: 128,
  inputIsLowerBound: 256,
} as const;

/**
 * A session's spans in columns, in tree order: children after their parent. All columns have `count` entries.
 */
export interface SpanColumns {
  readonly count: number;
  /** `startMs` is relative to it. */
  readonly baseMs: number;
  /** Span ids, concatenated. */
  readonly ids: string;
  /** Each string once; `label` and `detail` are indexes into it. */
  readonly strings: readonly string[];
  readonly label: readonly number[];
  readonly detail: readonly number[];
  /** Index into `SPAN_KINDS`. */
  readonly kind: readonly number[];
  /** 0 for roots. */
  readonly depth: readonly number[];
  readonly startMs: readonly number[];
  readonly durationMs: readonly number[];
  readonly flags: readonly number[];
  /** Figures of a span and everything inside it: the rows of one level add up to the row above. */
  readonly calls: readonly number[];
  readonly input: readonly (number | null)[];
  readonly output: readonly (number | null)[];
  readonly costNanoUsd: readonly (number | null)[];
}

/** One span in full, as it was or will be sent. */
export interface SpanDocument {
  readonly kind: "span";
  readonly open: boolean;
  readonly name: string;
  readonly traceId: string;
  /** Address of its trace in the user's backend; `null`: none is configured. */
  readonly traceUrl: string | null;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly error: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly events: readonly {
    readonly name: string;
    readonly timeMs: number;
    readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  }[];
}

/** The spans whose attributes match each term of a search: their ids, concatenated. */
export interface SearchDocument {
  readonly kind: "search";
  readonly terms: readonly { readonly term: string; readonly ids: string }[];
}
