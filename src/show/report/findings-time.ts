import { duration, percentOf, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Explanation } from "./explain.ts";
import type { TimeSpent } from "./explain-time.ts";
import { type Finding, inTurn, MIN_SHARE } from "./finding.ts";
import { isWait, retriesText, serverText } from "./native/notes.ts";
import { nativeSums, waitsText } from "./native/sums.ts";
import { toolTitle } from "./titles.ts";

/** Where the time went: the largest part, subagents, the slowest call, idle time. */
export function timeFindings(explanation: Explanation): readonly Finding[] {
  const { time, money, view } = explanation;
  if (time === undefined) return [];
  if (money.total.modelCalls + money.total.aggregateRecords + view.toolCalls.length === 0) {
    // Failed requests are no model calls, so a model may have been asked. Less than 1: that the turn failed comes first
    const text = "No model answered, and no tool was used.";
    return view.facts.usageUnknown === true ? [] : [{ weight: 0.9, text }];
  }
  const { model, tool, held, agent } = time.parts;
  const work: Work = { ...explanation, time, workMs: model + tool + held + agent };
  const atWork = work.workMs > 0 ? [largestPart(work), waiting(work), subagents(work), slowestCall(work)] : [];
  return [...atWork, ...nativeFindings(work), idleTime(time)].filter((finding) => finding !== undefined);
}

// --- internal ---

/** Shorter idle times are no finding. */
const MIN_WAIT_MS = 60_000;

/** An explanation of a session in which something ran. */
interface Work extends Explanation {
  readonly time: TimeSpent;
  /** Time in which the session worked; more than 0. */
  readonly workMs: number;
}

const PARTS = ["model", "tool", "held", "agent"] as const;

const nameOfLargest = ({ parts }: TimeSpent): (typeof PARTS)[number] =>
  PARTS.reduce((largest, part) => (parts[part] > parts[largest] ? part : largest));

function largestPart({ time, money, workMs }: Work): Finding | undefined {
  const part = nameOfLargest(time);
  const partMs = time.parts[part];
  const weight = partMs / workMs;
  const took = `${duration(partMs)}, ${percentOf(weight)} of ${duration(workMs)} at work`;
  switch (part) {
    case "model":
      return { weight, text: `Waiting for the model took ${took}, in ${plural(money.total.modelCalls, "call")}.` };
    case "tool": {
      const most = longestTool(time);
      return most === undefined ? undefined : { weight, text: `Tools took ${took}; ${most}.` };
    }
    case "held":
      return { weight, text: `Tools waited ${took}, before they ran: ${whyHeld(time)}.` };
    case "agent":
      return {
        weight,
        text: time.isModelTimed
          ? `${took}, passed outside model and tool calls.`
          : `${took}, passed outside tools: the agent does not report when the model ran.`,
      };
  }
}

/** The tool that ran longest, without the time before it ran, and its part of the time of all tools. */
function longestTool({ tools, parts: { tool } }: TimeSpent): string | undefined {
  const [longest] = tools.toSorted((a, b) => b.toolMs - a.toolMs);
  if (longest === undefined) return undefined;
  const { name, toolMs, besideSubagentsMs } = longest;
  const part = toolMs * 2 > tool ? "most of it" : "the largest part";
  const most = toolMs === tool ? "all of it" : `${part}, ${duration(toolMs)},`;
  return `${most} ${printable(toolTitle(name))}${besideSubagentsMs * 2 > toolMs ? ", while subagents were at work" : ""}`;
}

function waiting({ time, workMs }: Work): Finding | undefined {
  const { held } = time.parts;
  if (nameOfLargest(time) === "held" || held / workMs < MIN_SHARE) return undefined;
  return { weight: held / workMs, text: `Tools waited ${duration(held)} before they ran (${whyHeld(time)}).` };
}

const whyHeld = ({ permissionMs = 0 }: TimeSpent): string =>
  !isWait({ permissionMs }) ? "permission or hooks" : `${duration(permissionMs)} of it for your permission`;

/** What only the agent's own telemetry says, without what the figures of time already show. */
function nativeFindings({ view, workMs }: Work): readonly Finding[] {
  const { waits, retries = 0, refusals = 0, failedServers = [] } = nativeSums(view) ?? {};
  const calls = view.calls.length;
  const of = (part: number): number => Math.min(0.8, 0.2 + part / Math.max(1, calls));
  return [
    ...(waits === undefined || waits.calls === 0
      ? []
      : [{ weight: Math.min(0.8, 0.15 + waits.ms / Math.max(1, workMs)), text: `It ${waitsText(waits)}.` }]),
    ...(retries === 0 ? [] : [{ weight: of(retries), text: `Model calls needed ${retriesText(retries)}.` }]),
    ...(refusals === 0 ? [] : [{ weight: of(refusals), text: `The model refused ${plural(refusals, "call")}.` }]),
    ...failedServers.map((server) => ({
      weight: 0.4,
      text: `A connection to ${printable(serverText(server))} failed.`,
    })),
  ];
}

function subagents({ time: { subagentMs }, view, workMs }: Work): Finding | undefined {
  const share = subagentMs / workMs;
  if (share < MIN_SHARE) return undefined;
  return {
    weight: share * 0.8,
    text: `${duration(subagentMs)}, ${percentOf(share)} of ${duration(workMs)} at work, went into ${plural(view.subagents, "subagent")}.`,
  };
}

function slowestCall({ habits, view, workMs }: Work): Finding | undefined {
  const [slowest] = habits.slowest;
  // The others have no time of their own
  const calls = view.calls.filter(({ call }) => call.covers === undefined).length + view.toolCalls.length;
  if (slowest === undefined || slowest.ms / workMs < 0.2 || calls <= 3) return undefined;
  const name = printable(toolTitle(slowest.name ?? "an unnamed model"));
  const { ms, heldMs = 0 } = slowest;
  return {
    weight: (ms / workMs) * 0.7,
    text: `The slowest call was ${name}${inTurn(slowest.turn)}: ${duration(ms)}${heldMs * 2 > ms ? `, ${duration(heldMs)} of it before it ran` : ""}.`,
  };
}

function idleTime({ startMs, endMs, parts: { user, away } }: TimeSpent): Finding | undefined {
  const wholeMs = endMs - startMs;
  const idleMs = user + away;
  if (wholeMs <= 0 || idleMs / wholeMs <= 0.5 || idleMs < MIN_WAIT_MS) return undefined;
  const closed = away > 0 ? `, ${duration(away)} of it closed` : "";
  return {
    weight: 0.3,
    text: `Nothing ran for ${duration(idleMs)} of ${duration(wholeMs)} (${percentOf(idleMs / wholeMs)})${closed}.`,
  };
}
