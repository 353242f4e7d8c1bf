import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionDocument } from "../../wire/documents.ts";
import type { SpanDocument } from "../../wire/spans.ts";
import { type Fetched, fetchOnce } from "../data/api.ts";
import { Pair } from "../figures/figures.tsx";
import { Placeholder } from "../parts/placeholder.tsx";
import { hrefOf } from "../route.ts";
import { clock, dateTimeExact, duration, orUnknown, plural, preciseDollars } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { Content } from "./content.tsx";
import { StartedSessions } from "./family.tsx";
import { Files } from "./files.tsx";
import { TraceLink } from "./head.tsx";
import { SpanRecord } from "./span-record.tsx";
import { type Inside, insideOf, KIND_NAMES, type Spans } from "./spans.ts";
import { filesOf, type Story } from "./story.ts";

interface Props {
  readonly session: SessionDocument;
  readonly spans: Spans;
  readonly index: number;
  readonly story: Story;
  readonly onSelect: (span: string) => void;
  readonly onClose: () => void;
}

/** All details of one span. The panel is beside the waterfall, which keeps the focus. */
export function Details({ session, spans, index, story, onSelect, onClose }: Props) {
  const { source, session_id: sessionId, folder } = session.row;
  const id = spans.idOf(index);
  const [fetched, setFetched] = useState<Fetched<SpanDocument>>({});
  useEffect(() => {
    const control = new AbortController();
    void fetchOnce("span", { source, id: sessionId, span: id }, control.signal).then((result) => {
      if (result !== undefined) setFetched(result);
    });
    return () => control.abort();
    // A session that has changed may have changed this span
  }, [source, sessionId, id, session]);
  const files = useMemo(
    () => filesOf(story.writes.filter(({ span }) => isInside(spans, index, span))),
    [story, spans, index],
  );
  const kind = spans.kindOf(index);
  // Until the response for another span is here, the old one must not be shown
  const span = fetched.data?.spanId === id ? fetched.data : undefined;

  return (
    <aside
      class="details"
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
        <h2 title={safeText(spans.labelOf(index))}>{safeText(spans.titleOf(index))}</h2>
      </header>
      <dl class="pairs">
        <Pair name="Started">
          {dateTimeExact(spans.baseMs + spans.startOf(index))}
          <span class="muted"> {clock(spans.baseMs + spans.startOf(index)).slice(-3)} ms</span>
        </Pair>
        <Pair name={spans.has(index, "open") ? "Duration so far" : "Duration"}>
          {duration(spans.durationOf(index))}
        </Pair>
        <Pair name="After session start">{duration(spans.startOf(index))}</Pair>
        {spans.detailOf(index) === "" ? null : <Pair name="State">{safeText(spans.detailOf(index))}</Pair>}
        <UsageFacts spans={spans} index={index} />
        {span?.native.map(([name, text]) => (
          <Pair key={name} name={safeText(name)}>
            {safeText(text)}
          </Pair>
        ))}
        <StartedSessions of={session.family} span={id} />
      </dl>
      <p class="links">
        <a href={hrefOf("session", { source, id: sessionId, span: id })}>Link to this span</a>
        {span === undefined || span.traceUrl === null ? null : <TraceLink url={span.traceUrl} />}
      </p>
      <Content source={source} sessionId={sessionId} spanId={id} version={session} attributes={span?.attributes} />
      <Files files={files} spans={spans} folder={folder} onSelect={onSelect} />
      {span === undefined ? <Placeholder problem={fetched.problem} /> : null}
      <details class="wire" hidden={span === undefined}>
        <summary>As it is sent</summary>
        {span === undefined ? null : <SpanRecord span={span} />}
      </details>
    </aside>
  );
}

// --- internal ---

/** Whether a span is this one or below it. */
function isInside(spans: Spans, index: number, id: string): boolean {
  const at = spans.indexOf(id);
  return at >= index && at < index + (spans.size[index] ?? 1);
}

function UsageFacts({ spans, index }: { spans: Spans; index: number }) {
  const [input, output, cost] = [spans.inputOf(index), spans.outputOf(index), spans.costOf(index)];
  const sign = (flag: Parameters<Spans["has"]>[1]): string => (spans.has(index, flag) ? "≥ " : "");
  const inside = spans.hasChildren(index) ? insideOf(spans, index) : undefined;
  return (
    <>
      {input !== null || output !== null || spans.has(index, "unknownTokens") ? (
        <Pair name="Tokens">
          {input === null && output === null
            ? "unknown"
            : `${sign("inputIsLowerBound")}${orUnknown(input)} in, ${sign("outputIsLowerBound")}${orUnknown(output)} out`}
        </Pair>
      ) : null}
      {cost !== null || spans.has(index, "unknownCost") ? (
        <Pair name="Cost">{cost === null ? "unknown" : `${sign("costIsLowerBound")}${preciseDollars(cost)}`}</Pair>
      ) : null}
      {inside === undefined || inside.calls + inside.tools === 0 ? null : (
        <Pair name="Inside">
          {plural(inside.calls, "model call")}, {plural(inside.tools, "tool call")}
        </Pair>
      )}
      {inside === undefined || inside.subagents === 0 ? null : (
        <Pair name="Of this">
          {costInside(inside)} in {plural(inside.subagents, "subagent")}
          {cost === null || inside.subagentCostUsd === null ? null : (
            <>
              <br />
              {sign("costIsLowerBound")}
              {preciseDollars(cost - inside.subagentCostUsd)} outside of them
            </>
          )}
        </Pair>
      )}
    </>
  );
}

const costInside = ({ subagentCostUsd: cost, subagentCostIsLowerBound: isLeast }: Inside): string =>
  cost === null ? "unknown cost" : `${isLeast ? "≥ " : ""}${preciseDollars(cost)}`;
