import type { CallSums } from "#core/model/model-call.ts";
import type { Segment } from "#core/model/session.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { type SpanSubject, spanIdOf } from "#core/telemetry/ids.ts";
import { grouped } from "#kit/objects.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import type { StoredModelCall } from "#store/queries.ts";
import { type NativePart, partName } from "#store/sessions/native.ts";
import type { StoredSession } from "#store/sessions.ts";
import { settledSpans } from "#store/spans.ts";
import { knownAmounts, tokensByName } from "./call-totals.ts";
import { chargesJson } from "./charges.ts";
import { coveredJson } from "./covered.ts";
import { nativeJson } from "./native/json.ts";
import { activeMs, isOpen, type SessionSummary, toolCallCount } from "./session-summary.ts";
import { hiddenCalls, type SessionView } from "./session-view.ts";
import type { SpanLines } from "./story.ts";

/**
 * One session as a JSON document, in parts, so that not all spans are in memory at the same time. Unknown is `null`, never
 * 0; times are ISO 8601; `spans` are those that were or will be exported, `open_spans` those that have not ended.
 *
 * @param more further members: what was read of its transcript, and its family
 * @param lines what was asked and done, as `content` of turns, tool calls and subagents; without it they have no such member
 */
export function* jsonParts(db: Database, view: SessionView, more: object, lines?: SpanLines): Generator<string> {
  yield `${JSON.stringify({ ...documentOf(view, lines), ...more }).slice(0, -1)},"spans":[`;
  let separator = "";
  for (const { record } of view.isPacked ? view.openSpans : []) {
    yield `${separator}${JSON.stringify(record)}`;
    separator = ",";
  }
  for (const { ordinal } of view.segments) {
    for (const record of settledSpans(db, view.stored.id, ordinal)) {
      yield `${separator}${JSON.stringify(record)}`;
      separator = ",";
    }
  }
  yield "]}\n";
}

/** Sums with the member names of `--json`. */
export function sumsJson(sums: CallSums, { usageUnknown }: Pick<SessionSummary["facts"], "usageUnknown"> = {}) {
  const known = knownAmounts(sums, usageUnknown === true);
  return {
    model_calls: known.modelCalls,
    ...tokensByName(known),
    cost_usd: usd(known.costNanoUsd),
    ...chargesJson(sums, sums.nanoCredits),
    calls_without_usage: sums.callsWithoutUsage,
    incomplete_calls: sums.incompleteCalls,
    unpriced_calls: sums.unpricedCalls,
  };
}

/** What identifies a session. */
export const sessionName = ({ source, sessionId }: StoredSession) => ({ source, session_id: sessionId });

/** Agent, session and repository, the same in `show` and `sessions`. */
export const headJson = ({ stored, facts, segments, onSubscription }: SessionSummary) => ({
  ...sessionName(stored),
  agent_version: stored.agentVersion ?? null,
  repository: facts.repository ?? null,
  start: isoTime(segments[0]?.startMs ?? stored.firstMs),
  end: isoTime(segments.at(-1)?.endMs),
  last_activity: isoTime(stored.lastMs),
  // Never false: without a report it is unknown
  on_subscription: onSubscription ?? null,
});

/** Why a segment ended, the same in `show` and `sessions`; `null` while it is open. */
const endJson = (segment: Segment | undefined) => ({
  reason: segment?.reason ?? null,
  native_reason: segment?.nativeReason ?? null,
});

/** One session of `openhook-otel sessions --json`. */
export const summaryJson = (summary: SessionSummary) => ({
  ...headJson(summary),
  ...endJson(summary.segments.at(-1)),
  parent: summary.parent === undefined ? null : sessionName(summary.parent),
  child_sessions: summary.children.map(sessionName),
  open: isOpen(summary),
  active_ms: activeMs(summary.segments),
  work_ms: summary.workMs,
  segments: summary.segments.length,
  turns: summary.turns,
  prompts: summary.prompts,
  subagents: summary.subagents,
  tool_calls: toolCallsJson(summary.tools),
  totals: sumsJson(summary.sums, summary.facts),
});

// --- internal ---

/** Calls of a model that the agent did not name. */
const UNNAMED = "(unknown)";

/** A member for a line of the agent's own files; none if they were not asked for. */
const contentIn = (lines: SpanLines | undefined, { facts }: SessionView, subject: SpanSubject, key: string) =>
  lines && { content: lines.get(spanIdOf(facts, subject, key))?.text ?? null };

const nativeIn = ({ native }: SessionView, kind: NativePart["kind"], key: string) =>
  nativeJson(native.get(partName({ kind, key })));

