import { costText, count, plural } from "#kit/text/figures.ts";
import { type Evidence, type MissCause, type MissSum, missSums } from "./cache-misses.ts";
import type { Explanation } from "./explain.ts";
import { type Finding, MIN_SHARE } from "./finding.ts";

/** What was paid because the cache was not read, by cause: if it is more than a tenth of the cost, or of the input where that is unknown. */
export function cacheFindings({ cacheMisses, money: { total } }: Explanation): readonly Finding[] {
  return missSums(cacheMisses).flatMap((sum) => {
    const [part, whole] =
      sum.costNanoUsd === undefined ? [sum.tokens, total.input] : [sum.costNanoUsd, total.costNanoUsd];
    const share = whole === undefined || whole === 0 ? 0 : part / whole;
    if (share < MIN_SHARE) return [];
    const weight = Math.min(1, share) * (sum.cause === "subagent" ? 0.5 : 0.9);
    return [{ weight, text: `${missSentence(sum)}.` }];
  });
}

/** The cause in a few words, for tables. */
export const missTitle = (cause: MissCause): string => TITLES[cause];

/** What misses cost more than reads from the cache would have; `?` if it is unknown. */
export const extraCostText = (sum: Pick<MissSum, "costNanoUsd" | "unpricedCalls">): string =>
  costText({ ...sum, incompleteCalls: 0 });

/** How a cause is known, in a few words; empty if it is not. */
export const EVIDENCE: Readonly<Record<Evidence, string>> = {
  reported: "says the provider",
  derived: "from the records",
  unknown: "",
};

/** What was not read from a cache for one reason, and what it cost, as a sentence without its full stop. */
export function missSentence(sum: MissSum): string {
  const more = sum.costNanoUsd === undefined ? "" : `: ${extraCostText(sum)} more`;
  if (sum.cause === "subagent") {
    return `${plural(sum.calls, "subagent")} began with ${count(sum.tokens)} tokens that no cache had${more}`;
  }
  const why = sum.cause === "unknown" ? ", and nothing says why" : `, because ${BECAUSE[sum.cause]}`;
  const how = sum.evidence === "reported" ? `, ${EVIDENCE.reported}` : "";
  return `${count(sum.tokens)} tokens of ${plural(sum.calls, "call")} were not read from the cache${why}${how}${more}`;
}

// --- internal ---

const TITLES: Readonly<Record<MissCause, string>> = {
  tools_changed: "tools changed",
  system_changed: "system prompt changed",
  model_changed: "model changed",
  messages_changed: "messages changed",
  previous_message_not_found: "call before not found",
  unavailable: "no comparison",
  other: "another reason",
  compaction: "compaction",
  expired: "cache expired",
  subagent: "subagent's prompt",
  unknown: "nothing says why",
};

const BECAUSE: Readonly<Record<MissCause, string>> = {
  tools_changed: "the set of tools had changed",
  system_changed: "the system prompt had changed",
  model_changed: "the model had changed",
  messages_changed: "earlier messages had changed",
  previous_message_not_found: "the call before could not be found for a comparison",
  unavailable: "of what the provider could not find out",
  other: "of something that this program does not know",
  compaction: "the conversation had been compacted",
  expired: "the session had been idle for longer than the cache lasts",
  subagent: "",
  unknown: "",
};
