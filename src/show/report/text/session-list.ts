import { type Failures, standsOut, sumOfFailures } from "#kit/text/failure-share.ts";
import { costText, duration, exact, localTime, tokensText } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { clip, printable, type Terminal } from "#kit/text/terminal.ts";
import { hasUsage } from "../call-totals.ts";
import { repositoryOrFolder } from "../repositories.ts";
import { endOfSession, type Idle } from "../session-end.ts";
import { failedCalls, type SessionSummary, toolCallCount } from "../session-summary.ts";
import { type SessionTitle, shortTitle } from "../titles.ts";

/** A session of the list. */
interface ListedSummary extends SessionSummary {
  /** `undefined`: titles are off. */
  readonly title: SessionTitle | undefined;
}

/** Sessions as a table. @param isForProgram neither a terminal nor a width was given, so a program may read it */
export const sessionTable = (
  all: readonly ListedSummary[],
  idle: Idle,
  terminal: Terminal,
  isForProgram: boolean,
): Generator<string> => table(columnsFor(all, idle, isForProgram), all, terminal);

// --- internal ---

/** Characters of a session id that are shown at least. */
const ID_LENGTH = 8;

/** Longer titles are cut. The title is the last column, so its length does not move the others. */
const MAX_TITLE = 100;

/** On a terminal, which has little room, columns with one value and the current year are left out; scripts always get the same columns. */
function columnsFor(
  all: readonly ListedSummary[],
  idle: Idle,
  isForProgram: boolean,
): readonly Column<ListedSummary>[] {
  const usual = sumOfFailures(all.map(failuresOf));
  const shortId = shortIds(all.map(({ stored }) => stored.sessionId));
  const isNarrow = !isForProgram;
  const year = isNarrow ? new Date(idle.nowMs).getFullYear() : undefined;
  const varying = (cell: (one: ListedSummary) => string) => (one: ListedSummary) =>
    isNarrow && all.length > 1 && all.every((other) => cell(other) === cell(one)) ? "" : cell(one);
  const agent = varying(({ stored }) => printable(stored.source));
  const place = varying(repository);
  const end = varying((summary) => endOfSession(summary, idle).short);
  // Identity, cost and title stay longest on narrow terminals: a title says most about what a session was
  return [
    {
      title: "started",
      rank: 10,
      cell: ({ stored, segments }) => toTheMinute(segments[0]?.startMs ?? stored.firstMs, year),
    },
    { title: "agent", rank: 7.5, cell: agent },
    { title: "session", rank: 11, cell: ({ stored }) => printable(shortId(stored.sessionId)) },
    { title: "repository", rank: 7, shrinkTo: 12, cell: place },
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
    { title: "tokens", rank: 6.5, align: "right", cell: tokens },
    { title: "cost", rank: 9, align: "right", cell: cost },
    {
      title: "duration",
      rank: 3,
      align: "right",
      cell: ({ workMs }) => duration(workMs),
    },
    {
      title: "end",
      rank: 5,
      cell: end,
      style: (summary) => END_STYLES[endOfSession(summary, idle).state],
    },
    {
      title: "title",
      rank: 8,
      shrinkTo: isNarrow ? 44 : 36,
      atLeast: 14,
      cell: ({ title }) => (title === undefined ? "" : clip(shortTitle(title), MAX_TITLE)),
    },
  ];
}

const END_STYLES = { open: "cyan", failed: "red", ended: undefined, unreported: undefined } as const;

const failuresOf = ({ tools }: SessionSummary): Failures => ({
  failed: failedCalls(tools),
  calls: toolCallCount(tools),
});

/** `2025-11-21 07:37`, in the given year `11-21 07:37`. */
const toTheMinute = (ms: number, year: number | undefined): string =>
  localTime(ms).slice(0, "2026-11-21 07:37".length).replace(`${year}-`, "");

/** The beginning of each id that no other listed one has, so that one pair of similar ids does not widen every row. */
function shortIds(ids: readonly string[]): (id: string) => string {
  const sorted = [...new Set(ids)].sort();
  const common = (a: string, b = ""): number => {
    let length = 0;
    while (length < a.length && a[length] === b[length]) length++;
    return length;
  };
  const short = new Map(
    sorted.map((id, i) => {
      const shared = Math.max(common(id, sorted[i - 1]), common(id, sorted[i + 1]));
      return [id, id.slice(0, Math.max(ID_LENGTH, shared + 1))];
    }),
  );
  return (id) => short.get(id) ?? id;
}

function repository({ stored, facts }: SessionSummary): string {
  const place = facts.repository ?? repositoryOrFolder(undefined, stored.cwd);
  if (place === undefined) return "";
  return printable(`${place.name}${place.branch === undefined ? "" : `@${place.branch}`}`);
}

const modelCalls = (sums: SessionSummary["sums"], facts: SessionSummary["facts"]): string =>
  sums.modelCalls === 0 && (sums.aggregateRecords > 0 || facts.usageUnknown === true)
    ? "?"
    : `${sums.aggregateRecords > 0 ? "≥" : ""}${exact(sums.modelCalls)}`;

function tokens({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return tokensText(sums);
}

function cost({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return costText(sums);
}
