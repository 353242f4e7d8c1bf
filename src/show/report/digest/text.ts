import { changeOf, costText, dollars, duration, exact, localTime, percentOf } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { escaped } from "../change-comment.ts";
import { LIST_PRICE } from "../prices.ts";
import { costPerMerged, type Digest, type DigestFigures, type Part } from "./digest.ts";

/** A digest for people, at most 25 lines of 80 columns. */
export function* digestLines(digest: Digest, terminal: Terminal): Generator<string> {
  yield* wrapped({ text: "" }, titleOf(digest), terminal);
  yield "";
  yield* table(columnsOf(digest), ROWS, terminal);
  yield "";
  if (digest.repositories.length > 0) yield* table(partColumns("repository", digest), digest.repositories, terminal);
  if (digest.models.length > 0)
    yield* wrapped(
      { text: "models: " },
      digest.models.map((part) => partText(part, digest, printable)).join(", "),
      terminal,
    );
  for (const note of notesOf(digest)) yield* wrapped({ text: "" }, note, terminal);
}

/**
 * The same as Markdown: a list, because GitHub, Slack and mail programs all show lists, and only GitHub tables. One asterisk on each side is
 * bold in Slack and italic in Markdown.
 */
export function digestMarkdown(digest: Digest): string {
  const { figures, before, repositories, models } = digest;
  const list = (title: string, parts: readonly Part[]): readonly string[] =>
    parts.length === 0 ? [] : [`- ${title}:`, ...parts.map((part) => `  - ${partText(part, digest, escaped)}`)];
  return [
    `*${escaped(titleOf(digest))}*`,
    "",
    ...ROWS.map((row) => {
      const [change, was] = [row.change(figures, before), row.text(before)];
      return `- ${row.title}: ${row.text(figures)} (${change === "" ? "" : `${change}, `}the ${digest.unit} before: ${was})`;
    }),
    ...list("cost by repository", repositories),
    ...list("cost by model", models),
    "",
    ...notesOf(digest).map(escaped),
    "",
  ].join("\n");
}

// --- internal ---

function titleOf({ unit, of, period }: Digest): string {
  const [from, to] = [period.sinceMs, period.untilMs - 1].map((ms) => localTime(ms).slice(0, 10));
  return `Coding agents, ${unit} from ${from} to ${to}, ${printable(of)}`;
}

interface FigureRow {
  readonly title: string;
  readonly text: (figures: DigestFigures) => string;
  readonly change: (now: DigestFigures, before: DigestFigures) => string;
}

const figure = (
  title: string,
  of: (figures: DigestFigures) => number | undefined,
  text: (value: number, figures: DigestFigures) => string,
): FigureRow => ({
  title,
  text: (figures) => {
    const value = of(figures);
    return value === undefined ? "?" : text(value, figures);
  },
  change: (now, before) => {
    const [value, was] = [of(now), of(before)];
    return value === undefined || !was ? "" : changeOf(value / was - 1);
  },
});

/** A part of a whole, `12 (5%)`, whose share changes by points. */
const share = (
  title: string,
  of: (figures: DigestFigures) => number | undefined,
  wholeOf: (figures: DigestFigures) => number | undefined,
): FigureRow => ({
  title,
  text: (figures) => {
    const [part, whole] = [of(figures), wholeOf(figures)];
    return part === undefined ? "?" : `${exact(part)}${whole ? ` (${percentOf(part / whole)})` : ""}`;
  },
  change: (now, before) => {
    const [share, was] = [now, before].map((one) => (of(one) ?? Number.NaN) / (wholeOf(one) || Number.NaN));
    const difference = (share ?? Number.NaN) - (was ?? Number.NaN);
    return Number.isNaN(difference) ? "" : changeOf(difference, " points");
  },
});

const ROWS: readonly FigureRow[] = [
  figure(
    "cost",
    ({ costNanoUsd }) => costNanoUsd,
    (costNanoUsd, { isCostLeast }) => costText({ costNanoUsd, unpricedCalls: isCostLeast ? 1 : 0, incompleteCalls: 0 }),
  ),
  figure("sessions", ({ sessions }) => sessions, exact),
  figure("turns", ({ turns }) => turns, exact),
  figure("time at work", ({ workMs }) => workMs, duration),
  share(
    "failed tool calls",
    ({ toolErrors }) => toolErrors,
    ({ toolCalls }) => toolCalls,
  ),
  share(
    "failed or interrupted turns",
    ({ failedTurns }) => failedTurns,
    ({ turns }) => turns,
  ),
  figure("merged changes", ({ merged }) => merged, exact),
  figure("cost per merged change", costPerMerged, dollars),
];

const columnsOf = ({ unit, figures, before }: Digest): readonly Column<FigureRow>[] => [
  { title: "", rank: 4, cell: ({ title }) => title },
  { title: `the ${unit}`, rank: 3, align: "right", cell: ({ text }) => text(figures) },
  { title: `${unit} before`, rank: 2, align: "right", cell: ({ text }) => text(before) },
  { title: "change", rank: 1, align: "right", cell: ({ change }) => change(figures, before) },
];

const partColumns = (title: string, { figures }: Digest): readonly Column<Part>[] => [
  { title, rank: 3, shrinkTo: 12, cell: ({ name }) => (name === undefined ? "all others" : printable(name)) },
  { title: "cost", rank: 2, align: "right", cell: ({ costNanoUsd }) => costOf(costNanoUsd) },
  { title: "share", rank: 1, align: "right", cell: (part) => shareOf(part, figures) },
];

const costOf = (costNanoUsd: number | undefined): string => (costNanoUsd === undefined ? "?" : dollars(costNanoUsd));

const shareOf = ({ costNanoUsd }: Part, { costNanoUsd: whole }: DigestFigures): string =>
  costNanoUsd === undefined || !whole ? "" : percentOf(costNanoUsd / whole);

function partText(part: Part, { figures }: Digest, shown: (name: string) => string): string {
  const share = shareOf(part, figures);
  const name = part.name === undefined ? "all others" : shown(part.name);
  return `${name} ${costOf(part.costNanoUsd)}${share === "" ? "" : ` (${share})`}`;
}

function notesOf({ unknown, subscribed }: Digest): readonly string[] {
  const prices = subscribed.length > 0 ? [`Cost: ${LIST_PRICE} (${subscribed.map(printable).join(", ")}).`] : [];
  if (unknown.length === 0) return prices;
  const last = unknown.at(-1) ?? "";
  return [...prices, `Unknown: ${unknown.length > 1 ? `${unknown.slice(0, -1).join(", ")} and ${last}` : last}.`];
}
