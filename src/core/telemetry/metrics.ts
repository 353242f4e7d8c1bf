import type { ModelCall, PricedCall } from "../model/model-call.ts";
import type { Compaction, Segment, SessionFacts, Subagent, ToolCall, Turn } from "../model/session.ts";
import type { Attributes, AttributeValue, Counted, Increment, MetricShape } from "../model/telemetry.ts";
import { TOKEN_NAMES, type TokenKind } from "../model/token-kinds.ts";
import { reportedMiss } from "../rules/cache-miss.ts";
import { callCountOf, callsIn, isAside } from "../rules/calls.ts";
import { isContinuation } from "../rules/segments.ts";
import { callPrice, costSource } from "./cost.ts";
import { providerOf } from "./provider.ts";
import * as semconv from "./semconv.ts";
import { METRIC_SHAPES, SHAPES } from "./shapes.ts";
import { mcpServerOf, toolErrorType } from "./spans.ts";

/** What a closed turn or subagent, with everything in it, adds to the counters. */
export const runCounts = (run: Turn | Subagent, facts: SessionFacts): readonly Counted[] => [
  ...eachRunCount(run, facts),
];

/** `runCounts` as a generator, because all counts of a large turn take more memory than the turn itself. */
export function* eachRunCount(run: Turn | Subagent, facts: SessionFacts): Generator<Counted> {
  const isTurn = "origin" in run;
  const agent = agentOf(run, facts);
  const errors = run.errors.map((error) =>
    step(SHAPES.modelErrors, 1, facts, {
      [semconv.GEN_AI_AGENT_NAME]: agent,
      [semconv.ERROR_TYPE]: error.errorType,
    }),
  );
  // A late part is neither a turn nor a run of a subagent: that was counted when its span was exported
  const isRun = run.exportedKey === undefined && !run.isLate && !(isTurn && run.origin === "none");
  const own = isRun ? runSteps(run, agent, facts) : [];
  yield { key: runCountKey(facts, isTurn ? "turn" : "subagent", run.key), increments: [...errors, ...own] };
  yield* eachCallCount(run, facts);
}

/** What the calls of a run add to the counters, without the run itself. */
export function* eachCallCount(run: Turn | Subagent, facts: SessionFacts): Generator<Counted> {
  const agent = agentOf(run, facts);
  for (const call of run.modelCalls) {
    yield modelCallCounts({ call, ...callPrice(call, facts.provider) }, facts);
  }
  for (const tool of run.toolCalls) yield toolCallCounts(tool, agent, facts);
}

/** The key under which a run is counted. */
export const runCountKey = (facts: SessionFacts, kind: "turn" | "subagent", key: string): string =>
  keyOf(facts, kind, key);

/**
 * The difference that a more complete record of an already counted call makes: negative for counts that are now lower, e.g. of
 * calls without a known price or end. Values in histograms stay.
 */
export function modelCallRevision(before: PricedCall, after: PricedCall, facts: SessionFacts): Counted {
  const steps = new Map<string, Increment>();
  const addIncrements = (sign: 1 | -1) => (step: Increment) => {
    if (METRIC_SHAPES.get(step.metric)?.type !== "counter") return;
    const identity = JSON.stringify([step.metric, Object.entries(step.attributes).sort()]);
    steps.set(identity, { ...step, amount: (steps.get(identity)?.amount ?? 0) + sign * step.amount });
  };
  modelCallCounts(after, facts).increments.forEach(addIncrements(1));
  modelCallCounts(before, facts).increments.forEach(addIncrements(-1));
  const { key, usage, complete, model } = after.call;
  const changed = [
    usage ?? null,
    complete,
    ...(model === before.call.model ? [] : [model]),
    ...(after.call.cacheMiss === undefined ? [] : [after.call.cacheMiss]),
    // The same call, whose price was learnt
    ...(after.call === before.call ? ["price", after.costNanoUsd ?? null, after.noPrice ?? null] : []),
  ];
  return {
    key: keyOf(facts, "model_call", `${key}#${JSON.stringify(changed)}`),
    increments: [...steps.values()].filter(({ amount }) => amount !== 0),
  };
}

