import type { Agent } from "#core/model/agent.ts";
import type { Certainty, StoredCommit } from "#core/model/changes.ts";
import { costSource } from "#core/telemetry/cost.ts";
import { isoTime } from "#kit/text/figures.ts";
import { storedCommits } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { outcomeFinder, type StoredOutcome } from "#store/outcomes.ts";
import { Attribution, identityOf } from "./attribution.ts";
import type { NamedChange } from "./find-change.ts";
import { unpricedModels } from "./prices.ts";
import { inReadingOrder } from "./text/usage-keys.ts";
import { usageByGroupings } from "./usage.ts";
import { rowJson, unpricedJson } from "./usage-data.ts";
import type { UsageReport } from "./usage-report.ts";
import type { UsageRow } from "./usage-rows.ts";

/** A commit of sessions, with what became of it. */
export interface KnownCommit {
  /** All digits if they are known. */
  readonly commit: string;
  readonly timeMs: number;
  /** `observed` if one session observed it. */
  readonly certainty: Certainty;
  /** Absent: not checked yet. */
  readonly outcome?: StoredOutcome;
}

/** What a commit or change cost; the rows are its sessions, each with the part of its work that led to it. */
export interface ChangeReport extends UsageReport {
  readonly change: NamedChange;
  readonly agents: readonly UsageRow[];
  readonly models: readonly UsageRow[];
  /** Those that belong to it, by time. */
  readonly commits: readonly KnownCommit[];
}

/** Sums up what led to a commit or change: the same figures as its row in `report`. */
export function changeReport(db: Database, agents: readonly Agent[], change: NamedChange): ChangeReport {
  const { ledTo } = change;
  const ways = [[], ["session"], ["agent"], ["model"]] as const;
  const [[total] = [], rows = [], byAgent = [], models = []] = usageByGroupings(db, { agents }, { ledTo }, ways).map(
    (found, i) => inReadingOrder(ways[i] ?? [], found),
  );
  return {
    change,
    rows,
    leftOut: 0,
    total,
    agents: byAgent,
    models,
    unpriced: unpricedModels(db, models),
    commits: commitsOf(db, change),
  };
}

/** A commit counts once, however many sessions know it. */
export function knownCommits(db: Database, commits: readonly StoredCommit[]): readonly KnownCommit[] {
  const outcomeOf = outcomeFinder(db, commits);
  const known = new Map<string, KnownCommit>();
  for (const stored of commits) {
    const outcome = outcomeOf(stored);
    const commit = outcome?.id ?? stored.commit;
    const before = known.get(commit);
    const certainty = before?.certainty === "observed" ? "observed" : stored.certainty;
    const timeMs = Math.min(stored.timeMs, before?.timeMs ?? stored.timeMs);
    known.set(commit, { commit, timeMs, certainty, ...(outcome !== undefined && { outcome }) });
  }
  return [...known.values()].toSorted((a, b) => a.timeMs - b.timeMs);
}

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

function commitsOf(db: Database, { ledTo: { dimension, identities } }: NamedChange): readonly KnownCommit[] {
  const commits = storedCommits(db);
  if (dimension === "commit") {
    return knownCommits(
      db,
      commits.filter((commit) => identities.has(identityOf(commit))),
    );
  }
  const attribution = Attribution.of(db);
  return knownCommits(
    db,
    commits.filter((commit) => {
      const ledTo = attribution.at(commit.session, commit.timeMs)[dimension];
      return ledTo !== undefined && identities.has(identityOf(ledTo));
    }),
  );
}

const rowWithCertainty = (row: UsageRow) => ({ ...rowJson(row), certainty: row.certainty ?? null });
