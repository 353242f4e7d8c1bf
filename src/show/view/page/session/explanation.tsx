import { useMemo, useState } from "preact/hooks";
import type { ExplanationDocument, SessionDocument } from "../../wire/documents.ts";
import { duration, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { CacheMisses } from "./cache-misses.tsx";
import { ChildSessions } from "./family.tsx";
import { Files } from "./files.tsx";
import { MoreFacts } from "./head.tsx";
import { Notable } from "./notable.tsx";
import type { Spans } from "./spans.ts";
import { filesOf, type Story } from "./story.ts";

interface Props {
  /** `undefined` until it has arrived. */
  readonly explanation: ExplanationDocument | undefined;
  readonly session: SessionDocument;
  readonly spans: Spans;
  readonly story: Story;
  readonly onSelect: (span: string) => void;
}

/** Where the time and money went: one bar, the strongest sentences, and links to the most notable spans; the rest is folded. */
export function Explanation({ explanation, session, spans, story, onSelect }: Props) {
  const { row } = session;
  const [isWhole, setWhole] = useState(false);
  const files = useMemo(() => filesOf(story.writes), [story]);
  return (
    // Its height is reserved, so that the waterfall does not move when the response arrives
    <section
      class={isWhole ? "explanation whole" : "explanation"}
      aria-label="Explanation"
      aria-busy={explanation === undefined}
    >
      {explanation === undefined ? null : (
        <>
          <TimeBar explanation={explanation} />
          <ul class="findings">
            {explanation.findings.slice(0, isWhole ? undefined : MAX_FINDINGS).map(({ text }) => (
              <li key={text} title={isWhole ? undefined : safeText(text)}>
                {safeText(text)}
              </li>
            ))}
          </ul>
          <Notable
            explanation={explanation}
            row={row}
            spans={spans}
            files={files}
            isWhole={isWhole}
            onSelect={onSelect}
            onFiles={() => setWhole(true)}
          />
          <button type="button" class="link more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Less" : "More"}
          </button>
          {isWhole ? (
            <div class="rest">
              <h2 class="sr">More about this session</h2>
              <Files files={files} spans={spans} folder={row.folder} onSelect={onSelect} />
              <ChildSessions of={session.family} />
              <CacheMisses of={explanation.cacheMisses} spans={spans} onSelect={onSelect} />
              <MoreFacts document={session} />
              <Unknowns of={explanation.unknown} />
            </div>
          ) : null}
        </>
      )}
    </section>
  );
}

// --- internal ---

/** As many lines as the bar with its legend takes. */
const MAX_FINDINGS = 3;

function Unknowns({ of }: { of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <section class="unknowns">
      <h3>{plural(of.length, "thing is", "things are")} unknown</h3>
      <ul>
        {of.map((text) => (
          <li key={text}>{safeText(text)}</li>
        ))}
      </ul>
    </section>
  );
}

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
