import { sumOfCalls } from "../model/call-sums.ts";
import { maxOf } from "../model/min-max.ts";
import { costText, count, duration, plural, pricelessOf } from "../text/figures.ts";
import { printable } from "../text/terminal.ts";
import type { Explanation } from "./explain.ts";
import type { Cause } from "./explain-money.ts";

/** Something worth saying about a session. */
export interface Finding {
  /** 0 to 1: how much of the session it is about. */
  readonly weight: number;
  readonly text: string;
}

/**
 * What stands out in a session, the most important first: in words, with the numbers that they rest on, and nothing that
 * no number says.
 */
export function findingsOf(explanation: Explanation): readonly Finding[] {
  return [
    ...timeFindings(explanation),
    ...moneyFindings(explanation),
    ...contextFindings(explanation),
    ...toolFindings(explanation),
  ].sort((a, b) => b.weight - a.weight);
}

/** What cannot be said of this session, and why. */
export function unknownsOf({ view, time, money, habits }: Explanation): readonly string[] {
  const { total } = money;
  const toolCalls = view.toolCalls.length;
  const unknowns: string[] = [];
  if (total.input === undefined && view.facts.usageUnknown === true) {
    unknowns.push("tokens and cost are not known: the agent tells none, or its transcript was not read");
  } else if (pricelessOf(total) > 0) {
    const names = money.models.filter(({ sums }) => pricelessOf(sums) > 0).map(({ of }) => printable(of ?? "no name"));
    unknowns.push(`no price is known for ${plural(pricelessOf(total), "call")} (${names.slice(0, 3).join(", ")})`);
  }
  if (total.input !== undefined && total.callsWithoutUsage > 0) {
    unknowns.push(
      `tokens and cost of ${plural(total.callsWithoutUsage, "call or turn", "calls or turns")} were not told`,
    );
  }
  if (total.incompleteCalls > 0) {
    const answers = plural(total.incompleteCalls, "answer was", "answers were");
    unknowns.push(`output is a lower bound: ${answers} cut short`);
  }
  if (total.sumsTold > 0) {
    unknowns.push("the agent tells sums over several calls: when each of them was is not known");
  } else if (time?.isModelTimed === false && toolCalls > 0) {
    unknowns.push("waiting for the model cannot be told from the agent itself: its calls are not told");
  }
  if (toolCalls > 1 && habits.comparableCalls < toolCalls) {
    unknowns.push(
      habits.comparableCalls === 0
        ? "whether calls were repeated with the same input is not known: inputs are not kept"
        : `whether calls were repeated is known for ${habits.comparableCalls} of ${toolCalls}`,
    );
  }
  if (time !== undefined && time.measuredTools < toolCalls && time.parts.tool > 0) {
    unknowns.push(
      time.measuredTools === 0
        ? "waiting for permission is a part of the tools' time: the agent does not tell it apart"
        : `waiting for permission is told apart for ${time.measuredTools} of ${plural(toolCalls, "tool call")}`,
    );
  }
  return unknowns;
}

/** What a model call came after, in a few words. */
export function causeInWords(cause: Cause): string {
  switch (cause.kind) {
    case "prompt":
      return "the prompt";
    case "tool":
      return printable(cause.name);
    case "several":
      return "several tools";
    default:
      return "an unknown step";
  }
}

// --- internal ---

/** Less is no finding. */
const MIN_SHARE = 0.1;
const MIN_WAIT_MS = 60_000;

const percent = (share: number): string => `${Math.round(share * 100)}%`;

