import * as semconv from "../../telemetry/semconv.ts";
import { endMsOf, isPrompted, type ShownSpan, spanKindOf } from "./shown-span.ts";

export interface TreeNode {
  readonly span: ShownSpan;
  /** Branch glyphs from the root to here, e.g. `│  ├─ `. */
  readonly guide: string;
  /** The number of a prompted turn, from 1; 0 for everything else. */
  readonly turn: number;
}

/**
 * Spans in the order of a tree: children below their parent, siblings by start. Depth first without recursion, because
 * traces can be deeper than the stack.
 *
 * @param turnsBefore number of turns already drawn, so that numbers continue
 */
export function inTreeOrder(spans: readonly ShownSpan[], turnsBefore: number): readonly TreeNode[] {
  const sorted = [...spans].sort(
    (a, b) => a.record.startMs - b.record.startMs || endMsOf(b.record) - endMsOf(a.record),
  );
  const owner = new Map(sorted.map((span) => [span.record.spanId, span]));
  const children = new Map<ShownSpan, ShownSpan[]>();
  const roots: ShownSpan[] = [];
  for (const span of sorted) {
    const parent = owner.get(parentOf(span.record) ?? "");
    if (parent === undefined || parent === span) roots.push(span);
    else if (children.get(parent)?.push(span) === undefined) children.set(parent, [span]);
  }
  const nodes: TreeNode[] = [];
  const seen = new Set<ShownSpan>();
  let turns = turnsBefore;
  const visit = (root: ShownSpan): void => {
    const stack = [{ span: root, guide: "", below: "" }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { span, guide, below } = next;
      if (seen.has(span)) continue;
      seen.add(span);
      const isTurn = spanKindOf(span.record) === "turn" && isPrompted(span.record);
      nodes.push({ span, guide, turn: isTurn ? ++turns : 0 });
      const own = children.get(span) ?? [];
      for (let i = own.length - 1; i >= 0; i--) {
        const child = own[i];
        const isLast = i === own.length - 1;
        if (child !== undefined)
          stack.push({
            span: child,
            guide: shortened(`${below}${isLast ? "└─ " : "├─ "}`),
            below: shortened(`${below}${isLast ? "   " : "│  "}`),
          });
      }
    }
  };
  for (const root of roots) visit(root);
  // Spans that are each other's parents are below no root: show them too
  for (const span of sorted) if (!seen.has(span)) visit(span);
  return nodes;
}

// --- internal ---

/** Deeper guides are cut on the left, because the last levels are the useful ones. */
const MAX_GUIDE = 48;

/** With one trace per turn, a turn's span has no parent, but a link to its session's span. */
const parentOf = ({ parentSpanId, links }: ShownSpan["record"]): string | undefined =>
  parentSpanId ?? links.find((link) => link.attributes[semconv.OPENHOOK_LINK_KIND] === "session")?.spanId;

const shortened = (guide: string): string => (guide.length <= MAX_GUIDE ? guide : `…${guide.slice(1 - MAX_GUIDE)}`);
