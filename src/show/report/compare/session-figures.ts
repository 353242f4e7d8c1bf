import type { Agent } from "#core/model/agent.ts";
import { grouped } from "#kit/objects.ts";
import { storedCommits } from "#store/changes.ts";
import { committedBranches } from "#store/committed-branches.ts";
import type { Database } from "#store/database.ts";
import { containedIn, type KeptShare, outcomeFigures, outcomeReader } from "#store/outcomes.ts";
import { jsonRows } from "#store/rows.ts";
import { ownCommits } from "../attribution.ts";
import { wholeQuarters } from "../buckets.ts";
import type { UsageQuery } from "../query.ts";
import { usageByGroupings } from "../usage.ts";
import { type CallFigures, NO_TOOLS, NO_TURNS, NOTHING, type ToolFigures, type TurnFigures } from "../usage-facts.ts";
import { countedSessions } from "../usage-sessions.ts";
import { workOfSessions } from "../work-times.ts";

/** A session, with its subagents, in the figures of `report`. */
export interface SessionFigures {
  readonly agent: string;
  readonly firstMs: number;
  /** The last one that the agent named. Absent: none. */
  readonly version?: string;
  /** Its processes may have had different versions, of which only the last is kept. */
  readonly isResumed: boolean;
  readonly calls: CallFigures;
  readonly byModel: ReadonlyMap<string | null, CallFigures>;
  readonly tools: ToolFigures;
  readonly turns: TurnFigures;
  /** Absent: unknown. */
  readonly workMs?: number;
  /** Its tokens were never reported. */
  readonly isUsageUnknown: boolean;
  /** Its part of merged branches: one that three sessions committed to counts a third. Absent: no branch, or one is not decided. */
  readonly merged?: number;
  /** Lines of its commits, and those that were there seven days after they reached the default branch. Absent: unknown. */
  readonly kept?: KeptShare;
}

/** The sessions that began in a period, by their numbers in the store, each with all it did. */
export function sessionFigures(
  db: Database,
  agents: readonly Agent[],
  query: Pick<UsageQuery, "agent" | "repository" | "sinceMs" | "untilMs">,
): ReadonlyMap<number, SessionFigures> {
  const { sinceMs, untilMs, ...filters } = query;
  const range = wholeQuarters({ sinceMs, untilMs });
  const counted = countedSessions(db, { agents }, filters);
  const [whole = [], ofModels = []] = usageByGroupings(db, { agents }, filters, [["session"], ["session", "model"]]);
  const rows = new Map(whole.map((row) => [row.key.session, row]));
  const models = grouped(ofModels, ({ key }) => key.session);
  const versions = new Map(jsonRows<VersionRow>(db, VERSION, "sessions s").map(([id, ...rest]) => [id, rest]));
  const work = workOfSessions(db, { agents }, counted);
  const results = resultsOf(db, (number) => counted.get(number)?.root ?? number);
  const sessions = new Map<number, SessionFigures>();
  for (const [number, { root, agent, name, firstMs }] of counted) {
    const row = rows.get(name);
    if (number !== root || row === undefined || firstMs < range.sinceMs || firstMs >= range.untilMs) continue;
    const [version, segments = 0] = versions.get(number) ?? [];
    const workMs = work.get(number);
    sessions.set(number, {
      agent,
      firstMs,
      ...(typeof version === "string" && { version }),
      isResumed: segments > 1,
      calls: row.calls ?? NOTHING,
      byModel: new Map(models.get(name)?.map(({ key, calls }) => [key.model ?? null, calls ?? NOTHING])),
      tools: row.tools ?? NO_TOOLS,
      turns: row.turns ?? NO_TURNS,
      ...(workMs !== undefined && { workMs }),
      isUsageUnknown: row.sessionsWithoutUsage > 0,
      ...results.get(number),
    });
  }
  return sessions;
}

// --- internal ---

type VersionRow = [id: number, version: string | null, segments: number];
const VERSION = ["id", "agent_version", "(SELECT count(*) FROM segments g WHERE g.session = s.id)"] as const;

/** What became of the sessions' commits, by session; sessions without commits are absent. */
function resultsOf(
  db: Database,
  rootOf: (session: number) => number,
): ReadonlyMap<number, Pick<SessionFigures, "merged" | "kept">> {
  const commits = storedCommits(db);
  if (commits.length === 0) return new Map();
  const merged = new Map<number, number | undefined>();
  for (const branch of committedBranches(db)) {
    const makers = new Set(branch.commits.map(({ session }) => rootOf(session)));
    for (const session of makers) {
      const before = merged.has(session) ? merged.get(session) : 0;
      const part = branch.merged === undefined ? 0 : 1 / makers.size;
      merged.set(session, branch.isDecided && before !== undefined ? before + part : undefined);
    }
  }
  const read = outcomeReader(db);
  const isContained = containedIn(read(commits));
  const seen = new Set<string>();
  return new Map(
    [...grouped(ownCommits(commits), ({ session }) => rootOf(session))].map(([session, own]) => {
      const news = read(own).filter(({ commit }) => !seen.has(commit));
      for (const { commit } of news) seen.add(commit);
      const kept = outcomeFigures(news, isContained).kept[KEPT_DAYS];
      const part = merged.get(session);
      return [session, { ...(part !== undefined && { merged: part }), ...(kept.written > 0 && { kept }) }];
    }),
  );
}

const KEPT_DAYS = 7;
