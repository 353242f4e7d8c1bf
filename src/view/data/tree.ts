import type { SpanRecord } from "../../model/telemetry.ts";
import * as semconv from "../../telemetry/semconv.ts";

/** The place of a span in a tree. */
export interface TreeSpan {
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Node<T> {
  readonly span: T;
  /** 0 for roots. */
  readonly depth: number;
}

/**
 * Spans in tree order: children after their parent, ordered by time. Each span once, even if spans are each other's parents; a span
 * whose parent is missing is a root. Not recursive, because traces can be deeper than the stack.
 */
export function inTreeOrder<T extends TreeSpan>(spans: readonly T[]): readonly Node<T>[] {
  const sorted = [...spans].sort(
    (a, b) => a.startMs - b.startMs || b.endMs - a.endMs || (a.spanId < b.spanId ? -1 : 1),
  );
  const byId = new Map(sorted.map((span) => [span.spanId, span]));
  const children = new Map<T, T[]>();
  const roots: T[] = [];
  for (const span of sorted) {
    const parent = byId.get(span.parentId ?? "");
    if (parent === undefined || parent === span) roots.push(span);
    else if (children.get(parent)?.push(span) === undefined) children.set(parent, [span]);
  }
  const nodes: Node<T>[] = [];
  const seen = new Set<T>();
  // Spans below no root are reached by the second pass over all spans
  for (const root of [...roots, ...sorted]) {
    const stack: Node<T>[] = [{ span: root, depth: 0 }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (seen.has(next.span)) continue;
      seen.add(next.span);
      nodes.push(next);
      for (const child of (children.get(next.span) ?? []).reverse()) stack.push({ span: child, depth: next.depth + 1 });
    }
  }
  return nodes;
}

/** With one trace per turn, a turn's span has a link to its session's span instead of a parent. */
export const parentOf = ({ parentSpanId, links }: SpanRecord): string | undefined =>
  parentSpanId ?? links.find((link) => link.attributes[semconv.OPENHOOK_LINK_KIND] === "session")?.spanId;
