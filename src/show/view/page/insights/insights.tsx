import type { InsightsDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { Cost, Tile, Unknown } from "../figures/figures.tsx";
import { type Column, FigureTable } from "../figures/table.tsx";
import { FigureFilters } from "../filters/filters.tsx";
import { boundsOfParams, filtersOf, titleOf } from "../filters/range.ts";
import { useKeptPlace, useTitle } from "../hooks.ts";
import { NoSessionsYet, NothingInPeriod, Placeholder } from "../parts/placeholder.tsx";
import { hrefOf, type ViewParams } from "../route.ts";
import { exact, percent, plural, shortCount } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/** What costs money again and again over all sessions, what to change, and whether it got better. */
export function Insights({ params }: { params: ViewParams }) {
  const { agent, repository } = params;
  const { data, problem } = useApi("insights", { agent, repository, ...boundsOfParams(params, "30") });
  useTitle(titleOf("Insights", params));
  useKeptPlace(data?.insights.length ?? 0);
  if (data === undefined) return <Placeholder problem={problem} />;
  const { insights, gone, choices } = data;
  return (
    <>
      <div class="heading">
        <h1>Insights</h1>
      </div>
      <FigureFilters params={params} choices={choices} hasModel={false} />
      {choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : data.sessions === 0 ? (
        <NothingInPeriod what="model calls" view="insights" />
      ) : (
        <>
          <Totals of={data} href={hrefOf("sessions", filtersOf(params, "30"))} />
          {data.subscription_agents.length === 0 ? null : <p class="muted">List prices, not your bill.</p>}
          {insights.length === 0 ? <p>Nothing stands out.</p> : null}
          <ol class="insights">
            {insights.map((one) => (
              <Insight key={`${one.rule} ${one.subject}`} of={one} />
            ))}
          </ol>
          {gone.length === 0 ? null : (
            <section aria-labelledby="gone">
              <h2 id="gone">Gone since the period before</h2>
              <ul class="insights">
                {gone.map((one) => (
                  <Insight key={`${one.rule} ${one.subject}`} of={one} />
                ))}
              </ul>
            </section>
          )}
          <Causes of={data.cache_misses} />
        </>
      )}
    </>
  );
}

// --- internal ---

type One = InsightsDocument["insights"][number];

function Totals({ of, href }: { of: InsightsDocument; href: string }) {
  const { sessions, sessions_read, read_cost_usd, total_cost_usd } = of;
  const isPart = sessions_read < sessions && read_cost_usd !== null && total_cost_usd !== null;
  return (
    <dl class="tiles">
      <Tile name="Cost" href={href}>
        <Cost of={{ cost_usd: total_cost_usd, costIsLowerBound: of.cost_is_lower_bound }} />
      </Tile>
      <Tile name="Sessions" href={href}>
        {exact(sessions)}
      </Tile>
      <Tile
        name="Looked at"
        {...(isPart && { note: `the dearest, ${percent(read_cost_usd, total_cost_usd)} of the cost` })}
      >
        {exact(sessions_read)}
      </Tile>
    </dl>
  );
}

function Insight({ of }: { of: One }) {
  const isGone = of.trend === "gone";
  return (
    <li>
      <p class="insight-head">
        <strong>
          <Cost of={{ cost_usd: of.cost_usd, costIsLowerBound: of.cost_is_lower_bound }} />
          {of.measure === "additional" && of.cost_usd !== null ? " more than necessary" : ""}
        </strong>
        <span class="muted">
          {plural(of.sessions, "session")}
          {of.share === null || isGone ? "" : `, ${percent(of.share, 1)} of the cost`}
        </span>
        {of.trend === null ? null : <span class={`trend ${of.trend}`}>{of.trend_text}</span>}
      </p>
      <p>{safeText(of.text)}</p>
      {isGone ? null : <p class="advice">{safeText(of.advice)}</p>}
      <p class="muted">
        {of.evidence_text}
        {isGone ? null : <Examples of={of.examples} />}
      </p>
    </li>
  );
}

const Examples = ({ of }: { of: One["examples"] }) => (
  <>
    {of.map(({ source, session, cost_usd, turn }, i) => (
      <span key={`${source}/${session}`}>
        {i === 0 ? "; most in " : ", "}
        <a href={hrefOf("session", { source, id: session })}>{safeText(session.slice(0, ID_LENGTH))}</a>
        {turn === null ? "" : ` turn ${turn}`} (
        <Cost of={{ cost_usd, costIsLowerBound: false }} />)
      </span>
    ))}
  </>
);

const ID_LENGTH = 8;

/** All misses by cause, also those against which nothing can be advised. */
function Causes({ of }: { of: readonly Miss[] }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="causes">
      <h2 id="causes">Not read from the cache</h2>
      <FigureTable
        heading="Cause"
        rows={of}
        keyOf={({ cause, evidence }) => `${cause} ${evidence}`}
        nameOf={({ title }) => title}
        columns={COLUMNS}
      />
    </section>
  );
}

type Miss = InsightsDocument["cache_misses"][number];

const COLUMNS: readonly Column<Miss>[] = [
  { name: "Known", cell: ({ evidence }) => (evidence === "unknown" ? <Unknown /> : evidence) },
  { name: "Calls", cell: ({ calls }) => exact(calls) },
  { name: "Tokens", cell: ({ tokens }) => shortCount(tokens) },
  {
    name: "Cost more",
    cell: ({ cost_usd, unpriced_calls }) => <Cost of={{ cost_usd, costIsLowerBound: unpriced_calls > 0 }} />,
  },
];
