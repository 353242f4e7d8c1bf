// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a table cannot express
// biome-ignore-all lint/a11y/useFocusableInteractive: the treegrid has the focus and names its active row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the treegrid handles the keys
import { dollars, duration, leastDollars, preciseDollars, shortCount } from "../../text/format.ts";
import { safeText } from "../../text/safe-text.ts";
import { KIND_NAMES, type Spans } from "../spans.ts";
import { pathIn } from "../story.ts";

interface Props {
  readonly row: number;
  /** Distance from the first row. */
  readonly topPx: number;
  readonly spans: Spans;
  readonly span: number;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isMatch: boolean;
  /** The session's folder, which is left out of paths. */
  readonly folder: string | null;
  /** Its part of the most expensive turn's cost, 0 to 1; `undefined`: no turn, or its cost is unknown. */
  readonly costShare: number | undefined;
  /** Start and end as shares of the viewport. */
  readonly from: number;
  readonly to: number;
  readonly onToggle: () => void;
  readonly onSelect: () => void;
}

/** One span: its name, its bar and its figures. */
export function Row(props: Props) {
  const { row, spans, span, isOpen, isActive, isMatch } = props;
  const classes = [
    "row",
    spans.kindOf(span),
    statusOf(spans, span).name,
    isActive ? "active" : "",
    isMatch ? "hit" : "",
  ];
  return (
    <div
      id={`row-${row}`}
      class={classes.filter((one) => one !== "").join(" ")}
      role="row"
      aria-rowindex={row + 2}
      aria-level={depthOf(spans, span) + 1}
      aria-posinset={spans.siblingPosition[span]}
      aria-setsize={spans.siblingCount[span]}
      aria-expanded={spans.hasChildren(span) ? isOpen : undefined}
      aria-selected={props.isSelected}
      style={{ transform: `translateY(${props.topPx}px)` }}
      onClick={props.onSelect}
    >
      <Name spans={spans} span={span} isOpen={isOpen} folder={props.folder} onToggle={props.onToggle} />
      <span role="gridcell" class="c-bar">
        <Bar from={props.from} to={props.to} />
        <span class="sr">starts {duration(spans.startOf(span))} after the session</span>
      </span>
      <span role="gridcell" class="c-number">
        {duration(spans.durationOf(span))}
        {spans.has(span, "open") ? "+" : ""}
      </span>
      <span role="gridcell" class="c-number c-cost">
        {props.costShare === undefined ? null : (
          <span class="cost-bar" aria-hidden="true" style={{ width: `${props.costShare * 100}%` }} />
        )}
        <Cost spans={spans} span={span} />
      </span>
      <span role="gridcell" class="c-number c-tokens">
        <Tokens spans={spans} span={span} />
      </span>
    </div>
  );
}

// --- internal ---

type SpanProps = Pick<Props, "spans" | "span">;

const INDENT_PX = 14;
/** Deeper rows are not indented further, to leave room for the name. */
const MAX_INDENT = 10;

const depthOf = (spans: Spans, span: number): number => spans.depth[span] ?? 0;

/** Failed, unfinished and running spans have a sign, because colour alone is not accessible. */
function statusOf(spans: Spans, span: number): { readonly name: string; readonly sign: string } {
  if (spans.has(span, "error")) return { name: "failed", sign: "✗" };
  if (spans.has(span, "unfinished")) return { name: "unfinished", sign: "?" };
  if (spans.has(span, "open")) return { name: "running", sign: "…" };
  return { name: "", sign: "" };
}

function Name({
  spans,
  span,
  isOpen,
  folder,
  onToggle,
}: Pick<Props, "spans" | "span" | "isOpen" | "folder" | "onToggle">) {
  const [label, detail] = [safeText(spans.labelOf(span)), safeText(spans.detailOf(span))];
  const about = safeText(spans.aboutOf(span));
  const { sign } = statusOf(spans, span);
  const hasChildren = spans.hasChildren(span);
  const indentPx = Math.min(depthOf(spans, span), MAX_INDENT) * INDENT_PX;
  return (
    <span role="gridcell" class="c-name" style={{ paddingLeft: `${indentPx}px` }}>
      {hasChildren ? (
        <span
          class="twist"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          {isOpen ? "▾" : "▸"}
        </span>
      ) : (
        <span class="twist" aria-hidden="true" />
      )}
      <span class="dot" aria-hidden="true" />
      <span class="sr">{KIND_NAMES[spans.kindOf(span)]} </span>
      <span class="label" title={label}>
        {safeText(spans.titleOf(span))}
      </span>
      {sign === "" ? null : (
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
      )}
      {about === "" ? null : (
        <span class="about" title={about}>
          {safeText(pathIn(folder, spans.aboutOf(span)))}
        </span>
      )}
      {detail === "" ? null : <span class="detail">{detail}</span>}
      {hasChildren && !isOpen ? <span class="inner">{shortCount((spans.size[span] ?? 1) - 1)} inside</span> : null}
    </span>
  );
}

/** The bar, or an arrow if it is outside the viewport. */
function Bar({ from, to }: Pick<Props, "from" | "to">) {
  if (to < 0) return <span class="beyond">‹</span>;
  if (from > 1) return <span class="beyond after">›</span>;
  const [left, right] = [Math.max(0, from), Math.min(1, to)];
  return <span class="bar" style={{ left: `${left * 100}%`, width: `${Math.max(0, right - left) * 100}%` }} />;
}

function Cost({ spans, span }: SpanProps) {
  const cost = spans.costOf(span);
  if (cost === null) return spans.has(span, "unknownCost") ? <UnknownSign /> : null;
  return (
    <span title={preciseDollars(cost)}>{spans.has(span, "costIsLowerBound") ? leastDollars(cost) : dollars(cost)}</span>
  );
}

function Tokens({ spans, span }: SpanProps) {
  const [input, output] = [spans.inputOf(span), spans.outputOf(span)];
  if (input === null && output === null) return spans.has(span, "unknownTokens") ? <UnknownSign /> : null;
  const signOf = (flag: "inputIsLowerBound" | "outputIsLowerBound"): string => (spans.has(span, flag) ? "≥" : "");
  return (
    <>
      {input === null ? "?" : `${signOf("inputIsLowerBound")}${shortCount(input)}`}
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <span class="sr"> in, </span>
      {output === null ? "?" : `${signOf("outputIsLowerBound")}${shortCount(output)}`}
      <span class="sr"> out</span>
    </>
  );
}

/** Short, because the columns are narrow. */
const UnknownSign = () => (
  <span class="unknown">
    <span aria-hidden="true">?</span>
    <span class="sr">unknown</span>
  </span>
);
