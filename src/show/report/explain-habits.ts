import type { Compaction, ToolCall } from "#core/model/session.ts";
import { isAside } from "#core/rules/calls.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { grouped } from "#kit/objects.ts";
import type { Database } from "#store/database.ts";
import { type PlacedCall, turnFinder, turnNumbers } from "./explain-money.ts";
import type { SessionView } from "./session-view.ts";

/** How the context of the main thread grew: input tokens of its calls, including cached ones. */
interface ContextGrowth {
  readonly points: readonly { readonly timeMs: number; readonly input: number; readonly turn: number }[];
  /** The largest step between consecutive calls, and what preceded the second one. */
  readonly largestStep?: { readonly tokens: number; readonly turn: number; readonly after: PlacedCall["cause"] };
  readonly compactions: number;
  /** Sizes around each compaction between two calls whose sizes are known. */
  readonly compacted: readonly { readonly timeMs: number; readonly before: number; readonly after: number }[];
  /** Tool results by the tokens that they added to the context, the largest first. Only those that a call read alone. */
  readonly largestResults: readonly ToolResultSize[];
}

interface ToolResultSize {
  readonly name: string;
  readonly mcpServer?: string;
  readonly turn: number;
  readonly startMs: number;
  /** By how much the input of the call that read it is larger than input and output of the call before. */
  readonly tokens: number;
}

/** The same tool, called with the same input. */
interface Repeat {
  readonly name: string;
  readonly calls: number;
  /** All calls together, including the first. */
  readonly totalMs: number;
}

interface ToolRecord {
  readonly name: string;
  readonly mcpServer?: string;
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  /** From start to end; parallel calls each count. */
  readonly totalMs: number;
  readonly errorTypes: Readonly<Record<string, number>>;
}

interface SlowCall {
  readonly kind: "model" | "tool";
  readonly name: string | undefined;
  readonly ms: number;
  /** The part before it ran; absent if the agent does not report how long it ran. */
  readonly heldMs?: number;
  readonly turn: number;
  readonly startMs: number;
}

export interface Habits {
  readonly context: ContextGrowth;
  /** Most time first. */
  readonly repeats: readonly Repeat[];
  /** Number of calls whose inputs can be compared. */
  readonly comparableCalls: number;
  /** Failed edits that were retried with the same tool, and how many retries succeeded. */
  readonly retriedEdits: { readonly failed: number; readonly worked: number };
  /** Most calls first. */
  readonly tools: readonly ToolRecord[];
  /** The longest first. */
  readonly slowest: readonly SlowCall[];
}

/** How many compactions a session had, and those of which the time is known. */
export interface Compactions {
  readonly count: number;
  readonly all: readonly Pick<Compaction, "timeMs" | "agentId">[];
}

/** Context growth, repeated calls, retried edits, failures and slow calls of a session. */
export function habitsOf(
  db: Database,
  view: SessionView,
  calls: readonly PlacedCall[],
  compactions: Compactions,
): Habits {
  const tools = view.toolCalls.map(({ tool }) => tool);
  const inputs = inputsOf(db, view);
  return {
    context: contextGrowth(calls, compactions),
    repeats: repeatsOf(tools, inputs),
    comparableCalls: tools.filter((tool) => inputs.has(tool.callId)).length,
    retriedEdits: retriedEdits(tools),
    tools: recordsOf(tools),
    slowest: slowestOf(view, calls),
  };
}

// --- internal ---

const MAX_SLOWEST = 5;
const MAX_RESULTS = 5;

function contextGrowth(calls: readonly PlacedCall[], { count, all }: Compactions): ContextGrowth {
  const main = all.filter(({ agentId }) => agentId === undefined);
  const points: (ContextGrowth["points"][number] & { readonly output: number | undefined })[] = [];
  let largestStep: ContextGrowth["largestStep"];
  const compacted: ContextGrowth["compacted"][number][] = [];
  const sizes: ToolResultSize[] = [];
  /** Absent after a call whose size is not known. */
  let before: (typeof points)[number] | undefined;
  for (const { call, turn, cause, results } of calls) {
    if (call.agentId !== undefined || isAside(call)) continue;
    const previous = before;
    before = undefined;
    const { input, output } = call.usage ?? {};
    if (call.covers !== undefined || input === undefined) continue;
    before = { timeMs: call.endMs, input, output, turn };
    points.push(before);
    if (previous === undefined) continue;
    const tokens = input - previous.input;
    if (tokens > (largestStep?.tokens ?? 0)) largestStep = { tokens, turn, after: cause };
    const between = main.find(({ timeMs }) => timeMs > previous.timeMs && timeMs <= call.endMs);
    if (between !== undefined) compacted.push({ timeMs: between.timeMs, before: previous.input, after: input });
    const [result, another] = results;
    const added = tokens - (previous.output ?? Number.NaN);
    // A prompt, or another result, would be counted with it
    if (result === undefined || another !== undefined || cause.kind !== "tool" || !(added > 0)) continue;
    const { name, mcpServer, startMs } = result;
    const size = { name, turn, startMs, tokens: added };
    sizes.push({ ...size, ...(mcpServer !== undefined && { mcpServer }) });
  }
  return {
    points,
    ...(largestStep !== undefined && { largestStep }),
    compactions: count,
    compacted,
    largestResults: sizes.sort((a, b) => b.tokens - a.tokens).slice(0, MAX_RESULTS),
  };
}

