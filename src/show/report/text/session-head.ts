import type { Segment } from "#core/model/session.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { sumKnown } from "#kit/numbers.ts";
import {
  count,
  dollars,
  duration,
  exact,
  leastDollars,
  localTime,
  percentOf,
  plural,
  preciseDollars,
  pricelessOf,
} from "#kit/text/figures.ts";
import { type Piece, printable } from "#kit/text/terminal.ts";
import { hasUsage } from "../call-totals.ts";
import { chargesOf, searchesText } from "../charges.ts";
import { nativeSums, nativeSumsTexts } from "../native/sums.ts";
import { LIST_PRICE } from "../prices.ts";
import { endOfSegment, type Idle } from "../session-end.ts";
import { activeMs } from "../session-summary.ts";
import { hiddenCalls, type SessionView } from "../session-view.ts";

/** One fact of a line: `flow` joins them. */
type Part = readonly Piece[];

/** Agent, repository, session id. @param title the agent's */
export function identity({ stored, facts }: SessionView, title: string): readonly Part[] {
  const { repository } = facts;
  const branch = repository?.branch === undefined ? "" : `@${repository.branch}`;
  const version = stored.agentVersion === undefined ? "" : ` ${stored.agentVersion}`;
  return [
    [{ text: printable(title), style: "bold" }, { text: printable(version) }],
    ...(repository === undefined ? [] : [plain(printable(`${repository.name}${branch}`))]),
    plain(printable(stored.sessionId)),
  ];
}

/** When it started, how long turns ran in it, how long it was open, how it ended. */
export function life({ stored, segments, workMs }: SessionView, idle: Idle): readonly Part[] {
  return [
    plain(`started ${localTime(segments[0]?.startMs ?? stored.firstMs)}`),
    plain(`${duration(workMs)} at work`),
    plain(`open ${duration(activeMs(segments))}`),
    ending(segments.at(-1), idle),
  ];
}

/** Turns, model calls, tool calls, tokens and cost. */
export function totals({ turns, subagents, sums, tools, facts, onSubscription }: SessionView): readonly Part[] {
  const toolCalls = [...tools.values()].reduce((a, b) => a + b, 0);
  const marked = (["error", "denied", "unfinished", "open"] as const).flatMap((status) => {
    const n = tools.get(status) ?? 0;
    return n === 0 ? [] : [`${exact(n)} ${status === "error" ? "failed" : status}`];
  });
  return [
    plain(plural(turns, "turn")),
    ...(sums.modelCalls === 0 && (sums.aggregateRecords > 0 || facts.usageUnknown === true)
      ? []
      : [plain(`${sums.aggregateRecords > 0 ? "≥" : ""}${plural(sums.modelCalls, "model call")}`)]),
    plain(`${plural(toolCalls, "tool call")}${marked.length === 0 ? "" : ` (${marked.join(", ")})`}`),
    ...(subagents === 0 ? [] : [plain(plural(subagents, "subagent"))]),
    ...(hasUsage(sums)
      ? [
          ...tokens(sums),
          plain(costInWords(sums)),
          ...(onSubscription === true && sums.costNanoUsd !== undefined ? [plain(LIST_PRICE)] : []),
        ]
      : facts.usageUnknown === true
        ? [plain("tokens unknown")]
        : []),
  ];
}

/** What was charged besides tokens; nothing if no call reports any. */
export const charges = ({ sums }: SessionView): readonly Part[] => chargesOf(sums).map(plain);

/** The part of the totals that is not the conversation's; nothing if there is none. */
export function hidden(view: SessionView): readonly Part[] {
  const calls = hiddenCalls(view);
  if (calls.length === 0) return [];
  const sums = sumOfCalls(calls);
  const purposes = [...new Set(calls.map(({ call }) => call.purpose ?? "other"))].sort();
  return [
    [
      { text: "of these hidden:", style: "dim" },
      { text: ` ${plural(calls.length, "model call")} (${purposes.join(", ")})` },
    ],
    ...(hasUsage(sums) ? tokens(sums) : [plain("tokens unknown")]),
  ];
}

