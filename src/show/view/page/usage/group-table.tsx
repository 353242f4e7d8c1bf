import type { UsageDocument } from "../../wire/documents.ts";
import type { Split } from "../../wire/params.ts";
import { measureOf, mostExpensive } from "../figures/by-cost.ts";
import { Cost, Input, Output, Tokens, Unknown } from "../figures/figures.tsx";
import { FigureTable } from "../figures/table.tsx";
import { capitalised, exact } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

type UsageGroup = UsageDocument["groups"][number];

interface Props {
  readonly split: Split;
  readonly groups: readonly UsageGroup[];
  readonly withCacheReads: boolean;
}

/** Usage of each agent, model or repository, the most expensive first. */
export function GroupTable({ split, groups, withCacheReads }: Props) {
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
        nameOf={({ name }) => (name === null ? <Unknown /> : safeText(name))}
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
