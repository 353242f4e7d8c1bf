import * as semconv from "#core/telemetry/semconv.ts";
import type { PlainAttributes, ReceivedSpan, Receiver } from "../receiver/receiver.ts";
import { sums } from "./apis/api.ts";
import type { Served } from "./model-server.ts";
import type { Program } from "./programs/program.ts";
import type { Scenario } from "./scenarios.ts";
import type { ToolUse, Usage } from "./script.ts";

/** Usage as the model server served it, and as the backend received it: the two are equal. */
export interface UsageFacts {
  readonly sessions: number;
  /** Root spans, one per process. */
  readonly segments: number;
  /** How each turn ended, in order. */
  readonly turns: readonly string[];
  /** One line per model call, or per turn and subagent if calls have no usage: agent and figures. */
  readonly calls: readonly string[];
  /** One line per tool call: agent, tool name, status, id, skill, MCP server. */
  readonly tools: readonly string[];
  /** The tool that started each subagent. */
  readonly subagents: readonly string[];
  /** Sums of the calls above, from the root spans and from the counters. */
  readonly roots: Omit<Figures, "reasoning">;
  readonly counters: Figures & {
    readonly calls: number;
    readonly tools: Readonly<Record<string, number>>;
    /** Tokens by the reason that the provider gave. */
    readonly cacheMisses: Readonly<Record<string, number>>;
  };
  /** Must be empty: spans whose parent never arrived, duplicated spans. */
  readonly strays: readonly string[];
}

type Figures = ReturnType<typeof sums>;

/** Usage that the model server served, limited to what the agent can record. */
export function servedUsage(served: readonly Served[], scenario: Scenario, program: Program): UsageFacts {
  const { api, reportsLess } = program;
  const isRunLost = reportsLess?.usageOfKilledRuns === true && scenario.steps.some(({ killed }) => killed);
  const parts = reportsLess?.usageOfCalls ? runsOf(served) : served.map((call) => [call]);
  const calls = parts.map((part) => {
    const isKilled = part.some((call) => call.tools.some(({ status }) => status === "unfinished"));
    const isLost = isRunLost || (isKilled && reportsLess?.usageOfKilledCalls);
    const figures = isLost ? undefined : sumOf(part.map(({ usage }) => figuresOf(usage, program)));
    return { caller: part[0]?.caller ?? "main", figures, counted: isLost ? 0 : part.length };
  });
  const tools = served.flatMap(({ caller, tools: uses }) => uses.map((use) => ({ caller, ...use })));
  const sum = sumOf(calls.flatMap(({ figures }) => figures ?? []));
  const { reasoning: _, ...sumOnRoots } = sum;
  const lastTurn = scenario.lastTurn === "failed" && reportsLess?.failedTurns ? "unfinished" : scenario.lastTurn;
  return {
    sessions: 1,
    segments: scenario.steps.length,
    turns: [...scenario.steps.slice(1).map(() => "ended"), lastTurn ?? "ended"],
    calls: calls.map(({ caller, figures }) => callLine(caller, figures, program)).sort(),
    tools: tools
      .map(({ caller, status, id, ...use }) =>
        toolLine(caller, nameOf(use), status, api.callIdPrefix && id, use.skill, use.mcpServer),
      )
      .sort(),
    subagents: tools.filter(({ startsSubagent }) => startsSubagent).map(nameOf),
    roots: sumOnRoots,
    counters: {
      ...sum,
      calls: countedCalls(calls, program),
      tools: countsOf(tools.map(({ status }) => status)),
      cacheMisses: api.reports.cacheMisses && !isRunLost ? missesOf(served) : {},
    },
    strays: [],
  };
}

/** Of a run without usage of its calls, an agent reports how many there were, or not even that. */
function countedCalls(parts: readonly { readonly counted: number }[], { reportsLess }: Program): number {
  if (reportsLess?.usageOfCalls === undefined) return parts.length;
  return reportsLess.usageOfCalls === "number" ? parts.reduce((sum, { counted }) => sum + counted, 0) : 0;
}

