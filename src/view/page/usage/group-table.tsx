import type { Split, UsageGroup } from "../../wire.ts";
import { Cost, Tokens } from "../figures.tsx";
import { exact } from "../format.ts";
import { safeText } from "../safe-text.ts";

/** Usage of each agent, model or repository, the most expensive first. */
export function GroupTable({ split, groups }: { split: Split; groups: readonly UsageGroup[] }) {
  const byCost = [...groups].sort(
    (a, b) => (b.figures.sums.costNanoUsd ?? -1) - (a.figures.sums.costNanoUsd ?? -1) || tokensOf(b) - tokensOf(a),
  );
  const maxTokens = Math.max(1, ...byCost.map(tokensOf));
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">By {split}</h2>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{NAMES[split]}</th>
              <th scope="col" class="share">
                Tokens
              </th>
              <th scope="col" class="number">
                Sessions
              </th>
              <th scope="col" class="number">
                Input
              </th>
              <th scope="col" class="number">
                From cache
              </th>
              <th scope="col" class="number">
                Output
              </th>
              <th scope="col" class="number">
                Cost
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
                      <span style={{ width: `${(tokensOf(group) / maxTokens) * 100}%` }} />
                    </span>
                  </td>
                  <td class="number" data-name="Sessions">
                    {exact(sessions)}
                  </td>
                  <td class="number" data-name="Input">
                    <Tokens n={sums.input} isLowerBound={sums.inputIsLowerBound} />
                  </td>
                  <td class="number" data-name="From cache">
                    <Tokens n={sums.cacheRead} />
                  </td>
                  <td class="number" data-name="Output">
                    <Tokens n={sums.output} isLowerBound={sums.outputIsLowerBound} />
                  </td>
                  <td class="number" data-name="Cost">
                    <Cost nanoUsd={sums.costNanoUsd} isLowerBound={sums.costIsLowerBound} />
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
