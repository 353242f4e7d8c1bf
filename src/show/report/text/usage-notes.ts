import { describePrices } from "#core/telemetry/cost.ts";
import { sumKnown } from "#kit/known.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { listPriceNote } from "../list-price.ts";
import { noPriceNotes } from "../no-price.ts";
import type { UsageReport } from "../usage-report.ts";

/** What limits the figures, one sentence each: rows left out, prices, unknown tokens. @param prices where they come from */
export function notesOf(
  { total, unpriced, leftOut, rows, subscribed = [] }: UsageReport,
  prices: string = describePrices(),
): readonly string[] {
  const calls = total?.calls;
  const notes: string[] = [];
  if (leftOut > 0) notes.push(`${plural(leftOut, "row")} more: --limit ${rows.length + leftOut}`);
  if (calls?.costNanoUsd !== undefined) {
    if (subscribed.length > 0) notes.push(listPriceNote(subscribed.map(printable)));
    notes.push(`cost: ${prices}; a call keeps the price with which it was recorded`);
  }
  notes.push(...noPriceNotes(unpriced));
  if (calls?.cacheReportedInput !== undefined) {
    notes.push(
      calls.cacheReportedInput === calls.input
        ? "cached: share of input tokens read from a cache"
        : "cached: share of input tokens read from a cache, over the calls that report it",
    );
  }
  if (calls !== undefined && calls.incompleteCalls > 0) {
    notes.push(`output is a lower bound: ${plural(calls.incompleteCalls, "answer was", "answers were")} cut short`);
  }
  if (calls !== undefined && sumKnown([calls.input, calls.output]) !== undefined && calls.callsWithoutUsage > 0) {
    const unreported = plural(calls.callsWithoutUsage, "call or turn", "calls or turns");
    notes.push(`tokens and cost are a lower bound: ${unreported} reported none, or not all`);
  }
  if (total !== undefined && total.sessionsWithoutUsage > 0) {
    const agents = total.agentsWithoutUsage.map(printable).join(", ");
    notes.push(`tokens unknown: ${plural(total.sessionsWithoutUsage, "session")} of ${agents} reported none`);
  }
  return notes;
}
