import type { ExplanationDocument } from "../../wire/documents.ts";
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
            {explanation.findings.map(({ text }) => (
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
function TimeBar({ explanation: { time } }: { explanation: ExplanationDocument }) {
  if (time === null) return null;
  const shown = partsOf(time).filter(({ ms }) => ms > 0);
  const wholeMs = shown.reduce((sum, { ms }) => sum + ms, 0);
  if (wholeMs === 0) return null;
  return (
    <div class="time-bar">
      <div class="stack" aria-hidden="true">
        {shown.map(({ part, name, ms }) => (
          <span
            key={part}
            class={`part-${part}`}
            title={`${name}: ${duration(ms)}`}
            style={{ width: `${(ms / wholeMs) * 100}%` }}
          />
        ))}
      </div>
      <ul class="legend" aria-label={`Where ${duration(wholeMs)} went`}>
        {shown.map(({ part, name, ms }) => (
          <li key={part} class={`part-${part}`}>
            <span class="dot" aria-hidden="true" />
            {name} <b>{percent(ms, wholeMs)}</b> {duration(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the session spent time on while it was open. Without times of its model calls, the agent's part includes the model. */
const partsOf = (time: NonNullable<ExplanationDocument["time"]>) => [
  { part: "model", name: "model", ms: time.model_ms ?? 0 },
  { part: "tool", name: "tools", ms: time.tool_ms },
  { part: "held", name: "permission and hooks", ms: time.held_ms ?? 0 },
  { part: "agent", name: time.model_ms === null ? "model and agent" : "between calls", ms: time.between_calls_ms },
  { part: "user", name: "you", ms: time.user_ms },
];
