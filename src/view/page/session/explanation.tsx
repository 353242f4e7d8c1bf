import type { ExplanationDocument, Part } from "../../wire.ts";
import { useApi } from "../api.ts";
import { dollars, duration, percent, plural } from "../format.ts";
import { dataOf } from "../placeholder.tsx";
import { safeText } from "../safe-text.ts";
import type { Spans } from "./spans.ts";

interface Props {
  readonly source: string;
  readonly id: string;
  readonly spans: Spans;
  readonly onSelect: (span: string) => void;
}

/** Where the time and money went: one bar, sentences, and links to the most notable spans. */
export function Explanation({ source, id, spans, onSelect }: Props) {
  const explanation = dataOf(useApi<ExplanationDocument>("explain", { source, id }), "explanation");
  return (
    // Its height is reserved, so that the waterfall does not move when the response arrives
    <section class="explanation" aria-label="Explanation" aria-busy={explanation === undefined}>
      {explanation === undefined ? null : (
        <>
          <TimeBar explanation={explanation} />
          <ul class="findings">
            {explanation.findings.map((text) => (
              <li key={text}>{safeText(text)}</li>
            ))}
          </ul>
          <Notable explanation={explanation} spans={spans} onSelect={onSelect} />
          {explanation.unknown.length === 0 ? null : (
            <details class="unknowns muted">
              <summary>{plural(explanation.unknown.length, "thing is", "things are")} unknown</summary>
              <ul>
                {explanation.unknown.map((text) => (
                  <li key={text}>{safeText(text)}</li>
                ))}
              </ul>
            </details>
          )}
        </>
      )}
    </section>
  );
}

// --- internal ---

/** The time while the session was open, as one stacked bar. */
function TimeBar({ explanation: { parts, isModelTimed } }: { explanation: ExplanationDocument }) {
  const shown = parts.filter(({ name }) => name !== "away");
  const wholeMs = shown.reduce((sum, { ms }) => sum + ms, 0);
  if (wholeMs === 0) return null;
  const nameOf = (part: Part): string => (part === "agent" && !isModelTimed ? "model and agent" : PART_NAMES[part]);
  return (
    <div class="time-bar">
      <div class="stack" aria-hidden="true">
        {shown.map(({ name, ms }) => (
          <span
            key={name}
            class={`part-${name}`}
            title={`${nameOf(name)}: ${duration(ms)}`}
            style={{ width: `${(ms / wholeMs) * 100}%` }}
          />
        ))}
      </div>
      <ul class="legend" aria-label={`Where ${duration(wholeMs)} went`}>
        {shown.map(({ name, ms }) => (
          <li key={name} class={`part-${name}`}>
            <span class="dot" aria-hidden="true" />
            {nameOf(name)} <b>{percent(ms, wholeMs)}</b> {duration(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}

const PART_NAMES: Readonly<Record<Part, string>> = {
  model: "model",
  tool: "tools",
  held: "permission and hooks",
  agent: "between calls",
  user: "you",
  away: "closed",
};

/** The most expensive turn, the slowest tool and repeated calls; the first two lead to their span. */
function Notable({
  explanation,
  spans,
  onSelect,
}: Omit<Props, "source" | "id"> & { explanation: ExplanationDocument }) {
  const { expensiveTurn, slowestTool, repeats } = explanation;
  const [repeat] = repeats;
  if (expensiveTurn === null && slowestTool === null && repeat === undefined) return null;
  const goTo = (span: number) => (span < 0 ? undefined : () => onSelect(spans.idOf(span)));
  return (
    <dl class="notable">
      {expensiveTurn === null ? null : (
        <Fact
          name="Most expensive turn"
          onClick={goTo(
            spanOf(spans, (i) => spans.kindOf(i) === "turn" && spans.labelOf(i) === `Turn ${expensiveTurn.turn}`),
          )}
        >
          Turn {expensiveTurn.turn}, {dollars(expensiveTurn.costNanoUsd)}
        </Fact>
      )}
      {slowestTool === null ? null : (
        <Fact
          name="Slowest tool"
          onClick={goTo(
            spanOf(
              spans,
              (i) =>
                spans.kindOf(i) === "tool_call" &&
                Math.abs((spans.startMs[i] ?? 0) + spans.baseMs - slowestTool.startMs) < 0.5 &&
                Math.abs((spans.endMs[i] ?? 0) - (spans.startMs[i] ?? 0) - slowestTool.ms) < 0.5,
            ),
          )}
        >
          {safeText(slowestTool.name)}, {duration(slowestTool.ms)}
        </Fact>
      )}
      {repeat === undefined ? null : (
        <Fact name="Repeated with the same input">
          {safeText(repeat.name)}, {repeat.calls} times, {duration(repeat.totalMs)}
          {repeats.length > 1 ? `, and ${repeats.length - 1} more` : ""}
        </Fact>
      )}
    </dl>
  );
}

function Fact({
  name,
  children,
  onClick,
}: {
  name: string;
  children: preact.ComponentChildren;
  onClick?: (() => void) | undefined;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {onClick === undefined ? (
          children
        ) : (
          <button type="button" class="link" onClick={onClick}>
            {children}
          </button>
        )}
      </dd>
    </div>
  );
}

function spanOf(spans: Spans, matches: (i: number) => boolean): number {
  for (let i = 0; i < spans.count; i++) if (matches(i)) return i;
  return -1;
}