/** What to compare tool inputs by, per call: a digest, or the input itself if it is stored. */
function inputsOf(db: Database, { stored, toolCalls, openSpans }: SessionView): ReadonlyMap<string, string> {
  const inputs = new Map<string, string>();
  const isKept = toolCalls.some(({ tool }) => tool.inputDigest === undefined);
  const name = semconv.GEN_AI_TOOL_CALL_ARGUMENTS;
  // Few spans have one, and looking for its name takes less time than parsing all spans
  const kept = !isKept
    ? []
    : db
        .prepare(
          `SELECT json_extract(key, '$[3]') AS id, json_extract(record, '$.attributes."${name}"') AS input
           FROM spans WHERE session = ? AND instr(record, '"${name}"') > 0 AND input IS NOT NULL`,
        )
        .all(stored.id);
  for (const { id, input } of kept) inputs.set(String(id), String(input));
  for (const { name, record } of openSpans) {
    const input = record.attributes[semconv.GEN_AI_TOOL_CALL_ARGUMENTS];
    if (typeof input === "string") inputs.set(name, input);
  }
  for (const { tool } of toolCalls) if (tool.inputDigest !== undefined) inputs.set(tool.callId, tool.inputDigest);
  return inputs;
}

function repeatsOf(tools: readonly ToolCall[], inputs: ReadonlyMap<string, string>): readonly Repeat[] {
  const groups = new Map<string, { name: string; calls: number; totalMs: number }>();
  for (const { callId, name, startMs, endMs } of tools) {
    const input = inputs.get(callId);
    if (input === undefined) continue;
    const key = JSON.stringify([name, input]);
    const group = groups.get(key) ?? { name, calls: 0, totalMs: 0 };
    group.calls += 1;
    group.totalMs += Math.max(0, endMs - startMs);
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ calls }) => calls > 1)
    .sort((a, b) => b.totalMs - a.totalMs || b.calls - a.calls);
}

/** Names of editing tools, for agents that do not report changed lines. */
const EDITS = /edit|write|patch|replace|create_file|insert/i;

function retriedEdits(tools: readonly ToolCall[]): Habits["retriedEdits"] {
  const editing = new Set(tools.flatMap((t) => (t.linesAdded !== undefined || EDITS.test(t.name) ? [t.name] : [])));
  const last = new Map<string | undefined, ToolCall>();
  let [failed, worked] = [0, 0];
  for (const tool of [...tools].sort((a, b) => a.startMs - b.startMs)) {
    const before = last.get(tool.agentId);
    last.set(tool.agentId, tool);
    if (before?.status !== "error" || before.name !== tool.name || !editing.has(tool.name)) continue;
    failed += 1;
    if (tool.status === "success") worked += 1;
  }
  return { failed, worked };
}

function recordsOf(tools: readonly ToolCall[]): readonly ToolRecord[] {
  return [...grouped(tools, ({ name }) => name)]
    .map(([name, all]): ToolRecord => {
      const errorTypes = new Map<string, number>();
      for (const { status, errorType = "_OTHER" } of all) {
        if (status === "error") errorTypes.set(errorType, (errorTypes.get(errorType) ?? 0) + 1);
      }
      const mcpServer = all.find((tool) => tool.mcpServer !== undefined)?.mcpServer;
      return {
        name,
        ...(mcpServer !== undefined && { mcpServer }),
        calls: all.length,
        errors: all.filter(({ status }) => status === "error").length,
        denied: all.filter(({ status }) => status === "denied").length,
        unfinished: all.filter(({ status }) => status === "unfinished").length,
        totalMs: all.reduce((sum, { startMs, endMs }) => sum + Math.max(0, endMs - startMs), 0),
        errorTypes: Object.fromEntries(errorTypes),
      };
    })
    .sort((a, b) => b.calls - a.calls || b.totalMs - a.totalMs);
}

function slowestOf(view: SessionView, calls: readonly PlacedCall[]): readonly SlowCall[] {
  const turnOf = turnFinder(view, turnNumbers(view));
  const hosts = new Set(view.subagentList.flatMap(({ parentCallId }) => parentCallId ?? []));
  const ofModels = slowest(
    calls.filter(({ call }) => call.covers === undefined),
    ({ call }) => call,
  );
  const ofTools = slowest(
    // Without hosts, because the subagent's own calls are listed
    view.toolCalls.filter(({ tool }) => tool.spawnedAgentId === undefined && !hosts.has(tool.callId)),
    ({ tool }) => tool,
  );
  const all: SlowCall[] = [
    ...ofModels.map(({ call: { model, startMs, endMs }, turn }) => ({
      kind: "model" as const,
      name: model,
      ms: endMs - startMs,
      heldMs: 0,
      turn,
      startMs,
    })),
    ...ofTools.map(({ segment, tool: { name, startMs, endMs, executionMs } }) => ({
      kind: "tool" as const,
      name,
      ms: endMs - startMs,
      ...(executionMs !== undefined && { heldMs: Math.max(0, endMs - startMs - executionMs) }),
      turn: turnOf(segment, startMs),
      startMs,
    })),
  ];
  return all.sort((a, b) => b.ms - a.ms).slice(0, MAX_SLOWEST);
}

/** The slowest of some calls, without sorting all of them; of equal ones the first. */
function slowest<T>(calls: readonly T[], timesOf: (call: T) => { startMs: number; endMs: number }): readonly T[] {
  const msOf = (call: T): number => timesOf(call).endMs - timesOf(call).startMs;
  let found: readonly T[] = [];
  let leastMs = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    if (found.length === MAX_SLOWEST && msOf(call) <= leastMs) continue;
    found = [...found, call].sort((a, b) => msOf(b) - msOf(a)).slice(0, MAX_SLOWEST);
    leastMs = Math.min(...found.map(msOf));
  }
  return found;
}
