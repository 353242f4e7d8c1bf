import type { UsageFigures } from "../../wire/documents.ts";
import { Cost, Input, Output, Tile } from "../figures/figures.tsx";
import { exact, percent, plural } from "../text/format.ts";

/** The figures of the whole period. */
export function Totals({ total }: { total: UsageFigures }) {
  const { sessions_without_usage: withoutUsage, turns, tool_calls: toolCalls, tool_errors: failedTools } = total;
  return (
    <dl class="tiles">
      <Tile name="Cost" note={total.unpriced > 0 ? `${plural(total.unpriced, "call")} without an exact price` : null}>
        <Cost of={total} />
      </Tile>
      <Tile name="Input tokens" note={cacheNote(total)}>
        <Input of={total} />
      </Tile>
      <Tile name="Output tokens">
        <Output of={total} />
      </Tile>
      <Tile name="Sessions" note={withoutUsage > 0 ? `${exact(withoutUsage)} without token counts` : null}>
        {exact(total.sessions)}
      </Tile>
      {turns === undefined ? null : <Tile name="Turns">{exact(turns)}</Tile>}
      {toolCalls === undefined ? null : (
        <Tile name="Tool calls" note={failedTools ? `${exact(failedTools)} failed` : null}>
          {exact(toolCalls)}
        </Tile>
      )}
    </dl>
  );
}

// --- internal ---

/** Calls that do not report cache reads are not part of the share. */
function cacheNote({ input, cacheReportedInput, cache_hit_ratio: share }: UsageFigures): string | null {
  if (share === null) return null;
  return `${percent(share, 1)} from cache${cacheReportedInput === input ? "" : ", where reported"}`;
}
