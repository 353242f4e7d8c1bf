import { sumOfFailures } from "../../../text/failure-share.ts";
import type { Unit, UsageDocument } from "../../wire.ts";
import { failureClass, failuresIn } from "../failures.ts";
import { Cost, Tokens } from "../figures.tsx";
import { bucketName, exact } from "../format.ts";

/** Figures of each bucket that is not empty, newest first. */
export function TimeTable({ document, withCacheReads }: { document: UsageDocument; withCacheReads: boolean }) {
  const { unit } = document;
  const rows = document.buckets.flatMap((bucket, i) => {
    const figures = document.bucketFigures[i] ?? null;
    return figures === null ? [] : [{ bucket, figures }];
  });
  const usual = sumOfFailures(rows.map(({ figures }) => failuresIn(figures)));
  return (
    <section aria-labelledby="times">
      <h2 id="times">By {unit}</h2>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{NAMES[unit]}</th>
              {[
                "Cost",
                "Sessions",
                "Turns",
                "Input",
                ...(withCacheReads ? ["From cache"] : []),
                "Output",
                "Tools",
                "Failed",
              ].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.reverse().map(({ bucket, figures: { sums, ...figures } }) => (
              <tr key={bucket}>
                <th scope="row">{bucketName(bucket)}</th>
                <td class="number" data-name="Cost">
                  <Cost nanoUsd={sums.costNanoUsd} isLowerBound={sums.costIsLowerBound} />
                </td>
                <td class="number" data-name="Sessions">
                  {exact(figures.sessions)}
                </td>
                <td class="number" data-name="Turns">
                  {figures.turns === null ? "–" : exact(figures.turns)}
                </td>
                <td class="number" data-name="Input">
                  <Tokens n={sums.input} isLowerBound={sums.inputIsLowerBound} />
                </td>
                {withCacheReads ? (
                  <td class="number" data-name="From cache">
                    <Tokens n={sums.cacheRead} />
                  </td>
                ) : null}
                <td class="number" data-name="Output">
                  <Tokens n={sums.output} isLowerBound={sums.outputIsLowerBound} />
                </td>
                <td class="number" data-name="Tools">
                  {figures.toolCalls === null ? "–" : exact(figures.toolCalls)}
                </td>
                <td class="number" data-name="Failed">
                  {figures.failedTools === null ? (
                    "–"
                  ) : (
                    <span class={figures.failedTools > 0 ? failureClass(failuresIn(figures), usual) : undefined}>
                      {exact(figures.failedTools)}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

// --- internal ---

const NAMES = { hour: "Hour", day: "Day", week: "Week", month: "Month" } as const satisfies Record<Unit, string>;
