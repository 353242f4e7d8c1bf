import type { CallSums } from "#core/model/model-call.ts";
import { dollars, exact, leastDollars, plural, usd } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { UsageRow } from "./usage-rows.ts";

type Charges = Pick<CallSums, "webSearches" | "unpricedSearches" | "feeNanoUsd">;

/** The part of a cost that is not for tokens: `fees $0.13 (13 web searches)`; `undefined` if no call reports any. */
export function feesText({ webSearches, unpricedSearches = 0, feeNanoUsd }: Charges): string | undefined {
  if (webSearches === undefined && feeNanoUsd === undefined) return undefined;
  const isPart = feeNanoUsd !== undefined && unpricedSearches > 0;
  const fee = feeNanoUsd === undefined ? "?" : (isPart ? leastDollars : dollars)(feeNanoUsd);
  const unpriced = isPart ? `, the fee of ${exact(unpricedSearches)} is not known` : "";
  return `fees ${fee}${webSearches === undefined ? "" : ` (${searchesText(webSearches)}${unpriced})`}`;
}

export const searchesText = (n: number): string => plural(n, "web search", "web searches");

/** `12.5 credits`; of one agent, because each has its own unit. */
export function creditsText(nanoCredits: number): string {
  const credits = nanoCredits / 1e9;
  if (nanoCredits > 0 && credits < 0.001) return "<0.001 credits";
  return `${credits >= 1_000 ? exact(credits) : String(Number(credits.toFixed(3)))} ${credits === 1 ? "credit" : "credits"}`;
}

/** What a session was charged besides tokens; none if nothing is reported. */
export const chargesOf = (sums: CallSums): readonly string[] => [
  ...[feesText(sums) ?? []].flat(),
  ...(sums.nanoCredits === undefined ? [] : [creditsText(sums.nanoCredits)]),
];

/** The same of a row, as sentences: credits are of each agent. */
export function chargeNotes({ calls, credits = new Map() }: Pick<UsageRow, "calls" | "credits">): readonly string[] {
  const fees = calls && feesText(calls);
  const byAgent = [...credits].map(([agent, nano]) => `${printable(agent)} ${creditsText(nano)}`);
  return [
    ...(fees === undefined ? [] : [`${fees}: what is in the cost besides tokens`]),
    ...(byAgent.length === 0 ? [] : [`reported by the agents, each in its own unit: ${byAgent.join(", ")}`]),
  ];
}

/** The members of JSON documents. Unknown is `null`. @param nanoCredits of one agent */
export const chargesJson = (
  { webSearches, unpricedSearches, feeNanoUsd }: Charges,
  nanoCredits: number | undefined,
) => ({
  web_searches: webSearches ?? null,
  web_searches_without_fee: unpricedSearches ?? null,
  fees_usd: usd(feeNanoUsd),
  credits: nanoCredits === undefined ? null : nanoCredits / 1e9,
});
