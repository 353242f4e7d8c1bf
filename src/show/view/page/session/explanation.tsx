import type { ExplanationDocument, TimePart } from "../../wire/session.ts";
import { useApi } from "../data/api.ts";
import { duration, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { Notable } from "./notable.tsx";
import type { Spans } from "./spans.ts";

interface Props {
  readonly source: string;
  readonly id: string;
  readonly spans: Spans;
  readonly onSelect: (span: string) => void;
}

/** Where the time and money went: one bar, sentences, and links to the most notable spans. */
export function Explanation({ source, id, spans, onSelect }: Props) {
  const explanation = useApi("explain", { source, id }).data;
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
          <Notable explanation={explanation} source={source} id={id} spans={spans} onSelect={onSelect} />
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
  const nameOf = (part: TimePart): string => (part === "agent" && !isModelTimed ? "model and agent" : PART_NAMES[part]);
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

const PART_NAMES: Readonly<Record<TimePart, string>> = {
  model: "model",
  tool: "tools",
  held: "permission and hooks",
  agent: "between calls",
  user: "you",
  away: "closed",
};