/** What an ended segment adds: one session, unless it has only what became known of another one. */
export function segmentCounts(segment: Segment, facts: SessionFacts): Counted {
  if (isContinuation(segment)) return { key: keyOf(facts, "session", String(segment.ordinal)), increments: [] };
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

/** What a compaction adds: one. */
export const compactionCounts = (compaction: Compaction, facts: SessionFacts): Counted => ({
  key: keyOf(facts, "compaction", compaction.key),
  increments: [step(SHAPES.compactions, 1, facts, {})],
});

// --- internal ---

const agentOf = (run: Turn | Subagent, facts: SessionFacts): string =>
  "origin" in run ? facts.source : (run.agentType ?? "subagent");

function runSteps(run: Turn | Subagent, agent: string, facts: SessionFacts): readonly Increment[] {
  const isTurn = "origin" in run;
  const errorType = isTurn ? run.errorType : run.errors.findLast((e) => e.final)?.errorType;
  const name = { [semconv.GEN_AI_AGENT_NAME]: agent };
  const calls = callCountOf(run);
  return [
    step(SHAPES.invokeAgentDuration, seconds(run), facts, {
      [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent",
      ...name,
      [semconv.ERROR_TYPE]: errorType,
    }),
    ...(calls === undefined ? [] : [step(SHAPES.invokeAgentInferenceCalls, calls, facts, name)]),
    step(SHAPES.invokeAgentToolCalls, run.toolCalls.length + (run.settled?.toolCalls ?? 0), facts, name),
    ...(isTurn
      ? [
          step(SHAPES.turns, 1, facts, {
            ...name,
            [semconv.OPENHOOK_TURN_ORIGIN]: run.origin,
            [semconv.OPENHOOK_TURN_STATE]: run.state,
            ...repository(facts),
          }),
          ...ofVersion(SHAPES.versionTurns, 1, facts),
        ]
      : // Continuations of a turn are not turns
        run.key === run.agentId
        ? [step(SHAPES.subagents, 1, facts, name)]
        : []),
  ];
}

function modelCallCounts({ call, costNanoUsd: cost, noPrice }: PricedCall, facts: SessionFacts): Counted {
  const { usage } = call;
  const known = callsIn(call);
  const calls = known ?? 1;
  const conventional = {
    [semconv.GEN_AI_OPERATION_NAME]: "chat",
    [semconv.GEN_AI_PROVIDER_NAME]: providerOf(call, facts.provider),
    [semconv.GEN_AI_REQUEST_MODEL]: call.requestedModel ?? call.model,
    [semconv.GEN_AI_RESPONSE_MODEL]: call.model,
  };
  const ours = {
    [semconv.GEN_AI_REQUEST_MODEL]: call.requestedModel ?? call.model,
    [semconv.OPENHOOK_SUBAGENT]: call.agentId !== undefined,
    ...repository(facts),
  };
  const tokens = COUNTED.flatMap(([shape, kind]) => {
    const amount = usage?.[kind];
    return amount === undefined
      ? []
      : [
          step(shape, amount, facts, { ...conventional, [semconv.GEN_AI_TOKEN_MODALITY]: "text" }),
          step(SHAPES.tokens, amount, facts, { ...ours, [semconv.OPENHOOK_TOKEN_TYPE]: TOKEN_NAMES[kind] }),
        ];
  });
  return {
    key: keyOf(facts, "model_call", call.key),
    increments: [
      ...tokens,
      ...(known === undefined ? [] : [step(SHAPES.modelCalls, known, facts, ours)]),
      ...(call.covers === undefined ? perCall(call, facts, conventional) : []),
      ...contextCounts(call, facts, ours),
      ...(cost === undefined || noPrice !== undefined ? [step(SHAPES.unpricedCalls, calls, facts, ours)] : []),
      ...(cost === undefined
        ? []
        : [
            step(SHAPES.cost, cost, facts, {
              ...ours,
              [semconv.OPENHOOK_COST_SOURCE]: costSource(call.model ?? "").kind,
            }),
            ...ofVersion(SHAPES.versionCost, cost, facts),
          ]),
      ...cacheShare(call, facts),
      ...(call.complete ? [] : [step(SHAPES.incompleteCalls, calls, facts, ours)]),
    ],
  };
}

/** Metrics that need the usage of single calls. */
function perCall(call: ModelCall, facts: SessionFacts, conventional: Named): readonly Increment[] {
  const { usage } = call;
  const known = (shape: MetricShape, tokens: number | undefined): readonly Increment[] =>
    tokens === undefined ? [] : [step(shape, tokens, facts, conventional)];
  return [
    ...known(SHAPES.operationInputTokens, usage?.input),
    ...known(SHAPES.operationOutputTokens, usage?.output),
    step(SHAPES.inferenceDuration, seconds(call), facts, conventional),
  ];
}

/** The size of the context, and what of it the provider could not read from its cache. */
function contextCounts(call: ModelCall, facts: SessionFacts, ours: Named): readonly Increment[] {
  const input = call.covers === undefined && !isAside(call) ? call.usage?.input : undefined;
  const miss = reportedMiss(call);
  return [
    ...(input === undefined ? [] : [step(SHAPES.contextTokens, input, facts, ours)]),
    ...(miss === undefined
      ? []
      : [step(SHAPES.cacheMisses, miss.tokens, facts, { ...ours, [semconv.OPENHOOK_CACHE_MISS_CAUSE]: miss.reason })]),
  ];
}

/** Input that may have been cached without a report is left out of the share. */
function cacheShare({ usage }: ModelCall, facts: SessionFacts): readonly Increment[] {
  if (usage?.input === undefined || usage.cacheRead === undefined) return [];
  return (["input", "cacheRead"] as const).flatMap((kind) =>
    ofVersion(SHAPES.versionTokens, usage[kind] ?? 0, facts, { [semconv.OPENHOOK_TOKEN_TYPE]: TOKEN_NAMES[kind] }),
  );
}

/**
 * The few sums by version. Other metrics have no version: agents release one nearly every day, and each would be another series of
 * every model, tool and repository. Nothing if the version is not known.
 */
const ofVersion = (shape: MetricShape, amount: number, facts: SessionFacts, more: Named = {}): readonly Increment[] =>
  facts.agentVersion === undefined
    ? []
    : [step(shape, amount, facts, { [semconv.OPENHOOK_SOURCE_VERSION]: facts.agentVersion, ...more })];

type Named = Readonly<Record<string, AttributeValue | undefined>>;

/** Cache writes by lifetime have no counters: they are parts of another part. */
const COUNTED: readonly (readonly [MetricShape, TokenKind])[] = [
  [SHAPES.inputTokens, "input"],
  [SHAPES.outputTokens, "output"],
  [SHAPES.cacheReadTokens, "cacheRead"],
  [SHAPES.cacheWriteTokens, "cacheWrite"],
  [SHAPES.reasoningTokens, "reasoning"],
];

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
        [semconv.GEN_AI_SKILL_NAME]: tool.skill,
        [semconv.OPENHOOK_TOOL_STATUS]: tool.status,
      }),
      ...(ran
        ? [
            ...ofVersion(SHAPES.versionTools, 1, facts, { [semconv.OPENHOOK_TOOL_STATUS]: tool.status }),
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
