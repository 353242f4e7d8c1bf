import type { Node } from "./tree.ts";

/** Which rows of a session are shown: all, those down to the turns, or one turn with everything in it. */
export type ShownRows = "all" | "turns" | { readonly turn: number };

/** A session with more spans shows its turns closed at first. */
export const MAX_OPEN_SPANS = 300;

interface Placed {
  readonly isSession: boolean;
  /** Number of a prompted turn, from 1; 0 for everything else. */
  readonly turn: number;
}

/**
 * The rows to show, by their indexes in tree order.
 *
 * @returns for each row the number of rows that are hidden inside it
 */
export function shownRows(nodes: readonly Node<Placed>[], shown: ShownRows): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  /** For each node the shown row that it is, or is hidden in; -1: neither. */
  const rowOf: number[] = [];
  for (const [index, { span, parent }] of nodes.entries()) {
    const above = rowOf[parent] ?? -1;
    const isShown =
      shown === "all" ||
      (shown === "turns" ? parent < 0 || nodes[parent]?.span.isSession === true : isOf(shown, span, above));
    rowOf.push(isShown ? index : shown === "turns" ? above : -1);
    if (isShown) rows.set(index, 0);
    else if (shown === "turns" && above >= 0) rows.set(above, (rows.get(above) ?? 0) + 1);
  }
  return rows;
}

// --- internal ---

const isOf = ({ turn }: { readonly turn: number }, span: Placed, above: number): boolean =>
  span.turn === turn || above >= 0;
