import { maxOf } from "#kit/numbers.ts";
import { suggest } from "#kit/suggest.ts";
import { sumOfFailures } from "#kit/text/failure-share.ts";
import { bar, type Column, roomBeside, table } from "#kit/text/table.ts";
import { flow, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Dimension } from "../query.ts";
import type { Question } from "../question.ts";
import type { UsageReport } from "../usage-report.ts";
import type { UsageRow } from "../usage-rows.ts";
import { failuresOf, figureColumns, MEASURES, measureOf, TITLES, type UsageLine } from "./usage-figures.ts";
import { keyColumns, keyTexts } from "./usage-keys.ts";
import { notesOf, titleOf } from "./usage-notes.ts";

/** Title, table, summaries by agent and model, and notes. */
export function* usageReportLines(
  question: Question,
  report: UsageReport,
  terminal: Terminal,
  titles: SessionTitles = NO_TITLES,
): Generator<string> {
  const { by } = question.query;
  const summaries = [
    ...(report.agents === undefined ? [] : [{ by: ["agent"] as const, rows: report.agents }]),
    ...(report.models === undefined ? [] : [{ by: ["model"] as const, rows: report.models }]),
  ];
  const shared = sharedKeys(keyTexts(by, report.rows, terminal));
  // A filter is in the title already
  const filters = new Map(Object.entries(question.query));
  const sharedParts = shared
    .filter(([i]) => !filters.has(by[i] ?? ""))
    .map(([i, value]) => [{ text: `${by[i]} ${value}` }]);
  yield* flow([[{ text: titleOf(question), style: "bold" }], ...sharedParts], terminal);
  // A total of one row would repeat that row
  const isWhole = report.rows.length === 1 && report.leftOut === 0;
  yield* usageTable(by, report.rows, isWhole ? undefined : report.total, terminal, titles);
  for (const summary of summaries) {
    // A summary of one row would repeat the total above
    if (summary.rows.length < 2) continue;
    yield "";
    yield* usageTable(summary.by, summary.rows.slice(0, SUMMARY_ROWS), undefined, terminal);
    const more = summary.rows.length - SUMMARY_ROWS;
    if (more > 0)
      yield* flow([[{ text: `${more} more: ${suggest(`report ${summary.by[0]}`)}`, style: "dim" }]], terminal);
  }
  const notes = notesOf(report);
  if (notes.length > 0) yield "";
  for (const note of notes) yield* wrapped({ text: "" }, note, terminal);
}

// --- internal ---

/** The columns in which all rows have the same value, with the value. The last that is left stays. */
function sharedKeys(rows: readonly (readonly string[])[]): readonly (readonly [index: number, value: string])[] {
  const [first = [], ...others] = rows;
  const shared = first
    .map((value, i) => [i, value] as const)
    .filter(([i, value]) => others.every((row) => row[i] === value));
  return others.length === 0 || shared.length === first.length ? [] : shared;
}

/**
 * Rows as a table with one bar each, never wider than the terminal. Bars show cost; tokens where most of the cost is
 * unknown; calls for tools. The longest has a colour of its own. A key that all rows share has no column.
 *
 * @param total shown below the others
 * @param titles a column on the right, for rows of sessions
 */
export function* usageTable(
  by: readonly Dimension[],
  rows: readonly UsageRow[],
  total: UsageRow | undefined,
  terminal: Terminal,
  titles: SessionTitles = NO_TITLES,
): Generator<string> {
  const keys = keyTexts(by, rows, terminal);
  const lines = withGaps(rows.map((row, i): UsageLine => ({ row, keys: keys[i] ?? [], isTotal: false })));
  const hidden = new Set(sharedKeys(keys).map(([i]) => i));
  const firstShown = by.findIndex((_, i) => !hidden.has(i));
  const totalKeys = by.map((_, i) => (i === firstShown ? "total" : ""));
  if (total !== undefined) lines.push({ row: withFiguresOf(by, total), keys: totalKeys, isTotal: true });
  const measure = measureOf(by, total === undefined ? rows : [total]);
  const own = keyColumns(by, keys).filter((_, i) => !hidden.has(i));
  const columns = [...own, ...figureColumns(by, measure, sumOfFailures(rows.map(failuresOf)))];
  const scale = maxOf(
    rows.map((row) => MEASURES[measure](row) ?? 0),
    0,
  );
  const at = columns.findIndex((column) => column.title === TITLES[measure]) + 1;
  // The columns that are left; if they are too few, less important columns are dropped
  const room = titles.size === 0 ? roomBeside(columns, lines, terminal) : 0;
  const width = Math.min(MAX_BAR, Math.max(MIN_BAR, room));
  const bars: Column<UsageLine> = {
    title: "",
    rank: 11,
    // Padded, so that the table has the same width with every filter
    cell: ({ row, isTotal }) =>
      isTotal || scale === 0 ? "" : bar((MEASURES[measure](row) ?? 0) / scale, width).padEnd(width),
    style: ({ row }) => (rows.length > 1 && MEASURES[measure](row) === scale ? "yellow" : "cyan"),
  };
  const about: Column<UsageLine> = {
    title: "about",
    rank: 10.5,
    cell: ({ row: { key }, isTotal }) => (isTotal ? "" : printable(titles.get(key.session ?? "") ?? "")),
    shrinkTo: MIN_ABOUT,
  };
  let index = -1;
  for (const line of table([...columns.slice(0, at), bars, ...columns.slice(at), about], lines, terminal)) {
    const skipped = lines[index++]?.skipped;
    if (skipped === undefined) yield line;
    else yield* flow([[{ text: `… ${skipped} ${by[0]}s without a session`, style: "dim" }]], terminal);
  }
}

/** Day and title of sessions, by `UsageRow["key"]["session"]`. */
export type SessionTitles = ReadonlyMap<string, string>;

const NO_TITLES: SessionTitles = new Map();

/** A day and the beginning of a title. */
const MIN_ABOUT = 24;

/** Rows of each summary. */
const SUMMARY_ROWS = 8;

/** The total has only figures that rows of this kind can have, shown or left out: models have no turns and no tools. */
function withFiguresOf(by: readonly Dimension[], total: UsageRow): UsageRow {
  const { turns: _, tools: __, ...ofModels } = total;
  return by.includes("model") ? ofModels : total;
}

/** This many empty lines or more become one. */
const MIN_GAP = 3;

function withGaps(lines: readonly UsageLine[]): UsageLine[] {
  const kept: UsageLine[] = [];
  let empty: UsageLine[] = [];
  const flush = (): void => {
    const [first] = empty;
    if (first !== undefined && empty.length >= MIN_GAP) kept.push({ ...first, keys: [], skipped: empty.length });
    else kept.push(...empty);
    empty = [];
  };
  for (const line of lines) {
    if (isNothing(line.row)) {
      empty.push(line);
      continue;
    }
    flush();
    kept.push(line);
  }
  flush();
  return kept;
}

/** A day without sessions. */
const isNothing = ({ sessions, calls, turns, tools, sessionsWithoutUsage, configured }: UsageRow): boolean =>
  configured === undefined &&
  sessions + sessionsWithoutUsage === 0 &&
  calls === undefined &&
  turns === undefined &&
  tools === undefined;

const MAX_BAR = 24;
const MIN_BAR = 6;