/** Usage that the backend received. */
export function receivedUsage(receiver: Receiver, program: Program): UsageFacts {
  const { api, reportsLess } = program;
  const byId = receiver.spansById();
  const spans = [...byId.values()].sort((a, b) => Number(a.startNs - b.startNs));
  const ofKind = (kind: string): readonly ReceivedSpan[] =>
    spans.filter(({ attributes }) => attributes[semconv.OPENHOOK_SPAN_KIND] === kind);
  const parentOf = (span: ReceivedSpan): ReceivedSpan | undefined => byId.get(span.parentSpanId ?? "");
  const askerOf = (span: ReceivedSpan): Served["caller"] => {
    for (let at = parentOf(span); at !== undefined; at = parentOf(at)) {
      if (at.attributes[semconv.OPENHOOK_SPAN_KIND] === "subagent") return "sub";
    }
    return "main";
  };
  const roots = ofKind("session");
  return {
    sessions: new Set(spans.map(({ attributes }) => attributes[semconv.SESSION_ID])).size,
    segments: roots.length,
    turns: ofKind("turn").map(({ attributes }) => String(attributes[semconv.OPENHOOK_TURN_STATE])),
    calls: (reportsLess?.usageOfCalls
      ? [
          ...ofKind("turn").map((span) => callLine("main", usageOn(span.attributes), program)),
          ...ofKind("subagent").map((span) => callLine("sub", usageOn(span.attributes), program)),
        ]
      : ofKind("model_call").map((span) => callLine(askerOf(span), usageOn(span.attributes), program))
    ).sort(),
    tools: ofKind("tool_call")
      .map((span) => {
        const { [semconv.GEN_AI_TOOL_NAME]: name, [semconv.OPENHOOK_TOOL_STATUS]: status } = span.attributes;
        const id = api.callIdPrefix && span.attributes[semconv.GEN_AI_TOOL_CALL_ID];
        const { [semconv.GEN_AI_SKILL_NAME]: skill, [semconv.OPENHOOK_MCP_SERVER]: server } = span.attributes;
        return toolLine(askerOf(span), String(name), String(status), id, skill, server);
      })
      .sort(),
    subagents: ofKind("subagent").map((span) => String(parentOf(span)?.attributes[semconv.GEN_AI_TOOL_NAME])),
    roots: totalsOn(roots),
    counters: countersOf(receiver),
    strays: [
      ...spans.filter((span) => span.parentSpanId !== undefined && parentOf(span) === undefined),
      ...receiver.spans.filter((span) => byId.get(span.spanId) !== span),
    ].map(({ name, spanId }) => `${name} ${spanId}`),
  };
}

/** What `report --json` prints. */
interface Report {
  readonly total: Readonly<Record<string, number | null>>;
}

/** Usage in a report of everything in the store; what it shows as unknown is 0 here. */
export function reportedUsage({ total }: Report): Omit<UsageFacts["counters"], "cacheMisses"> {
  const of = (name: string): number => total[name] ?? 0;
  const tools = { error: of("tool_errors"), denied: of("tool_denied"), unfinished: of("tool_unfinished") };
  const success = of("tool_calls") - tools.error - tools.denied - tools.unfinished - of("tool_open");
  return {
    input: of("input"),
    output: of("output"),
    cacheRead: of("cache_read"),
    cacheWrite: of("cache_write"),
    reasoning: of("reasoning"),
    calls: of("model_calls"),
    tools: Object.fromEntries(Object.entries({ ...tools, success }).filter(([, number]) => number > 0)),
  };
}

// --- internal ---

/** The figures that this agent can record. */
function figuresOf(usage: Usage, { api, reportsLess }: Program): Figures {
  const all = sums(usage);
  return {
    ...all,
    cacheWrite: api.reports.cacheWrites ? all.cacheWrite : 0,
    reasoning: api.reports.reasoning && !reportsLess?.reasoning ? all.reasoning : 0,
  };
}

/** The calls of each turn, and those of the subagent. */
function runsOf(served: readonly Served[]): readonly (readonly Served[])[] {
  const [main, sub] = [
    served.filter(({ caller }) => caller === "main"),
    served.filter(({ caller }) => caller === "sub"),
  ];
  const turns: Served[][] = [];
  for (const [index, call] of main.entries()) {
    if (index === 0 || main[index - 1]?.tools.length === 0) turns.push([]);
    turns.at(-1)?.push(call);
  }
  return sub.length === 0 ? turns : [...turns, sub];
}

