import type { Compaction, ModelCall, Segment, SessionFacts, Subagent, ToolCall, Turn } from "../model/session.ts";
import type { Attributes, AttributeValue, Counted, Increment, MetricShape } from "../model/telemetry.ts";
import type { TokenUsage } from "../model/transcript.ts";
import { costNanoUsd } from "./cost.ts";
import { SELF_SHAPES } from "./self.ts";
import * as semconv from "./semconv.ts";
import { mcpServerOf, toolErrorType } from "./spans.ts";

const DURATION_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** The convention's bounds end at 409.6 s; turns of coding agents last longer, so they go on by the same rule. */
const TURN_BOUNDS = [
  0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1638.4, 3276.8, 6553.6,
];
const SESSION_BOUNDS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400];
const TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const COUNT_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128];

const counter = (
  name: string,
  unit: string,
  description: string,
  value: MetricShape["value"] = "int",
): MetricShape => ({
  name,
  unit,
  description,
  type: "counter",
  value,
});
const histogram = (
  name: string,
  unit: string,
  description: string,
  bounds: readonly number[],
  value: MetricShape["value"] = "double",
): MetricShape => ({ name, unit, description, type: "histogram", value, bounds });

const SHAPES = {
  inputTokens: counter(
    "gen_ai.client.inference.usage.input_tokens",
    "{token}",
    "Input tokens of model calls, cached ones included",
  ),
  outputTokens: counter(
    "gen_ai.client.inference.usage.output_tokens",
    "{token}",
    "Output tokens of model calls, reasoning included",
  ),
  cacheReadTokens: counter(
    "gen_ai.client.inference.usage.cache_read.input_tokens",
    "{token}",
    "Input tokens read from a cache; part of the input tokens",
  ),
  cacheWriteTokens: counter(
    "gen_ai.client.inference.usage.cache_write.input_tokens",
    "{token}",
    "Input tokens written to a cache; part of the input tokens",
  ),
  reasoningTokens: counter(
    "gen_ai.client.inference.usage.reasoning.output_tokens",
    "{token}",
    "Output tokens spent on reasoning; part of the output tokens",
  ),
  operationInputTokens: histogram(
    "gen_ai.client.inference.operation.input_tokens",
    "{token}",
    "Input tokens per model call; not for totals",
    TOKEN_BOUNDS,
    "int",
  ),
  operationOutputTokens: histogram(
    "gen_ai.client.inference.operation.output_tokens",
    "{token}",
    "Output tokens per model call; not for totals",
    TOKEN_BOUNDS,
    "int",
  ),
  inferenceDuration: histogram(
    "gen_ai.client.inference.duration",
    "s",
    "Model calls, from the request to the last record of the answer",
    DURATION_BOUNDS,
  ),
  invokeAgentDuration: histogram(
    "gen_ai.invoke_agent.duration",
    "s",
    "Turns and subagents, from the prompt to the last word",
    TURN_BOUNDS,
  ),
  invokeAgentInferenceCalls: histogram(
    "gen_ai.invoke_agent.inference_calls",
    "{inference_call}",
    "Model calls per turn or subagent",
    COUNT_BOUNDS,
    "int",
  ),
  invokeAgentToolCalls: histogram(
    "gen_ai.invoke_agent.tool_calls",
    "{tool_call}",
    "Tool calls per turn or subagent",
    COUNT_BOUNDS,
    "int",
  ),
  executeToolDuration: histogram(
    "gen_ai.execute_tool.duration",
    "s",
    "Tool calls that ran, from start to end as the agent told them",
    DURATION_BOUNDS,
  ),
  sessions: counter("openhook.session.count", "{session}", "Session segments that ended"),
  sessionDuration: histogram(
    "openhook.session.duration",
    "s",
    "Session segments, from start to end, idle time included",
    SESSION_BOUNDS,
  ),
  turns: counter("openhook.turn.count", "{turn}", "Turns, by who asked and how they ended"),
  subagents: counter("openhook.subagent.count", "{subagent}", "Subagents that were started"),
  modelCalls: counter("openhook.model.call.count", "{call}", "Answered model calls"),
  modelErrors: counter("openhook.model.error.count", "{error}", "Failed model calls, those tried again included"),
  toolCalls: counter("openhook.tool.call.count", "{call}", "Tool calls by tool and status"),
  tokens: counter(
    "openhook.token.usage",
    "{token}",
    "Tokens by kind: input and output are totals, the others are parts of them",
  ),
  cost: counter("openhook.cost.usage", "USD", "List price of model calls whose price is known", "nano"),
  unpricedCalls: counter("openhook.cost.unpriced.count", "{call}", "Model calls whose price is not known"),
  incompleteCalls: counter(
    "openhook.usage.incomplete.count",
    "{call}",
    "Model calls whose output count is a lower bound",
  ),
  lines: counter("openhook.code.lines", "{line}", "Lines that edits added and removed"),
  compactions: counter("openhook.compaction.count", "{compaction}", "Times a context was shortened"),
} as const;

