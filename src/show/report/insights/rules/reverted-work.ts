import { plural } from "#kit/text/figures.ts";
import type { Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * Work that led to commits which were reverted later. A commit that is only gone counts as nothing: it may live on in another one.
 * Source: what git says of the commits (`outcomes`), and which commit each moment of a session led to.
 */
export const revertedWorkRule: Rule = ({ sessions, revertedAt }) => {
  const tally = new Tally();
  const commits = new Set<string>();
  for (const session of sessions) {
    for (const placed of session.calls) {
      const commit = revertedAt(session.view.stored.id, placed.call.endMs);
      if (commit === undefined) continue;
      commits.add(commit);
      tally.add(session, placed, placed.costNanoUsd);
    }
  }
  if (tally.calls === 0) return [];
  return [
    {
      subject: "commits",
      evidence: "derived",
      measure: "spent",
      text: `${plural(commits.size, "commit was", "commits were")} reverted after ${plural(tally.calls, "model call")} had led to them.`,
      advice: "Look at what they have in common: missing tests, a kind of task, a repository without instructions.",
      tally,
    },
  ];
};
