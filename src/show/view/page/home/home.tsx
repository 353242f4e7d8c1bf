import type { HomeDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { failuresIn } from "../figures/compare.ts";
import { Downloads } from "../figures/table.tsx";
import { PeriodFilter } from "../filters/filters.tsx";
import {
  beforeOf,
  boundsOfRange,
  daysOfBucket,
  RANGES,
  type Range,
  rangeNamed,
  startOfDay,
  startOfMonth,
  unitsOf,
} from "../filters/range.ts";
import { useKeptPlace, useTitle } from "../hooks.ts";
import { NoSessionsYet, Placeholder } from "../parts/placeholder.tsx";
import { hrefOf, type ViewParams } from "../route.ts";
import { SessionTable } from "../sessions/session-table.tsx";
import { bucketLabel, bucketName, dollars, timeZone } from "../text/format.ts";
import { Running } from "./running.tsx";
import { Summary } from "./summary.tsx";
import { TopGroups, TopTools } from "./top-lists.tsx";

/** Where the money goes now, today and in the chosen period. */
export function Home({ params }: { params: ViewParams }) {
  const { from, to } = params;
  const range = rangeNamed(params["range"], DEFAULT_RANGE);
  const chosen = { range, from, to };
  const bounds = boundsOfRange(chosen);
  const { data: home, problem } = useApi("home", {
    ...bounds,
    beforeMs: beforeOf(chosen),
    todayMs: String(startOfDay(0)),
    yesterdayMs: String(startOfDay(1)),
    monthMs: String(startOfMonth(0)),
    lastMonthMs: String(startOfMonth(1)),
    unit: unitsOf(chosen)[0],
    timeZone: timeZone(),
  });
  useTitle("Home");
  useKeptPlace(home?.buckets.length ?? 0);
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
            <PeriodFilter params={params} fallback={DEFAULT_RANGE} />
            <Downloads query={{ ...bounds, by: `${home.unit},agent,model` }} />
          </search>
        )}
      </div>
      {home.sessionCount === 0 ? (
        <NoSessionsYet />
      ) : (
        <>
          <Summary home={home} period={period} filters={filters} />
          <CostBars home={home} period={period} />
          <Running running={home.running} usual={failuresIn(home.period.figures)} />
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

/** The month so far, unless it has only begun. */
const DEFAULT_RANGE: Range = new Date().getDate() > 7 ? "month" : "7";

/** Cost over time, as bars that lead to the sessions. */
function CostBars({ home: { buckets, costUsd, unit }, period }: { home: HomeDocument; period: string }) {
  const largest = Math.max(0, ...costUsd.map((cost) => cost ?? 0));
  if (largest === 0 || buckets.length < 2) return null;
  const isDense = buckets.length > MAX_WIDE_BARS;
  return (
    <figure class="cost-bars">
      <figcaption>
        <span class="title">
          Cost per {unit}, {period.charAt(0).toLowerCase() + period.slice(1)}
        </span>
        <span class="muted">at list prices</span>
      </figcaption>
      <ol class={isDense ? "bars dense" : "bars"}>
        {buckets.map((bucket, i) => {
          const cost = costUsd[i] ?? null;
          const text = `${bucketName(bucket)}: ${cost === null ? "no known cost" : dollars(cost)}`;
          return (
            <li key={bucket} class={cost === largest ? "largest" : undefined}>
              <a href={hrefOf("sessions", daysOfBucket(bucket))} title={text}>
                <span class="sr">{text}</span>
                <span class="value" aria-hidden="true">
                  {cost ? (isDense ? shortDollars(cost) : dollars(cost)) : ""}
                </span>
                <span class={cost ? "bar" : "bar none"} style={{ height: `${((cost ?? 0) / largest) * 84}px` }} />
                <span class="label" aria-hidden="true">
                  {bucketLabel(bucket).replace(isDense ? / \w{3}$/ : "", "")}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
      {isDense ? (
        <p class="ends muted" aria-hidden="true">
          <span>{bucketName(buckets[0] ?? "")}</span>
          <span>{bucketName(buckets.at(-1) ?? "")}</span>
        </p>
      ) : null}
    </figure>
  );
}

/** More have no room for cents and the name of the month. */
const MAX_WIDE_BARS = 16;

/** For a narrow bar, which has the whole amount under the pointer: `$12`, `$1.2`. */
const shortDollars = (usd: number): string => (usd < 0.05 ? "" : `$${usd.toFixed(usd < 9.95 ? 1 : 0)}`);
