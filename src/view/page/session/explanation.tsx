import type { ExplanationDocument, TimePart } from "../../wire/session.ts";
import { useApi } from "../api.ts";
import { EXPORTED } from "../exported.ts";
import { dollars, duration, percent, plural } from "../format.ts";
import { Pair } from "../pair.tsx";
import { hrefOf, type Params } from "../route.ts";
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

/** The most expensive turn, the slowest tool and repeated calls; the first two lead to their span. */
function Notable({ explanation, source, id, spans, onSelect }: Props & { explanation: ExplanationDocument }) {
  const { expensiveTurn, slowestTool, repeats, changes } = explanation;
  const [repeat] = repeats;
  if (expensiveTurn === null && slowestTool === null && repeat === undefined && changes.length === 0) return null;
  const goTo = (span: number) => (span < 0 ? undefined : () => onSelect(spans.idOf(span)));
  return (
    <dl class="notable">
      {changes.length === 0 ? null : (
        <Fact name="Led to">
          <LedTo changes={changes} source={source} id={id} />
        </Fact>
      )}
      {expensiveTurn === null ? null : (
        <Fact
          name="Most expensive turn"
          onClick={goTo(
            spanOf(spans, (i) => spans.kindOf(i) === "turn" && spans.labelOf(i) === `Turn ${expensiveTurn.turn}`),
          )}
        >
          Turn {expensiveTurn.turn}, {dollars(expensiveTurn.costNanoUsd)}
          {spanOf(spans, (i) => spans.kindOf(i) === "subagent") < 0 ? "" : " with its subagents"}
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
    <Pair name={name}>
      {onClick === undefined ? (
        children
      ) : (
        <button type="button" class="link" onClick={onClick}>
          {children}
        </button>
      )}
    </Pair>
  );
}

/** Each change with a link to all of its work, and the commits of this session together. */
function LedTo({ changes, source, id }: { changes: ExplanationDocument["changes"]; source: string; id: string }) {
  const commits = changes.filter(({ by }) => by === "commit");
  const named = changes.filter(({ by }) => by === "change");
  return (
    <span class="led-to">
      {named.slice(0, MAX_CHANGES).map(({ key, certainty }) => (
        <ViewLink key={key} params={{ by: "change", range: "all", key }}>
          {safeText(key)}
          {certainty === "inferred" ? " (inferred)" : ""}
        </ViewLink>
      ))}
      {named.length > MAX_CHANGES ? (
        <ViewLink params={{ by: "change", range: "all", source, id }}>
          {plural(named.length - MAX_CHANGES, "more change")}
        </ViewLink>
      ) : null}
      {commits.length === 0 ? null : (
        <ViewLink params={{ by: "commit", range: "all", source, id }}>{commitsText(commits)}</ViewLink>
      )}
    </span>
  );
}

/** More do not fit beside the waterfall's explanation. */
const MAX_CHANGES = 3;

function commitsText(commits: ExplanationDocument["changes"]): string {
  const inferred = commits.filter(({ certainty }) => certainty === "inferred").length;
  return `${plural(commits.length, "commit")}${inferred === 0 ? "" : `, ${inferred} inferred`}`;
}

/** A link into the changes view; an exported page has no other views. */
function ViewLink({ params, children }: { params: Params; children: preact.ComponentChildren }) {
  return EXPORTED === undefined ? <a href={hrefOf("changes", params)}>{children}</a> : <span>{children}</span>;
}

function spanOf(spans: Spans, matches: (i: number) => boolean): number {
  for (let i = 0; i < spans.count; i++) if (matches(i)) return i;
  return -1;
}
