import type { READS } from "../reads.ts";
import type { Tagged } from "../recent-documents.ts";
import type { Later } from "../respond.ts";
import type { SpanDocument } from "./spans.ts";

export { FATES, type Fate } from "#core/model/outcomes.ts";
export type { ChangeOutcome } from "../data/change-facts.ts";
export type { Choices } from "../data/filter-values.ts";
export type { SessionRow, UsageFigures } from "../data/rows.ts";
export type { ToolRow } from "../data/tools.ts";

/**
 * What the server sends, by its path: the types of what it makes. Members in `snake_case` are those of `--json`, with its units; of the
 * others, which only the page has, times are milliseconds since the epoch and money is in US dollars.
 */
export type Documents = {
  readonly [Path in keyof typeof READS]: DocumentOf<ReturnType<(typeof READS)[Path]>>;
};

export type HomeDocument = Documents["home"];
export type SessionDocument = Documents["session"];
export type ExplanationDocument = Documents["explain"];
export type ChangesDocument = Documents["changes"];
export type UsageDocument = Documents["usage"];
export type ToolsDocument = Documents["tools"];
export type InsightsDocument = Documents["insights"];

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

// --- internal ---

type DocumentOf<Result> =
  Result extends Tagged<infer Kept>
    ? Kept
    : Result extends Later<infer Read>
      ? Read
      : Result extends { readonly kind: string }
        ? Result
        : never;
