export { MAX_OPEN_SPANS } from "../../report/waterfall/fold.ts";

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

/** What the waterfall shows of one span. */
export interface SpanCells {
  /** Index into `strings`, like `detail`. */
  readonly label: number;
  readonly detail: number;
  /** Index into `SPAN_KINDS`. */
  readonly kind: number;
  /** 0 for roots. */
  readonly depth: number;
  /** Relative to `baseMs`. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly flags: number;
  /** Figures of a span and everything inside it: the rows of one level add up to the row above. */
  readonly calls: number;
  readonly input: number | null;
  readonly output: number | null;
  /** In 10⁻⁹ USD, because whole numbers are shorter. */
  readonly costNanoUsd: number | null;
}

/**
 * A session's spans in tree order, children after their parent: a column for each member of `SpanCells` with `count` entries, because one
 * object per span would repeat the names a hundred thousand times in a long session.
 */
export type SpanColumns = { readonly [Name in keyof SpanCells]: readonly SpanCells[Name][] } & {
  readonly count: number;
  readonly baseMs: number;
  /** Span ids, concatenated. */
  readonly ids: string;
  /** Each string once. */
  readonly strings: readonly string[];
};

/** One span in full, as it was or will be sent. */
export interface SpanDocument {
  readonly kind: "span";
  readonly open: boolean;
  /** What the agent's own telemetry adds to it: names and texts. */
  readonly native: readonly (readonly [string, string])[];
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
