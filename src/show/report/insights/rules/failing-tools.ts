import { percentOf, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { toolTitle } from "../../titles.ts";
import { addTo, NO_TOOLS, TOOL_FIGURES, type ToolFigures } from "../../usage-facts.ts";
import type { Material, Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * Tools that fail clearly more often than the other tools of the same agent: a run of tests that fails now and then is normal work. The
 * cost is that of the calls that read failed results of this tool alone. Source: the outcome of each call as the agent reports it.
 */
export const failingToolsRule: Rule = (material) =>
  material.tools.flatMap(({ key, tools }) => {
    const [agent, name] = [key.agent, key.tool];
    if (tools === undefined || agent === undefined || agent === null || !name) return [];
    const others = othersOf(material, agent, name);
    const otherShare = others.calls === 0 ? 0 : others.errors / others.calls;
    const least = leastShare(tools.errors, tools.calls);
    if (tools.errors < MIN_FAILURES || least < MIN_SHARE || least < otherShare * MIN_TIMES) return [];
    const { tally, server, sessions } = readFailures(material, agent, name);
    if (sessions < MIN_SESSIONS) return [];
    const share = percentOf(tools.errors / tools.calls);
    return [
      {
        subject: `${agent}/${name}`,
        evidence: "reported",
        measure: "spent",
        text: `${printable(toolTitle(name, server))} of ${material.titleOf(agent)} failed in ${tools.errors} of ${plural(tools.calls, "call")} (${share}; its other tools: ${percentOf(otherShare)}).`,
        advice:
          "Look at its failed calls; often a permission, a missing program or a sentence in the instructions is the remedy.",
        tally,
      },
    ];
  });

/** The lower end of the Wilson interval of 95 %: what a share of few calls is at least. */
export function leastShare(part: number, whole: number): number {
  if (whole === 0) return 0;
  const share = part / whole;
  const z = 1.96;
  const centre = share + (z * z) / (2 * whole);
  const margin = z * Math.sqrt((share * (1 - share)) / whole + (z * z) / (4 * whole * whole));
  return Math.max(0, (centre - margin) / (1 + (z * z) / whole));
}

// --- internal ---

const MIN_FAILURES = 10;
const MIN_SHARE = 0.1;
/** As many times as often as the agent's other tools. */
const MIN_TIMES = 2;
/** A failure of one afternoon is over. */
const MIN_SESSIONS = 3;

function othersOf({ tools }: Material, agent: string, name: string): ToolFigures {
  const sum = { ...NO_TOOLS };
  for (const { key, tools: figures } of tools)
    if (key.agent === agent && key.tool !== name && figures !== undefined) addTo(sum, figures, TOOL_FIGURES);
  return sum;
}

/** The calls that read failures of a tool, and in how many of the sessions that were read it failed. */
function readFailures({ sessions }: Material, agent: string, name: string) {
  const tally = new Tally();
  let server: string | undefined;
  let failedIn = 0;
  for (const session of sessions) {
    const { stored, toolCalls } = session.view;
    if (stored.source !== agent) continue;
    const failed = toolCalls.filter(({ tool }) => tool.name === name && tool.status === "error");
    if (failed.length > 0) failedIn += 1;
    server ??= failed[0]?.tool.mcpServer;
    for (const placed of session.calls) {
      const { results } = placed;
      if (results.length === 0 || results.some((tool) => tool.name !== name || tool.status !== "error")) continue;
      tally.add(session, placed, placed.costNanoUsd);
    }
  }
  return { tally, server, sessions: failedIn };
}
