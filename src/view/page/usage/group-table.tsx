import type { Split, UsageGroup } from "../../wire.ts";
import { Cost, Tokens } from "../figures.tsx";
import { exact } from "../format.ts";
import { safeText } from "../safe-text.ts";

interface Props {
  readonly split: Split;
  readonly groups: readonly UsageGroup[];
  readonly withCacheReads: boolean;
}

/** Usage of each agent, model or repository, the most expensive first. */
export function GroupTable({ split, groups, withCacheReads }: Props) {
  const byCost = [...groups].sort(
    (a, b) => (b.figures.sums.costNanoUsd ?? -1) - (a.figures.sums.costNanoUsd ?? -1) || tokensOf(b) - tokensOf(a),
  );
  const sizeOf = measureOf(groups);
  const largest = Math.max(1, ...groups.map(sizeOf));
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">By {split}</h2>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{NAMES[split]}</th>
              <th scope="col" class="share">
                <span class="sr">Share</span>
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="number">
                Sessions
              </th>
              <th scope="col" class="number">
                Input
              </th>
              {withCacheReads ? (
                <th scope="col" class="number">
                  From cache
                </th>
              ) : null}
              <th scope="col" class="number">
                Output
              </th>
            </tr>
          </thead>
          <tbody>
            {byCost.map((group) => {
              const { sums, sessions } = group.figures;
              return (
                <tr key={group.name ?? ""}>
                  <th scope="row">
                    {group.name === null ? <span class="unknown">unknown</span> : safeText(group.name)}
                  </th>
                  <td class="share">
                    <span class="meter" aria-hidden="true">
                      {sizeOf(group) > 0 ? <span style={{ width: `${(sizeOf(group) / largest) * 100}%` }} /> : null}
                    </span>
                  </td>
                  <td class="number" data-name="Cost">
                    <Cost nanoUsd={sums.costNanoUsd} isLowerBound={sums.costIsLowerBound} />
                  </td>
                  <td class="number" data-name="Sessions">
                    {exact(sessions)}
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
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

// --- internal ---

const NAMES = { agent: "Agent", model: "Model", repository: "Repository" } as const satisfies Record<Split, string>;

const tokensOf = ({ figures: { sums } }: UsageGroup): number => (sums.input ?? 0) + (sums.output ?? 0);

/** What bars show: the cost, or tokens if no group has a known cost. */
const measureOf = (groups: readonly UsageGroup[]): ((group: UsageGroup) => number) =>
  groups.some(({ figures }) => (figures.sums.costNanoUsd ?? 0) > 0)
    ? ({ figures }) => figures.sums.costNanoUsd ?? 0
    : tokensOf;
