import type { SessionDocument } from "../../wire/session.ts";
import { EXPORTED } from "../data/exported.ts";
import { AtWork, Cost, EndBadge, InOut, Unknown } from "../figures/figures.tsx";
import { backTo } from "../hooks/use-route.ts";
import { Pair } from "../parts/pair.tsx";
import { hrefOf } from "../route.ts";
import { placeOf } from "../sessions/place.ts";
import { dateTimeExact, dollars, exact, orUnknown, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/**
 * Agent, folder and totals, in one line that stays at the top while the waterfall scrolls.
 *
 * @param untilMs the time now, if the agent is working; `undefined` otherwise
 */
export function TitleBar({ document: { row }, untilMs }: { document: SessionDocument; untilMs: number | undefined }) {
  const { sums } = row;
  const hasCacheShare = sums.input !== null && sums.cacheRead !== null && sums.input > 0;
  return (
    <header class="title-bar">
      <div class="title">
        {EXPORTED === undefined ? (
          <a
            class="back"
            href={hrefOf("sessions")}
            aria-label="All sessions"
            onClick={(event) => backTo("sessions", event)}
          >
            ←
          </a>
        ) : null}
        <h1 id="title">
          {safeText(row.agent)} <span class="place">{safeText(placeOf(row))}</span>
          {row.branch === null ? null : <span class="branch">{safeText(row.branch)}</span>}
          <EndBadge end={row.end} />
        </h1>
      </div>
      <dl class="key-figures">
        <Figure name="Cost" note={costNote(row)}>
          <Cost of={sums} />
        </Figure>
        <Figure name="At work">
          <AtWork row={row} runningMs={Math.max(0, (untilMs ?? 0) - row.lastMs)} />
        </Figure>
        <Figure
          name="Tokens in → out"
          note={hasCacheShare ? `${percent(sums.cacheRead ?? 0, sums.input ?? 0)} from cache` : null}
        >
          <InOut of={sums} />
        </Figure>
        <Figure name="Turns" note={row.subagents > 0 ? plural(row.subagents, "subagent") : null}>
          {exact(row.turns)}
        </Figure>
        <Figure name="Model calls">
          {sums.modelCalls === null ? (
            <Unknown />
          ) : (
            `${sums.modelCallsIsLowerBound ? "≥" : ""}${exact(sums.modelCalls)}`
          )}
        </Figure>
        <Figure name="Tool calls" note={toolNote(row)}>
          {exact(row.toolCalls)}
        </Figure>
      </dl>
    </header>
  );
}

/** What the session was about, when it ran and where, and what the agent itself reported. */
export function Facts({ document: { row, segments, reported, traceUrl } }: { document: SessionDocument }) {
  return (
    <>
      {row.prompt === null ? null : <p class="prompt">{safeText(row.prompt)}</p>}
      <p class="facts">
        <span>
          Started <time dateTime={new Date(row.startMs).toISOString()}>{dateTimeExact(row.startMs)}</time>
        </span>
        {segments.length > 1 ? <span>{plural(segments.length, "segment")}</span> : null}
        {row.end.state === "open" ? null : <span>{safeText(row.end.text)}</span>}
        {row.agentVersion === null ? null : <span>version {safeText(row.agentVersion)}</span>}
        {row.title === "" ? null : <span>{safeText(row.title)}</span>}
        {row.models.length === 0 ? null : <span>{row.models.map((model) => safeText(model)).join(", ")}</span>}
        <span class="id">{safeText(row.sessionId)}</span>
        {row.folder === null ? null : <span class="id">{safeText(row.folder)}</span>}
        {traceUrl === null ? null : <TraceLink url={traceUrl} />}
      </p>
      {reported === null ? null : (
        <p class="muted">
          The agent reported {orUnknown(reported.input)} tokens in and {orUnknown(reported.output)} out
          {reported.costNanoUsd === null ? "" : `, ${dollars(reported.costNanoUsd)}`}, including side requests that its
          transcript does not contain.
        </p>
      )}
    </>
  );
}

/** A link to the trace in the user's backend. The backend does not get the address of this page. */
export const TraceLink = ({ url }: { url: string }) => (
  <a class="trace-link" href={url} target="_blank" rel="noopener noreferrer">
    Open the trace in {new URL(url).host}
  </a>
);

// --- internal ---

function Figure({
  name,
  note = null,
  children,
}: {
  name: string;
  note?: string | null;
  children: preact.ComponentChildren;
}) {
  return (
    <Pair name={name}>
      {children}
      {note === null ? null : <span class="note"> {note}</span>}
    </Pair>
  );
}

/** Calls without a price, and whether the cost is what the user pays. */
function costNote({ sums, onSubscription }: SessionDocument["row"]): string | null {
  const notes = [
    ...(sums.unpriced > 0 ? [`${plural(sums.unpriced, "call")} without an exact price`] : []),
    ...(onSubscription && sums.costNanoUsd !== null ? ["list price, not your bill"] : []),
  ];
  return notes.length === 0 ? null : notes.join("; ");
}

function toolNote(row: SessionDocument["row"]): string | null {
  const parts = [
    ...(row.failedTools > 0 ? [`${exact(row.failedTools)} failed`] : []),
    ...(row.deniedTools > 0 ? [`${exact(row.deniedTools)} denied`] : []),
    ...(row.unfinishedTools > 0 ? [`${exact(row.unfinishedTools)} unfinished`] : []),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}
