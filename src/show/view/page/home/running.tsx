import type { Failures } from "#kit/text/failure-share.ts";
import type { HomeDocument } from "../../wire/documents.ts";
import { failureClass, failuresOf } from "../figures/compare.ts";
import { Branch, Cost, placeOf } from "../figures/figures.tsx";
import { useNow } from "../hooks.ts";
import { hrefOf } from "../route.ts";
import { keyOf, nameOf } from "../sessions/session-table.tsx";
import { duration, msOf, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/** Sessions in which an agent works now or waits for the user, with what it does and what it has cost so far. */
export function Running({ running, usual }: { running: HomeDocument["running"]; usual: Failures }) {
  const nowMs = useNow(running.length > 0, 1000);
  if (running.length === 0) return null;
  return (
    <section class="running" aria-labelledby="running">
      <h2 id="running">Running now</h2>
      <ul>
        {running.map(({ row, turnStartMs, tools }) => (
          <li key={keyOf(row)} class={turnStartMs === null ? "idle" : "busy"}>
            <a href={hrefOf("session", { source: row.source, id: row.session_id })}>{nameOf(row)}</a>
            <span class="doing">
              {turnStartMs === null ? (
                `Waiting for you, ${duration(nowMs - msOf(row.last_activity))}`
              ) : (
                <Doing tools={tools} nowMs={nowMs} />
              )}
            </span>
            <span class="muted">
              {safeText(row.agent)}, {safeText(placeOf(row))} <Branch of={row} />
            </span>
            <span class={failuresOf(row).failed > 0 ? failureClass(failuresOf(row), usual) : undefined}>
              {failuresOf(row).failed > 0 ? `${failuresOf(row).failed} failed` : ""}
            </span>
            <span class="number" title={turnStartMs === null ? "Session" : `Turn ${row.turns}`}>
              {duration(nowMs - (turnStartMs ?? msOf(row.start)))}
            </span>
            <span class="number">
              <Cost of={row.totals} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

// --- internal ---

function Doing({ tools, nowMs }: { tools: HomeDocument["running"][number]["tools"]; nowMs: number }) {
  const [first] = tools;
  if (first === undefined) return <>Waiting for the model</>;
  const more = tools.length - 1;
  return (
    <>
      Running <b>{safeText(first.name)}</b>
      {more > 0 ? ` and ${plural(more, "more tool")}` : ""}, {duration(nowMs - first.startMs)}
    </>
  );
}
