import type { ModelCall } from "../model/model-call.ts";
import type { Segment, SessionFacts, Subagent, ToolCall, Turn } from "../model/session.ts";
import { reportedMiss } from "../rules/cache-miss.ts";
import type { LedTo } from "./changes.ts";
import { callPrice } from "./cost.ts";
import { spanIdOf, traceIdOf } from "./ids.ts";
import { type LaunchedBy, launchAttributes, launchLinks } from "./launch-link.ts";
import { type KeyedSpan, span } from "./make-span.ts";
import { nativeAttributes, nativeEvents, nativeLinks } from "./native.ts";
import { providerOf } from "./provider.ts";
import * as semconv from "./semconv.ts";
import {
  cacheWriteAttributes,
  costAttributes,
  errorEvents,
  reportedAttributes,
  repositoryAttributes,
  runAttributes,
  type Spelling,
} from "./span-attributes.ts";
import { type SpanParent, turnSpanIds } from "./span-parents.ts";
import { knownCost, type Totals } from "./totals.ts";

/** How spans are named and grouped into traces. */
export interface SpanSettings extends Spelling {
  /** One trace per session segment, or one per turn. */
  readonly traceScope: "session" | "turn";
}

/**
 * A turn's span with its model calls and tool calls. A turn without a prompt has only the latter two. Each span is made when the
 * caller reads it: all spans of a large turn together take more memory than the turn itself.
 */
export function* turnSpans(
  turn: Turn,
  facts: SessionFacts,
  settings: SpanSettings,
  ledTo: LedTo = {},
): Generator<KeyedSpan> {
  const ids = turnSpanIds(turn, facts, settings.traceScope);
  if (turn.exportedKey !== undefined || (turn.isLate && turn.origin !== "none"))
    yield latePartSpan(turn, facts, settings, ids.traceId, ids.ownSpanId);
  else if (turn.origin !== "none")
    yield span(facts, "turn", turn.key, ids.traceId, {
      parentSpanId: ids.parentSpanId,
      name: `invoke_agent ${facts.source}`,
      kind: "internal",
      startMs: turn.startMs,
      endMs: turn.endMs,
      error: turn.state === "failed" || turn.state === "interrupted" ? (turn.errorType ?? "_OTHER") : undefined,
      // The team's gateway drops spans with two links
      links: ids.links.length > 0 ? ids.links : nativeLinks(turn.native),
      events: [...errorEvents(turn), ...nativeEvents(turn.native)],
      attributes: {
        ...runAttributes(turn, facts, settings, "turn"),
        ...nativeAttributes(turn.native),
        [semconv.OPENHOOK_TURN_ORIGIN]: turn.origin,
        [semconv.OPENHOOK_TURN_STATE]: turn.state,
        [semconv.OPENHOOK_PROMPT_LENGTH]: turn.promptLength,
        [semconv.OPENHOOK_BACKGROUND]: turn.backgroundCount === 0 ? undefined : turn.backgroundCount,
        ...repositoryAttributes(facts),
        ...(ledTo.revision !== undefined && { [semconv.VCS_REF_HEAD_REVISION]: ledTo.revision }),
        [semconv.VCS_CHANGE_ID]: ledTo.changeId,
      },
    });
  yield* workSpans(turn, facts, settings, ids.traceId, ids.ownSpanId, facts.source);
}

