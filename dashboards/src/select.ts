import { either, raw } from "./promql.ts";
import { type Matched, matching } from "./variables.ts";

type Part = Parameters<typeof either>[1];
type Names = readonly Matched[];

/** Selectors with a dashboard's variables. @param more another matcher, e.g. `foo="bar"` */
export const of = {
  sessions: (more = ""): string => chosen("openhook.session.count", ["agent", "environment", "repository"], more),
  sessionTurns: (more = ""): string => chosen("openhook.turn.count", ["agent", "environment", "repository"], more),
  subagents: (more = ""): string => chosen("openhook.subagent.count", ["agent", "environment"], more),
  modelCalls: (more = ""): string => chosen("openhook.model.call.count", MODEL, more),
  /** Over all models and repositories, like the failed calls. */
  modelCallsOfAgents: (more = ""): string => chosen("openhook.model.call.count", ["agent", "environment"], more),
  modelErrors: (more = ""): string => chosen("openhook.model.error.count", ["agent", "environment"], more),
  tokens: (type: string, more = ""): string =>
    chosen("openhook.token.usage", MODEL, also(`openhook_token_type="${type}"`, more)),
  cost: (more = ""): string => chosen("openhook.cost.usage", MODEL, more),
  /** Over all repositories, like what agents report themselves. */
  costOfModels: (): string => chosen("openhook.cost.usage", ["agent", "environment", "model"], ""),
  reportedCost: (): string => chosen("openhook.reported.cost", ["agent", "environment", "model"], ""),
  unpriced: (more = ""): string => chosen("openhook.cost.unpriced.count", MODEL, more),
  tools: (more = ""): string => chosen("openhook.tool.call.count", TOOL, more),
  toolDuration: (part: Part, more = ""): string => chosen("gen_ai.execute_tool.duration", TOOL, more, part),
  turnDuration: (part: Part, more = ""): string =>
    chosen("gen_ai.invoke_agent.duration", ["agent", "environment"], more, part),
  modelDuration: (part: Part, more = ""): string =>
    chosen("gen_ai.client.inference.duration", ["agent", "environment"], more, part),
  firstToken: (part: Part): string => chosen("openhook.native.time_to_first_chunk", ["agent", "environment"], "", part),
  retries: (): string => chosen("openhook.native.retry.count", ["agent", "environment"], ""),
  refusals: (): string => chosen("openhook.native.refusal.count", ["agent", "environment"], ""),
  permissionWait: (part: Part, more = ""): string => chosen("openhook.permission.wait", TOOL, more, part),
  lines: (more = ""): string => chosen("openhook.code.lines", ["agent", "environment", "repository"], more),
  cacheMisses: (more = ""): string => chosen("openhook.cache.miss.tokens", MODEL, more),
  context: (part: Part, more = ""): string => chosen("openhook.context.tokens", MODEL, more, part),
  compactions: (more = ""): string => chosen("openhook.compaction.count", ["agent", "environment"], more),
  /** The program's own metrics, by machine. @param metric without `openhook.collector.` */
  self: (metric: string, more = "", part: Part = ""): string =>
    `${raw(`openhook.collector.${metric}`, part)}{${also(matching("environment", "machine"), more)}}`,
  /** Gauges of single machines, regardless of the variable `series`. */
  rateLimit: (metric: "usage" | "reset.time"): string =>
    `${raw(`openhook.rate_limit.${metric}`)}{${matching("agent", "environment")}}`,
  /** Turns by machine, regardless of the variable `series`: the recorded sums have no users. */
  turnsOfMachines: (more = ""): string =>
    `${raw("openhook.turn.count")}{${also(matching("agent", "environment", "repository"), more)}}`,
} as const;

// --- internal ---

const MODEL: Names = ["agent", "environment", "repository", "model"];
const TOOL: Names = ["agent", "environment", "tool"];

const also = (...matchers: readonly string[]): string => matchers.filter((matcher) => matcher !== "").join(", ");

const chosen = (metric: string, names: Names, more: string, part: Part = ""): string =>
  `${either(metric, part)}{${also(matching(...names), more)}}`;
