import { maxOf, sumKnown } from "#kit/numbers.ts";
import { grouped } from "#kit/objects.ts";
import type { Column } from "#kit/text/table.ts";
import { clip, printable, type Terminal, widthOf } from "#kit/text/terminal.ts";
import { mondayOf } from "../buckets.ts";
import { type Dimension, TIME_UNITS } from "../query.ts";
import { toolTitle } from "../titles.ts";
import type { UsageRow } from "../usage-rows.ts";
import { MEASURES, type UsageLine } from "./usage-figures.ts";

/** The columns on the left: what each row is grouped by. */
export function keyColumns(
  by: readonly Dimension[],
  texts: readonly (readonly string[])[],
): readonly Column<UsageLine>[] {
  const keys = by.map(
    (dimension, i): Column<UsageLine> => ({
      title: dimension,
      rank: 30 - i,
      cell: ({ keys }) => keys[i] ?? "",
      style: ({ isTotal }) => (isTotal ? "bold" : undefined),
      // Do not shrink ids: shortened ones would look the same
      ...(!TIMES.has(dimension) &&
        dimension !== "session" && { shrinkTo: distinctWidth(texts.map((row) => row[i] ?? "")) }),
    }),
  );
  // Certain rows have no mark
  const certainty: Column<UsageLine> = {
    title: "",
    rank: 20,
    cell: ({ row }) => (row.certainty === "inferred" ? "inferred" : ""),
  };
  return [...keys, certainty];
}

/** The texts of these columns, one list per row. */
export function keyTexts(
  by: readonly Dimension[],
  rows: readonly UsageRow[],
  terminal: Terminal,
): readonly (readonly string[])[] {
  const ids = rows.flatMap(({ key }) => (typeof key.session === "string" ? [key.session] : []));
  const nameOf = by.includes("session") ? distinctNames(ids, terminal.columns - FIGURE_COLUMNS) : printable;
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
        case "tool":
          return printable(toolTitle(value));
        case "commit":
          return value.slice(0, COMMIT_LENGTH);
        default:
          return printable(value);
      }
    }),
  );
}

/** The name shown for a group that has none. */
export function unnamed(dimension: Dimension): string {
  if (dimension === "model") return "(unnamed)";
  if (dimension === "mcp") return "(no server named)";
  if (dimension === "subagent") return "(unnamed)";
  if (dimension === "config-folder") return "(no config folder known)";
  // The session ran outside any repository, or its folder was deleted before the drain
  return dimension === "repository" ? "(no repository known)" : `(no ${dimension})`;
}

/** Digits of a commit that are shown, and that git accepts. */
export const COMMIT_LENGTH = 10;

/**
 * Sorts rows for reading, by the first key, then by the next ones: times in order, everything else by cost, tokens and calls of the
 * whole group, largest first; what is of no server and no skill last.
 */
export function inReadingOrder(by: readonly Dimension[], rows: readonly UsageRow[]): readonly UsageRow[] {
  const [first, ...others] = by;
  if (first === undefined) return rows;
  const groups = grouped(rows, ({ key }) => key[first] ?? null);
  const all = [...groups.values()].map((group) => ({ group, size: sizeOf(group) }));
  const isRest = ({ group }: (typeof all)[number]): number =>
    Number((first === "mcp" || first === "skill") && group[0]?.key[first] == null);
  const ordered = TIMES.has(first) ? all : all.sort((a, b) => isRest(a) - isRest(b) || compare(a.size, b.size));
  return ordered.flatMap(({ group }) => inReadingOrder(others, group));
}

/** Dimensions that are buckets of time. */
const TIMES: ReadonlySet<Dimension> = new Set(TIME_UNITS);

// --- internal ---

/** Characters of a session id that are shown, if they distinguish the listed sessions. */
const ID_LENGTH = 8;
/** A name may shrink to this width. */
const NAME_WIDTH = 14;
/** More names are not compared: the search would take longer than it helps. */
const MAX_COMPARED = 500;
/** Names that differ only beyond this width may look the same in narrow terminals. */
const MAX_DISTINCT_WIDTH = 28;

/** The least width at which these names differ: `claude-haiku-4…` and `claude-haiku-5…`, not `claude-haiku-…` twice. */
function distinctWidth(names: readonly string[]): number {
  const distinct = [...new Set(names)];
  if (distinct.length > MAX_COMPARED) return NAME_WIDTH;
  for (let width = NAME_WIDTH; width < MAX_DISTINCT_WIDTH; width++) {
    if (new Set(distinct.map((name) => clip(name, width))).size === distinct.length) return width;
  }
  return NAME_WIDTH;
}

/** The widest figure and the gap before it. */
const FIGURE_COLUMNS = 12;

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

type Cut = (name: string, length: number) => string;

/** `show` accepts the beginning of an id. Where ids share a beginning too long for the column, show their end. */
const beginning: Cut = (name, length) => name.slice(0, name.indexOf("/") + 1 + length);
const end: Cut = (name, length) => {
  const [agent, id] = [name.slice(0, name.indexOf("/") + 1), name.slice(name.indexOf("/") + 1)];
  return id.length <= length + 1 ? name : `${agent}…${id.slice(-length)}`;
};

/** Shortens ids as far as they stay distinct. @param room columns that they may take */
function distinctNames(names: readonly string[], room: number): (name: string) => string {
  const shortened = [beginning, end].map((cut) => {
    const length = distinctLength(names, cut);
    return (name: string): string => printable(cut(name, length));
  });
  const widest = shortened.map((shorten) => names.reduce((width, name) => Math.max(width, widthOf(shorten(name))), 0));
  const [byBeginning = printable, byEnd = printable] = shortened;
  return (widest[0] ?? 0) > room && (widest[1] ?? 0) < (widest[0] ?? 0) ? byEnd : byBeginning;
}

function distinctLength(names: readonly string[], cut: Cut): number {
  const longest = maxOf(
    names.map((name) => name.length),
    0,
  );
  for (let length = ID_LENGTH; length < longest; length++) {
    if (new Set(names.map((name) => cut(name, length))).size === new Set(names).size) return length;
  }
  return longest;
}

const sizeOf = (rows: readonly UsageRow[]): readonly number[] => [
  sumKnown(rows.map(MEASURES.cost)) ?? -1,
  sumKnown(rows.map(MEASURES.tokens)) ?? -1,
  sum(rows, (row) => row.calls?.modelCalls ?? row.tools?.calls ?? 0),
  sum(rows, (row) => row.sessions),
];

const sum = (rows: readonly UsageRow[], figureOf: (row: UsageRow) => number): number =>
  rows.reduce((n, row) => n + figureOf(row), 0);

const compare = (a: readonly number[], b: readonly number[]): number =>
  b.map((n, i) => n - (a[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
