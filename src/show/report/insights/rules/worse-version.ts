import { printable } from "#kit/text/terminal.ts";
import type { Comparison } from "../../compare/compare.ts";
import { betterOf } from "../../compare/json.ts";
import { phraseOf } from "../../compare/text.ts";
import type { Material, Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * Agents whose newest version does worse than the one before it, by a comparison of whole sessions; other work is the usual reason too, so
 * only what the comparison shows counts. The cost is that of all its calls. Source: the agent's version, and docs/compare.md.
 */
export const worseVersionRule: Rule = (material) =>
  material.updates.flatMap((comparison) => {
    const agent = comparison.query.agent ?? "";
    const { a, b, measures } = comparison;
    const phrases = measures.flatMap((one) => {
      const phrase = betterOf(one) === false ? phraseOf(one) : undefined;
      return phrase === undefined ? [] : [`${phrase.text}${phrase.interval}`];
    });
    if (phrases.length === 0) return [];
    const tally = callsOf(material, agent, comparison);
    if (tally.calls === 0) return [];
    return [
      {
        subject: `${agent} ${b.name}`,
        evidence: "derived",
        measure: "spent",
        text: `${material.titleOf(agent)} ${printable(b.name)}, in ${b.sessions} sessions, ${phrases.join("; it ")} than ${printable(a.name)}, in ${a.sessions}.`,
        advice:
          "Look at what changed in that version, and whether your work did: a setting, a default model, other tasks.",
        tally,
      },
    ];
  });

// --- internal ---

function callsOf({ sessions }: Material, agent: string, { b }: Comparison): Tally {
  const tally = new Tally();
  for (const session of sessions) {
    const { source, agentVersion } = session.view.stored;
    if (source !== agent || agentVersion !== b.name) continue;
    for (const placed of session.calls) tally.add(session, placed, placed.costNanoUsd);
  }
  return tally;
}
