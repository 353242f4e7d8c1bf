import type { HomeGroup } from "../../wire.ts";

/** Sorted by cost, and by tokens where no cost is known. */
export const mostExpensive = (groups: readonly HomeGroup[]): readonly HomeGroup[] =>
  [...groups].sort((a, b) => costOf(b) - costOf(a) || tokensOf(b) - tokensOf(a));

/** What bars show: the cost, or tokens if no cost is known. */
export const measureOf = (groups: readonly HomeGroup[]): ((group: HomeGroup) => number) =>
  groups.some((group) => costOf(group) > 0) ? (group) => Math.max(0, costOf(group)) : tokensOf;

// --- internal ---

/** Unknown sorts below every known cost. */
const costOf = ({ figures: { sums } }: HomeGroup): number => sums.costNanoUsd ?? -1;
const tokensOf = ({ figures: { sums } }: HomeGroup): number => (sums.input ?? 0) + (sums.output ?? 0);
