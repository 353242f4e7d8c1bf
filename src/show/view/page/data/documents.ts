import type { ApiError, ApiResponse, NoStore } from "../../wire/responses.ts";

/** A document, or why there is none; neither before the first response. */
export interface Fetched<T> {
  readonly data?: T;
  readonly problem?: NoStore | ApiError;
}

export const dataOrProblem = <T extends { readonly kind: string }>(response: ApiResponse<T>): Fetched<T> =>
  isProblem(response) ? { problem: response } : { data: response };

// --- internal ---

const isProblem = (response: { readonly kind: string }): response is NoStore | ApiError =>
  response.kind === "no-store" || response.kind === "error";