const documentOf = (view: SessionView, lines?: SpanLines) => ({
  ...headJson(view),
  segments: view.segments.map((segment) => ({
    ordinal: segment.ordinal,
    start: isoTime(segment.startMs),
    end: isoTime(segment.endMs),
    start_origin: segment.startOrigin ?? null,
    ...endJson(segment),
    native: nativeIn(view, "session", String(segment.ordinal)),
    totals: sumsJson(sumOfCalls(view.calls.filter((call) => call.segment === segment.ordinal)), view.facts),
  })),
  prompts: view.prompts,
  turns: view.turnList.map((turn) => ({
    id: turn.key,
    segment: turn.segment,
    origin: turn.origin,
    state: turn.state,
    open: turn.open,
    start: isoTime(turn.startMs),
    end: isoTime(turn.endMs),
    prompt_length: turn.promptLength ?? null,
    native: nativeIn(view, "turn", turn.key),
    ...contentIn(lines, view, "turn", turn.key),
  })),
  model_calls: view.calls.map((one) => ({ ...callJson(one), native: nativeIn(view, "model_call", one.call.key) })),
  tool_calls: view.toolCalls.map((one) => ({
    ...toolJson(one),
    native: nativeIn(view, "tool_call", one.tool.callId),
    ...contentIn(lines, view, "tool_call", one.tool.callId),
  })),
  subagents: view.subagentList.map((subagent) => ({
    id: subagent.agentId,
    type: subagent.agentType ?? null,
    segment: subagent.segment,
    turn: subagent.turnKey ?? null,
    parent_tool_call: subagent.parentCallId ?? null,
    open: subagent.open,
    start: isoTime(subagent.startMs),
    end: isoTime(subagent.endMs),
    ...contentIn(lines, view, "subagent", subagent.agentId),
  })),
  by_model: byModel(view.calls),
  totals: sumsJson(view.sums, view.facts),
  plans: view.covered.map(coveredJson),
  // The part of the totals that is not the conversation's
  hidden_totals: hiddenCalls(view).length === 0 ? null : sumsJson(sumOfCalls(hiddenCalls(view)), view.facts),
  reported_usage: view.reported ?? null,
  open_spans: view.isPacked ? [] : view.openSpans.map(({ record }) => record),
});

const callJson = ({ call, segment, costNanoUsd, feeNanoUsd, open }: SessionView["calls"][number]) => ({
  response_id: call.responseId ?? null,
  model: call.model ?? null,
  segment,
  subagent: call.agentId !== undefined,
  agent_id: call.agentId ?? null,
  purpose: call.purpose ?? null,
  ...tokensByName(call.usage),
  web_searches: call.webSearches ?? null,
  complete: call.complete,
  open,
  finish_reason: call.finishReason ?? null,
  cost_usd: usd(costNanoUsd),
  fees_usd: usd(feeNanoUsd),
  credits: call.nanoCredits === undefined ? null : call.nanoCredits / 1e9,
  start: isoTime(call.startMs),
  end: isoTime(call.endMs),
});

const toolJson = ({ tool, segment, open }: SessionView["toolCalls"][number]) => ({
  id: tool.callId,
  name: tool.name,
  status: tool.status,
  segment,
  subagent: tool.agentId !== undefined,
  agent_id: tool.agentId ?? null,
  open,
  error_type: tool.errorType ?? null,
  exit_code: tool.exitCode ?? null,
  executable: tool.executable ?? null,
  subcommand: tool.subcommand ?? null,
  mcp_server: tool.mcpServer ?? null,
  skill: tool.skill ?? null,
  lines_added: tool.linesAdded ?? null,
  lines_removed: tool.linesRemoved ?? null,
  files: (tool.files ?? []).map((file) => ({
    path: file.path,
    operation: file.operation ?? null,
    start_line: file.startLine ?? null,
    end_line: file.endLine ?? null,
    lines_added: file.added ?? null,
    lines_removed: file.removed ?? null,
  })),
  spawned_agent_id: tool.spawnedAgentId ?? null,
  execution_ms: tool.executionMs ?? null,
  start: isoTime(tool.startMs),
  end: tool.status === "open" ? null : isoTime(tool.endMs),
});

function byModel(calls: readonly StoredModelCall[]) {
  const groups = grouped(calls, ({ call }) => call.model ?? UNNAMED);
  return Object.fromEntries([...groups].map(([name, group]) => [name, sumsJson(sumOfCalls(group))]));
}

/** How many tool calls there are, and how many of each status. */
const toolCallsJson = (
  tools: SessionSummary["tools"],
): { readonly total: number; readonly [status: string]: number } => ({
  total: toolCallCount(tools),
  ...Object.fromEntries(tools),
});
