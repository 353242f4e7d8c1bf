import type { UsageFigures } from "../../wire/figures.ts";
import { Cost, Input, Output, Tile } from "../figures/figures.tsx";
import { exact, percent, plural } from "../text/format.ts";

/** The figures of the whole period. */
export function Totals({ total }: { total: UsageFigures }) {
  const { sums, sessionsWithoutUsage, turns, toolCalls, failedTools } = total;
  return (
    <dl class="tiles">
      <Tile name="Cost" note={sums.unpriced > 0 ? `${plural(sums.unpriced, "call")} without an exact price` : null}>
        <Cost of={sums} />
      </Tile>
      <Tile name="Input tokens" note={cacheNote(total)}>
        <Input of={sums} />
      </Tile>
      <Tile name="Output tokens">
        <Output of={sums} />
      </Tile>
      <Tile
        name="Sessions"
        note={sessionsWithoutUsage > 0 ? `${exact(sessionsWithoutUsage)} without token counts` : null}
      >
        {exact(total.sessions)}
      </Tile>
      {turns === null ? null : <Tile name="Turns">{exact(turns)}</Tile>}
      {toolCalls === null ? null : (
        <Tile name="Tool calls" note={failedTools ? `${exact(failedTools)} failed` : null}>
          {exact(toolCalls)}
        </Tile>
      )}
    </dl>
  );
}

// --- internal ---

/** Calls that do not report cache reads are not part of the share. */
function cacheNote({ sums, cacheReportedInput, cacheReportedRead }: UsageFigures): string | null {
  if (!cacheReportedInput || cacheReportedRead === null) return null;
  const where = cacheReportedInput === sums.input ? "" : ", where reported";
  return `${percent(cacheReportedRead, cacheReportedInput)} from cache${where}`;
}
