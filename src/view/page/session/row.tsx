// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a table cannot express
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names its active row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the treegrid handles the keys
import type { SpanKind } from "../../wire.ts";
import { dollars, duration, leastDollars, preciseDollars, shortCount } from "../format.ts";
import { safeText } from "../safe-text.ts";
import type { Spans } from "./spans.ts";

interface Props {
  readonly row: number;
  readonly top: number;
  readonly spans: Spans;
  readonly span: number;
  readonly open: boolean;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isHit: boolean;
  /** Start and end as shares of the viewport. */
  readonly left: number;
  readonly right: number;
  readonly onToggle: () => void;
  readonly onSelect: () => void;
}

export function Row({
  row,
  top,
  spans,
  span,
  open,
  isActive,
  isSelected,
  isHit,
  left,
  right,
  onToggle,
  onSelect,
}: Props) {
  const kind = spans.kindOf(span);
  const hasChildren = (spans.size[span] ?? 1) > 1;
  const detail = spans.detailOf(span);
  const status = statusOf(spans, span);
  const classes = ["row", kind, status.name, isActive ? "active" : "", isHit ? "hit" : ""]
    .filter((one) => one !== "")
    .join(" ");
  return (
    <div
      id={`row-${row}`}
      class={classes}
      role="row"
      aria-rowindex={row + 2}
      aria-level={(spans.depth[span] ?? 0) + 1}
      aria-posinset={spans.siblingPosition[span]}
      aria-setsize={spans.siblingCount[span]}
      aria-expanded={hasChildren ? open : undefined}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onSelect}
    >
      <span
        role="gridcell"
        class="c-name"
        style={{ paddingLeft: `${Math.min(spans.depth[span] ?? 0, MAX_INDENT) * INDENT_PX}px` }}
      >
        {hasChildren ? (
          <span
            class="twist"
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            {open ? "▾" : "▸"}
          </span>
        ) : (
          <span class="twist" aria-hidden="true" />
        )}
        <span class="dot" aria-hidden="true" />
        <span class="sr">{KIND_NAMES[kind]} </span>
        <span class="label" title={safeText(spans.labelOf(span))}>
          {safeText(spans.labelOf(span))}
        </span>
        {status.sign === "" ? null : (
          <span class="sign" aria-hidden="true">
            {status.sign}
          </span>
        )}
        {detail === "" ? null : <span class="detail">{safeText(detail)}</span>}
        {hasChildren && !open ? <span class="inner">{shortCount((spans.size[span] ?? 1) - 1)} inside</span> : null}
      </span>
      <span role="gridcell" class="c-bar">
        <Bar left={left} right={right} />
        <span class="sr">starts {duration(spans.startMs[span] ?? 0)} after the session</span>
      </span>
      <span role="gridcell" class="c-number">
        {duration((spans.endMs[span] ?? 0) - (spans.startMs[span] ?? 0))}
        {spans.has(span, "open") ? "+" : ""}
      </span>
      <span role="gridcell" class="c-number c-cost">
        {costOf(spans, span)}
      </span>
      <span role="gridcell" class="c-number c-tokens">
        {tokensOf(spans, span)}
      </span>
    </div>
  );
}

export const KIND_NAMES = {
  session: "session",
  turn: "turn",
  subagent: "subagent",
  model_call: "model call",
  tool_call: "tool call",
  other: "span",
} as const satisfies Record<SpanKind, string>;

// --- internal ---

const INDENT_PX = 14;
/** Deeper rows are not indented further, to leave room for the name. */
const MAX_INDENT = 10;

/** Failed, unfinished and running spans have a sign, because colour alone is not accessible. */
function statusOf(spans: Spans, span: number): { readonly name: string; readonly sign: string } {
  if (spans.has(span, "error")) return { name: "failed", sign: "✗" };
  if (spans.has(span, "unfinished")) return { name: "unfinished", sign: "?" };
  if (spans.has(span, "open")) return { name: "running", sign: "…" };
  return { name: "", sign: "" };
}

function Bar({ left, right }: { left: number; right: number }) {
  if (right < 0) return <span class="beyond">‹</span>;
  if (left > 1) return <span class="beyond after">›</span>;
  const from = Math.max(0, left);
  const to = Math.min(1, right);
  return <span class="bar" style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }} />;
}

function tokensOf(spans: Spans, span: number) {
  const [input, output] = [spans.inputOf(span), spans.outputOf(span)];
  if (input === null && output === null) return spans.has(span, "unknownTokens") ? <UnknownSign /> : "";
  const sign = spans.has(span, "outputIsLowerBound") ? "≥" : "";
  return (
    <>
      {input === null ? "?" : shortCount(input)}
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <span class="sr"> in, </span>
      {output === null ? "?" : `${sign}${shortCount(output)}`}
      <span class="sr"> out</span>
    </>
  );
}

function costOf(spans: Spans, span: number) {
  const cost = spans.costOf(span);
  if (cost === null) return spans.has(span, "unknownCost") ? <UnknownSign /> : "";
  return (
    <span title={preciseDollars(cost)}>{spans.has(span, "costIsLowerBound") ? leastDollars(cost) : dollars(cost)}</span>
  );
}

const UnknownSign = () => (
  <span class="unknown">
    <span aria-hidden="true">?</span>
    <span class="sr">unknown</span>
  </span>
);
