import { useEffect, useMemo } from "preact/hooks";
import { SPLITS, type Split, type Unit, type UsageDocument } from "../../wire.ts";
import { useAsked } from "../ask.ts";
import { dollars, dollarsOnAxis, exact, percent, plural, timeZone } from "../format.ts";
import { Cost, given, Instead, missing, NoSessionYet, Select, Tile, Tokens } from "../parts.tsx";
import { change, hrefOf } from "../route.ts";
import { Chart, type Series } from "./chart.tsx";
import { GroupTable } from "./group-table.tsx";
import { OverFilters } from "./over-filters.tsx";
import { sinceOf } from "./range.ts";
import { TimeTable } from "./time-table.tsx";

/** Tokens by kind and cost over time, and by agent, model or repository. */
export function Usage({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository, model, range = "30" } = params;
  const unit = unitOf(params["unit"], range);
  const split = SPLITS.find((one) => one === params["by"]) ?? "model";
  const sinceMs = sinceOf(range);
  const asked = useAsked<UsageDocument>("usage", {
    agent,
    repository,
    model,
    unit,
    split,
    sinceMs: sinceMs === undefined ? undefined : String(sinceMs),
    timeZone: timeZone(),
  });
  const found = given(asked, "usage");
  useEffect(() => {
    document.title = "Usage · openhook-otel";
  }, []);
  const tokens = useMemo(() => (found === undefined ? [] : tokenSeries(found)), [found]);
  const costs = useMemo(() => (found === undefined ? [] : costSeries(found)), [found]);

  if (found === undefined) return <Instead answer={missing(asked)} />;
  const { total } = found;
  return (
    <>
      <div class="heading">
        <h1>Usage</h1>
      </div>
      <OverFilters params={params} choices={found.choices} hasModel onChange={change}>
        <Select
          name="By"
          value={unit}
          options={UNITS_OF[range] ?? UNITS_OF["30"] ?? []}
          onChange={(value) => change({ unit: value })}
        />
        <Select name="Split cost by" value={split} options={SPLIT_NAMES} onChange={(by) => change({ by })} />
      </OverFilters>
      {found.choices.agents.length === 0 ? (
        <NoSessionYet />
      ) : total === null || total.sessions === 0 ? (
        <section class="instead">
          <h2>Nothing was used in this time</h2>
          <p>
            <a href={hrefOf("usage", { range: "all" })}>Show all of it</a>
          </p>
        </section>
      ) : (
        <>
          <dl class="tiles">
            <Tile
              name="Input tokens"
              note={
                total.cacheToldInput && total.sums.cacheRead !== null
                  ? `${percent(total.sums.cacheRead, total.cacheToldInput)} from cache${total.cacheToldInput === total.sums.input ? "" : ", where reported"}`
                  : null
              }
            >
              <Tokens n={total.sums.input} least={total.sums.leastInput} />
            </Tile>
            <Tile name="Output tokens">
              <Tokens n={total.sums.output} least={total.sums.leastOutput} />
            </Tile>
            <Tile
              name="Cost"
              note={total.sums.unpriced > 0 ? `${plural(total.sums.unpriced, "call")} without a price` : null}
            >
              <Cost nano={total.sums.costNanoUsd} least={total.sums.leastCost} />
            </Tile>
            <Tile
              name="Sessions"
              note={total.untoldSessions > 0 ? `${exact(total.untoldSessions)} without token counts` : null}
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
            <Chart title="Tokens" buckets={found.buckets} series={tokens} format={compact} />
            <Chart
              title={`Cost by ${found.split}`}
              buckets={found.buckets}
              series={costs}
              format={dollars}
              mark={dollarsOnAxis}
            />
          </div>
          <GroupTable split={found.split} groups={found.groups} />
          <TimeTable document={found} />
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

const option = (value: Unit) => ({ value, text: { hour: "Hour", day: "Day", week: "Week", month: "Month" }[value] });
/** Units with a readable number of bars. */
const UNITS_OF: Readonly<Record<string, readonly { readonly value: Unit; readonly text: string }[]>> = {
  "1": [option("hour")],
  "7": [option("day"), option("hour")],
  "30": [option("day"), option("week")],
  "90": [option("week"), option("day")],
  "365": [option("month"), option("week")],
  all: [option("month"), option("week")],
};

function unitOf(wanted: string | undefined, range: string): Unit {
  const allowed = UNITS_OF[range] ?? UNITS_OF["30"] ?? [];
  return (allowed.find(({ value }) => value === wanted) ?? allowed[0])?.value ?? "day";
}

const compact = (n: number): string =>
  new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(n);

/** What providers charge separately: new input, cache writes, cache reads, output. */
function tokenSeries({ times }: UsageDocument): readonly Series[] {
  const of = (pick: (sums: NonNullable<UsageDocument["times"][number]>["sums"]) => number): readonly number[] =>
    times.map((time) => (time === null ? 0 : Math.max(0, pick(time.sums))));
  return [
    { name: "Cache read", colour: "--c-cache-read", values: of((sums) => sums.cacheRead ?? 0) },
    { name: "Cache write", colour: "--c-cache-write", values: of((sums) => sums.cacheWrite ?? 0) },
    {
      name: "New input",
      colour: "--c-input",
      values: of((sums) => (sums.input ?? 0) - (sums.cacheRead ?? 0) - (sums.cacheWrite ?? 0)),
    },
    { name: "Output", colour: "--c-output", values: of((sums) => sums.output ?? 0) },
  ];
}

/** The most expensive by name, all others as one. */
function costSeries({ groups, buckets }: UsageDocument): readonly Series[] {
  const falling = [...groups].sort((a, b) => (b.figures.sums.costNanoUsd ?? 0) - (a.figures.sums.costNanoUsd ?? 0));
  const priced = falling.filter(({ costNanoUsd }) => costNanoUsd.some((nano) => nano > 0));
  const named = priced
    .slice(0, NAMED)
    .map((group, i): Series => ({ name: group.name ?? "unknown", colour: `--c-${i + 1}`, values: group.costNanoUsd }));
  const others = priced.slice(NAMED);
  if (others.length === 0) return named;
  const values = buckets.map((_, i) => others.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd[i] ?? 0), 0));
  return [...named, { name: plural(others.length, "other"), colour: "--c-others", values }];
}

const NAMED = 5;
