/**
 * The files of this folder describe the JSON that the server sends to the page of the same build. Unknown is `null`, never 0. Strings come from agents unchanged, so the page must never treat them as markup.
 */

/** Header of a response: ask again, the next one has titles that are missing in this one. */
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
