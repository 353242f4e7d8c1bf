import type { RATE_WINDOWS } from "#core/model/rate-limit.ts";
import { sumOfFailures } from "#kit/text/failure-share.ts";
import { count, duration, localTime } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { flow, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { figureColumns, measureOf, type UsageLine } from "../text/usage-figures.ts";
import { unnamed } from "../text/usage-keys.ts";
import { notesOf, titleOf } from "../text/usage-notes.ts";
import type { Block, BlockQuestion, BlockReport, BlockTable } from "./blocks.ts";
import { queryOf } from "./blocks.ts";

/** One table per length of windows, and what limits the figures. */
export function* blockLines(
  question: BlockQuestion,
  { tables, undivided }: BlockReport,
  nowMs: number,
  terminal: Terminal,
): Generator<string> {
  const title = titleOf({ query: queryOf(question, nowMs) });
  yield* flow([[{ text: title, style: "bold" }]], terminal);
  const notes = new Set<string>();
  for (const one of tables) {
    if (one.total === undefined) continue;
    yield "";
    yield* flow([[{ text: TITLES[one.window], style: "bold" }]], terminal);
    yield* table(columnsOf(one, nowMs), linesOf(one), terminal);
    for (const note of notesOf({ ...one, rows: one.blocks.map(rowOf) })) notes.add(note);
  }
  yield "";
  const isCut = tables.some(({ blocks }) => blocks.some(({ startMs }) => startMs < question.sinceMs));
  for (const note of [
    ...WINDOW_NOTES,
    ...(isCut ? ["windows that began before --since are included whole"] : []),
    ...(undivided > 0 ? [`${undivided} quarters of an hour of imported sessions count before a boundary in them`] : []),
    ...notes,
  ]) {
    yield* wrapped({ text: "" }, note, terminal);
  }
}

// --- internal ---

const TITLES = { five_hour: "five-hour windows", seven_day: "weekly windows" } as const satisfies Record<
  keyof typeof RATE_WINDOWS,
  string
>;

const WINDOW_NOTES = [
  "reported: the window that the agent reported with its rate limit; derived: from the full hour of the first call after the previous window",
  "limit: the share that the agent last reported as used; ?: not reported",
];

interface BlockLine extends UsageLine {
  readonly block?: Block;
}

const rowOf = ({ sessions, calls }: Block): UsageLine["row"] => ({
  key: {},
  sessions,
  calls,
  agentsWithoutUsage: [],
  sessionsWithoutUsage: 0,
});

const linesOf = ({ blocks, total }: BlockTable): readonly BlockLine[] => [
  ...blocks.map((block): BlockLine => ({ block, row: rowOf(block), keys: [], isTotal: false })),
  ...(total === undefined || blocks.length === 1 ? [] : [{ row: total, keys: [], isTotal: true }]),
];

function columnsOf({ blocks }: BlockTable, nowMs: number): readonly Column<BlockLine>[] {
  const text = (title: string, rank: number, of: (block: Block) => string): Column<BlockLine> => ({
    title,
    rank,
    cell: ({ block }) => (block === undefined ? "" : of(block)),
  });
  const tokens = (title: string, rank: number, name: "cacheRead" | "cacheWrite"): Column<BlockLine> => ({
    title,
    rank,
    align: "right",
    cell: ({ row }) => (row.calls?.modelCalls ? count(row.calls[name]) : ""),
    style: ({ isTotal }) => (isTotal ? "bold" : undefined),
  });
  const hasSeveralAgents = new Set(blocks.map(({ agent }) => agent)).size > 1;
  return [
    { ...text("window", 20, rangeText), cell: ({ block }) => (block === undefined ? "total" : rangeText(block)) },
    ...(hasSeveralAgents ? [text("agent", 11, ({ agent }) => printable(agent))] : []),
    ...figureColumns([], measureOf([], blocks.map(rowOf)), sumOfFailures([])),
    tokens("cache read", 2, "cacheRead"),
    tokens("cache write", 2, "cacheWrite"),
    {
      ...text("limit", 13, ({ percent }) => (percent === undefined ? "?" : `${Math.trunc(percent)}%`)),
      align: "right",
    },
    { ...text("left", 11, (block) => leftText(block, nowMs)), style: () => "green" },
    text("window is", 15, ({ isReported }) => (isReported ? "reported" : "derived")),
    {
      ...text("models", 1, ({ models }) => models.map((name) => printable(name ?? unnamed("model"))).join(", ")),
      shrinkTo: 12,
    },
  ];
}

/** Time until the end of the window that is running. */
const leftText = ({ startMs, endMs }: Block, nowMs: number): string =>
  startMs <= nowMs && nowMs < endMs ? duration(endMs - nowMs) : "";

/** `2026-11-27 10:00–15:00`, `2026-11-27 22:00–11-28 03:00`. */
function rangeText({ startMs, endMs }: Block): string {
  const [start, end] = [localTime(startMs).slice(0, 16), localTime(endMs).slice(0, 16)];
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  return `${start}–${isSameDay ? end.slice(11) : end.slice(5)}`;
}
