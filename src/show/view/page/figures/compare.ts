import { type Failures, standsOut } from "#kit/text/failure-share.ts";
import type { SessionRow, UsageFigures } from "../../wire/documents.ts";

interface Group {
  readonly figures: UsageFigures;
}

/** The most expensive first; where no cost is known, the one with the most tokens. */
export const mostExpensive = <T extends Group>(groups: readonly T[]): readonly T[] =>
  groups.toSorted((a, b) => costOf(b) - costOf(a) || tokensOf(b) - tokensOf(a));

/** What bars and shares show: the cost (`null`: unknown), or tokens if no group has a cost. */
export const measureOf = (groups: readonly Group[]): ((group: Group) => number | null) =>
  groups.some((group) => costOf(group) > 0) ? ({ figures }) => figures.cost_usd : tokensOf;

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

// --- internal ---

/** Unknown sorts below every known cost. */
const costOf = ({ figures }: Group): number => figures.cost_usd ?? -1;
const tokensOf = ({ figures }: Group): number => (figures.input ?? 0) + (figures.output ?? 0);
