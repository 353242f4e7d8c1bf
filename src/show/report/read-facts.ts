import type { SpanSettings } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import { sessionById, unsettledSessions } from "#store/sessions.ts";
import { placedCalls, readBy } from "./explain-money.ts";
import { turnsOfCalls } from "./session-spans.ts";
import type { Agents } from "./session-summary.ts";
import { type SessionView, viewOf, workOf } from "./session-view.ts";
import type { ReadFacts } from "./usage.ts";
import { callFiguresOf, type Fact } from "./usage-facts.ts";

/** What sessions are read for, one by one, because the store has no sums of it. */
export type ReadFor = "mcp" | "skill" | "subagent";

/** The latest sessions of those that have what is asked for. */
export class SessionReader {
  /** How many were read, and how many there are. */
  sessions = 0;
  of = 0;
  readonly #db: Database;
  readonly #deps: Agents & { readonly settings: SpanSettings };
  readonly #wanted: readonly ReadFor[];

  constructor(db: Database, deps: Agents & { readonly settings: SpanSettings }, wanted: readonly ReadFor[]) {
    this.#db = db;
    this.#deps = deps;
    this.#wanted = wanted;
  }

  /** Of MCP servers and skills: the model calls after them. Of subagents: their runs and model calls. */
  readonly facts: ReadFacts = (sessions, range) => {
    const open = [...unsettledSessions(this.#db)];
    const rows =
      this.#db.prepare(`SELECT id FROM sessions WHERE id IN (${this.#wanted.map((one) => SESSIONS[one]).join(" UNION ")})
      OR id IN (SELECT value FROM json_each(?3)) ORDER BY last_ms DESC, id DESC`);
    const until = Math.min(range.untilMs, Number.MAX_SAFE_INTEGER);
    const found = rows.all(range.sinceMs, until, JSON.stringify(open)).map(({ id }) => Number(id));
    const counted = found.filter((id) => sessions.has(id));
    const read = counted.slice(0, MAX_SESSIONS);
    [this.sessions, this.of] = [read.length, counted.length];
    return this.#factsOf(read);
  };

  *#factsOf(sessions: readonly number[]): Generator<Fact> {
    for (const session of sessions) {
      const stored = sessionById(this.#db, session);
      if (this.#wanted.includes("subagent")) {
        yield* subagentFacts(session, workOf(this.#db, stored, this.#deps));
        continue;
      }
      const view = viewOf(this.#db, stored, this.#deps, this.#deps.settings, false);
      yield* factsAfter(session, view, turnsOfCalls(this.#db, view));
    }
  }
}

// --- internal ---

/** Some seconds if all of them are long; older ones rarely change what a report says. */
const MAX_SESSIONS = 500;

const IN_RANGE = "time_ms >= ?1 AND time_ms < ?2";
/** Sessions with such calls in a range; those with subagents at any time, because these can go on for long. */
const SESSIONS: Readonly<Record<ReadFor, string>> = {
  mcp: `SELECT session FROM tool_usage WHERE ${IN_RANGE} AND (mcp_server IS NOT NULL OR name GLOB 'mcp__*')`,
  skill: `SELECT session FROM tool_usage WHERE ${IN_RANGE} AND skill IS NOT NULL`,
  subagent: `SELECT session FROM segments JOIN sessions s ON s.id = session
    WHERE json_extract(totals, '$.subagents') > 0 AND s.last_ms >= ?1 AND s.first_ms < ?2`,
};

function* factsAfter(session: number, view: SessionView, turns: readonly number[]): Generator<Fact> {
  for (const placed of placedCalls(view, turns)) {
    const named = readBy(placed);
    if (named?.server === undefined && named?.skill === undefined) continue;
    yield { kind: "after", session, timeMs: placed.call.endMs, ...named, figures: callFiguresOf(placed) };
  }
}

function* subagentFacts(
  session: number,
  { calls, toolCalls, subagentList }: Pick<SessionView, "calls" | "toolCalls" | "subagentList">,
): Generator<Fact> {
  const types = new Map(subagentList.map(({ agentId, agentType }) => [agentId, agentType]));
  for (const one of calls) {
    const { agentId, model = null, endMs } = one.call;
    if (agentId === undefined) continue;
    const figures = callFiguresOf(one);
    yield { kind: "calls", session, timeMs: endMs, model, subagent: types.get(agentId), figures };
  }
  const outcomes = new Map(toolCalls.map(({ tool: { callId, status } }) => [callId, status]));
  for (const { agentType, parentCallId, startMs, endMs } of subagentList) {
    const outcome = outcomes.get(parentCallId ?? "");
    const figures = {
      runs: 1,
      failedRuns: outcome === "error" ? 1 : 0,
      runsWithoutOutcome: outcome === "success" || outcome === "error" ? 0 : 1,
      runMs: Math.max(0, endMs - startMs),
    };
    yield { kind: "runs", session, timeMs: startMs, subagent: agentType, figures };
  }
}
