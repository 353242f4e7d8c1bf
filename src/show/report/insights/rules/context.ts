import type { ModelCall } from "#core/model/model-call.ts";
import { count, plural } from "#kit/text/figures.ts";
import { costBeyond } from "../../call-totals.ts";
import type { Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * What it costs to read a long context again with every call: the price of a call less the price of the same call with at most so many
 * tokens from the cache. A long new input, such as a large file, is paid once and does not count. Source: the usage of each call.
 */
export const contextRule: Rule = ({ sessions }) => {
  const tally = new Tally();
  for (const session of sessions) {
    for (const placed of session.calls) {
      const other = shortened(placed.call);
      if (other === undefined) continue;
      const tokens = (placed.call.usage?.input ?? 0) - (other.usage?.input ?? 0);
      tally.add(session, placed, costBeyond(placed.call, other, session.view.facts.provider), tokens);
    }
  }
  if (tally.calls === 0) return [];
  return [
    {
      subject: "long",
      evidence: "derived",
      measure: "additional",
      text: `${plural(tally.calls, "call")} read more than ${count(MAX_INPUT)} tokens of context; ${count(tally.tokens)} tokens beyond that were read from the cache.`,
      advice:
        "Start a new session for a new subject, or compact early: each further call reads the whole context again.",
      tally,
    },
  ];
};

// --- internal ---

/** About a tenth of the largest context windows, and half of the usual ones. */
const MAX_INPUT = 100_000;

/** The same call with a shorter context. `undefined`: it is not longer, or its size is unknown. */
function shortened(call: ModelCall): ModelCall | undefined {
  const { usage, covers } = call;
  const { input, cacheRead } = usage ?? {};
  if (covers !== undefined || input === undefined || cacheRead === undefined) return undefined;
  const less = Math.min(input - MAX_INPUT, cacheRead);
  return less > 0 ? { ...call, usage: { ...usage, input: input - less, cacheRead: cacheRead - less } } : undefined;
}
