import { type Failures, standsOut } from "../../../../kit/text/failure-share.ts";
import type { UsageFigures } from "../../wire/figures.ts";

/** Red where clearly more calls failed than usual, as in the terminal. */
export const failureClass = (failures: Failures, usual: Failures): string =>
  standsOut(failures, usual) ? "error-count" : "usual-count";

export const failuresIn = (figures: Pick<UsageFigures, "failedTools" | "toolCalls"> | null): Failures => ({
  failed: figures?.failedTools ?? 0,
  calls: figures?.toolCalls ?? 0,
});
