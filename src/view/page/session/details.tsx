import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, SpanDocument } from "../../wire.ts";
import { askOnce } from "../ask.ts";
import { clock, count, dateTimeExact, dollars, duration, exact } from "../format.ts";
import { Instead } from "../parts.tsx";
import { shown, shownLines } from "../shown.ts";
import { KIND_NAMES } from "./row.tsx";
import { type Spans, sumBelow } from "./spans.ts";

interface Props {
  readonly source: string;
  readonly session: string;
  readonly spans: Spans;
  readonly index: number;
  /** A new value means that the session, and maybe this span, has changed. */
  readonly changed: unknown;
  readonly onClose: () => void;
}

/** Everything about one span, beside the waterfall, which keeps the focus. */
export function Details({ source, session, spans, index, changed, onClose }: Props) {
  const id = spans.idOf(index);
  const [answer, setAnswer] = useState<Answer<SpanDocument> | undefined>(undefined);
  useEffect(() => {
    const control = new AbortController();
    void askOnce<SpanDocument>("span", { source, id: session, span: id }, control.signal).then((found) => {
      if (found !== undefined) setAnswer(found);
    });
    return () => control.abort();
  }, [source, session, id, changed]);
  const panel = useRef<HTMLElement>(null);
  const kind = spans.kindOf(index);
  const current = answer?.kind === "span" && answer.spanId !== id ? undefined : answer;

  return (
    <aside
      class="details"
      ref={panel}
      aria-label="Span details"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <header>
        <p class={`kind ${spans.has(index, "error") ? "failed" : kind}`}>
          <span class="dot" aria-hidden="true" />
          {KIND_NAMES[kind]}
        </p>
        <button type="button" class="quiet" aria-label="Close the details" onClick={onClose}>
          ✕
        </button>
        <h2>{shown(spans.labelOf(index))}</h2>
      </header>
      <dl class="pairs">
        <Pair name="Began">
          {dateTimeExact(spans.baseMs + (spans.startMs[index] ?? 0))}
          <span class="muted"> {clock(spans.baseMs + (spans.startMs[index] ?? 0)).slice(-3)} ms</span>
        </Pair>
        <Pair name={spans.has(index, "open") ? "So far" : "Took"}>
          {duration((spans.endMs[index] ?? 0) - (spans.startMs[index] ?? 0))}
        </Pair>
        <Pair name="From the beginning">{duration(spans.startMs[index] ?? 0)}</Pair>
        {spans.detailOf(index) === "" ? null : <Pair name="State">{shown(spans.detailOf(index))}</Pair>}
        <Used spans={spans} index={index} />
      </dl>
      {current?.kind === "span" ? <Recorded span={current} /> : <Instead answer={current} />}
    </aside>
  );
}

// --- internal ---

function Pair({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Used({ spans, index }: { spans: Spans; index: number }) {
  const kind = spans.kindOf(index);
  const hasOwn = spans.inputOf(index) !== null || spans.outputOf(index) !== null;
  const below = (spans.size[index] ?? 1) > 1 ? sumBelow(spans, index) : undefined;
  return (
    <>
      {hasOwn || spans.has(index, "unknownTokens") ? (
        <Pair name="Tokens">
          {hasOwn
            ? `${told(spans.inputOf(index))} in, ${spans.has(index, "leastOutput") ? "≥ " : ""}${told(spans.outputOf(index))} out`
            : "unknown"}
        </Pair>
      ) : null}
      {spans.costOf(index) !== null || spans.has(index, "unknownCost") ? (
        <Pair name="Cost">
          {spans.costOf(index) === null
            ? "unknown"
            : `${spans.has(index, "leastCost") ? "≥ " : ""}${dollars(spans.costOf(index) ?? 0)}`}
        </Pair>
      ) : null}
      {below === undefined || below.calls + below.tools === 0 || kind === "session" ? null : (
        <Pair name="With all inside">
          {count(below.calls)} model calls, {count(below.tools)} tool calls
          {below.calls === 0 ? null : (
            <>
              <br />
              {below.input === null
                ? "tokens unknown"
                : `${below.leastTokens ? "≥ " : ""}${exact(below.input)} in, ${exact(below.output ?? 0)} out`}
              <br />
              {below.costNanoUsd === null
                ? "cost unknown"
                : `${below.leastCost ? "≥ " : ""}${dollars(below.costNanoUsd)}`}
            </>
          )}
        </Pair>
      )}
    </>
  );
}

const told = (n: number | null): string => (n === null ? "unknown" : exact(n));

/** The span as it was or will be sent, with OpenTelemetry's names and values. */
function Recorded({ span }: { span: SpanDocument }) {
  return (
    <>
      <h3>Attributes</h3>
      <Attributes of={span.attributes} />
      {span.events.length === 0 ? null : (
        <>
          <h3>Events</h3>
          {span.events.map((event, i) => (
            <div key={`${event.name}-${i}`} class="event">
              <p>
                {shown(event.name)} <span class="muted">{clock(event.timeMs)}</span>
              </p>
              <Attributes of={event.attributes} />
            </div>
          ))}
        </>
      )}
      <h3>Span</h3>
      <Attributes
        of={{
          name: span.name,
          trace_id: span.traceId,
          span_id: span.spanId,
          ...(span.parentSpanId !== null && { parent_span_id: span.parentSpanId }),
          ...Object.fromEntries(span.links.map((link, i) => [`link ${i + 1}`, `${link.traceId} ${link.spanId}`])),
        }}
      />
    </>
  );
}

function Attributes({ of }: { of: SpanDocument["attributes"] }) {
  return (
    <dl class="attributes">
      {Object.entries(of)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{shown(name)}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** Prompts and outputs are long and have several lines. */
function Value({ value }: { value: SpanDocument["attributes"][string] }) {
  const text = typeof value === "object" ? value.join(", ") : String(value);
  return text.length > LONG || text.includes("\n") ? <pre>{shownLines(text)}</pre> : shown(text);
}

const LONG = 120;
