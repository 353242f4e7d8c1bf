import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { explain } from "../../report/explain.ts";
import { findingsOf } from "../../report/findings.ts";
import type { SessionView } from "../../report/session-view.ts";
import { TIME_PARTS } from "../../report/time-parts.ts";
import { toolTitle } from "../../report/tool-title.ts";
import { unknownsOf } from "../../report/unknowns.ts";
import type { ExplanationDocument } from "../wire/session.ts";
import { changesOfSession } from "./changes.ts";

type Deps = Pick<SessionSource, "agents">;

/** Where the time and money of a session went, as `explain` reports it. Not part of the session's document, because it takes longer. */
export function toExplanation(db: Database, view: SessionView, { agents }: Deps): ExplanationDocument {
  const explanation = explain(db, view, { agents });
  const { time, money, habits } = explanation;
  const [turn] = money.turns
    .filter(({ of, sums }) => of > 0 && (sums.costNanoUsd ?? 0) > 0)
    .toSorted((a, b) => (b.sums.costNanoUsd ?? 0) - (a.sums.costNanoUsd ?? 0));
  return {
    kind: "explanation",
    findings: findingsOf(explanation)
      .slice(0, MAX_FINDINGS)
      .map(({ text }) => text),
    parts:
      time === undefined ? [] : TIME_PARTS.map((name) => ({ name, ms: time.parts[name] })).filter(({ ms }) => ms > 0),
    isModelTimed: time?.isModelTimed ?? true,
    expensiveTurn: turn === undefined ? null : { turn: turn.of, costNanoUsd: turn.sums.costNanoUsd ?? 0 },
    slowestTool: slowestTool(view),
    repeats: habits.repeats
      .slice(0, MAX_REPEATS)
      .map(({ name, calls, totalMs }) => ({ name: toolTitle(name), calls, totalMs })),
    unknown: unknownsOf(explanation),
    changes: changesOfSession(db, { agents }, view.stored),
  };
}

// --- internal ---

/** More sentences than this are not read. */
const MAX_FINDINGS = 5;
const MAX_REPEATS = 3;

/** Without calls that started a subagent, because its own calls are shown. */
function slowestTool({ toolCalls, subagentList }: SessionView): ExplanationDocument["slowestTool"] {
  const hosts = new Set(subagentList.flatMap(({ parentCallId }) => parentCallId ?? []));
  let slowest: ExplanationDocument["slowestTool"] = null;
  for (const { tool } of toolCalls) {
    const { name, startMs, endMs } = tool;
    if (tool.spawnedAgentId !== undefined || hosts.has(tool.callId)) continue;
    if (endMs - startMs > (slowest?.ms ?? 0))
      slowest = { name: toolTitle(name, tool.mcpServer), startMs, ms: endMs - startMs };
  }
  return slowest;
}
