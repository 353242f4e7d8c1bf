import { useMemo } from "preact/hooks";
import { SPLITS, type Split } from "../../wire/api.ts";
import type { UsageDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { Notes } from "../figures/figures.tsx";
import { Downloads } from "../figures/table.tsx";
import { FigureFilters } from "../filters/filters.tsx";
import { boundsOfParams, daysOfBucket, filtersOf, rangeNamed, titleOf, unitsOf } from "../filters/range.ts";
import { useKeptPlace, useTitle } from "../hooks.ts";
import { Check, Select } from "../parts/fields.tsx";
import { NoSessionsYet, NothingInPeriod, Placeholder } from "../parts/placeholder.tsx";
import { changeParams, hrefOf, type Params, type ViewParams } from "../route.ts";
import { capitalised, dollars, dollarsOnAxis, shortCount, timeZone } from "../text/format.ts";
import { Chart } from "./chart.tsx";
import { costSeries, fromFirstUse, tokenSeries } from "./series.ts";
import { GroupTable, TimeTable, Totals } from "./tables.tsx";

/** Tokens by kind and cost over time, and by agent, model or repository. */
export function Usage({ params }: { params: ViewParams }) {
  const { agent, repository, model, from, to } = params;
  const units = unitsOf({ range: rangeNamed(params["range"], "30"), from, to });
  const unit = units.find((one) => one === params["unit"]) ?? units[0] ?? "day";
  const split = SPLITS.find((one) => one === params["by"]) ?? "model";
  const withCacheReads = params["cache"] === "1";
  const query = { agent, repository, model, ...boundsOfParams(params, "30") };
  const { data: usage, problem } = useApi("usage", { ...query, unit, split, timeZone: timeZone() });
  const filters = filtersOf(params, "30");
  useTitle(titleOf("Usage", params));
  useKeptPlace(usage?.buckets.length ?? 0);
  if (usage === undefined) return <Placeholder problem={problem} />;

  const { total } = usage;
  return (
    <>
      <div class="heading">
        <h1>Usage</h1>
      </div>
      <FigureFilters
        params={params}
        choices={usage.choices}
        end={<Downloads query={{ ...query, by: `${unit},${split}` }} />}
      >
        <Select
          name="By"
          value={unit}
          options={units.map((value) => ({ value, text: capitalised(value) }))}
          onChange={(value) => changeParams({ unit: value })}
        />
        <Select
          name="Split cost by"
          value={split}
          options={SPLIT_CHOICES.map((value) => ({ value, text: capitalised(value) }))}
          onChange={(by) => changeParams({ by })}
        />
        <Check
          name="Cache reads"
          checked={withCacheReads}
          onChange={(checked) => changeParams({ cache: checked ? "1" : undefined })}
        />
      </FigureFilters>
      {usage.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : total === null || total.sessions === 0 ? (
        <NothingInPeriod what="usage" view="usage" />
      ) : (
        <>
          <Totals total={total} filters={filters} />
          <Notes of={[...usage.charges, ...usage.missing]} />
          <Charts usage={usage} withCacheReads={withCacheReads} filters={filters} />
          <GroupTable split={usage.split} groups={usage.groups} withCacheReads={withCacheReads} filters={filters} />
          <TimeTable document={usage} withCacheReads={withCacheReads} filters={filters} />
        </>
      )}
    </>
  );
}

// --- internal ---

/** The default first. */
const SPLIT_CHOICES = ["model", "agent", "repository"] as const satisfies readonly Split[];

interface ChartsProps {
  readonly usage: UsageDocument;
  readonly withCacheReads: boolean;
  readonly filters: Params;
}

function Charts({ usage, withCacheReads, filters }: ChartsProps) {
  const hrefOfBucket = (bucket: string): string => hrefOf("sessions", { ...filters, ...daysOfBucket(bucket) });
  const used = useMemo(() => fromFirstUse(usage), [usage]);
  const costs = useMemo(() => costSeries(used), [used]);
  const tokens = useMemo(() => tokenSeries(used, withCacheReads), [used, withCacheReads]);
  return (
    <div class="charts">
      <Chart
        title={`Cost by ${usage.split}`}
        buckets={used.buckets}
        series={costs}
        format={dollars}
        hrefOfBucket={hrefOfBucket}
        formatTick={dollarsOnAxis}
      />
      <Chart
        title={withCacheReads ? "Tokens" : "Tokens without cache reads"}
        buckets={used.buckets}
        series={tokens}
        format={shortCount}
        hrefOfBucket={hrefOfBucket}
        formatTick={countOnAxis}
      />
    </div>
  );
}

/** `800k`, with the unit that all other figures have. */
const countOnAxis = (n: number): string =>
  new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(n).replace("K", "k");