/** Tokens and cost as the agent reports them, which include its side requests; nothing if they equal ours. */
export function agentReported({ reported, sums }: SessionView): readonly Part[] {
  if (reported === undefined) return [];
  const all = Object.values(reported);
  const sum = (pick: (usage: (typeof all)[number]) => number | undefined): number | undefined =>
    sumKnown(all.map(pick));
  const [input, output] = [sum((usage) => usage.input), sum((usage) => usage.output)];
  const [cost, searches] = [sum((usage) => usage.costUsd), sum((usage) => usage.webSearches)];
  const costText = cost === undefined || cost === 0 ? undefined : dollars(cost * 1e9);
  const isSameCost =
    cost === undefined ||
    costText === undefined ||
    (sums.costNanoUsd !== undefined && preciseDollars(cost * 1e9) === preciseDollars(sums.costNanoUsd));
  if (isSameOrUnknown(input, sums.input) && isSameOrUnknown(output, sums.output) && isSameCost) return [];
  return [
    [{ text: "the agent's own figures, side requests included:", style: "dim" }, { text: ` in ${count(input)}` }],
    plain(`out ${count(output)}`),
    ...(costText === undefined ? [] : [plain(costText)]),
    ...(searches === undefined ? [] : [plain(searchesText(searches))]),
  ];
}

/** What only the agent's own telemetry says; nothing if it says nothing. */
export function native(view: SessionView): readonly Part[] {
  const sums = nativeSums(view);
  const [first, ...more] = sums === undefined ? [] : nativeSumsTexts(sums);
  if (first === undefined) return [];
  return [
    [{ text: "the agent's telemetry:", style: "dim" }, { text: ` ${printable(first)}` }],
    ...more.map((text) => plain(printable(text))),
  ];
}

/** The line above the waterfall of a segment. */
export function segmentTitle(segment: Segment, segmentCount: number, idle: Idle): readonly Part[] {
  const { ordinal, startOrigin, startMs } = segment;
  return [
    [{ text: `segment ${ordinal + 1} of ${segmentCount}`, style: "bold" }],
    ...(startOrigin === undefined ? [] : [plain(printable(startOrigin))]),
    plain(localTime(startMs)),
    plain(`open ${duration(activeMs([segment]))}`),
    ending(segment, idle),
  ];
}

// --- internal ---

/** Whether the agent's own sum adds nothing to ours. */
const isSameOrUnknown = (reported: number | undefined, ours: number | undefined): boolean =>
  reported === undefined || reported === (ours ?? 0);

const plain = (text: string): Part => [{ text }];

function ending(segment: Segment | undefined, idle: Idle): Part {
  const { state, text } = endOfSegment(segment, idle);
  const style = state === "open" ? "cyan" : state === "failed" ? "red" : undefined;
  return [{ text: printable(text), ...(style !== undefined && { style }) }];
}

function tokens(sums: SessionView["sums"]): readonly Part[] {
  if (sums.input === undefined && sums.output === undefined) return [plain("tokens unknown")];
  const share = (part: number | undefined, name: string): readonly string[] =>
    part === undefined || part === 0 || !sums.input || part > sums.input
      ? []
      : [`${name} ${percentOf(part / sums.input)}`];
  const cache = [...share(sums.cacheRead, "cache read"), ...share(sums.cacheWrite, "cache write")].join(", ");
  const isLeastInput = sums.callsWithoutUsage > 0;
  const isLeastOutput = isLeastInput || sums.incompleteCalls > 0;
  return [
    plain(`in ${atLeast(sums.input, isLeastInput)}${cache === "" ? "" : ` (${cache})`}`),
    plain(`out ${atLeast(sums.output, isLeastOutput)}`),
  ];
}

const atLeast = (n: number | undefined, isLeast: boolean): string =>
  `${isLeast && n !== undefined ? "≥ " : ""}${count(n)}`;

/** `$1.20`, `≥ $1.20 (2 calls unpriced)`, `cost unknown`. */
function costInWords(sums: SessionView["sums"]): string {
  const { costNanoUsd, unpricedCalls, incompleteCalls } = sums;
  if (costNanoUsd === undefined) return "cost unknown";
  const priceless = pricelessOf(sums);
  const unpriced = priceless === 0 ? "" : ` (${plural(priceless, "call")} unpriced)`;
  const cost = unpricedCalls + incompleteCalls > 0 ? leastDollars(costNanoUsd, " ") : dollars(costNanoUsd);
  return `${cost}${unpriced}`;
}
