import { maxOf } from "../../model/min-max.ts";
import { mondayOf } from "../../report/buckets.ts";
import type { Dimension } from "../../report/query.ts";
import { hasUsage } from "../../report/session-view.ts";
import type { UsageRow } from "../../report/usage.ts";
import { count, dollars, duration } from "../../text/figures.ts";
import { type Column, table } from "../../text/table.ts";
import { flow, printable, type Terminal, widthOf } from "../../text/terminal.ts";
import { bar } from "./bars.ts";

/**
 * Rows as a table with one bar each, none wider than the terminal. The bars are of cost where most of it is known, else
 * of tokens; of tools, of calls.
 *
 * @param total below the others, where there is one
 */
export function* usageTable(
  by: readonly Dimension[],
  rows: readonly UsageRow[],
  total: UsageRow | undefined,
  terminal: Terminal,
): Generator<string> {
  const keys = keyTexts(by, rows, terminal);
  const lines = withGaps(rows.map((row, i): Line => ({ row, keys: keys[i] ?? [], isTotal: false })));
  // The total of one row is that row
  if (total !== undefined && rows.length > 1)
    lines.push({ row: likeThose(rows, total), keys: ["total"], isTotal: true });
  const measure = measureOf(by, rows);
  const columns = [...keyColumns(by), ...figureColumns(by, measure)];
  const scale = maxOf(
    rows.map((row) => MEASURES[measure](row) ?? 0),
    0,
  );
  const at = columns.findIndex((column) => column.title === TITLES[measure]) + 1;
  const width = barWidth(columns, lines, terminal);
  const bars: Column<Line> = {
    title: "",
    rank: 11,
    // Its columns are taken even where no bar is that long: a table does not change its shape with what was filtered
    cell: ({ row, isTotal }) =>
      isTotal || scale === 0 ? "" : bar((MEASURES[measure](row) ?? 0) / scale, width).padEnd(width),
    style: () => "cyan",
  };
  let index = -1;
  for (const line of table([...columns.slice(0, at), bars, ...columns.slice(at)], lines, terminal)) {
    const skipped = lines[index++]?.skipped;
    if (skipped === undefined) yield line;
    else yield* flow([[{ text: `… ${skipped} ${by[0]}s without a session`, style: "dim" }]], terminal);
  }
}

/** Rows in the order that a reader wants: time goes on, everything else by what it cost, then by tokens, then by calls. */
export function inReadingOrder(by: readonly Dimension[], rows: readonly UsageRow[]): readonly UsageRow[] {
  const times = by.filter((dimension) => TIMES.has(dimension));
  const timeOf = ({ key }: UsageRow): string => JSON.stringify(times.map((dimension) => key[dimension]));
  const rank = new Map([...new Set(rows.map(timeOf))].map((time, i) => [time, i]));
  const size = (row: UsageRow): readonly number[] => [
    rank.get(timeOf(row)) ?? 0,
    -(row.calls?.costNanoUsd ?? -1),
    -(MEASURES.tokens(row) ?? -1),
    -(row.calls?.modelCalls ?? row.tools?.calls ?? 0),
    -row.sessions,
  ];
  return rows
    .map((row) => ({ row, size: size(row) }))
    .sort((a, b) => a.size.map((n, i) => n - (b.size[i] ?? 0)).find((difference) => difference !== 0) ?? 0)
    .map(({ row }) => row);
}

/** How a group is called where nobody told its name. */
export function unnamed(dimension: Dimension): string {
  if (dimension === "model") return "(unnamed)";
  // In none, or its folder was gone when it was looked up
  return dimension === "repository" ? "(no repository known)" : `(no ${dimension})`;
}

// --- internal ---

/** A total says nothing that the rows above it do not: models have no turns. */
function likeThose(rows: readonly UsageRow[], { calls, turns, tools, ...total }: UsageRow): UsageRow {
  const told = (part: "calls" | "turns" | "tools"): boolean => rows.some((row) => row[part] !== undefined);
  return {
    ...total,
    ...(calls !== undefined && told("calls") && { calls }),
    ...(turns !== undefined && told("turns") && { turns }),
    ...(tools !== undefined && told("tools") && { tools }),
  };
}

interface Line {
  readonly row: UsageRow;
  /** It stands for so many in a row, on which nothing happened. */
  readonly skipped?: number;
  readonly keys: readonly string[];
  readonly isTotal: boolean;
}

/** So many and more in a row are one line. */
const MIN_GAP = 3;

