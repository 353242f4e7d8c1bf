import type { ChangeDimension, Dimension, TimeUnit } from "../../report/query.ts";

/**
 * The files of this folder describe the JSON that the server sends to the page of the same build. Unknown is `null`, never 0. Strings come from agents unchanged, so the page must never treat them as markup.
 */

/** Header of a response: ask again, the next one has titles or figures that are missing in this one. */
export const HAS_MORE = "openhook-more-titles";

/** There is no store yet, which is not an error. */
export interface NoStore {
  readonly kind: "no-store";
  /** How to fill it. */
  readonly hint: string;
}

/** A failed request. */
export interface ApiError {
  readonly kind: "error";
  readonly code: string;
  /** The problem and its remedy. */
  readonly message: string;
}

/** Body of every JSON response. */
export type ApiResponse<T> = T | NoStore | ApiError;

// What requests of the page can ask for

export type { ChangeDimension, TimeUnit };

export const SORTS = ["recent", "started", "tokens", "cost", "errors"] as const;
export type Sort = (typeof SORTS)[number];

export const CHANGE_SORTS = ["cost", "recent"] as const;
export type ChangeSort = (typeof CHANGE_SORTS)[number];

/** What the usage view splits figures by. */
export const SPLITS = ["agent", "model", "repository"] as const satisfies readonly Dimension[];
export type Split = (typeof SPLITS)[number];
