import { useState } from "preact/hooks";
import { shortModel } from "#kit/text/model-name.ts";
import type { SessionDocument } from "../../wire/documents.ts";
import { EXPORTED } from "../data/exported.ts";
import { AtWork, Branch, Cost, EndBadge, InOut, Notes, Pair, placeOf, Unknown } from "../figures/figures.tsx";
import { backTo, hrefOf } from "../route.ts";
import {
  dateTime,
  dateTimeExact,
  dollars,
  exact,
  leastDollars,
  msOf,
  orUnknown,
  percent,
  plural,
} from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { FamilyFacts } from "./family.tsx";

/**
 * What the session is about, where and when it ran, and its totals; it stays at the top while the waterfall scrolls.
 *
 * @param untilMs the time now, if the agent is working; `undefined` otherwise
 */
export function TitleBar({ document, untilMs }: { document: SessionDocument; untilMs: number | undefined }) {
  const { row } = document;
  const { totals } = row;
  const hasCacheShare = totals.input !== null && totals.cache_read !== null && totals.input > 0;
  const title = safeText(row.prompt ?? (row.title === "" ? `${row.agent} ${placeOf(row)}` : row.title));
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
        <div class="names">
          <h1 id="title">
            <span class="text" title={title}>
              {title}
            </span>
            <EndBadge ending={row.ending} />
          </h1>
          <Facts document={document} />
        </div>
      </div>
      <dl class="key-figures">
        <Figure name="Cost" note={costNote(document)}>
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

/** What the line below the title has no room for, and what the agent itself reported. */
export function MoreFacts({ document: { row, reported, covered } }: { document: SessionDocument }) {
  return (
    <section class="more-facts">
      <h3>Session</h3>
      <dl class="pairs">
        <Pair name="Id">
          <span class="id">{safeText(row.session_id)}</span>
        </Pair>
        {row.folder === null ? null : (
          <Pair name="Folder">
            <span class="id">{safeText(row.folder)}</span>
          </Pair>
        )}
        <Pair name="Started">{dateTimeExact(msOf(row.start))}</Pair>
        {row.ending.state === "open" ? null : <Pair name="End">{safeText(row.ending.text)}</Pair>}
        {row.models.length === 0 ? null : <Pair name="Models">{row.models.map(safeText).join(", ")}</Pair>}
        {row.title === "" ? null : <Pair name="Work">{safeText(row.title)}</Pair>}
        {row.agent_version === null ? null : (
          <Pair name="Version">
            {safeText(row.agent)} {safeText(row.agent_version)}
          </Pair>
        )}
      </dl>
      <Notes of={covered} />
      {reported === null ? null : (
        <p class="muted">
          The agent reported {orUnknown(reported.input)} tokens in and {orUnknown(reported.output)} out
          {reported.costUsd === null ? "" : `, ${dollars(reported.costUsd)}`}
          {reported.searches === null ? "" : `, ${plural(reported.searches, "web search", "web searches")}`}, including
          side requests that its transcript does not contain.
        </p>
      )}
    </section>
  );
}

/** A link to the trace in the user's backend. The backend does not get the address of this page. */
export const TraceLink = ({ url }: { url: string }) => (
  <a class="trace-link" href={url} target="_blank" rel="noopener noreferrer">
    Open the trace in {new URL(url).host}
  </a>
);

// --- internal ---

/** Agent, place, start and models, in one line. */
function Facts({ document: { row, family, traceUrl } }: { document: SessionDocument }) {
  return (
    <p class="facts">
      <span class="mark">{safeText(row.agent)}</span>
      <FamilyFacts of={family} />
      <span title={safeText(row.folder ?? "")}>
        {safeText(placeOf(row))}
        <Branch of={row} />
      </span>
      <time dateTime={row.start ?? ""} title={dateTimeExact(msOf(row.start))}>
        {dateTime(msOf(row.start))}
      </time>
      {row.segments > 1 ? <span>{plural(row.segments, "segment")}</span> : null}
      {row.models.length === 0 ? null : (
        <span title={row.models.map(safeText).join(", ")}>
          {row.models.map((model) => safeText(shortModel(model))).join(", ")}
        </span>
      )}
      <CopyId id={row.session_id} />
      {traceUrl === null ? null : <TraceLink url={traceUrl} />}
    </p>
  );
}

/** Copies the session's id; shows it where the browser does not let a page copy. */
function CopyId({ id }: { id: string }) {
  const [state, setState] = useState<"" | "copied" | "refused">("");
  const copy = (): void => {
    // Absent where the page is neither on this machine nor encrypted
    const copied = (navigator.clipboard as Clipboard | undefined)?.writeText(id) ?? Promise.reject();
    copied.then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  if (state === "refused") return <span class="id">{safeText(id)}</span>;
  return (
    <button type="button" class="link copy" title={safeText(id)} onClick={copy}>
      {state === "copied" ? "Copied" : "Copy id"}
    </button>
  );
}

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

const costOf = ({ cost_usd, costIsLowerBound }: NonNullable<SessionDocument["family"]["withChildren"]>): string =>
  cost_usd === null ? "unknown" : costIsLowerBound ? leastDollars(cost_usd, " ") : dollars(cost_usd);

/** What it cost with the sessions that it started, calls without a price, and whether the cost is what the user pays. */
function costNote({ row: { totals, on_subscription }, family: { withChildren } }: SessionDocument): string | null {
  const notes = [
    ...(withChildren === null ? [] : [`${costOf(withChildren)} with child sessions`]),
    ...totals.charges,
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
