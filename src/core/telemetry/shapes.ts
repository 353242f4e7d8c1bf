import type { MetricShape } from "../model/telemetry.ts";
import { SELF_SHAPES } from "./self.ts";

const DURATION_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/**
 * The convention's bounds end at 409.6 s. Turns of coding agents last longer, so the bounds continue, each twice the previous
 * one.
 */
const TURN_BOUNDS = [
  0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1638.4, 3276.8, 6553.6,
];
const SESSION_BOUNDS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400];
const TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
/** Around the sizes of context windows. */
const CONTEXT_BOUNDS = [8_000, 16_000, 32_000, 64_000, 100_000, 128_000, 160_000, 200_000, 300_000, 400_000, 1_000_000];
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
const gauge = (name: string, unit: string, description: string): MetricShape => ({
  name,
  unit,
  description,
  type: "gauge",
  value: "double",
});
const histogram = (
  name: string,
  unit: string,
  description: string,
  bounds: readonly number[],
  value: MetricShape["value"] = "double",
): MetricShape => ({ name, unit, description, type: "histogram", value, bounds });

export const SHAPES = {
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
    "Duration of model calls, from request to last record of the answer",
    DURATION_BOUNDS,
  ),
  invokeAgentDuration: histogram(
    "gen_ai.invoke_agent.duration",
    "s",
    "Duration of turns and subagents, from prompt to last answer",
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
    "Duration of tool calls that ran",
    DURATION_BOUNDS,
  ),
  sessions: counter("openhook.session.count", "{session}", "Ended session segments"),
  sessionDuration: histogram(
    "openhook.session.duration",
    "s",
    "Duration of session segments, idle time included",
    SESSION_BOUNDS,
  ),
  turns: counter("openhook.turn.count", "{turn}", "Turns, by origin and outcome"),
  subagents: counter("openhook.subagent.count", "{subagent}", "Subagents started"),
  modelCalls: counter("openhook.model.call.count", "{call}", "Answered model calls"),
  modelErrors: counter("openhook.model.error.count", "{error}", "Failed model calls, retried ones included"),
  toolCalls: counter("openhook.tool.call.count", "{call}", "Tool calls by tool and status"),
  tokens: counter(
    "openhook.token.usage",
    "{token}",
    "Tokens by kind: input and output are totals, the others are parts of them",
  ),
  cost: counter("openhook.cost.usage", "USD", "List price of model calls with a known price", "nano"),
  unpricedCalls: counter(
    "openhook.cost.unpriced.count",
    "{call}",
    "Model calls whose cost is unknown or a lower bound",
  ),
  incompleteCalls: counter(
    "openhook.usage.incomplete.count",
    "{call}",
    "Model calls whose output count is a lower bound",
  ),
  lines: counter("openhook.code.lines", "{line}", "Lines added and removed by edits"),
  cacheMisses: counter(
    "openhook.cache.miss.tokens",
    "{token}",
    "Input tokens that the provider could not read from its cache, by the reason that it gave",
  ),
  contextTokens: histogram(
    "openhook.context.tokens",
    "{token}",
    "Size of the conversation's context at each model call",
    CONTEXT_BOUNDS,
    "int",
  ),
  compactions: counter("openhook.compaction.count", "{compaction}", "Context compactions"),
  versionTurns: counter("openhook.version.turn.count", "{turn}", "Turns by the agent's version"),
  versionCost: counter(
    "openhook.version.cost.usage",
    "USD",
    "List price of model calls by the agent's version",
    "nano",
  ),
  versionTokens: counter(
    "openhook.version.token.usage",
    "{token}",
    "Input of calls that report cache reads, and the part that was read, by the agent's version",
  ),
  versionTools: counter(
    "openhook.version.tool.call.count",
    "{call}",
    "Tool calls that ran, by status and the agent's version",
  ),
  commits: counter("openhook.commit.count", "{commit}", "Commits that sessions led to, by certainty"),
  commitFates: counter(
    "openhook.commit.fate.count",
    "{commit}",
    "Commits that were merged, reverted or lost: each at most once per fate",
  ),
  commitLines: counter(
    "openhook.commit.lines",
    "{line}",
    "Lines of merged commits: kept, reworked or reverted 1, 7 and 30 days later",
  ),
  changes: counter("openhook.change.count", "{change}", "Pull requests, issues, tickets and branches of sessions"),
  mergedChanges: counter(
    "openhook.change.merged.count",
    "{change}",
    "Branches, with or without a pull request, of which git has all known commits on the default branch",
  ),
  firstToken: histogram(
    "openhook.native.time_to_first_chunk",
    "s",
    "Time from a request to the first part of the answer, as the agent measured it",
    DURATION_BOUNDS,
  ),
  permissionWait: histogram(
    "openhook.permission.wait",
    "s",
    "How long tool calls waited for permission, as the agent measured it, by decision and who decided",
    TURN_BOUNDS,
  ),
  retries: counter(
    "openhook.native.retry.count",
    "{request}",
    "Requests that agents sent again for the same model call",
  ),
  refusals: counter("openhook.native.refusal.count", "{call}", "Model calls that the model refused to answer"),
  reportedCost: counter(
    "openhook.reported.cost",
    "USD",
    "Cost of model calls as agents report it themselves; never part of other sums",
    "nano",
  ),
  unjoined: counter(
    "openhook.native.unjoined.count",
    "{record}",
    "Records of agents' own telemetry that belong to no known part of a session",
  ),
  rateLimitUsage: gauge("openhook.rate_limit.usage", "1", "Used share of a subscription's limit, until its reset"),
  rateLimitReset: gauge("openhook.rate_limit.reset.time", "s", "Unix time at which a limit is reset"),
} as const;

/** The metrics by version of an agent. */
export const VERSION_METRICS: readonly string[] = [
  SHAPES.versionTurns,
  SHAPES.versionCost,
  SHAPES.versionTokens,
  SHAPES.versionTools,
].map(({ name }) => name);

/** Every metric this program sends, by name. */
export const METRIC_SHAPES: ReadonlyMap<string, MetricShape> = new Map(
  [...Object.values(SHAPES), ...SELF_SHAPES].map((shape) => [shape.name, shape]),
);
