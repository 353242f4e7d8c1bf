import type { SessionDocument } from "../../wire/documents.ts";
import { EXPORTED } from "../data/exported.ts";
import { AtWork, Branch, Cost, EndBadge, InOut, Pair, placeOf, Unknown } from "../figures/figures.tsx";
import { backTo, hrefOf } from "../route.ts";
import { dateTimeExact, dollars, exact, msOf, orUnknown, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/**
 * Agent, folder and totals, in one line that stays at the top while the waterfall scrolls.
 *
 * @param untilMs the time now, if the agent is working; `undefined` otherwise
 */
export function TitleBar({ document: { row }, untilMs }: { document: SessionDocument; untilMs: number | undefined }) {
  const { totals } = row;
  const hasCacheShare = totals.input !== null && totals.cache_read !== null && totals.input > 0;
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
          <Branch of={row} />
          <EndBadge ending={row.ending} />
        </h1>
      </div>
      <dl class="key-figures">
        <Figure name="Cost" note={costNote(row)}>
          <Cost of={totals} />
        </Figure>
        <Figure name="At work">
          <AtWork row={row} runningMs={Math.max(0, (untilMs ?? 0) - msOf(row.last_activity))} />
        </Figure>
        <Figure
          name="Tokens in → out"
          note={hasCacheShare ? `${percent(totals.cache_read ?? 0, totals.input ?? 0)} from cache` : null}
        >
          <InOut of={totals} />
        </Figure>
        <Figure name="Turns" note={row.subagents > 0 ? plural(row.subagents, "subagent") : null}>
          {exact(row.turns)}
        </Figure>
        <Figure name="Model calls">
          {totals.model_calls === null ? (
            <Unknown />
          ) : (
            `${totals.modelCallsIsLowerBound ? "≥" : ""}${exact(totals.model_calls)}`
          )}
        </Figure>
        <Figure name="Tool calls" note={toolNote(row)}>
          {exact(row.tool_calls.total)}
        </Figure>
      </dl>
    </header>
  );
}

/** What the session was about, when it ran and where, and what the agent itself reported. */
export function Facts({ document: { row, reported, traceUrl } }: { document: SessionDocument }) {
  return (
    <>
      {row.prompt === null ? null : <p class="prompt">{safeText(row.prompt)}</p>}
      <p class="facts">
        <span>
          Started <time dateTime={row.start ?? ""}>{dateTimeExact(msOf(row.start))}</time>
        </span>
        {row.segments > 1 ? <span>{plural(row.segments, "segment")}</span> : null}
        {row.ending.state === "open" ? null : <span>{safeText(row.ending.text)}</span>}
        {row.agent_version === null ? null : <span>version {safeText(row.agent_version)}</span>}
        {row.title === "" ? null : <span>{safeText(row.title)}</span>}
        {row.models.length === 0 ? null : <span>{row.models.map((model) => safeText(model)).join(", ")}</span>}
        <span class="id">{safeText(row.session_id)}</span>
        {row.folder === null ? null : <span class="id">{safeText(row.folder)}</span>}
        {traceUrl === null ? null : <TraceLink url={traceUrl} />}
      </p>
      {reported === null ? null : (
        <p class="muted">
          The agent reported {orUnknown(reported.input)} tokens in and {orUnknown(reported.output)} out
          {reported.costUsd === null ? "" : `, ${dollars(reported.costUsd)}`}, including side requests that its
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
function costNote({ totals, on_subscription }: SessionDocument["row"]): string | null {
  const notes = [
    ...(totals.unpriced > 0 ? [`${plural(totals.unpriced, "call")} without an exact price`] : []),
    ...(on_subscription && totals.cost_usd !== null ? ["list price, not your bill"] : []),
  ];
  return notes.length === 0 ? null : notes.join("; ");
}

function toolNote({ tool_calls }: SessionDocument["row"]): string | null {
  const parts = TOOL_NOTES.flatMap(([status, text]) => {
    const calls = tool_calls[status] ?? 0;
    return calls > 0 ? [`${exact(calls)} ${text}`] : [];
  });
  return parts.length === 0 ? null : parts.join(", ");
}

const TOOL_NOTES = [
  ["error", "failed"],
  ["denied", "denied"],
  ["unfinished", "unfinished"],
] as const;
