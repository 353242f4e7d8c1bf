import { sumOfCalls } from "#core/rules/call-sums.ts";
import { maxOf, sumKnown } from "#kit/numbers.ts";
import { costText, count, duration, exact, percentOf, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Explanation } from "./explain.ts";
import { describeCause, type Finding, inTurn, MIN_SHARE } from "./finding.ts";
import { cacheFindings } from "./findings-cache.ts";
import { timeFindings } from "./findings-time.ts";
import { missingNotesOf } from "./missing.ts";
import { toolTitle } from "./titles.ts";

/** Notable facts about a session, most important first. Each sentence has its numbers. */
export function findingsOf(explanation: Explanation): readonly Finding[] {
  return [
    ...turnFindings(explanation),
    ...timeFindings(explanation),
    ...moneyFindings(explanation),
    ...contextFindings(explanation),
    ...partFindings(explanation),
    ...cacheFindings(explanation),
    ...toolFindings(explanation),
  ].sort((a, b) => b.weight - a.weight);
}

/** What cannot be determined for this session, and why. */
export function unknownsOf({ view, time, money, habits }: Explanation): readonly string[] {
  const { total } = money;
  const toolCalls = view.toolCalls.length;
  const unknowns: string[] = [...missingNotesOf(view)];
  if (total.incompleteCalls > 0) {
    const answers = plural(total.incompleteCalls, "answer was", "answers were");
    unknowns.push(`output is a lower bound: ${answers} cut short`);
  }
  if (view.calls.some(({ call }) => call.covers !== undefined)) {
    unknowns.push("the agent reports totals over several calls: the time of each call is unknown");
  } else if (time?.isModelTimed === false && toolCalls > 0) {
    unknowns.push(
      "time waiting for the model and the agent's own time are one figure: the agent does not report model calls",
    );
  }
  if (toolCalls > 1 && habits.comparableCalls < toolCalls) {
    unknowns.push(
      habits.comparableCalls === 0
        ? "repeated calls are unknown: inputs are not kept"
        : `repeated calls are known for ${habits.comparableCalls} of ${plural(toolCalls, "tool call")}`,
    );
  }
  if (time !== undefined && time.measuredTools < toolCalls && time.parts.tool > 0) {
    unknowns.push(
      time.measuredTools === 0
        ? "tool time includes waiting for permission: the agent does not report it separately"
        : `waiting for permission is reported for ${time.measuredTools} of ${plural(toolCalls, "tool call")}`,
    );
  }
  return unknowns;
}

// --- internal ---

