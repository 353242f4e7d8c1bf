import { usd } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { type Explanation, explain } from "../../report/explain.ts";
import { repeatJson, timeJson } from "../../report/explain-json.ts";
import { findingsOf, unknownsOf } from "../../report/findings.ts";
import { EVIDENCE, missTitle } from "../../report/findings-cache.ts";
import type { SessionView } from "../../report/session-view.ts";
import { toolTitle } from "../../report/titles.ts";
import { changesOfSession } from "./changes.ts";

type Deps = Pick<SessionSource, "agents">;

export type ExplanationDocument = ReturnType<typeof toExplanation>;

/** Where the time and money of a session went, as `explain` reports it. Not part of the session's document, because it takes longer. */
export function toExplanation(db: Database, view: SessionView, { agents }: Deps) {
  const explanation = explain(db, view, { agents });
  const { time, money, habits } = explanation;
  const [turn] = money.turns
    .filter(({ part, sums }) => part > 0 && (sums.costNanoUsd ?? 0) > 0)
    .toSorted((a, b) => (b.sums.costNanoUsd ?? 0) - (a.sums.costNanoUsd ?? 0));
  return {
    kind: "explanation" as const,
    /** The most important first. */
    findings: findingsOf(explanation).slice(0, MAX_FINDINGS),
    time: time === undefined ? null : withoutTools(timeJson(time, view)),
    expensiveTurn: turn === undefined ? null : { turn: turn.part, cost_usd: usd(turn.sums.costNanoUsd) ?? 0 },
    slowestTool: slowestTool(view),
    /** Size of the main conversation's context, by time. */
    context: thinned(habits.context.points).map(({ timeMs, input }) => ({ timeMs, tokens: input })),
    /** Calls that did not read the beginning of their prompt from the cache, without subagents' first ones; the most expensive first. */
    cacheMisses: explanation.cacheMisses
      .filter(({ cause }) => cause !== "subagent")
      .toSorted((a, b) => (b.costNanoUsd ?? 0) - (a.costNanoUsd ?? 0) || b.tokens - a.tokens)
      .slice(0, MAX_MISSES)
      .map(({ call: { call, turn }, cause, evidence, tokens, costNanoUsd }) => ({
        startMs: call.startMs,
        ms: call.endMs - call.startMs,
        isSubagent: call.agentId !== undefined,
        turn,
        cause: missTitle(cause),
        evidence: EVIDENCE[evidence],
        tokens,
        cost_usd: usd(costNanoUsd),
      })),
    /** Tools that were called with the same input again. */
    repeats: habits.repeats
      .slice(0, MAX_REPEATS)
      .map((repeat) => ({ ...repeatJson(repeat), name: toolTitle(repeat.name) })),
    /** What the figures do not contain, as sentences. */
    unknown: unknownsOf(explanation),
    /** Changes and commits that the session led to. */
    changes: changesOfSession(db, { agents }, view.stored),
  };
}

// --- internal ---

/** More sentences than this are not read. */
const MAX_FINDINGS = 5;
const MAX_REPEATS = 3;
const MAX_MISSES = 100;
/** More than a line has pixels. */
const MAX_POINTS = 1000;

/** As many points as are drawn: the largest of each stretch, and the first and last of all. */
function thinned(points: Explanation["habits"]["context"]["points"]): typeof points {
  const stretch = Math.ceil(points.length / MAX_POINTS);
  if (stretch <= 1) return points;
  const largest = Array.from({ length: Math.ceil(points.length / stretch) }, (_, i) =>
    points.slice(i * stretch, (i + 1) * stretch).reduce((most, point) => (point.input > most.input ? point : most)),
  );
  return [...points.slice(0, 1), ...largest, ...points.slice(-1)];
}

/** Names of tools may be the user's own, and the page does not show them here. */
const withoutTools = ({ tools: _, ...time }: ReturnType<typeof timeJson>) => time;

interface SlowestTool {
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

/** Without calls that started a subagent, because its own calls are shown. */
function slowestTool({ toolCalls, subagentList }: SessionView): SlowestTool | null {
  const hosts = new Set(subagentList.flatMap(({ parentCallId }) => parentCallId ?? []));
  let slowest: SlowestTool | null = null;
  for (const { tool } of toolCalls) {
    const { name, startMs, endMs } = tool;
    if (tool.spawnedAgentId !== undefined || hosts.has(tool.callId)) continue;
    if (endMs - startMs > (slowest?.ms ?? 0))
      slowest = { name: toolTitle(name, tool.mcpServer), startMs, ms: endMs - startMs };
  }
  return slowest;
}
