import { maxOf } from "../../model/min-max.ts";
import { costText, duration, exact, localTime, tokensText } from "../../text/figures.ts";
import { type Column, table } from "../../text/table.ts";
import { clip, printable, type Terminal } from "../../text/terminal.ts";
import { hasUsage } from "../call-totals.ts";
import { type Failures, standsOut, sumOfFailures } from "../failure-share.ts";
import { repositoryOrFolder } from "../repositories.ts";
import { endOfSession, type Idle } from "../session-end.ts";
import { activeMs, failedCalls, type SessionSummary, toolCallCount } from "../session-summary.ts";
import { type SessionTitle, shortTitle } from "../session-title.ts";

/** A session of the list. */
export interface ListedSummary extends SessionSummary {
  /** `undefined`: titles are off. */
  readonly title: SessionTitle | undefined;
}

/** Sessions as a table. */
export const sessionTable = (all: readonly ListedSummary[], idle: Idle, terminal: Terminal): Generator<string> =>
  table(columnsFor(all, idle), all, terminal);

// --- internal ---

/** Characters of a session id that are shown, if they distinguish the listed sessions. */
const ID_LENGTH = 8;

/** A longer title would push the figures apart on wide terminals. */
const MAX_TITLE = 60;

function columnsFor(all: readonly ListedSummary[], idle: Idle): readonly Column<ListedSummary>[] {
  const usual = sumOfFailures(all.map(failuresOf));
  const idLength = distinctLength(all.map(({ stored }) => stored.sessionId));
  // Identity and cost stay longest on narrow terminals; imported sessions all end alike
  return [
    { title: "started", rank: 10, cell: ({ stored, segments }) => toTheMinute(segments[0]?.startMs ?? stored.firstMs) },
    { title: "agent", rank: 7, cell: ({ stored }) => printable(stored.source) },
    { title: "session", rank: 11, cell: ({ stored }) => printable(stored.sessionId.slice(0, idLength)) },
    { title: "repository", rank: 6, shrinkTo: 12, cell: repository },
    { title: "turns", rank: 4, align: "right", cell: ({ turns }) => exact(turns) },
    { title: "calls", rank: 1, align: "right", cell: ({ sums, facts }) => modelCalls(sums, facts) },
    {
      title: "tools",
      rank: 2,
      align: "right",
      cell: ({ tools }) =>
        `${exact(toolCallCount(tools))}${failedCalls(tools) === 0 ? "" : ` (${exact(failedCalls(tools))}✗)`}`,
      style: (summary) => (standsOut(failuresOf(summary), usual) ? "red" : undefined),
    },
    { title: "tokens", rank: 8, align: "right", cell: tokens },
    { title: "cost", rank: 9, align: "right", cell: cost },
    { title: "duration", rank: 3, align: "right", cell: ({ segments }) => duration(activeMs(segments)) },
    {
      title: "end",
      rank: 5,
      cell: (summary) => endOfSession(summary, idle).short,
      style: (summary) => END_STYLES[endOfSession(summary, idle).state],
    },
    {
      title: "title",
      rank: 5.5,
      shrinkTo: 16,
      cell: ({ title }) => (title === undefined ? "" : clip(shortTitle(title), MAX_TITLE)),
    },
  ];
}

const END_STYLES = { open: "cyan", failed: "red", ended: undefined, unreported: undefined } as const;

const failuresOf = ({ tools }: SessionSummary): Failures => ({
  failed: failedCalls(tools),
  calls: toolCallCount(tools),
});

const toTheMinute = (ms: number): string => localTime(ms).slice(0, "2026-11-21 07:37".length);

function distinctLength(ids: readonly string[]): number {
  const whole = new Set(ids);
  const longest = maxOf(ids.map((id) => id.length));
  for (let length = ID_LENGTH; length < longest; length++) {
    if (new Set([...whole].map((id) => id.slice(0, length))).size === whole.size) return length;
  }
  return longest;
}

function repository({ stored, facts }: SessionSummary): string {
  const of = facts.repository ?? repositoryOrFolder(undefined, stored.cwd);
  if (of === undefined) return "";
  return printable(`${of.name}${of.branch === undefined ? "" : `@${of.branch}`}`);
}

const modelCalls = (sums: SessionSummary["sums"], facts: SessionSummary["facts"]): string =>
  sums.modelCalls === 0 && (sums.aggregateRecords > 0 || facts.usageUnknown === true) ? "?" : exact(sums.modelCalls);

function tokens({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return tokensText(sums);
}

function cost({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return costText(sums);
}
