import { duration, percentOf, plural } from "../text/figures.ts";
import { printable } from "../text/terminal.ts";
import type { Explanation } from "./explain.ts";
import { type Finding, inTurn, MIN_SHARE } from "./finding.ts";
import { toolTitle } from "./tool-title.ts";

/** Where the time went: the largest part, subagents, the slowest call, idle time. */
export function timeFindings({ time, money, habits, view }: Explanation): readonly Finding[] {
  if (time === undefined) return [];
  const { model, tool, held, agent, user, away } = time.parts;
  const wholeMs = time.endMs - time.startMs;
  const workMs = model + tool + held + agent;
  const findings: Finding[] = [];
  const calls = money.total.modelCalls;
  if (money.total.modelCalls + money.total.aggregateRecords + view.toolCalls.length === 0) {
    return view.facts.usageUnknown === true ? [] : [{ weight: 1, text: "No model was called and no tool was used." }];
  }
  if (workMs > 0) {
    const [top] = (
      [
        ["model", model],
        ["tool", tool],
        ["held", held],
        ["agent", agent],
      ] as const
    ).toSorted((a, b) => b[1] - a[1]);
    const share = (top?.[1] ?? 0) / workMs;
    const of = `${percentOf(share)} of ${duration(workMs)} at work`;
    // By the time that tools ran, without the time before they ran
    const [longest] = time.tools.toSorted((a, b) => b.toolMs - a.toolMs);
    if (top?.[0] === "model") {
      findings.push({
        weight: share,
        text: `Waiting for the model took ${duration(model)}, ${of}, in ${plural(calls, "call")}.`,
      });
    } else if (top?.[0] === "tool" && longest !== undefined) {
      const { name, toolMs, besideSubagentsMs } = longest;
      const part = toolMs * 2 > tool ? "most of it" : "the largest part";
      const most = toolMs === tool ? "all of it" : `${part}, ${duration(toolMs)},`;
      findings.push({
        weight: share,
        text: `Tools took ${duration(tool)}, ${of}; ${most} ${printable(toolTitle(name))}${besideSubagentsMs * 2 > toolMs ? ", while subagents were at work" : ""}.`,
      });
    } else if (top?.[0] === "held") {
      findings.push({
        weight: share,
        text: `Tools waited ${duration(held)}, ${of}, before they ran: permission or hooks.`,
      });
    }
    if (top?.[0] === "agent") {
      findings.push({
        weight: share,
        text: time.isModelTimed
          ? `${duration(agent)}, ${of}, passed outside model and tool calls.`
          : `${duration(agent)}, ${of}, passed outside tools: the agent does not report when the model ran.`,
      });
    }
    if (top?.[0] !== "held" && held / workMs >= MIN_SHARE) {
      findings.push({
        weight: held / workMs,
        text: `Tools waited ${duration(held)} before they ran (permission or hooks).`,
      });
    }
    if (time.subagentMs / workMs >= MIN_SHARE) {
      findings.push({
        weight: (time.subagentMs / workMs) * 0.8,
        text: `${duration(time.subagentMs)}, ${percentOf(time.subagentMs / workMs)} of ${duration(workMs)} at work, went into ${plural(view.subagents, "subagent")}.`,
      });
    }
    const [slowest] = habits.slowest;
    const heldMs = slowest?.heldMs ?? 0;
    if (slowest !== undefined && slowest.ms / workMs >= 0.2 && calls + view.toolCalls.length > 3) {
      const name = printable(toolTitle(slowest.name ?? "an unnamed model"));
      findings.push({
        weight: (slowest.ms / workMs) * 0.7,
        text: `The slowest call was ${name}${inTurn(slowest.turn)}: ${duration(slowest.ms)}${heldMs * 2 > slowest.ms ? `, ${duration(heldMs)} of it before it ran` : ""}.`,
      });
    }
  }
  const idleMs = user + away;
  if (wholeMs > 0 && idleMs / wholeMs > 0.5 && idleMs >= MIN_WAIT_MS) {
    const closed = away > 0 ? `, ${duration(away)} of it closed` : "";
    findings.push({
      weight: 0.3,
      text: `Nothing ran for ${duration(idleMs)} of ${duration(wholeMs)} (${percentOf(idleMs / wholeMs)})${closed}.`,
    });
  }
  return findings;
}

// --- internal ---

/** Shorter idle times are no finding. */
const MIN_WAIT_MS = 60_000;