/** Every metric this program sends, by its name. */
export const METRIC_SHAPES: ReadonlyMap<string, MetricShape> = new Map(
  [...Object.values(SHAPES), ...SELF_SHAPES].map((shape) => [shape.name, shape]),
);

/** A turn or subagent that closed → what it and everything in it adds to the counters. */
export function runCounts(run: Turn | Subagent, facts: SessionFacts): readonly Counted[] {
  const isTurn = "origin" in run;
  const agent = isTurn ? facts.source : (run.agentType ?? "subagent");
  const errors = run.errors.map((error) =>
    step(SHAPES.modelErrors, 1, facts, {
      [semconv.GEN_AI_AGENT_NAME]: agent,
      [semconv.ERROR_TYPE]: error.errorType,
    }),
  );
  const own = isTurn && run.origin === "none" ? [] : runSteps(run, agent, facts);
  return [
    { key: keyOf(facts, isTurn ? "turn" : "subagent", run.key), increments: [...errors, ...own] },
    ...run.modelCalls.map((call) => modelCallCounts(call, facts)),
    ...run.toolCalls.map((tool) => toolCallCounts(tool, agent, facts)),
  ];
}

/** What a fuller record of a call that was counted already adds: tokens and cost only, and only the difference. */
export function modelCallRevision(before: ModelCall, after: ModelCall, facts: SessionFacts): Counted {
  const grows = new Set<string>([...TOKEN_SHAPES.map((shape) => shape.name), SHAPES.tokens.name, SHAPES.cost.name]);
  const was = modelCallCounts(before, facts).increments;
  const identity = ({ metric, attributes }: Increment): string =>
    JSON.stringify([metric, Object.entries(attributes).sort()]);
  const amountBefore = new Map(was.map((step) => [identity(step), step.amount]));
  const increments = modelCallCounts(after, facts)
    .increments.filter((step) => grows.has(step.metric))
    .map((step) => ({ ...step, amount: step.amount - (amountBefore.get(identity(step)) ?? 0) }))
    .filter((step) => step.amount > 0);
  const usage = after.usage;
  return {
    key: keyOf(facts, "model_call", `${after.key}#${usage?.input ?? 0}/${usage?.output ?? 0}`),
    increments,
  };
}

/** An ended segment → one session more. */
export function segmentCounts(segment: Segment, facts: SessionFacts): Counted {
  const durationMs = (segment.endMs ?? segment.lastActivityMs) - segment.startMs;
  const reason = { [semconv.OPENHOOK_END_REASON]: segment.reason };
  return {
    key: keyOf(facts, "session", String(segment.ordinal)),
    increments: [
      step(SHAPES.sessions, 1, facts, { ...reason, ...repository(facts) }),
      step(SHAPES.sessionDuration, Math.max(0, durationMs) / 1000, facts, reason),
    ],
  };
}

/** A compaction → one more. */
export const compactionCounts = (compaction: Compaction, facts: SessionFacts): Counted => ({
  key: keyOf(facts, "compaction", compaction.key),
  increments: [step(SHAPES.compactions, 1, facts, {})],
});

// --- internal ---

