import { duration } from "#kit/text/figures.ts";
import { clip, type Piece, sized, widthOf } from "#kit/text/terminal.ts";
import type { Axis } from "./axis.ts";
import type { FigureKey, Row } from "./rows.ts";

/** How many columns each part of a line takes. */
interface Layout {
  readonly label: number;
  /** 0: no bars. */
  readonly bar: number;
  readonly figures: readonly { readonly key: FigureKey; readonly width: number; readonly title: string }[];
}

/** Space between the parts. */
export const GAP: Piece = { text: "  " };

/** Divides the columns of a terminal. If there are too few, figures, then bars are left out, so that names stay readable. */
export function layoutOf(rows: readonly Row[], columns: number): Layout {
  const titles = { duration: "duration", tokens: "tokens", cost: "cost" } as const;
  const widthOfColumn = (key: FigureKey): number => rows.reduce((w, row) => Math.max(w, widthOf(row[key])), 0);
  let figures = (["duration", "tokens", "cost"] as const)
    .filter((key) => columns >= FIGURES_FROM[key])
    .map((key) => ({ key, title: titles[key], width: widthOfColumn(key) }))
    .filter(({ width }) => width > 0)
    .map((figure) => ({ ...figure, width: Math.max(figure.width, figure.title.length) }));
  const figureColumns = (): number => figures.reduce((sum, { width }) => sum + width + GAP.text.length, 0);
  for (const key of ["tokens", "cost", "duration"] as const) {
    if (columns - figureColumns() < MIN_LABEL) figures = figures.filter((figure) => figure.key !== key);
  }
  const left = columns - figureColumns();
  const wanted = rows.reduce((w, row) => Math.max(w, labelWidth(row)), 0);
  const forBar = Math.min(MAX_BAR, Math.max(left - GAP.text.length - wanted, Math.floor(left * MIN_BAR_SHARE)));
  if (columns < NO_BAR_BELOW || forBar < MIN_BAR) return { label: Math.min(left, wanted), bar: 0, figures };
  return { label: Math.min(wanted, left - GAP.text.length - forBar), bar: forBar, figures };
}

/** Guide, mark, name and detail, clipped to `width`. */
export function labelOf(row: Row, width: number): readonly Piece[] {
  const half = Math.max(3, Math.floor(width / 2));
  const guide = row.guide.length <= half ? row.guide : `…${row.guide.slice(1 - half)}`;
  const name: Piece =
    row.style === undefined ? { text: row.name, style: "bold" } : { text: row.name, style: row.style };
  const detail: Piece[] = row.detail === "" ? [] : [{ text: `${DETAIL}${row.detail}`, style: "dim" }];
  const about: Piece[] = row.about === "" ? [] : [{ text: ` ${row.about}` }];
  const mark = row.mark === undefined ? [] : [row.mark];
  return sized([{ text: guide, style: "dim" }, ...mark, name, ...detail, ...about], width);
}

/** The titles, with the scale above the bars. */
export function headOf({ label, bar, figures }: Layout, axis: Axis): readonly (readonly Piece[])[] {
  const end = duration(axis.endMs - axis.startMs);
  const note = "┄ idle, drawn shorter";
  const room = bar - START.length - end.length;
  const middle = axis.isShortened && room >= note.length + 4 ? note : "";
  const before = Math.floor((room - middle.length) / 2);
  const scale = `${START}${" ".repeat(Math.max(0, before))}${middle}${" ".repeat(Math.max(0, room - before - middle.length))}${end}`;
  return [
    sized([{ text: "span", style: "dim" }], label),
    ...(bar > 0 ? [sized([{ text: clip(scale, bar), style: "dim" }], bar)] : []),
    ...figures.map(({ title, width }) => sized([{ text: title, style: "dim" }], width, "right")),
  ];
}

// --- internal ---

const DETAIL = " · ";
const START = "0 s";
const NO_BAR_BELOW = 60;
const MIN_BAR = 10;
/** Bars get at least this share of what the figures leave; names are clipped for it. */
const MIN_BAR_SHARE = 1 / 3;
const MAX_BAR = 100;
/** A figure is shown from this many terminal columns on. */
const FIGURES_FROM = { cost: 32, tokens: 44, duration: 20 } as const satisfies Record<FigureKey, number>;
/** Figures are dropped where they leave the name less than this. */
const MIN_LABEL = 16;

const labelWidth = (row: Row): number =>
  row.guide.length +
  (row.mark?.text.length ?? 0) +
  widthOf(row.name) +
  (row.detail === "" ? 0 : DETAIL.length + widthOf(row.detail)) +
  (row.about === "" ? 0 : 1 + widthOf(row.about));
