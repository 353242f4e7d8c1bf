import { type Failures, standsOut } from "../../../../kit/text/failure-share.ts";
import type { SessionRow, UsageFigures } from "../../wire/documents.ts";

/** Red where clearly more calls failed than usual, as in the terminal. */
export const failureClass = (failures: Failures, usual: Failures): string =>
  standsOut(failures, usual) ? "error-count" : "usual-count";

export const failuresIn = (figures: Pick<UsageFigures, "tool_errors" | "tool_calls"> | null): Failures => ({
  failed: figures?.tool_errors ?? 0,
  calls: figures?.tool_calls ?? 0,
});

export const failuresOf = ({ tool_calls }: Pick<SessionRow, "tool_calls">): Failures => ({
  failed: tool_calls["error"] ?? 0,
  calls: tool_calls.total,
});