function runSteps(run: Turn | Subagent, agent: string, facts: SessionFacts): readonly Increment[] {
  const isTurn = "origin" in run;
  const errorType = isTurn ? run.errorType : run.errors.findLast((e) => e.final)?.errorType;
  const name = { [semconv.GEN_AI_AGENT_NAME]: agent };
  return [
    step(SHAPES.invokeAgentDuration, seconds(run), facts, {
      [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent",
      ...name,
      [semconv.ERROR_TYPE]: errorType,
    }),
    // Where usage is told per turn alone, nobody knows how many calls that were
    ...(run.modelCalls.some((call) => call.covers !== undefined)
      ? []
      : [step(SHAPES.invokeAgentInferenceCalls, run.modelCalls.length, facts, name)]),
    step(SHAPES.invokeAgentToolCalls, run.toolCalls.length, facts, name),
    isTurn
      ? step(SHAPES.turns, 1, facts, {
          ...name,
          [semconv.OPENHOOK_TURN_ORIGIN]: run.origin,
          [semconv.OPENHOOK_TURN_STATE]: run.state,
          ...repository(facts),
        })
      : step(SHAPES.subagents, 1, facts, name),
  ];
}

function modelCallCounts(call: ModelCall, facts: SessionFacts): Counted {
  const { usage } = call;
  const conventional = {
    [semconv.GEN_AI_OPERATION_NAME]: "chat",
    [semconv.GEN_AI_PROVIDER_NAME]: call.provider ?? facts.provider,
    [semconv.GEN_AI_REQUEST_MODEL]: call.requestedModel ?? call.model,
    [semconv.GEN_AI_RESPONSE_MODEL]: call.model,
  };
  const ours = {
    [semconv.GEN_AI_REQUEST_MODEL]: call.requestedModel ?? call.model,
    [semconv.OPENHOOK_SUBAGENT]: call.agentId !== undefined,
    ...repository(facts),
  };
  const cost = costNanoUsd(call, facts.provider);
  const tokens = TOKEN_KINDS.flatMap(([shape, type, pick]) => {
    const amount = usage === undefined ? undefined : pick(usage);
    return amount === undefined
      ? []
      : [
          step(shape, amount, facts, { ...conventional, [semconv.GEN_AI_TOKEN_MODALITY]: "text" }),
          step(SHAPES.tokens, amount, facts, { ...ours, [semconv.OPENHOOK_TOKEN_TYPE]: type }),
        ];
  });
  return {
    key: keyOf(facts, "model_call", call.key),
    increments: [
      ...tokens,
      ...(call.covers === undefined ? perCall(call, facts, ours, conventional) : []),
      cost === undefined
        ? step(SHAPES.unpricedCalls, 1, facts, ours)
        : step(SHAPES.cost, cost, facts, { ...ours, [semconv.OPENHOOK_COST_SOURCE]: "price_table" }),
      ...(call.complete ? [] : [step(SHAPES.incompleteCalls, 1, facts, ours)]),
    ],
  };
}

/** What only the usage of one single call can tell. */
function perCall(call: ModelCall, facts: SessionFacts, ours: Named, conventional: Named): readonly Increment[] {
  const { usage } = call;
  return [
    step(SHAPES.modelCalls, 1, facts, ours),
    ...(usage === undefined
      ? []
      : [
          step(SHAPES.operationInputTokens, usage.input, facts, conventional),
          step(SHAPES.operationOutputTokens, usage.output, facts, conventional),
        ]),
    step(SHAPES.inferenceDuration, seconds(call), facts, conventional),
  ];
}

type Named = Readonly<Record<string, AttributeValue | undefined>>;

const TOKEN_KINDS: readonly (readonly [MetricShape, string, (usage: TokenUsage) => number | undefined])[] = [
  [SHAPES.inputTokens, "input", (u) => u.input],
  [SHAPES.outputTokens, "output", (u) => u.output],
  [SHAPES.cacheReadTokens, "cache_read", (u) => u.cacheRead],
  [SHAPES.cacheWriteTokens, "cache_write", (u) => u.cacheWrite],
  [SHAPES.reasoningTokens, "reasoning", (u) => u.reasoning],
];
const TOKEN_SHAPES: readonly MetricShape[] = TOKEN_KINDS.map(([shape]) => shape);

function toolCallCounts(tool: ToolCall, agent: string, facts: SessionFacts): Counted {
  const line = (change: string, amount: number | undefined): Increment[] =>
    amount === undefined || amount === 0
      ? []
      : [step(SHAPES.lines, amount, facts, { [semconv.OPENHOOK_LINE_CHANGE]: change, ...repository(facts) })];
  const ran = tool.status === "success" || tool.status === "error";
  return {
    key: keyOf(facts, "tool_call", tool.callId),
    increments: [
      step(SHAPES.toolCalls, 1, facts, {
        [semconv.GEN_AI_TOOL_NAME]: tool.name,
        [semconv.OPENHOOK_MCP_SERVER]: mcpServerOf(tool),
        [semconv.OPENHOOK_TOOL_STATUS]: tool.status,
      }),
      ...(ran
        ? [
            step(SHAPES.executeToolDuration, seconds(tool), facts, {
              [semconv.GEN_AI_TOOL_NAME]: tool.name,
              [semconv.GEN_AI_AGENT_NAME]: agent,
              [semconv.GEN_AI_TOOL_TYPE]: "function",
              [semconv.OPENHOOK_MCP_SERVER]: mcpServerOf(tool),
              [semconv.ERROR_TYPE]: toolErrorType(tool),
            }),
          ]
        : []),
      ...line("added", tool.linesAdded),
      ...line("removed", tool.linesRemoved),
    ],
  };
}

function step(shape: MetricShape, amount: number, facts: SessionFacts, attributes: Named): Increment {
  return {
    metric: shape.name,
    amount,
    attributes: Object.fromEntries(Object.entries(attributes).filter(([, v]) => v !== undefined)) as Attributes,
    resource: { [semconv.SERVICE_NAME]: facts.source },
  };
}

const repository = ({ repository: repo }: SessionFacts): Readonly<Record<string, AttributeValue | undefined>> => ({
  [semconv.VCS_REPOSITORY_NAME]: repo?.name,
});

const seconds = ({ startMs, endMs }: { startMs: number; endMs: number }): number => Math.max(0, endMs - startMs) / 1000;

const keyOf = (facts: SessionFacts, subject: string, key: string): string =>
  JSON.stringify([facts.source, facts.sessionId, subject, key]);
