import type { CallSums } from "#core/model/model-call.ts";
import { sumKnown } from "#kit/numbers.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { searchesText } from "./charges.ts";
import { noPriceNotes, type UnpricedModel, unpricedOf } from "./prices.ts";
import type { SessionView } from "./session-view.ts";
import type { UnseenSearches } from "./unseen-searches.ts";

/** What a total of tokens and cost is made from, as far as something of it can be missing. */
interface Total {
  readonly calls?: CallSums | undefined;
  readonly unpriced: readonly UnpricedModel[];
  readonly unseen?: readonly UnseenSearches[];
  readonly sessionsWithoutUsage?: number;
  readonly agentsWithoutUsage?: readonly string[];
}

/**
 * What is missing in a total, the same wherever one is shown: how many calls, of which model or tool, why, and what can be done, one
 * sentence for each reason. None: the total is complete.
 */
export function missingNotes(total: Total): readonly string[] {
  const { calls, unpriced, unseen = [], sessionsWithoutUsage = 0, agentsWithoutUsage = [] } = total;
  const notes = [...noPriceNotes(unpriced)];
  if (calls !== undefined && calls.callsWithoutUsage > 0) {
    const isPart = sumKnown([calls.input, calls.output]) !== undefined;
    const n = plural(calls.callsWithoutUsage, "call or turn", "calls or turns");
    notes.push(
      `tokens and cost are ${isPart ? "a lower bound" : "unknown"}: ${n} reported none${isPart ? ", or not all" : ""}: ${WHY_NO_TOKENS}`,
    );
  }
  if (sessionsWithoutUsage > 0) {
    const names = agentsWithoutUsage.map(printable).join(", ");
    notes.push(
      `tokens unknown: ${plural(sessionsWithoutUsage, "session")} of ${names} reported none: the agent writes none, or its transcript was not read: ${suggest("doctor")}`,
    );
  }
  for (const { agent, tool, calls } of unseen) {
    notes.push(
      `not in the cost: ${searchesText(calls)} by ${printable(tool)} of ${printable(agent)}: it sends a request of its own, whose tokens and fee are not in the agent's transcript; only the provider's bill has them`,
    );
  }
  return notes;
}

/** The same of one session. */
export const missingNotesOf = ({ calls, sums, unseen, facts }: SessionView): readonly string[] =>
  sumKnown([sums.input, sums.output]) === undefined && facts.usageUnknown === true
    ? [
        `tokens and cost are unknown: the agent does not report them, or its transcript was not read: ${suggest("doctor")}`,
      ]
    : missingNotes({ calls: sums, unpriced: unpricedOf(calls), unseen });

// --- internal ---

const WHY_NO_TOKENS = "the agent or a gateway left them out, see docs/troubleshooting.md";
