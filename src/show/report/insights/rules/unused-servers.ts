import { grouped } from "#kit/objects.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * MCP servers that are in an agent's settings although no call of the period went to them. Only of agents whose calls name their servers, and
 * that worked in some sessions. What the definitions of their tools cost is not known. Source: the agents' settings, and the calls.
 */
export const unusedServersRule: Rule = ({ sessions, servers, mcp, titleOf }) => {
  const used = new Set(mcp.map(({ key }) => `${key.agent}/${key.mcp}`));
  const unused = servers.filter(({ isNamedInCalls, agent, name }) => isNamedInCalls && !used.has(`${agent}/${name}`));
  return [...grouped(unused, ({ agent }) => agent)].flatMap(([agent, all]) => {
    const tally = new Tally();
    for (const session of sessions) {
      if (session.view.stored.source !== agent) continue;
      for (const placed of session.calls) tally.add(session, placed, undefined);
    }
    if (tally.sessions < MIN_SESSIONS) return [];
    const names = [...new Set(all.map(({ name }) => printable(name)))].sort();
    return [
      {
        subject: agent,
        evidence: "derived",
        measure: "spent",
        text: `${plural(names.length, "MCP server")} of ${titleOf(agent)} had no call in this time: ${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", …" : ""}.`,
        advice: "Remove those that you do not need: the definitions of their tools are part of each prompt.",
        tally,
      },
    ];
  });
};

// --- internal ---

/** In fewer sessions there may have been no need for them. */
const MIN_SESSIONS = 5;
const MAX_NAMES = 6;
