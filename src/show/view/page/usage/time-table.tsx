import { type Failures, sumOfFailures } from "../../../../kit/text/failure-share.ts";
import type { UsageDocument, UsageFigures } from "../../wire/documents.ts";
import { failureClass, failuresIn } from "../figures/failures.ts";
import { Cost, Input, Output, Tokens } from "../figures/figures.tsx";
import { FigureTable } from "../figures/table.tsx";
import { bucketName, capitalised, exact } from "../text/format.ts";

interface Row {
  readonly bucket: string;
  readonly figures: UsageFigures;
}

/** Figures of each bucket that is not empty, newest first. */
export function TimeTable({ document, withCacheReads }: { document: UsageDocument; withCacheReads: boolean }) {
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
        nameOf={({ bucket }) => bucketName(bucket)}
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

// --- internal ---

/** Turns and tools have no model, so there is no figure of them if the page shows one model only. */
const exactOrNone = (n: number | undefined): string => (n === undefined ? "–" : exact(n));

function Failed({ figures, usual }: { figures: UsageFigures; usual: Failures }) {
  const { tool_errors: failed } = figures;
  if (failed === undefined) return <>–</>;
  return <span class={failed > 0 ? failureClass(failuresIn(figures), usual) : undefined}>{exact(failed)}</span>;
}
