import type { Agent } from "#core/model/agent.ts";
import { grouped, type Writable } from "#kit/objects.ts";
import { storedCommits } from "#store/changes.ts";
import { committedBranches } from "#store/committed-branches.ts";
import type { Database } from "#store/database.ts";
import { containedIn, type KeptShare, outcomeFigures, outcomeReader } from "#store/outcomes.ts";
import { jsonRows } from "#store/rows.ts";
import { ownCommits } from "../attribution.ts";
import { wholeQuarters } from "../buckets.ts";
import type { UsageQuery } from "../query.ts";
import {
  addTo,
  CALL_FIGURES,
  type CallFigures,
  type Fact,
  NO_TOOLS,
  NO_TURNS,
  NOTHING,
  openFactsOf,
  settledFacts,
  TOOL_FIGURES,
  type ToolFigures,
  TURN_FIGURES,
  type TurnFigures,
} from "../usage-facts.ts";
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
  const deps = { agents };
  const counted = countedSessions(db, deps, query);
  const { sinceMs, untilMs } = wholeQuarters(query);
  const rootOf = (number: number): number => counted.get(number)?.root ?? number;
  const versions = new Map(jsonRows<VersionRow>(db, VERSION, "sessions s").map(([id, ...rest]) => [id, rest]));
  const results = resultsOf(db, rootOf);
  const sessions = new Map<number, Collected>();
  for (const [number, { root, agent, firstMs, isUsageUnknown }] of counted) {
    if (number !== root || firstMs < sinceMs || firstMs >= untilMs) continue;
    const [version, segments = 0] = versions.get(number) ?? [];
    sessions.set(number, {
      agent,
      firstMs,
      ...(typeof version === "string" && { version }),
      isResumed: segments > 1,
      calls: { ...NOTHING },
      byModel: new Map(),
      tools: { ...NO_TOOLS },
      turns: { ...NO_TURNS },
      isUsageUnknown,
      ...results.get(number),
    });
  }
  const add = (fact: Fact): void => {
    const session = sessions.get(rootOf(fact.session));
    if (session === undefined) return;
    if (fact.kind === "tools") addTo(session.tools, fact.figures, TOOL_FIGURES);
    else if (fact.kind === "turns") addTo(session.turns, fact.figures, TURN_FIGURES);
    else {
      addTo(session.calls, fact.figures, CALL_FIGURES);
      const ofModel = session.byModel.get(fact.model) ?? { ...NOTHING };
      addTo(ofModel, fact.figures, CALL_FIGURES);
      session.byModel.set(fact.model, ofModel);
    }
  };
  for (const fact of settledFacts(db, [...counted.keys()], EVERYTHING)) add(fact);
  for (const fact of openFactsOf(db, deps, counted)) add(fact);
  for (const [number, workMs] of workOfSessions(db, deps, counted)) {
    const session = sessions.get(number);
    if (session !== undefined) session.workMs = workMs;
  }
  for (const session of sessions.values()) {
    // The open part of a session can report tokens after all
    if (session.calls.input !== undefined || session.calls.output !== undefined) session.isUsageUnknown = false;
  }
  return sessions;
}

// --- internal ---

type Collected = Writable<Omit<SessionFigures, "calls" | "byModel" | "tools" | "turns">> & {
  readonly calls: Writable<CallFigures>;
  readonly byModel: Map<string | null, Writable<CallFigures>>;
  readonly tools: Writable<ToolFigures>;
  readonly turns: Writable<TurnFigures>;
};

/** A session counts with everything it did: a part of it would have no time at work. */
const EVERYTHING = {
  sinceMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  calls: true,
  tools: true,
  turns: true,
  byModel: true,
  byTool: false,
} as const;

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