const total = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((n, item) => n + pick(item), 0);

const sumOf = (all: readonly Figures[]): Figures => ({
  input: total(all, (f) => f.input),
  output: total(all, (f) => f.output),
  cacheRead: total(all, (f) => f.cacheRead),
  cacheWrite: total(all, (f) => f.cacheWrite),
  reasoning: total(all, (f) => f.reasoning),
});

/** Only calls have a figure of reasoning. */
function callLine(caller: Served["caller"], figures: Figures | undefined, { reportsLess }: Program): string {
  if (figures === undefined) return `${caller}: no usage`;
  const { reasoning, ...others } = figures;
  return `${caller}: ${JSON.stringify(reportsLess?.usageOfCalls ? others : { ...others, reasoning })}`;
}

const toolLine = (
  caller: Served["caller"],
  name: string,
  status: string,
  id: unknown,
  skill: unknown,
  server: unknown,
): string => `${caller}: ${name} ${status} ${id ?? ""} ${skill ?? ""} ${server ?? ""}`;

const nameOf = ({ name, namespace }: Pick<ToolUse, "name" | "namespace">): string =>
  namespace === undefined ? name : `${namespace}.${name}`;

function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function missesOf(served: readonly Served[]): Readonly<Record<string, number>> {
  const tokens: Record<string, number> = {};
  for (const { miss } of served.map(({ usage }) => usage))
    if (miss !== undefined) tokens[miss.reason] = (tokens[miss.reason] ?? 0) + miss.tokens;
  return tokens;
}

const numberAt = (attributes: PlainAttributes, name: string): number => Number(attributes[name] ?? 0);

const usageOn = (attributes: PlainAttributes): Figures | undefined =>
  attributes[semconv.GEN_AI_USAGE_INPUT_TOKENS] === undefined
    ? undefined
    : {
        input: numberAt(attributes, semconv.GEN_AI_USAGE_INPUT_TOKENS),
        output: numberAt(attributes, semconv.GEN_AI_USAGE_OUTPUT_TOKENS),
        cacheRead: numberAt(attributes, semconv.GEN_AI_USAGE_CACHE_READ),
        cacheWrite: numberAt(attributes, semconv.GEN_AI_USAGE_CACHE_WRITE),
        reasoning: numberAt(attributes, semconv.GEN_AI_USAGE_REASONING),
      };

function totalsOn(roots: readonly ReceivedSpan[]): UsageFacts["roots"] {
  const sum = (name: string): number => total(roots, ({ attributes }) => numberAt(attributes, name));
  const { input, output, cacheRead, cacheWrite } = semconv.OPENHOOK_TOTAL;
  return { input: sum(input), output: sum(output), cacheRead: sum(cacheRead), cacheWrite: sum(cacheWrite) };
}

function countersOf(receiver: Receiver): UsageFacts["counters"] {
  const counted = (metric: string, attribute?: string): Readonly<Record<string, number>> => {
    const values: Record<string, number> = {};
    for (const { name, attributes, data } of receiver.latestPoints()) {
      if (name !== metric || data.kind !== "sum") continue;
      const key = attribute === undefined ? "all" : String(attributes[attribute]);
      values[key] = (values[key] ?? 0) + data.value;
    }
    return values;
  };
  const tokens = counted("openhook.token.usage", semconv.OPENHOOK_TOKEN_TYPE);
  return {
    input: tokens["input"] ?? 0,
    output: tokens["output"] ?? 0,
    cacheRead: tokens["cache_read"] ?? 0,
    cacheWrite: tokens["cache_write"] ?? 0,
    reasoning: tokens["reasoning"] ?? 0,
    calls: counted("openhook.model.call.count")["all"] ?? 0,
    tools: counted("openhook.tool.call.count", semconv.OPENHOOK_TOOL_STATUS),
    cacheMisses: counted("openhook.cache.miss.tokens", semconv.OPENHOOK_CACHE_MISS_CAUSE),
  };
}