/** A subagent's span with its calls, as a generator. @param place its trace and parent, see `subagentParents` */
export function* subagentSpans(
  subagent: Subagent,
  { traceId, parentSpanId, links }: SpanParent,
  facts: SessionFacts,
  settings: SpanSettings,
): Generator<KeyedSpan> {
  const name = subagent.agentType ?? "subagent";
  const { exportedKey } = subagent;
  if (exportedKey !== undefined) {
    const ownId = spanIdOf(facts, "subagent", exportedKey);
    yield latePartSpan(subagent, facts, settings, traceId, ownId);
    yield* workSpans(subagent, facts, settings, traceId, ownId, name);
    return;
  }
  const ownId = spanIdOf(facts, "subagent", subagent.key);
  if (subagent.isLate) {
    // The spans of its calls are below it
    const { isOptional: _, ...late } = latePartSpan(subagent, facts, settings, traceId, parentSpanId);
    yield late;
    yield* workSpans(subagent, facts, settings, traceId, ownId, name);
    return;
  }
  const lastError = subagent.errors.findLast((e) => e.final);
  yield span(facts, "subagent", subagent.key, traceId, {
    parentSpanId,
    name: `invoke_agent ${name}`,
    kind: "internal",
    startMs: subagent.startMs,
    endMs: subagent.endMs,
    error: lastError?.errorType,
    links,
    events: errorEvents(subagent),
    attributes: {
      ...runAttributes(subagent, facts, settings, "subagent"),
      [semconv.GEN_AI_AGENT_NAME]: name,
      [semconv.OPENHOOK_SUBAGENT_ID]: subagent.agentId,
    },
  });
  yield* workSpans(subagent, facts, settings, traceId, ownId, name);
}

/** The spans of calls that are settled before their run ends. @param parentOf returns the trace and parent of a subagent's span */
export function* partSpans(
  part: Turn | Subagent,
  parentOf: (subagent: Subagent) => SpanParent,
  facts: SessionFacts,
  settings: SpanSettings,
): Generator<KeyedSpan> {
  if ("origin" in part) {
    const { traceId, ownSpanId } = turnSpanIds(part, facts, settings.traceScope);
    yield* workSpans(part, facts, settings, traceId, ownSpanId, facts.source);
  } else {
    const ownId = spanIdOf(facts, "subagent", part.exportedKey ?? part.key);
    yield* workSpans(part, facts, settings, parentOf(part).traceId, ownId, part.agentType ?? "subagent");
  }
}

/**
 * The root span of a trace, from an ended segment with the sums of everything settled in it.
 *
 * @param more.changeId the only pull request that was created in it
 * @param more.launchedBy the session that started this one; only of the first segment
 */