function timeFindings({ time, money, habits, view }: Explanation): readonly Finding[] {
  if (time === undefined) return [];
  const { model, tool, held, agent, user, away } = time.parts;
  const wholeMs = time.endMs - time.startMs;
  const workMs = model + tool + held + agent;
  const findings: Finding[] = [];
  const calls = money.total.modelCalls;
  if (money.total.modelCalls + money.total.sumsTold + view.toolCalls.length === 0) {
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
    const of = `${percent(share)} of ${duration(workMs)} at work`;
    // A tool that was held back longest did not run longest
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
        text: `Tools took ${duration(tool)}, ${of}; ${most} ${printable(name)}${besideSubagentsMs * 2 > toolMs ? ", while subagents were at work" : ""}.`,
      });
    } else if (top?.[0] === "held") {
      findings.push({
        weight: share,
        text: `Tools were held back for ${duration(held)}, ${of}, before they ran: permission or hooks.`,
      });
    }
    if (top?.[0] === "agent") {
      findings.push({
        weight: share,
        text: time.isModelTimed
          ? `${duration(agent)}, ${of}, passed outside of any model or tool call.`
          : `${duration(agent)}, ${of}, passed outside of tools: the agent does not tell when the model was at work.`,
      });
    }
    if (top?.[0] !== "held" && held / workMs >= MIN_SHARE) {
      findings.push({
        weight: held / workMs,
        text: `Tools were held back for ${duration(held)} before they ran (permission or hooks).`,
      });
    }
    if (time.subagentMs / workMs >= MIN_SHARE) {
      findings.push({
        weight: (time.subagentMs / workMs) * 0.8,
        text: `${duration(time.subagentMs)}, ${percent(time.subagentMs / workMs)} of ${duration(workMs)} at work, went into ${plural(view.subagents, "subagent")}.`,
      });
    }
    const [slowest] = habits.slowest;
    const heldMs = slowest?.heldMs ?? 0;
    if (slowest !== undefined && slowest.ms / workMs >= 0.2 && calls + view.toolCalls.length > 3) {
      const name = printable(slowest.name ?? "an unnamed model");
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
      text: `Nothing ran for ${duration(idleMs)} of ${duration(wholeMs)} (${percent(idleMs / wholeMs)})${closed}.`,
    });
  }
  return findings;
}

const inTurn = (turn: number): string => (turn > 0 ? ` in turn ${turn}` : "");

function moneyFindings({ money, view }: Explanation): readonly Finding[] {
  const { total, turns, threads, causes, mcpServers } = money;
  const cost = total.costNanoUsd;
  if (cost === undefined || cost === 0) return [];
  const share = (part: number | undefined): number => (part ?? 0) / cost;
  const findings: Finding[] = [];
  const asked = turns.filter(({ of }) => of > 0);
  const top = asked.toSorted((a, b) => (b.sums.costNanoUsd ?? 0) - (a.sums.costNanoUsd ?? 0))[0];
  if (top !== undefined && asked.length > 1 && share(top.sums.costNanoUsd) * asked.length > 1.5) {
    findings.push({
      weight: share(top.sums.costNanoUsd) * 0.9,
      text: `Turn ${top.of} cost ${costText(top.sums)}, ${percent(share(top.sums.costNanoUsd))} of ${costText(total)}, in ${plural(top.sums.modelCalls, "call")}.`,
    });
  }
  const subagents = threads.filter(({ of }) => of.subagent);
  const ofSubagents = sumOfCalls(view.calls.filter(({ call }) => call.agentId !== undefined));
  if (subagents.length > 0 && share(ofSubagents.costNanoUsd) >= MIN_SHARE) {
    findings.push({
      weight: share(ofSubagents.costNanoUsd) * 0.9,
      text: `${plural(view.subagents, "subagent")} cost ${costText(ofSubagents)}, ${percent(share(ofSubagents.costNanoUsd))} of ${costText(total)}.`,
    });
  }
  const tool = causes.find(({ of }) => of.kind === "tool");
  if (tool !== undefined && share(tool.sums.costNanoUsd) >= 0.25) {
    findings.push({
      weight: share(tool.sums.costNanoUsd) * 0.6,
      text: `${percent(share(tool.sums.costNanoUsd))} of the cost, ${costText(tool.sums)}, went into the ${plural(tool.sums.modelCalls, "call")} that read what ${causeInWords(tool.of)} had returned.`,
    });
  }
  const [server] = mcpServers;
  if (server !== undefined && share(server.sums.costNanoUsd) >= MIN_SHARE) {
    findings.push({
      weight: share(server.sums.costNanoUsd) * 0.5,
      text: `Calls after results of the MCP server ${printable(server.of)} cost ${costText(server.sums)} (${percent(share(server.sums.costNanoUsd))}).`,
    });
  }
  return findings;
}

