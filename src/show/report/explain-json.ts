import { costSource } from "#core/telemetry/cost.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import type { StoredParts } from "#store/sessions.ts";
import { type CacheMiss, missSums } from "./cache-misses.ts";
import { commitJson } from "./change-report.ts";
import { coveredJson } from "./covered.ts";
import type { Explanation } from "./explain.ts";
import type { Share } from "./explain-money.ts";
import type { TimeSpent } from "./explain-time.ts";
import { familyJson } from "./family-json.ts";
import { findingsOf, unknownsOf } from "./findings.ts";
import { nativeSumsJson } from "./native/json.ts";
import { nativeSums } from "./native/sums.ts";
import { headJson, sumsJson } from "./session-json.ts";

/** The whole explanation as a JSON document. Unknown is `null`, never 0. */
export function explainJson(explanation: Explanation) {
  const { view, time, money, habits, results, cacheMisses } = explanation;
  const shares = <T>(all: readonly Share<T>[], nameOf: (part: T) => Readonly<Record<string, unknown>>) =>
    all.map(({ part, sums }) => ({ ...nameOf(part), ...sumsJson(sums, view.facts) }));
  return {
    ...headJson(view),
    ...familyJson(explanation.family),
    findings: findingsOf(explanation),
    unknown: unknownsOf(explanation),
    commits: results.commits.map(commitJson),
    changes: results.changes.map(changeJson),
    time: time === undefined ? null : timeJson(time, view),
    native: nativeSumsJson(nativeSums(view)),
    price_table: costSource().prices,
    totals: sumsJson(money.total, view.facts),
    plans: view.covered.map(coveredJson),
    turns: shares(money.turns, (turn) => ({ turn: turn === 0 ? null : turn })),
    models: shares(money.models, (model) => ({ model: model ?? null })),
    threads: shares(money.threads, (thread) => ({
      subagent: thread.subagent,
      type: thread.subagent ? (thread.type ?? null) : null,
    })),
    after: shares(money.causes, (cause) => ({
      after: cause.kind,
      tool: cause.kind === "tool" ? cause.name : null,
      mcp_server: cause.kind === "tool" ? (cause.mcpServer ?? null) : null,
    })),
    mcp_servers: shares(money.mcpServers, (server) => ({ mcp_server: server })),
    context: {
      calls: habits.context.points.map(({ timeMs, input, turn }) => ({ time: isoTime(timeMs), input, turn })),
      largest_step: habits.context.largestStep === undefined ? null : stepJson(habits.context.largestStep),
      /** Tokens when the agent ended, as it counts them; `null`: not reported. */
      parts: view.stored.contextParts === undefined ? null : partsJson(view.stored.contextParts),
      compactions: habits.context.compactions,
      compacted: habits.context.compacted.map(({ timeMs, ...sizes }) => ({ time: isoTime(timeMs), ...sizes })),
      largest_results: habits.context.largestResults.map(resultJson),
    },
    cache_misses: {
      causes: missSums(cacheMisses).map(({ costNanoUsd, unpricedCalls, ...sum }) => ({
        ...sum,
        cost_usd: usd(costNanoUsd),
        unpriced_calls: unpricedCalls,
      })),
      calls: cacheMisses.map(missJson),
    },
    tools: habits.tools.map(toolJson),
    repeats: habits.comparableCalls === 0 && view.toolCalls.length > 0 ? null : habits.repeats.map(repeatJson),
    comparable_calls: habits.comparableCalls,
    retried_edits: habits.retriedEdits,
    slowest: habits.slowest.map(slowestJson),
  };
}

/** Where the time went; the parts add up to the time from start to end. */
export const timeJson = (time: TimeSpent, { toolCalls }: Explanation["view"]) => ({
  start: isoTime(time.startMs),
  end: isoTime(time.endMs),
  whole_ms: time.endMs - time.startMs,
  model_ms: time.isModelTimed ? time.parts.model : null,
  tool_ms: time.parts.tool,
  held_ms: time.measuredTools === 0 && toolCalls.length > 0 ? null : time.parts.held,
  /** Part of the time before tools ran; `null`: not reported. */
  permission_ms: time.permissionMs ?? null,
  between_calls_ms: time.parts.agent,
  user_ms: time.parts.user,
  closed_ms: time.parts.away,
  subagent_ms: time.subagentMs,
  tools: time.tools.map(({ name, toolMs, heldMs, measured, besideSubagentsMs }) => ({
    name,
    tool_ms: toolMs,
    held_ms: measured === 0 ? null : heldMs,
    beside_subagents_ms: besideSubagentsMs,
  })),
  measured_tool_calls: time.measuredTools,
});

/** A tool that was called with the same input again. */
export const repeatJson = ({ name, calls, totalMs }: Explanation["habits"]["repeats"][number]) => ({
  name,
  calls,
  total_ms: totalMs,
});

// --- internal ---

const changeJson = ({ kind, name, url, certainty, isCreated }: Explanation["results"]["changes"][number]) => ({
  kind,
  name,
  url: url ?? null,
  certainty,
  created: isCreated,
});

const toolJson = (tool: Explanation["habits"]["tools"][number]) => ({
  name: tool.name,
  mcp_server: tool.mcpServer ?? null,
  calls: tool.calls,
  errors: tool.errors,
  denied: tool.denied,
  unfinished: tool.unfinished,
  total_ms: tool.totalMs,
  error_types: tool.errorTypes,
});

const slowestJson = ({ kind, name, ms, heldMs, turn, startMs }: Explanation["habits"]["slowest"][number]) => ({
  kind,
  name: name ?? null,
  ms,
  held_ms: heldMs ?? null,
  turn: turn === 0 ? null : turn,
  start: isoTime(startMs),
});

const resultJson = ({
  name,
  mcpServer,
  turn,
  startMs,
  tokens,
}: Explanation["habits"]["context"]["largestResults"][number]) => ({
  name,
  mcp_server: mcpServer ?? null,
  turn: turn === 0 ? null : turn,
  start: isoTime(startMs),
  tokens,
});

const partsJson = ({ timeMs, ...parts }: StoredParts) => ({ time: isoTime(timeMs), ...parts });

const missJson = ({ call: { call, turn }, cause, evidence, tokens, costNanoUsd }: CacheMiss) => ({
  time: isoTime(call.endMs),
  turn: turn === 0 ? null : turn,
  model: call.model ?? null,
  subagent: call.agentId !== undefined,
  cause,
  evidence,
  tokens,
  cost_usd: usd(costNanoUsd),
  /** What the provider said, in its words. */
  reason: call.cacheMiss?.reason ?? null,
});

const stepJson = ({ tokens, turn, after }: NonNullable<Explanation["habits"]["context"]["largestStep"]>) => ({
  tokens,
  turn: turn === 0 ? null : turn,
  after: after.kind,
  tool: after.kind === "tool" ? after.name : null,
});
