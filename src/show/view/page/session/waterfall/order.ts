import type { Spans } from "../spans.ts";

export type Order = "time" | "cost" | "duration";

/**
 * The spans in tree order, siblings by time or with the most expensive or longest first; after each span its descendants follow.
 */
export function orderOf(spans: Spans, by: Order): Int32Array {
  if (by === "time") return Int32Array.from({ length: spans.count }, (_, i) => i);
  const size = Float64Array.from({ length: spans.count }, (_, i) =>
    by === "cost" ? (spans.costOf(i) ?? -1) : spans.durationOf(i),
  );
  const order = new Int32Array(spans.count);
  const stack: number[] = [];
  /** Puts siblings on the stack, so that the largest is taken first; among equals the earliest. */
  const push = (from: number, to: number): void => {
    const siblings: number[] = [];
    for (let i = from; i < to; i += spans.size[i] ?? 1) siblings.push(i);
    siblings.sort((a, b) => (size[a] ?? 0) - (size[b] ?? 0) || b - a);
    for (const sibling of siblings) stack.push(sibling);
  };
  push(0, spans.count);
  let length = 0;
  for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
    order[length++] = i;
    push(i + 1, i + (spans.size[i] ?? 1));
  }
  return order;
}
