import { useEffect, useMemo } from "preact/hooks";
import { SPLITS, type Split, type Unit, type UsageDocument } from "../../wire.ts";
import { useApi } from "../api.ts";
import { Downloads } from "../downloads.tsx";
import { Cost, Tile, Tokens } from "../figures.tsx";
import { dollars, dollarsOnAxis, exact, percent, plural, timeZone } from "../format.ts";
import { dataOf, NoSessionsYet, Placeholder, problemOf } from "../placeholder.tsx";
import { change, hrefOf } from "../route.ts";
import { Select } from "../select.tsx";
import { Chart, type Series } from "./chart.tsx";
import { FigureFilters } from "./figure-filters.tsx";
import { GroupTable } from "./group-table.tsx";
import { boundsOfParams, rangeNamed, unitsOf } from "./range.ts";
import { TimeTable } from "./time-table.tsx";

/** Tokens by kind and cost over time, and by agent, model or repository. */
export function Usage({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository, model, from, to } = params;
  const units = unitsOf({ range: rangeNamed(params["range"], "30"), from, to });
  const unit = units.find((one) => one === params["unit"]) ?? units[0] ?? "day";
  const split = SPLITS.find((one) => one === params["by"]) ?? "model";
  const withCacheReads = params["cache"] === "1";
  const bounds = boundsOfParams(params, "30");
  const response = useApi<UsageDocument>("usage", {
    agent,
    repository,
    model,
    unit,
    split,
    ...bounds,
    timeZone: timeZone(),
  });
  const usage = dataOf(response, "usage");
  useEffect(() => {
    document.title = "Usage · openhook-otel";
  }, []);
  const tokens = useMemo(
    () => (usage === undefined ? [] : tokenSeries(usage, withCacheReads)),
    [usage, withCacheReads],
  );
  const costs = useMemo(() => (usage === undefined ? [] : costSeries(usage)), [usage]);

  if (usage === undefined) return <Placeholder problem={problemOf(response)} />;
  const { total } = usage;
  return (
    <>
      <div class="heading wide">
        <h1>Usage</h1>
        <Downloads query={{ agent, repository, model, ...bounds, by: `${unit},${split}` }} />
      </div>
      <FigureFilters params={params} choices={usage.choices} hasModel onChange={change}>
        <Select
          name="By"
          value={unit}
          options={units.map((value) => ({ value, text: UNIT_NAMES[value] }))}
          onChange={(value) => change({ unit: value })}
        />
        <Select name="Split cost by" value={split} options={SPLIT_NAMES} onChange={(by) => change({ by })} />
        <label class="check">
          <input
            type="checkbox"
            checked={withCacheReads}
            onChange={(event) => change({ cache: event.currentTarget.checked ? "1" : undefined })}
          />
          Cache reads
        </label>
      </FigureFilters>
      {usage.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : total === null || total.sessions === 0 ? (
        <section class="placeholder">
          <h2>No usage in this period</h2>
          <p>
            <a href={hrefOf("usage", { range: "all" })}>Show all time</a>
          </p>
        </section>
      ) : (
        <>
          <dl class="tiles">
            <Tile
              name="Cost"
              note={total.sums.unpriced > 0 ? `${plural(total.sums.unpriced, "call")} without a price` : null}
            >
              <Cost nanoUsd={total.sums.costNanoUsd} isLowerBound={total.sums.costIsLowerBound} />
            </Tile>
            <Tile
              name="Input tokens"
              note={
                total.cacheReportedInput && total.cacheReportedRead !== null
                  ? `${percent(total.cacheReportedRead, total.cacheReportedInput)} from cache${total.cacheReportedInput === total.sums.input ? "" : ", where reported"}`
                  : null
              }
            >
              <Tokens n={total.sums.input} isLowerBound={total.sums.inputIsLowerBound} />
            </Tile>
            <Tile name="Output tokens">
              <Tokens n={total.sums.output} isLowerBound={total.sums.outputIsLowerBound} />
            </Tile>
            <Tile
              name="Sessions"
              note={total.sessionsWithoutUsage > 0 ? `${exact(total.sessionsWithoutUsage)} without token counts` : null}
            >
              {exact(total.sessions)}
            </Tile>
            {total.turns === null ? null : <Tile name="Turns">{exact(total.turns)}</Tile>}
            {total.toolCalls === null ? null : (
              <Tile name="Tool calls" note={total.failedTools ? `${exact(total.failedTools)} failed` : null}>
                {exact(total.toolCalls)}
              </Tile>
            )}
          </dl>
          <div class="charts">
            <Chart
              title={`Cost by ${usage.split}`}
              buckets={usage.buckets}
              series={costs}
              format={dollars}
              formatTick={dollarsOnAxis}
            />
            <Chart
              title={withCacheReads ? "Tokens" : "Tokens without cache reads"}
              buckets={usage.buckets}
              series={tokens}
              format={compact}
            />
          </div>
          <GroupTable split={usage.split} groups={usage.groups} withCacheReads={withCacheReads} />
          <TimeTable document={usage} withCacheReads={withCacheReads} />
        </>
      )}
    </>
  );
}

// --- internal ---

const SPLIT_NAMES: readonly { readonly value: Split; readonly text: string }[] = [
  { value: "model", text: "Model" },
  { value: "agent", text: "Agent" },
  { value: "repository", text: "Repository" },
];

const UNIT_NAMES = { hour: "Hour", day: "Day", week: "Week", month: "Month" } as const satisfies Record<Unit, string>;

const compact = (n: number): string =>
  new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(n);

/**
 * The kinds of tokens that providers price separately: new input, cache writes, output and, if wanted, cache reads, which are so many and so
 * cheap that the others disappear beside them.
 */
function tokenSeries({ bucketFigures }: UsageDocument, withCacheReads: boolean): readonly Series[] {
  const of = (pick: (sums: NonNullable<UsageDocument["bucketFigures"][number]>["sums"]) => number): readonly number[] =>
    bucketFigures.map((figures) => (figures === null ? 0 : Math.max(0, pick(figures.sums))));
  return [
    ...(withCacheReads
      ? [{ name: "Cache read", colour: "--c-cache-read", values: of((sums) => sums.cacheRead ?? 0) }]
      : []),
    { name: "Cache write", colour: "--c-cache-write", values: of((sums) => sums.cacheWrite ?? 0) },
    {
      name: "New input",
      colour: "--c-input",
      values: of((sums) => (sums.input ?? 0) - (sums.cacheRead ?? 0) - (sums.cacheWrite ?? 0)),
    },
    { name: "Output", colour: "--c-output", values: of((sums) => sums.output ?? 0) },
  ];
}

/** One series for each of the most expensive groups, and one for all others together. */
function costSeries({ groups, buckets }: UsageDocument): readonly Series[] {
  const byCost = [...groups].sort((a, b) => (b.figures.sums.costNanoUsd ?? 0) - (a.figures.sums.costNanoUsd ?? 0));
  const priced = byCost.filter(({ costNanoUsd }) => costNanoUsd.some((nano) => nano > 0));
  const named = priced
    .slice(0, MAX_NAMED)
    .map((group, i): Series => ({ name: group.name ?? "unknown", colour: `--c-${i + 1}`, values: group.costNanoUsd }));
  const others = priced.slice(MAX_NAMED);
  if (others.length === 0) return named;
  const values = buckets.map((_, i) => others.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd[i] ?? 0), 0));
  return [...named, { name: plural(others.length, "other"), colour: "--c-others", values }];
}

/** The style sheet has this many colours for them. */
const MAX_NAMED = 5;
