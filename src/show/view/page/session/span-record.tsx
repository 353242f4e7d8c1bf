import type { SpanDocument } from "../../wire/spans.ts";
import { clock } from "../text/format.ts";
import { safeLines, safeText } from "../text/safe-text.ts";

/** The span as it was or will be sent, with OpenTelemetry's names and values. */
export function SpanRecord({ span }: { span: SpanDocument }) {
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
                {safeText(event.name)} <span class="muted">{clock(event.timeMs)}</span>
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

// --- internal ---

function Attributes({ of }: { of: SpanDocument["attributes"] }) {
  return (
    <dl class="attributes">
      {Object.entries(of)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{safeText(name)}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** Long or multi-line values, such as prompts and outputs, are preformatted blocks. */
function Value({ value }: { value: SpanDocument["attributes"][string] }) {
  const text = typeof value === "object" ? value.join(", ") : String(value);
  return text.length > LONG_CHARS || text.includes("\n") ? <pre>{safeLines(text)}</pre> : safeText(text);
}

const LONG_CHARS = 120;