export function segmentSpan(
  segment: Segment,
  totals: Totals,
  facts: SessionFacts,
  {
    changeId,
    launchedBy,
  }: { readonly changeId?: string | undefined; readonly launchedBy?: LaunchedBy | undefined } = {},
): KeyedSpan {
  const { source } = facts;
  const previous = segment.ordinal === 0 ? undefined : segment.ordinal - 1;
  const failed = segment.reason === "error";
  return span(facts, "session", String(segment.ordinal), traceIdOf(facts, `segment:${segment.ordinal}`), {
    parentSpanId: undefined,
    name: `invoke_agent ${source}`,
    kind: "internal",
    startMs: Math.min(segment.startMs, totals.firstMs ?? segment.startMs),
    endMs: Math.max(segment.endMs ?? segment.lastActivityMs, totals.lastMs ?? segment.startMs),
    error: failed ? "error" : undefined,
    events: nativeEvents(segment.native),
    links:
      previous === undefined
        ? launchedBy === undefined
          ? []
          : launchLinks(launchedBy)
        : [
            {
              traceId: traceIdOf(facts, `segment:${previous}`),
              spanId: spanIdOf(facts, "session", String(previous)),
              attributes: { [semconv.OPENHOOK_LINK_KIND]: "resumes" },
            },
          ],
    attributes: {
      [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent",
      [semconv.GEN_AI_AGENT_NAME]: source,
      [semconv.OPENHOOK_SPAN_KIND]: "session",
      [semconv.OPENHOOK_SEGMENT]: segment.ordinal,
      [semconv.OPENHOOK_START_ORIGIN]: segment.startOrigin,
      [semconv.OPENHOOK_END_REASON]: segment.reason,
      [semconv.OPENHOOK_NATIVE_END_REASON]: segment.nativeReason,
      [semconv.OPENHOOK_TURNS]: totals.turns,
      [semconv.OPENHOOK_MODEL_CALLS]:
        totals.modelCalls === 0 && (hasTokens(totals) || facts.usageUnknown === true) ? undefined : totals.modelCalls,
      [semconv.OPENHOOK_TOOL_CALLS]: totals.toolCalls,
      [semconv.OPENHOOK_SUBAGENTS]: totals.subagents,
      [semconv.OPENHOOK_TOTAL.input]: totals.input,
      [semconv.OPENHOOK_TOTAL.output]: totals.output,
      [semconv.OPENHOOK_TOTAL.cacheRead]: totals.cacheRead,
      [semconv.OPENHOOK_TOTAL.cacheWrite]: totals.cacheWrite,
      [semconv.OPENHOOK_USAGE_INCOMPLETE]: totals.incompleteCalls > 0 ? true : undefined,
      ...costAttributes(knownCost(totals)),
      [semconv.OPENHOOK_UNPRICED_CALLS]: totals.unpricedCalls > 0 ? totals.unpricedCalls : undefined,
      ...reportedAttributes(totals),
      ...repositoryAttributes(facts),
      [semconv.VCS_CHANGE_ID]: changeId,
      ...(launchedBy !== undefined && launchAttributes(launchedBy)),
    },
  });
}

/** `undefined` for success and for calls without a known end, which are neither success nor error. */
export const toolErrorType = (tool: ToolCall): string | undefined =>
  tool.status === "denied"
    ? "denied"
    : tool.status === "error"
      ? (tool.errorType ?? (mcpServerOf(tool) === undefined ? "_OTHER" : "tool_error"))
      : undefined;

/** Agents name the tools of an MCP server `mcp__<server>__<tool>`. */
export const mcpServerOf = (tool: Pick<ToolCall, "name" | "mcpServer">): string | undefined =>
  tool.mcpServer ?? /^mcp__(.+?)__/.exec(tool.name)?.[1];

// --- internal ---

/**
 * What became known of a turn or subagent after its span was exported, below that span. Its calls are there too, so it is needed only
 * for what no call's span has: usage of the turn as a whole, errors, and content.
 */
function latePartSpan(
  part: Turn | Subagent,
  facts: SessionFacts,
  settings: SpanSettings,
  traceId: string,
  parentSpanId: string,
): KeyedSpan {
  const isTurn = "origin" in part;
  const error = isTurn
    ? part.state === "failed" || part.state === "interrupted"
      ? (part.errorType ?? "_OTHER")
      : undefined
    : part.errors.findLast((e) => e.final)?.errorType;
  const hasUsage = part.modelCalls.some((call) => call.covers !== undefined && call.usage !== undefined);
  const made = span(facts, isTurn ? "turn" : "subagent", part.key, traceId, {
    parentSpanId,
    name: `late_part ${isTurn ? facts.source : (part.agentType ?? "subagent")}`,
    kind: "internal",
    startMs: part.startMs,
    endMs: part.endMs,
    error,
    events: errorEvents(part),
    attributes: {
      ...runAttributes(part, facts, settings, isTurn ? "turn" : "subagent"),
      [semconv.OPENHOOK_SPAN_KIND]: "late_part",
      // It is no call of an agent
      [semconv.GEN_AI_OPERATION_NAME]: undefined,
      [semconv.OPENHOOK_TURN_STATE]: isTurn && error !== undefined ? part.state : undefined,
    },
  });
  const isNeeded = hasUsage || error !== undefined || part.errors.length > 0;
  return isNeeded ? made : { ...made, isOptional: true };
}

function* workSpans(
  run: Turn | Subagent,
  facts: SessionFacts,
  settings: SpanSettings,
  traceId: string,
  parentSpanId: string,
  agentName: string,
): Generator<KeyedSpan> {
  for (const call of run.modelCalls) {
    if (call.covers === undefined) yield modelCallSpan(call, facts, settings, traceId, parentSpanId);
  }
  for (const tool of run.toolCalls) yield toolCallSpan(tool, facts, traceId, parentSpanId, agentName);
}

function modelCallSpan(
  call: ModelCall,
  facts: SessionFacts,
  settings: SpanSettings,
  traceId: string,
  parentSpanId: string,
): KeyedSpan {
  const model = call.requestedModel ?? call.model;
  const { usage } = call;
  const { costNanoUsd, noPrice } = callPrice(call, facts.provider);
  return span(facts, "model_call", call.key, traceId, {
    parentSpanId,
    name: model === undefined ? "chat" : `chat ${model}`,
    kind: "client",
    startMs: call.startMs,
    endMs: call.endMs,
    error: undefined,
    attributes: {
      ...nativeAttributes(call.native),
      [semconv.GEN_AI_OPERATION_NAME]: "chat",
      [semconv.GEN_AI_PROVIDER_NAME]: providerOf(call, facts.provider),
      [semconv.GEN_AI_REQUEST_MODEL]: model,
      [semconv.GEN_AI_RESPONSE_MODEL]: call.model,
      [semconv.GEN_AI_RESPONSE_ID]: call.responseId,
      [semconv.GEN_AI_RESPONSE_FINISH_REASONS]: call.finishReason === undefined ? undefined : [call.finishReason],
      [semconv.OPENHOOK_SPAN_KIND]: "model_call",
      [semconv.OPENHOOK_REQUEST_ID]: call.requestId,
      [semconv.GEN_AI_USAGE_INPUT_TOKENS]: usage?.input,
      [semconv.GEN_AI_USAGE_OUTPUT_TOKENS]: usage?.output,
      [semconv.GEN_AI_USAGE_CACHE_READ]: usage?.cacheRead,
      ...cacheWriteAttributes(usage?.cacheWrite, settings),
      [semconv.OPENHOOK_CACHE_WRITE_5M]: usage?.cacheWrite5m,
      [semconv.OPENHOOK_CACHE_WRITE_1H]: usage?.cacheWrite1h,
      [semconv.GEN_AI_USAGE_REASONING]: usage?.reasoning,
      [semconv.OPENHOOK_USAGE_INCOMPLETE]: call.complete ? undefined : true,
      [semconv.OPENHOOK_CACHE_MISS_CAUSE]: reportedMiss(call)?.reason,
      [semconv.OPENHOOK_CACHE_MISS_TOKENS]: reportedMiss(call)?.tokens,
      [semconv.OPENHOOK_CALL_PURPOSE]: call.purpose,
      ...costAttributes(costNanoUsd, call.model ?? ""),
      [semconv.OPENHOOK_UNPRICED_CALLS]: costNanoUsd !== undefined && noPrice !== undefined ? 1 : undefined,
    },
  });
}

function toolCallSpan(
  tool: ToolCall,
  facts: SessionFacts,
  traceId: string,
  parentSpanId: string,
  agentName: string,
): KeyedSpan {
  return span(facts, "tool_call", tool.callId, traceId, {
    parentSpanId,
    name: ["execute_tool", tool.name, tool.executable ?? tool.subcommand]
      .filter((part) => part !== undefined)
      .join(" "),
    kind: "internal",
    startMs: tool.startMs,
    endMs: tool.endMs,
    error: toolErrorType(tool),
    attributes: {
      ...nativeAttributes(tool.native),
      [semconv.GEN_AI_OPERATION_NAME]: "execute_tool",
      [semconv.GEN_AI_AGENT_NAME]: agentName,
      [semconv.GEN_AI_TOOL_NAME]: tool.name,
      [semconv.GEN_AI_TOOL_TYPE]: "function",
      // The id that the agent and the provider use
      [semconv.GEN_AI_TOOL_CALL_ID]: tool.givenId ?? tool.callId,
      [semconv.OPENHOOK_SPAN_KIND]: "tool_call",
      [semconv.OPENHOOK_TOOL_STATUS]: tool.status,
      [semconv.OPENHOOK_TOOL_EXECUTION]: tool.executionMs ?? tool.native?.executionMs,
      [semconv.MCP_METHOD_NAME]: mcpServerOf(tool) === undefined ? undefined : "tools/call",
      [semconv.OPENHOOK_MCP_SERVER]: mcpServerOf(tool),
      [semconv.GEN_AI_SKILL_NAME]: tool.skill,
      [semconv.PROCESS_EXECUTABLE_NAME]: tool.executable,
      [semconv.OPENHOOK_TOOL_SUBCOMMAND]: tool.subcommand,
      [semconv.PROCESS_EXIT_CODE]: tool.exitCode,
      [semconv.OPENHOOK_LINES_ADDED]: tool.linesAdded,
      [semconv.OPENHOOK_LINES_REMOVED]: tool.linesRemoved,
    },
  });
}

const hasTokens = ({ input, output }: Totals): boolean => input !== undefined || output !== undefined;
