import type { ToolStatus } from "#core/model/transcript.ts";
import type { PartRow } from "./rows.ts";

/** How a call ended. A shell's exit code is only in its text, among what the command itself wrote, so it is not read. */
export function outcomeOf(part: PartRow): { readonly status: ToolStatus; readonly errorType?: string } {
  if (!part.isError) return { status: "success" };
  const text = part.content ?? "";
  if (DENYING.has(part.decision ?? "") || DENIED.test(text)) return { status: "denied" };
  return CANCELLED.test(text) ? { status: "error", errorType: "interrupted" } : { status: "error" };
}

/** The HTTP status of a failed request: Crush keeps its name, and no number. */
export function failureOf(title: string | undefined): { readonly errorType: string; readonly httpStatus?: number } {
  const httpStatus = STATUSES.get(title?.toLowerCase() ?? "");
  return httpStatus === undefined ? { errorType: "_OTHER" } : { errorType: String(httpStatus), httpStatus };
}

// --- internal ---

const DENYING: ReadonlySet<string> = new Set(["deny", "halt"]);
/** Texts of calls that a hook or the user denied. */
const DENIED = /^(?:Tool call blocked by hook\.|Turn halted by hook\.|User denied permission\b)/i;
const CANCELLED = /^Error: user cancelled\b/;

const STATUSES: ReadonlyMap<string, number> = new Map([
  ["bad request", 400],
  ["unauthorized", 401],
  ["payment required", 402],
  ["forbidden", 403],
  ["not found", 404],
  ["request timeout", 408],
  ["conflict", 409],
  ["request entity too large", 413],
  ["unprocessable entity", 422],
  ["too many requests", 429],
  ["internal server error", 500],
  ["bad gateway", 502],
  ["service unavailable", 503],
  ["gateway timeout", 504],
]);
