import { costSource } from "#core/telemetry/cost.ts";
import { isoTime } from "#kit/text/figures.ts";
import type { ChangeReport, KnownCommit } from "./change-report.ts";
import { rowJson, unpricedJson } from "./usage-data.ts";
import type { UsageRow } from "./usage-rows.ts";

/** A commit or change with the sessions behind it, as a JSON document. Unknown is `null`, never 0. */
export const changeJson = ({ change, commits, total, rows, agents, models, unpriced }: ChangeReport) => ({
  kind: change.kind,
  name: change.name,
  url: change.url ?? null,
  repository: change.repository ?? null,
  certainty: change.isFromMessage === true ? "inferred" : (total?.certainty ?? null),
  price_table: costSource().prices,
  commits: commits.map(commitJson),
  sessions: rows.map(rowWithCertainty),
  agents: agents.map(rowWithCertainty),
  models: models.map(rowWithCertainty),
  total: total === undefined ? null : rowWithCertainty(total),
  unpriced: unpriced.map(unpricedJson),
});

/** A commit with what became of it. */
export const commitJson = ({ commit, timeMs, certainty, outcome }: KnownCommit) => ({
  commit,
  time: isoTime(timeMs),
  certainty,
  fate: outcome?.fate ?? null,
  reason: outcome?.reason ?? null,
  rewritten: outcome?.rewritten ?? null,
  reverted_by: outcome?.revertedBy ?? null,
  landed_at: isoTime(outcome?.landedMs),
  landing_pull_request: outcome?.landingPull ?? null,
  checked_at: isoTime(outcome?.checkedMs),
});

// --- internal ---

const rowWithCertainty = (row: UsageRow) => ({ ...rowJson(row), certainty: row.certainty ?? null });