function contextFindings({ habits, money, view }: Explanation): readonly Finding[] {
  const { points, largestStep, compactions } = habits.context;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return [];
  const peak = maxOf(points.map(({ input }) => input));
  const findings: Finding[] = [];
  const compacted = compactions === 0 ? "" : `, with ${plural(compactions, "compaction")}`;
  if (peak >= first.input * 1.5 || compactions > 0) {
    const step =
      largestStep === undefined
        ? ""
        : `; the largest step, ${count(largestStep.tokens)}, came${inTurn(largestStep.turn)} after ${causeInWords(largestStep.after)}`;
    findings.push({
      weight: peak === 0 ? 0 : ((peak - first.input) / peak) * 0.5,
      text: `The context grew from ${count(first.input)} to ${count(peak)} tokens over ${plural(points.length, "call")}${compacted}${step}.`,
    });
  }
  const { cacheRead } = money.total;
  const told = view.calls.flatMap(({ call }) => (call.usage?.cacheRead === undefined ? [] : [call.usage.input]));
  const input = told.reduce((a, b) => a + b, 0);
  if (input > 0 && cacheRead !== undefined) {
    findings.push({
      weight: 0.15,
      text: `${percent(cacheRead / input)} of ${count(input)} input tokens were read from a cache.`,
    });
  }
  return findings;
}

function toolFindings({ habits, view, time }: Explanation): readonly Finding[] {
  const calls = view.toolCalls.length;
  if (calls === 0) return [];
  const findings: Finding[] = [];
  const workMs = time === undefined ? 0 : time.parts.model + time.parts.tool + time.parts.held + time.parts.agent;
  const share = (ms: number): number => (workMs === 0 ? 0 : ms / workMs);
  const errors = habits.tools.reduce((sum, tool) => sum + tool.errors, 0);
  const denied = habits.tools.reduce((sum, tool) => sum + tool.denied, 0);
  if (errors > 0) {
    const [worst] = habits.tools.toSorted((a, b) => b.errors - a.errors);
    const most =
      worst === undefined || worst.errors === 0
        ? ""
        : worst.errors === errors && habits.tools.length === 1
          ? `, all ${printable(worst.name)}`
          : `: ${printable(worst.name)} ${worst.errors} of ${worst.calls}`;
    findings.push({
      weight: Math.min(0.9, (errors / calls) * 1.2),
      text: `${errors} of ${plural(calls, "tool call")} failed${most}.`,
    });
  }
  if (denied > 0) {
    findings.push({
      weight: Math.min(0.8, denied / calls),
      text: `${plural(denied, "tool call was", "tool calls were")} denied.`,
    });
  }
  const { failed, worked } = habits.retriedEdits;
  if (failed > 0) {
    findings.push({
      weight: Math.min(0.8, 0.1 + failed / calls),
      text: `${plural(failed, "edit")} failed and ${failed === 1 ? "was" : "were"} tried again at once; ${worked === failed ? (failed === 1 ? "it then worked" : "all then worked") : `${worked} then worked`}.`,
    });
  }
  const [repeat] = habits.repeats;
  if (repeat !== undefined) {
    findings.push({
      weight: Math.min(0.9, Math.max(share(repeat.totalMs), ((repeat.calls - 1) / calls) * 0.8)),
      text: `${printable(repeat.name)} was called ${repeat.calls} times with the same input, ${duration(repeat.totalMs)} together${habits.repeats.length > 1 ? `; ${plural(habits.repeats.length - 1, "other call was", "other calls were")} repeated as well` : ""}.`,
    });
  }
  return findings;
}