function withGaps(lines: readonly Line[]): Line[] {
  const kept: Line[] = [];
  let empty: Line[] = [];
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

/** A day in the calendar, and no more. */
const isNothing = ({ sessions, calls, turns, tools, untoldSessions }: UsageRow): boolean =>
  sessions + untoldSessions === 0 && calls === undefined && turns === undefined && tools === undefined;

type Measure = "cost" | "tokens" | "tools";

const MEASURES: Readonly<Record<Measure, (row: UsageRow) => number | undefined>> = {
  cost: ({ calls }) => calls?.costNanoUsd,
  tokens: ({ calls }) => (calls?.input === undefined ? undefined : calls.input + (calls.output ?? 0)),
  tools: ({ tools }) => tools?.calls,
};
const TITLES: Readonly<Record<Measure, string>> = { cost: "cost", tokens: "in", tools: "calls" };

function measureOf(by: readonly Dimension[], rows: readonly UsageRow[]): Measure {
  if (by.includes("tool")) return "tools";
  const sum = (of: (row: UsageRow) => number): number => rows.reduce((n, row) => n + of(row), 0);
  const calls = sum((row) => row.calls?.modelCalls ?? 0);
  return calls > 0 && sum((row) => row.calls?.unpricedCalls ?? 0) * 2 > calls ? "tokens" : "cost";
}

const TIMES: ReadonlySet<Dimension> = new Set(["hour", "day", "week", "month"]);
/** Shown of a session's id, if that tells the listed ones apart. */
const ID_LENGTH = 8;
/** What one figure and the gap before it take at most. */
const FIGURE_COLUMNS = 12;

function keyColumns(by: readonly Dimension[]): readonly Column<Line>[] {
  return by.map((dimension, i) => ({
    title: dimension,
    rank: 30 - i,
    cell: ({ keys }) => keys[i] ?? "",
    style: ({ isTotal }) => (isTotal ? "bold" : undefined),
    // Ids that were cut would look alike
    ...(!TIMES.has(dimension) && dimension !== "session" && { shrinkTo: 14 }),
  }));
}

function keyTexts(
  by: readonly Dimension[],
  rows: readonly UsageRow[],
  terminal: Terminal,
): readonly (readonly string[])[] {
  const ids = rows.flatMap(({ key }) => (typeof key.session === "string" ? [key.session] : []));
  const nameOf = by.includes("session") ? namesApart(ids, terminal.columns - FIGURE_COLUMNS) : printable;
  const hours = new Set(rows.flatMap(({ key }) => (typeof key.hour === "string" ? [key.hour.slice(0, 16)] : [])));
  const isHourAmbiguous = by.length === 1 && hours.size < rows.length;
  return rows.map(({ key }) =>
    by.map((dimension) => {
      const value = key[dimension] ?? null;
      if (value === null) return unnamed(dimension);
      switch (dimension) {
        case "hour":
          return isHourAmbiguous ? value.replace("T", " ") : value.slice(0, 16).replace("T", " ");
        case "day":
          return `${value} ${WEEKDAYS[new Date(`${value}T00:00Z`).getUTCDay()] ?? ""}`;
        case "week":
          return `${value} (${mondayOf(value).slice(5)})`;
        case "session":
          return nameOf(value);
        default:
          return printable(value);
      }
    }),
  );
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

type Cut = (name: string, length: number) => string;

/** By the beginning `show` finds it; of ids that begin alike, and have no room for more, the end says which it is. */
const beginning: Cut = (name, length) => name.slice(0, name.indexOf("/") + 1 + length);
const end: Cut = (name, length) => {
  const [agent, id] = [name.slice(0, name.indexOf("/") + 1), name.slice(name.indexOf("/") + 1)];
  return id.length <= length + 1 ? name : `${agent}…${id.slice(-length)}`;
};

/** As short as tells them apart. @param room columns that they may take */
function namesApart(names: readonly string[], room: number): (name: string) => string {
  const shortened = [beginning, end].map((cut) => {
    const length = lengthToTellApart(names, cut);
    return (name: string): string => printable(cut(name, length));
  });
  const widest = shortened.map((of) => names.reduce((width, name) => Math.max(width, widthOf(of(name))), 0));
  const [byBeginning = printable, byEnd = printable] = shortened;
  return (widest[0] ?? 0) > room && (widest[1] ?? 0) < (widest[0] ?? 0) ? byEnd : byBeginning;
}

function lengthToTellApart(names: readonly string[], cut: Cut): number {
  const longest = maxOf(
    names.map((name) => name.length),
    0,
  );
  for (let length = ID_LENGTH; length < longest; length++) {
    if (new Set(names.map((name) => cut(name, length))).size === new Set(names).size) return length;
  }
  return longest;
}

function figureColumns(by: readonly Dimension[], measure: Measure): readonly Column<Line>[] {
  const bold = ({ isTotal }: Line) => (isTotal ? ("bold" as const) : undefined);
  const figure = (title: string, rank: number, text: (row: UsageRow) => string): Column<Line> => ({
    title,
    rank,
    align: "right",
    cell: ({ row }) => text(row),
    style: bold,
  });
  const red: Column<Line>["style"] = ({ row, isTotal }) =>
    (row.tools?.errors ?? 0) > 0 ? "red" : isTotal ? "bold" : undefined;
  const sessions = by.includes("session")
    ? []
    : [figure("sessions", 2, (row) => (row.sessions === 0 ? "" : count(row.sessions)))];
  if (by.includes("tool")) {
    return [
      figure("calls", 12, ({ tools }) => number(tools?.calls)),
      { ...figure("failed", 10, ({ tools }) => number(tools?.errors)), style: red },
      { ...figure("share", 9, failedShare), style: red },
      figure("denied", 6, ({ tools }) => number(tools?.denied)),
      figure("no end", 4, ({ tools }) => number((tools?.unfinished ?? 0) + (tools?.open ?? 0))),
      figure("time", 8, ({ tools }) => duration(tools?.toolMs ?? 0)),
      figure("mean", 7, ({ tools }) => (tools?.calls ? duration(tools.toolMs / tools.calls) : "")),
      ...sessions,
    ];
  }
  const cost = figure("cost", measure === "cost" ? 12 : 10, costText);
  const tokens = [
    figure("in", measure === "tokens" ? 12 : 9, inputText),
    figure("cached", 6, cachedText),
    figure("out", 8, outputText),
  ];
  return [
    ...(measure === "cost" ? [cost, ...tokens] : [...tokens, cost]),
    figure("calls", 3, callsText),
    figure("turns", 7, ({ turns }) => number(turns?.turns)),
    figure("tools", 5, ({ tools }) => number(tools?.calls)),
    { ...figure("failed", 4, failedShare), style: red },
    ...sessions,
  ];
}

const number = (n: number | undefined): string => (n === undefined ? "" : count(n));

type Known = NonNullable<UsageRow["calls"]>;
/** Nothing was used, or nobody knows: these two must not look alike. */
const unknown = (calls: Known, { untoldSessions }: UsageRow): string =>
  hasUsage(calls) || untoldSessions > 0 ? "?" : "";
const least = (isLeast: boolean): string => (isLeast ? "≥" : "");

function costText(row: UsageRow): string {
  const { calls, untoldSessions } = row;
  if (calls === undefined) return "";
  if (calls.costNanoUsd === undefined) return unknown(calls, row);
  return `${least(calls.unpricedCalls + calls.incompleteCalls + untoldSessions > 0)}${dollars(calls.costNanoUsd)}`;
}

function inputText(row: UsageRow): string {
  const { calls, untoldSessions } = row;
  if (calls === undefined) return "";
  if (calls.input === undefined) return unknown(calls, row);
  return `${least(calls.callsWithoutUsage + untoldSessions > 0)}${count(calls.input)}`;
}

function outputText(row: UsageRow): string {
  const { calls, untoldSessions } = row;
  if (calls === undefined) return "";
  if (calls.output === undefined) return unknown(calls, row);
  return `${least(calls.callsWithoutUsage + calls.incompleteCalls + untoldSessions > 0)}${count(calls.output)}`;
}

function cachedText(row: UsageRow): string {
  const { calls } = row;
  if (calls === undefined) return "";
  if (!calls.cacheToldInput) return calls.input ? "?" : "";
  return `${Math.round(((calls.cacheRead ?? 0) / calls.cacheToldInput) * 100)}%`;
}

function callsText(row: UsageRow): string {
  const { calls } = row;
  if (calls === undefined) return "";
  const isLeast = calls.sumsTold > 0 || row.untoldSessions > 0;
  if (calls.modelCalls > 0) return `${least(isLeast)}${count(calls.modelCalls)}`;
  return isLeast ? "?" : "";
}

/** Failed calls of all calls. */
function failedShare({ tools }: UsageRow): string {
  if (!tools?.calls) return "";
  const percent = (tools.errors / tools.calls) * 100;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

const MAX_BAR = 24;
const MIN_BAR = 6;
const GAP = 2;

/** What the other columns leave; where that is too little, the least of them go for it. */
function barWidth(columns: readonly Column<Line>[], lines: readonly Line[], terminal: Terminal): number {
  const taken = columns.reduce((sum, { title, cell }) => {
    const width = lines.reduce((w, line) => Math.max(w, widthOf(cell(line))), 0);
    return width === 0 ? sum : sum + Math.max(width, widthOf(title)) + GAP;
  }, 0);
  return Math.min(MAX_BAR, Math.max(MIN_BAR, terminal.columns - taken));
}
