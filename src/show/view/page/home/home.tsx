import type { HomeDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { failuresIn } from "../figures/compare.ts";
import { Downloads } from "../figures/table.tsx";
import { PeriodFilter } from "../filters/filters.tsx";
import { beforeOf, boundsOfRange, RANGES, rangeNamed, startOfDay, unitsOf } from "../filters/range.ts";
import { useTitle } from "../hooks.ts";
import { NoSessionsYet, Placeholder } from "../parts/placeholder.tsx";
import { hrefOf, type ViewParams } from "../route.ts";
import { SessionTable } from "../sessions/session-table.tsx";
import { bucketName, dollars, timeZone } from "../text/format.ts";
import { Running } from "./running.tsx";
import { Summary } from "./summary.tsx";
import { TopGroups, TopTools } from "./top-lists.tsx";

/** Where the money goes now, today and in the chosen period. */
export function Home({ params }: { params: ViewParams }) {
  const { from, to } = params;
  const range = rangeNamed(params["range"], "7");
  const chosen = { range, from, to };
  const bounds = boundsOfRange(chosen);
  const { data: home, problem } = useApi("home", {
    ...bounds,
    beforeMs: beforeOf(chosen),
    todayMs: String(startOfDay(0)),
    yesterdayMs: String(startOfDay(1)),
    unit: unitsOf(chosen)[0],
    timeZone: timeZone(),
  });
  useTitle("Home");
  if (home === undefined) return <Placeholder problem={problem} />;

  const title = RANGES.find(({ value }) => value === range)?.text ?? "";
  const period = range === "between" ? "Chosen days" : title;
  const filters = { range, from, to };
  return (
    <>
      <div class="heading wide">
        <h1>Home</h1>
        {home.sessionCount === 0 ? null : (
          <search class="filters" aria-label="Period">
            <PeriodFilter params={params} fallback="7" />
            <Downloads query={{ ...bounds, by: `${home.unit},agent,model` }} />
          </search>
        )}
      </div>
      {home.sessionCount === 0 ? (
        <NoSessionsYet />
      ) : (
        <>
          <Running running={home.running} usual={failuresIn(home.period.figures)} />
          <Summary home={home} period={period} range={range} />
          <CostBars home={home} period={period} />
          <div class="tops">
            <TopGroups title="Repositories" split="repository" groups={home.repositories} filters={filters} />
            <TopGroups title="Models" split="model" groups={home.models} filters={filters} />
            <TopGroups title="Agents" split="agent" groups={home.agents} filters={filters} />
            <TopTools rows={home.tools} filters={filters} />
          </div>
          <section aria-labelledby="recent">
            <h2 id="recent">
              Latest sessions <a href={hrefOf("sessions")}>All sessions</a>
            </h2>
            <SessionTable rows={home.recent} />
          </section>
        </>
      )}
    </>
  );
}
// --- internal ---

/** Cost over time, as small bars. Hidden from screen readers, because Usage has the same figures as a table. */
function CostBars({ home: { buckets, costUsd, unit }, period }: { home: HomeDocument; period: string }) {
  const largest = Math.max(0, ...costUsd.map((cost) => cost ?? 0));
  if (largest === 0 || buckets.length < 2) return null;
  return (
    <figure class="cost-bars">
      <figcaption>
        <span class="title">
          Cost per {unit}, {period.charAt(0).toLowerCase() + period.slice(1)}
        </span>
        <span class="muted">up to {dollars(largest)}, at list prices</span>
      </figcaption>
      <div class="bars" aria-hidden="true">
        {buckets.map((bucket, i) => {
          const cost = costUsd[i] ?? null;
          return (
            <span key={bucket} title={`${bucketName(bucket)}: ${cost === null ? "no known cost" : dollars(cost)}`}>
              <span class={cost ? "" : "none"} style={{ height: `${((cost ?? 0) / largest) * 100}%` }} />
            </span>
          );
        })}
      </div>
      <p class="ends muted" aria-hidden="true">
        <span>{bucketName(buckets[0] ?? "")}</span>
        <span>{bucketName(buckets.at(-1) ?? "")}</span>
      </p>
    </figure>
  );
}
