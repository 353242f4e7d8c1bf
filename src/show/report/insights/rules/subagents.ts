import { count, plural } from "#kit/text/figures.ts";
import type { Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/** All calls of subagents, also of those with sessions of their own. Source: the agent's records of its subagents. */
export const subagentsRule: Rule = ({ sessions }) => {
  const tally = new Tally();
  let runs = 0;
  for (const session of sessions) {
    const ids = new Set<string>();
    for (const placed of session.calls) {
      const id = placed.call.agentId ?? (session.isSubagent ? "" : undefined);
      if (id === undefined) continue;
      ids.add(id);
      const { input = 0, output = 0 } = placed.call.usage ?? {};
      tally.add(session, placed, placed.costNanoUsd, input + output);
    }
    runs += ids.size;
  }
  if (tally.calls === 0) return [];
  return [
    {
      subject: "all",
      evidence: "reported",
      measure: "spent",
      text: `${plural(runs, "subagent")} used ${count(tally.tokens)} tokens in ${plural(tally.calls, "call")}.`,
      advice: "Use a cheaper model for subagents if the agent lets you choose one, and start them only for work apart.",
      tally,
    },
  ];
};
