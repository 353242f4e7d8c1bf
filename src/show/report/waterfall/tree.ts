import type { AttributeValue, SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";

/** The place of a span in the tree of its session. */
export interface SpanPlace {
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** Ordinal of its segment. */
  readonly segment: number;
  readonly isRoot: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/** A span in tree order. */
export interface Node<T> {
  readonly span: T;
  /** 0 for roots. */
  readonly depth: number;
  /** Index of its parent, which is before it; -1 for roots. */
  readonly parent: number;
  /** No sibling follows. */
  readonly isLast: boolean;
}

/**
 * Spans in tree order: children after their parent, ordered by time. Each span once, even if spans are each other's parents. A span whose
 * parent is missing or in another segment is below the root of its segment, because its calls are in the sums of that segment. Not
 * recursive, because traces can be deeper than the stack.
 */
export function inTreeOrder<T extends SpanPlace>(spans: readonly T[]): readonly Node<T>[] {
  const sorted = [...spans].sort(
    (a, b) => a.startMs - b.startMs || b.endMs - a.endMs || (a.spanId < b.spanId ? -1 : 1),
  );
  const byId = new Map(sorted.map((span) => [span.spanId, span]));
  const rootOf = new Map(sorted.filter(({ isRoot }) => isRoot).map((span) => [span.segment, span]));
  const children = new Map<T, T[]>();
  const roots: T[] = [];
  for (const span of sorted) {
    const named = byId.get(span.parentId ?? "");
    const parent = span.isRoot ? undefined : named?.segment === span.segment ? named : rootOf.get(span.segment);
    if (parent === undefined || parent === span) roots.push(span);
    else if (children.get(parent)?.push(span) === undefined) children.set(parent, [span]);
  }
  const nodes: Node<T>[] = [];
  const seen = new Set<T>();
  // Spans below no root are reached by the second pass over all spans
  for (const root of [...roots, ...sorted]) {
    const stack: Node<T>[] = [{ span: root, depth: 0, parent: -1, isLast: true }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (seen.has(next.span)) continue;
      seen.add(next.span);
      const [parent, depth] = [nodes.push(next) - 1, next.depth + 1];
      for (const [index, span] of (children.get(next.span) ?? []).reverse().entries())
        stack.push({ span, depth, parent, isLast: index === 0 });
    }
  }
  return nodes;
}

/**
 * Branch glyphs from the root to each node, e.g. `│  ├─ `. Deeper ones are cut on the left, because the last levels are the useful
 * ones.
 */
export function guidesOf(nodes: readonly Node<unknown>[]): readonly string[] {
  const below: string[] = [];
  return nodes.map(({ parent, isLast }) => {
    const above = below[parent];
    below.push(above === undefined ? "" : shortened(`${above}${isLast ? "   " : "│  "}`));
    return above === undefined ? "" : shortened(`${above}${isLast ? "└─ " : "├─ "}`);
  });
}

/** A span to draw; `open`: it has not ended yet. */
export interface ShownSpan {
  readonly record: SpanRecord;
  /** Ordinal of its segment. */
  readonly segment: number;
  readonly open?: boolean;
}

export const numberAt = ({ attributes }: SpanRecord, name: string): number | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "number" ? value : undefined;
};

export const textAt = ({ attributes }: SpanRecord, name: string): string | undefined => {
  const value: AttributeValue | undefined = attributes[name];
  return typeof value === "string" ? value : undefined;
};

/** `session`, `turn`, `model_call`, …; `undefined` for spans that are not ours. */
export const spanKindOf = (record: SpanRecord): string | undefined => textAt(record, semconv.OPENHOOK_SPAN_KIND);

/** With one trace per turn, a turn's span has a link to its session's span instead of a parent. */
export const parentOf = ({ parentSpanId, links }: SpanRecord): string | undefined =>
  parentSpanId ?? links.find((link) => link.attributes[semconv.OPENHOOK_LINK_KIND] === "session")?.spanId;

/** Never before the start, though some agents report that. */
export const endMsOf = (record: SpanRecord): number => Math.max(record.startMs, record.endMs);

/** A turn that a prompt started, typed or sent by a program; other turns continue one or belong to the agent. */
export const isPrompted = (record: SpanRecord): boolean => {
  const origin = textAt(record, semconv.OPENHOOK_TURN_ORIGIN);
  return origin === "human" || origin === "machine";
};

// --- internal ---

const MAX_GUIDE = 48;

const shortened = (guide: string): string => (guide.length <= MAX_GUIDE ? guide : `…${guide.slice(1 - MAX_GUIDE)}`);