/** The beginning of a prompt, behind the number of its turn. */
function quoted(prompt: string | undefined): string {
  if (prompt === undefined) return "";
  const text = printable(prompt);
  return `, “${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED - 1).trimEnd()}…` : text}”,`;
}

const MAX_QUOTED = 60;
/** Of compactions. */
const MAX_SIZES = 2;

function turnFindings({ view: { turnList } }: Explanation): readonly Finding[] {
  const ended = turnList.filter(({ open }) => !open);
  const failed = ended.filter(({ state }) => state === "failed").length;
  if (failed === 0) return [];
  return [
    {
      weight: failed / ended.length,
      text:
        ended.length === 1 ? "The only turn failed." : `${exact(failed)} of ${plural(ended.length, "turn")} failed.`,
    },
  ];
}

function moneyFindings({ money, view, prompts }: Explanation): readonly Finding[] {
  const { total, turns, threads, causes, mcpServers } = money;
  const cost = total.costNanoUsd;
  if (cost === undefined || cost === 0) return [];
  const share = (part: number | undefined): number => (part ?? 0) / cost;
  const findings: Finding[] = [];
  const counted = turns.filter(({ part }) => part > 0);
  const top = counted.toSorted((a, b) => (b.sums.costNanoUsd ?? 0) - (a.sums.costNanoUsd ?? 0))[0];
  if (top !== undefined && counted.length > 1 && share(top.sums.costNanoUsd) * counted.length > 1.5) {
    findings.push({
      weight: share(top.sums.costNanoUsd) * 0.9,
      text: `Turn ${top.part}${quoted(prompts.get(top.part))} cost ${costText(top.sums)}, ${percentOf(share(top.sums.costNanoUsd))} of ${costText(total)}, in ${plural(top.sums.modelCalls, "call")}.`,
    });
  }
  const subagents = threads.filter(({ part }) => part.subagent);
  const ofSubagents = sumOfCalls(view.calls.filter(({ call }) => call.agentId !== undefined));
  if (subagents.length > 0 && share(ofSubagents.costNanoUsd) >= MIN_SHARE) {
    findings.push({
      weight: share(ofSubagents.costNanoUsd) * 0.9,
      text: `${plural(view.subagents, "subagent")} cost ${costText(ofSubagents)}, ${percentOf(share(ofSubagents.costNanoUsd))} of ${costText(total)}.`,
    });
  }
  const tool = causes.find(({ part }) => part.kind === "tool");
  if (tool !== undefined && share(tool.sums.costNanoUsd) >= 0.25) {
    findings.push({
      weight: share(tool.sums.costNanoUsd) * 0.6,
      text: `${percentOf(share(tool.sums.costNanoUsd))} of the cost, ${costText(tool.sums)}, went into the ${plural(tool.sums.modelCalls, "call")} that read what ${describeCause(tool.part)} had returned.`,
    });
  }
  const [server] = mcpServers;
  if (server !== undefined && share(server.sums.costNanoUsd) >= MIN_SHARE) {
    findings.push({
      weight: share(server.sums.costNanoUsd) * 0.5,
      text: `Calls after results of the MCP server ${printable(server.part)} cost ${costText(server.sums)} (${percentOf(share(server.sums.costNanoUsd))}).`,
    });
  }
  return findings;
}

function contextFindings({ habits, view }: Explanation): readonly Finding[] {
  const { points, largestStep, compactions, compacted, largestResults } = habits.context;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return [];
  const peak = maxOf(points.map(({ input }) => input));
  const findings: Finding[] = [];
  const sizes = compacted.map(({ before, after }) => `${count(before)} to ${count(after)}`).slice(0, MAX_SIZES);
  const shrunk = sizes.length === 0 ? "" : ` (${sizes.join(", ")}${compacted.length > sizes.length ? ", …" : ""})`;
  const shortened = compactions === 0 ? "" : `, with ${plural(compactions, "compaction")}${shrunk}`;
  if (peak >= first.input * 1.5 || compactions > 0) {
    const step =
      largestStep === undefined
        ? ""
        : `; the largest step, ${count(largestStep.tokens)}, came${inTurn(largestStep.turn)} after ${describeCause(largestStep.after)}`;
    findings.push({
      weight: peak === 0 ? 0 : ((peak - first.input) / peak) * 0.5,
      text: `The context grew from ${count(first.input)} to ${count(peak)} tokens over ${plural(points.length, "call")}${shortened}${step}.`,
    });
  }
  const [largest] = largestResults;
  if (largest !== undefined && peak > 0 && largest.tokens >= peak * MIN_SHARE) {
    findings.push({
      weight: (largest.tokens / peak) * 0.6,
      text: `A result of ${printable(toolTitle(largest.name, largest.mcpServer))}${inTurn(largest.turn)} added ${count(largest.tokens)} tokens to the context, ${percentOf(largest.tokens / peak)} of its largest size.`,
    });
  }
  const reporting = view.calls.flatMap(({ call: { usage } }) => (usage?.cacheRead === undefined ? [] : [usage]));
  const input = sumKnown(reporting.map((usage) => usage.input));
  const cacheRead = sumKnown(reporting.map((usage) => (usage.input === undefined ? undefined : usage.cacheRead)));
  if (input !== undefined && input > 0 && cacheRead !== undefined) {
    findings.push({
      weight: 0.15,
      text: `${percentOf(cacheRead / input)} of ${count(input)} input tokens were read from a cache.`,
    });
  }
  return findings;
}

/** What filled the context before any conversation: it is paid with every call. */
function partFindings({ view: { stored } }: Explanation): readonly Finding[] {
  if (stored.contextParts === undefined) return [];
  const { system, tools, conversation } = stored.contextParts;
  const whole = system + tools + conversation;
  if (whole === 0) return [];
  const text = `At the end the context was ${count(whole)} tokens: system prompt ${percentOf(system / whole)}, tool definitions ${percentOf(tools / whole)}, conversation ${percentOf(conversation / whole)}.`;
  return [{ weight: ((system + tools) / whole) * 0.3, text }];
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
          ? `, all ${printable(toolTitle(worst.name, worst.mcpServer))}`
          : `: ${printable(toolTitle(worst.name, worst.mcpServer))} ${exact(worst.errors)} of ${exact(worst.calls)}`;
    findings.push({
      weight: Math.min(0.9, (errors / calls) * 1.2),
      text: `${exact(errors)} of ${plural(calls, "tool call")} failed${most}.`,
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
      text: `${plural(failed, "edit")} failed and ${failed === 1 ? "was" : "were"} retried immediately; ${worked === failed ? (failed === 1 ? "it then worked" : "all then worked") : `${worked} then worked`}.`,
    });
  }
  const [repeat] = habits.repeats;
  if (repeat !== undefined) {
    findings.push({
      weight: Math.min(0.9, Math.max(share(repeat.totalMs), ((repeat.calls - 1) / calls) * 0.8)),
      text: `${printable(toolTitle(repeat.name))} was called ${exact(repeat.calls)} times with the same input, ${duration(repeat.totalMs)} together${habits.repeats.length > 1 ? `; ${plural(habits.repeats.length - 1, "other call was", "other calls were")} repeated as well` : ""}.`,
    });
  }
  return findings;
}
