import type { ChangeOutcome, ChangesDocument, UsageFigures } from "../../wire/documents.ts";
import { Cost, Tile, Unknown } from "../figures/figures.tsx";
import { exact, percent, plural } from "../text/format.ts";
import { GROUPS } from "./groups.ts";

/** Cost with and without a change, which add up to the cost of all sessions, and what became of all commits. */
export function Summary({ document, total }: { document: ChangesDocument; total: UsageFigures }) {
  const { by, rowCount, withCost, without, outcome } = document;
  const shareOfAll = ({ cost_usd }: ChangesDocument["withCost"]): string =>
    `${percent(cost_usd ?? 0, total.cost_usd ?? 0)} of all`;
  return (
    <dl class="tiles">
      <Tile name="Cost of all sessions" note={plural(total.sessions, "session")}>
        <Cost of={total} />
      </Tile>
      <Tile name={`With a ${by}`} note={shareOfAll(withCost)}>
        <Cost of={withCost} />
      </Tile>
      <Tile name={`Without a known ${by}`} note={shareOfAll(without ?? NOTHING)}>
        {without === null ? "$0" : <Cost of={without} />}
      </Tile>
      {by === "commit" ? null : <Tile name={GROUPS[by].many}>{exact(rowCount)}</Tile>}
      <Tile
        name="Commits"
        note={
          outcome === null ? null : `${exact(outcome.fates.merged)} merged, ${exact(outcome.fates.reverted)} reverted`
        }
      >
        {exact(outcome?.commits ?? 0)}
      </Tile>
      <LinesKept kept={outcome?.kept ?? null} />
    </dl>
  );
}

// --- internal ---

const NOTHING = { cost_usd: 0, costIsLowerBound: false };

function LinesKept({ kept }: Pick<ChangeOutcome, "kept">) {
  if (kept === null) {
    return (
      <Tile name="Lines kept" note="not known yet">
        <Unknown />
      </Tile>
    );
  }
  return (
    <Tile name="Lines kept" note={`of ${exact(kept.written)}, after ${plural(kept.days, "day")}`}>
      {percent(kept.kept, kept.written)}
    </Tile>
  );
}
