import type { SessionDocument } from "../../wire.ts";
import { Cost, Tile, Tokens } from "../figures.tsx";
import { dateTimeExact, dollars, duration, exact, orUnknown, percent, plural } from "../format.ts";
import { hrefOf } from "../route.ts";
import { safeText } from "../safe-text.ts";

/** Agent, folder, time and totals. */
export function Head({ document: { row, segments, reported } }: { document: SessionDocument }) {
  const { sums } = row;
  return (
    <section class="head" aria-labelledby="title">
      <p class="back">
        <a href={hrefOf("sessions")}>← Sessions</a>
      </p>
      <h1 id="title">
        {safeText(row.agent)}
        {row.repository === null ? null : <span class="place"> {safeText(row.repository)}</span>}
        {row.branch === null ? null : <span class="branch">{safeText(row.branch)}</span>}
        {row.open ? <span class="badge open">open</span> : null}
        {!row.open && row.endReason === "error" ? <span class="badge failed">ended with an error</span> : null}
      </h1>
      <p class="facts">
        <span>
          Started <time dateTime={new Date(row.startMs).toISOString()}>{dateTimeExact(row.startMs)}</time>
        </span>
        <span>{duration(row.activeMs)} active</span>
        {segments.length > 1 ? <span>{plural(segments.length, "segment")}</span> : null}
        {row.open || row.endReason === null ? null : <span>ended: {safeText(row.endReason)}</span>}
        {row.agentVersion === null ? null : <span>version {safeText(row.agentVersion)}</span>}
        <span class="id">{safeText(row.sessionId)}</span>
        {row.folder === null ? null : <span class="id">{safeText(row.folder)}</span>}
      </p>
      <dl class="tiles">
        <Tile
          name="Input tokens"
          note={
            sums.input !== null && sums.cacheRead !== null && sums.input > 0
              ? `${percent(sums.cacheRead, sums.input)} from cache`
              : null
          }
        >
          <Tokens n={sums.input} isLowerBound={sums.inputIsLowerBound} />
        </Tile>
        <Tile name="Output tokens" note={sums.reasoning ? `${exact(sums.reasoning)} reasoning` : null}>
          <Tokens n={sums.output} isLowerBound={sums.outputIsLowerBound} />
        </Tile>
        <Tile name="Cost" note={sums.unpriced > 0 ? `${plural(sums.unpriced, "call")} without a price` : null}>
          <Cost nanoUsd={sums.costNanoUsd} isLowerBound={sums.costIsLowerBound} />
        </Tile>
        <Tile name="Turns" note={row.subagents > 0 ? plural(row.subagents, "subagent") : null}>
          {exact(row.turns)}
        </Tile>
        <Tile
          name="Model calls"
          note={row.models.length === 0 ? null : row.models.map((model) => safeText(model)).join(", ")}
        >
          {sums.modelCalls === null ? <span class="unknown">unknown</span> : exact(sums.modelCalls)}
        </Tile>
        <Tile name="Tool calls" note={row.toolCalls > 0 ? <ToolNote row={row} /> : null}>
          {exact(row.toolCalls)}
        </Tile>
      </dl>
      {reported === null ? null : (
        <p class="muted">
          The agent reported {orUnknown(reported.input)} tokens in and {orUnknown(reported.output)} out
          {reported.costNanoUsd === null ? "" : `, ${dollars(reported.costNanoUsd)}`}, including side requests that its
          transcript does not contain.
        </p>
      )}
    </section>
  );
}

// --- internal ---

function ToolNote({ row }: { row: SessionDocument["row"] }) {
  const parts = [
    ...(row.failedTools > 0 ? [`${exact(row.failedTools)} failed`] : []),
    ...(row.deniedTools > 0 ? [`${exact(row.deniedTools)} denied`] : []),
    ...(row.unfinishedTools > 0 ? [`${exact(row.unfinishedTools)} unfinished`] : []),
  ];
  return parts.length === 0 ? <span>none failed</span> : <span class="error-count">{parts.join(", ")}</span>;
}
