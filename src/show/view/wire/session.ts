import type { TimePart } from "../../report/time-parts.ts";
import type { SessionChange } from "./changes.ts";
import type { SessionRow } from "./sessions.ts";
import type { SpanColumns, SpanDocument } from "./spans.ts";

export type { TimePart };

export interface SessionDocument {
  readonly kind: "session";
  readonly row: SessionRow;
  readonly segments: readonly SegmentRow[];
  /** Sums reported by the agent, which include side requests; `null` if they equal ours or if there are none. */
  readonly reported: {
    readonly input: number | null;
    readonly output: number | null;
    readonly costNanoUsd: number | null;
  } | null;
  readonly spans: SpanColumns;
  /** Address of its trace in the user's backend; `null`: none is configured. */
  readonly traceUrl: string | null;
}

export interface SegmentRow {
  readonly startMs: number;
  readonly endMs: number | null;
  readonly startOrigin: string | null;
  readonly endReason: string | null;
}

/** Where the time and money of a session went. */
export interface ExplanationDocument {
  readonly kind: "explanation";
  /** Sentences, the most important first. */
  readonly findings: readonly string[];
  /** They add up to the time from start to end. */
  readonly parts: readonly { readonly name: TimePart; readonly ms: number }[];
  /** False: the agent does not report when the model ran, so `agent` includes it. */
  readonly isModelTimed: boolean;
  readonly expensiveTurn: { readonly turn: number; readonly costNanoUsd: number } | null;
  readonly slowestTool: { readonly name: string; readonly startMs: number; readonly ms: number } | null;
  /** Tools that were called with the same input again. */
  readonly repeats: readonly { readonly name: string; readonly calls: number; readonly totalMs: number }[];
  /** What the figures do not contain, as sentences. */
  readonly unknown: readonly string[];
  /** Changes and commits that the session led to. */
  readonly changes: readonly SessionChange[];
}

/** The data of an exported page: one session in full. */
export interface ExportedPage {
  readonly kind: "export";
  readonly exportedMs: number;
  /** The capture level: how much the file contains. */
  readonly level: string;
  readonly session: SessionDocument;
  readonly explanation: ExplanationDocument;
  /** Attributes of every span. */
  readonly resource: SpanDocument["attributes"];
  /** In any order, without `resource`. */
  readonly spans: readonly SpanDocument[];
}
