import { maxOf } from "../../model/min-max.ts";
import { costText, duration, localTime, tokensText } from "../../text/figures.ts";
import { type Column, table } from "../../text/table.ts";
import { printable, type Terminal } from "../../text/terminal.ts";
import { hasUsage } from "../call-totals.ts";
import { activeMs, failedCalls, isOpen, type SessionSummary, toolCallCount } from "../session-summary.ts";

/** Sessions as a table. */
export const sessionTable = (all: readonly SessionSummary[], terminal: Terminal): Generator<string> =>
  table(columnsFor(all), all, terminal);

// --- internal ---

/** Characters of a session id that are shown, if they distinguish the listed sessions. */
const ID_LENGTH = 8;

function columnsFor(all: readonly SessionSummary[]): readonly Column<SessionSummary>[] {
  const idLength = distinctLength(all.map(({ stored }) => stored.sessionId));
  // Identity and cost stay longest on narrow terminals; imported sessions all end alike
  return [
    { title: "started", rank: 10, cell: ({ stored, segments }) => toTheMinute(segments[0]?.startMs ?? stored.firstMs) },
    { title: "agent", rank: 7, cell: ({ stored }) => printable(stored.source) },
    { title: "session", rank: 11, cell: ({ stored }) => printable(stored.sessionId.slice(0, idLength)) },
    { title: "repository", rank: 6, shrinkTo: 12, cell: repository },
    { title: "turns", rank: 4, align: "right", cell: ({ turns }) => String(turns) },
    { title: "calls", rank: 1, align: "right", cell: ({ sums, facts }) => modelCalls(sums, facts) },
    {
      title: "tools",
      rank: 2,
      align: "right",
      cell: ({ tools }) => `${toolCallCount(tools)}${failedCalls(tools) === 0 ? "" : ` (${failedCalls(tools)}✗)`}`,
      style: ({ tools }) => (failedCalls(tools) === 0 ? undefined : "red"),
    },
    { title: "tokens", rank: 8, align: "right", cell: tokens },
    { title: "cost", rank: 9, align: "right", cell: cost },
    { title: "duration", rank: 3, align: "right", cell: ({ segments }) => duration(activeMs(segments)) },
    {
      title: "end",
      rank: 5,
      cell: (summary) => (isOpen(summary) ? "open" : (summary.segments.at(-1)?.reason ?? "ended")),
      style: (summary) => (isOpen(summary) ? "cyan" : undefined),
    },
  ];
}

const toTheMinute = (ms: number): string => localTime(ms).slice(0, "2026-11-21 07:37".length);

function distinctLength(ids: readonly string[]): number {
  const whole = new Set(ids);
  const longest = maxOf(ids.map((id) => id.length));
  for (let length = ID_LENGTH; length < longest; length++) {
    if (new Set([...whole].map((id) => id.slice(0, length))).size === whole.size) return length;
  }
  return longest;
}

function repository({ facts }: SessionSummary): string {
  const { repository: of } = facts;
  if (of === undefined) return "";
  return printable(`${of.name}${of.branch === undefined ? "" : `@${of.branch}`}`);
}

const modelCalls = (sums: SessionSummary["sums"], facts: SessionSummary["facts"]): string =>
  sums.modelCalls === 0 && (sums.aggregateRecords > 0 || facts.usageUnknown === true) ? "?" : String(sums.modelCalls);

function tokens({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return tokensText(sums);
}

function cost({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return costText(sums);
}
