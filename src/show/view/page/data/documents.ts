import type { ChangesDocument } from "../../wire/changes.ts";
import type { HomeDocument } from "../../wire/home.ts";
import type { ApiError, ApiResponse, NoStore } from "../../wire/responses.ts";
import type { ExplanationDocument, SessionDocument } from "../../wire/session.ts";
import type { SessionList } from "../../wire/sessions.ts";
import type { SearchDocument, SpanDocument } from "../../wire/spans.ts";
import type { ToolsDocument } from "../../wire/tools.ts";
import type { UsageDocument } from "../../wire/usage.ts";

/** What the server has, by its path. */
export interface Documents {
  readonly home: HomeDocument;
  readonly sessions: SessionList;
  readonly session: SessionDocument;
  readonly explain: ExplanationDocument;
  readonly span: SpanDocument;
  readonly search: SearchDocument;
  readonly changes: ChangesDocument;
  readonly usage: UsageDocument;
  readonly tools: ToolsDocument;
}

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
