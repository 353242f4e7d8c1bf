import { type Failures, sumOfFailures } from "#kit/text/failure-share.ts";
import type { Split } from "../../wire/api.ts";
import type { UsageDocument, UsageFigures } from "../../wire/documents.ts";
import { failureClass, failuresIn, measureOf, mostExpensive } from "../figures/compare.ts";
import { Cost, Input, Model, Output, Tile, Tokens, Unknown } from "../figures/figures.tsx";
import { FigureTable } from "../figures/table.tsx";
import { daysOfBucket } from "../filters/range.ts";
import { hrefOf, type Params } from "../route.ts";
import { bucketName, capitalised, exact, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

type UsageGroup = UsageDocument["groups"][number];

interface Props {
  readonly split: Split;
  readonly groups: readonly UsageGroup[];
  readonly withCacheReads: boolean;
  /** Those of the view, for links to the sessions. */
  readonly filters: Params;
}

/** Usage of each agent, model or repository, the most expensive first. */
export function GroupTable({ split, groups, withCacheReads, filters }: Props) {
  const measure = measureOf(groups);
  const sizeOf = (group: UsageGroup): number => measure(group) ?? 0;
  const largest = Math.max(1, ...groups.map(sizeOf));
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">By {split}</h2>
      <FigureTable<UsageGroup>
        heading={capitalised(split)}
        rows={mostExpensive(groups)}
        keyOf={({ name }) => name ?? ""}
        nameOf={({ name, key }) =>
          name === null || key === null ? (
            <Unknown />
          ) : (
            <a href={hrefOf("sessions", { ...filters, [split]: key })}>
              {split === "model" ? <Model name={name} /> : safeText(name)}
            </a>
          )
        }
        share={{ of: (group) => sizeOf(group) / largest }}
        columns={[
          { name: "Cost", cell: ({ figures }) => <Cost of={figures} /> },
          { name: "Sessions", cell: ({ figures }) => exact(figures.sessions) },
          { name: "Input", cell: ({ figures }) => <Input of={figures} /> },
          ...(withCacheReads
            ? [{ name: "From cache", cell: ({ figures }: UsageGroup) => <Tokens n={figures.cache_read} /> }]
            : []),
          { name: "Output", cell: ({ figures }) => <Output of={figures} /> },
        ]}
      />
    </section>
  );
}

interface Row {
  readonly bucket: string;
  readonly figures: UsageFigures;
}

/** Figures of each bucket that is not empty, newest first. */
export function TimeTable({
  document,
  withCacheReads,
  filters,
}: Omit<Props, "split" | "groups"> & { readonly document: UsageDocument }) {
  const { unit, buckets, bucketFigures } = document;
  const rows = buckets.flatMap((bucket, i): readonly Row[] => {
    const figures = bucketFigures[i] ?? null;
    return figures === null ? [] : [{ bucket, figures }];
  });
  const usual = sumOfFailures(rows.map(({ figures }) => failuresIn(figures)));
  return (
    <section aria-labelledby="times">
      <h2 id="times">By {unit}</h2>
      <FigureTable<Row>
        heading={capitalised(unit)}
        rows={rows.toReversed()}
        keyOf={({ bucket }) => bucket}
        nameOf={({ bucket }) => (
          <a href={hrefOf("sessions", { ...filters, ...daysOfBucket(bucket) })}>{bucketName(bucket)}</a>
        )}
        columns={[
          { name: "Cost", cell: ({ figures }) => <Cost of={figures} /> },
          { name: "Sessions", cell: ({ figures }) => exact(figures.sessions) },
          { name: "Turns", cell: ({ figures }) => exactOrNone(figures.turns) },
          { name: "Input", cell: ({ figures }) => <Input of={figures} /> },
          ...(withCacheReads
            ? [{ name: "From cache", cell: ({ figures }: Row) => <Tokens n={figures.cache_read} /> }]
            : []),
          { name: "Output", cell: ({ figures }) => <Output of={figures} /> },
          { name: "Tools", cell: ({ figures }) => exactOrNone(figures.tool_calls) },
          { name: "Failed", cell: ({ figures }) => <Failed figures={figures} usual={usual} /> },
        ]}
      />
    </section>
  );
}

/** The figures of the whole period. */
export function Totals({ total, filters }: { total: UsageFigures; filters: Params }) {
  const to = (more: Params): string => hrefOf("sessions", { ...filters, ...more });
  const { sessions_without_usage: withoutUsage, turns, tool_calls: toolCalls, tool_errors: failedTools } = total;
  return (
    <dl class="tiles">
      <Tile
        name="Cost"
        href={to({ sort: "cost" })}
        note={total.unpriced > 0 ? `${plural(total.unpriced, "call")} without an exact price` : null}
      >
        <Cost of={total} />
      </Tile>
      <Tile name="Input tokens" href={to({ sort: "tokens" })} note={cacheNote(total)}>
        <Input of={total} />
      </Tile>
      <Tile name="Output tokens" href={to({ sort: "tokens" })}>
        <Output of={total} />
      </Tile>
      <Tile
        name="Sessions"
        href={to({})}
        note={withoutUsage > 0 ? `${exact(withoutUsage)} without token counts` : null}
      >
        {exact(total.sessions)}
      </Tile>
      {turns === undefined ? null : <Tile name="Turns">{exact(turns)}</Tile>}
      {toolCalls === undefined ? null : (
        <Tile
          name="Tool calls"
          href={hrefOf("tools", filters)}
          note={failedTools ? `${exact(failedTools)} failed` : null}
        >
          {exact(toolCalls)}
        </Tile>
      )}
    </dl>
  );
}

// --- internal ---

/** Turns and tools have no model, so there is no figure of them if the page shows one model only. */
const exactOrNone = (n: number | undefined): string => (n === undefined ? "–" : exact(n));

function Failed({ figures, usual }: { figures: UsageFigures; usual: Failures }) {
  const { tool_errors: failed } = figures;
  if (failed === undefined) return <>–</>;
  return <span class={failed > 0 ? failureClass(failuresIn(figures), usual) : undefined}>{exact(failed)}</span>;
}

/** Calls that do not report cache reads are not part of the share. */
function cacheNote({ input, cacheReportedInput, cache_hit_ratio: share }: UsageFigures): string | null {
  if (share === null) return null;
  return `${percent(share, 1)} from cache${cacheReportedInput === input ? "" : ", where reported"}`;
}
