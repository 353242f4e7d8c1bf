import { count, duration, plural } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { flow, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Question } from "../question.ts";
import { titleOf } from "../text/usage-notes.ts";
import type { HookFigures, HookReport, HookRow } from "./hooks.ts";

/** The table, our own hook's time, and what limits the figures. @param titleIn the name of an agent */
export function* hookLines(
  { query }: Pick<Question, "query">,
  report: HookReport,
  titleIn: (agent: string) => string,
  terminal: Terminal,
): Generator<string> {
  const title = titleOf({ query }).replace(/^usage/, "hooks");
  yield* flow([[{ text: title, style: "bold" }]], terminal);
  yield "";
  const { rows, total } = report;
  if (total !== undefined) {
    const lines: readonly Line[] = [...rows, ...(rows.length > 1 || report.leftOut > 0 ? [total] : [])];
    yield* table(COLUMNS, lines, terminal);
    yield "";
  }
  for (const note of notesOf(report, titleIn)) yield* wrapped({ text: "" }, note, terminal);
}

// --- internal ---

type Line = HookRow | HookFigures;

const isRow = (line: Line): line is HookRow => "event" in line;

const figure = (title: string, rank: number, cell: Column<Line>["cell"]): Column<Line> => ({
  title,
  rank,
  align: "right",
  cell,
  style: (line) => (isRow(line) ? undefined : "bold"),
});

/** `≥` for a lower bound, `?` for unknown; empty for none. */
const endedAs = (of: "failed" | "blocked") => (line: Line) => {
  if (line.withoutOutcome === line.runs) return "?";
  const isLeast = line.withoutOutcome > 0;
  return line[of] === 0 && !isLeast ? "" : `${isLeast ? "≥" : ""}${count(line[of])}`;
};

const COLUMNS: readonly Column<Line>[] = [
  {
    title: "hook",
    rank: 20,
    cell: (line) => (isRow(line) ? printable(line.hook ?? "(not named)") : "all"),
    shrinkTo: 14,
    style: (line) => (isRow(line) ? undefined : "bold"),
  },
  { title: "event", rank: 19, cell: (line) => (isRow(line) ? printable(line.event) : ""), shrinkTo: 10 },
  { title: "agent", rank: 8, cell: (line) => (isRow(line) ? printable(line.agent) : "") },
  figure("runs", 12, (line) => `${line.isLowerBound ? "≥" : ""}${count(line.runs)}`),
  {
    ...figure("failed", 11, endedAs("failed")),
    style: (line) => (!isRow(line) ? "bold" : line.failed > 0 ? "red" : undefined),
  },
  figure("blocked", 10, endedAs("blocked")),
  figure("time", 9, (line) =>
    line.timeMs === undefined ? "?" : `${line.withoutTime > 0 || line.isLowerBound ? "≥" : ""}${duration(line.timeMs)}`,
  ),
  figure("mean", 7, (line) => meanOf(line) ?? ""),
  figure("longest", 6, ({ longestMs }) => (longestMs === undefined ? "" : duration(longestMs))),
];

const meanOf = ({ timeMs, runs, withoutTime }: HookFigures): string | undefined =>
  timeMs === undefined ? undefined : duration(timeMs / (runs - withoutTime));

function* notesOf(report: HookReport, titleIn: (agent: string) => string): Generator<string> {
  const { rows, total, ours, notRecorded, sessions, leftOut } = report;
  if (total === undefined) yield "no run of your own hooks is written down";
  if (ours !== undefined) yield oursText(ours);
  if (leftOut > 0) yield `${plural(leftOut, "row")} more: --limit ${rows.length + leftOut}`;
  if (sessions.read < sessions.of) {
    const why = sessions.isEnded
      ? "there was no time for the older ones; --since and --agent make it shorter"
      : "the files of the others are gone, may not be read, or do not say it";
    yield `of ${sessions.read} of ${plural(sessions.of, "session")}: ${why}`;
  }
  if (total?.isLowerBound) yield "≥ runs: the agent writes down only some of them, or several as one";
  if (rows.some(({ hook }) => hook === undefined))
    yield "(not named): the agent does not say which hooks ran; ours can be among them";
  if (total !== undefined && total.withoutTime > 0)
    yield "time: of the runs whose time is known; hooks that ran together have none of their own";
  if (notRecorded.length > 0) yield `nothing is written down by ${notRecorded.map(titleIn).map(printable).join(", ")}`;
}

/** That the agent does not wait, in figures that the agent measured itself. */
function oursText(ours: HookFigures): string {
  const runs = `the hook of openhook-otel: ${plural(ours.runs, "run")} written down`;
  if (ours.timeMs === undefined) return runs;
  const measured = ours.withoutTime > 0 ? `, ${count(ours.runs - ours.withoutTime)} of them with a time:` : ",";
  return `${runs}${measured} ${duration(ours.timeMs)} in all, ${meanOf(ours)} each`;
}
