import type { Unit, UsageDocument } from "../../wire.ts";
import { bucketName, exact } from "../format.ts";
import { Cost, Tokens } from "../parts.tsx";

/** The charts in numbers, newest first, without empty buckets. */
export function TimeTable({ document }: { document: UsageDocument }) {
  const { unit } = document;
  const rows = document.buckets.flatMap((bucket, i) => {
    const figures = document.times[i] ?? null;
    return figures === null ? [] : [{ bucket, figures }];
  });
  return (
    <section aria-labelledby="times">
      <h2 id="times">By {unit}</h2>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{NAMES[unit]}</th>
              {["Sessions", "Turns", "Input", "From cache", "Output", "Tools", "Failed", "Cost"].map((name) => (
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
                <td class="number" data-name="Sessions">
                  {exact(figures.sessions)}
                </td>
                <td class="number" data-name="Turns">
                  {figures.turns === null ? "–" : exact(figures.turns)}
                </td>
                <td class="number" data-name="Input">
                  <Tokens n={sums.input} least={sums.leastInput} />
                </td>
                <td class="number" data-name="From cache">
                  <Tokens n={sums.cacheRead} />
                </td>
                <td class="number" data-name="Output">
                  <Tokens n={sums.output} least={sums.leastOutput} />
                </td>
                <td class="number" data-name="Tools">
                  {figures.toolCalls === null ? "–" : exact(figures.toolCalls)}
                </td>
                <td class="number" data-name="Failed">
                  {figures.failedTools === null ? "–" : <Failed n={figures.failedTools} />}
                </td>
                <td class="number" data-name="Cost">
                  <Cost nano={sums.costNanoUsd} least={sums.leastCost} />
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

const Failed = ({ n }: { n: number }) => <span class={n > 0 ? "trouble-count" : undefined}>{exact(n)}</span>;
