import type { CallSums } from "#core/model/model-call.ts";
import type { ToolCall } from "#core/model/session.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { mcpServerOf } from "#core/telemetry/spans.ts";
import { grouped } from "#kit/objects.ts";
import type { SessionView } from "./session-view.ts";
import { type NamedTool, namedTool } from "./usage-facts.ts";

type Call = SessionView["calls"][number];

/**
 * What preceded a model call in its thread: a prompt, results of one tool, results of several tools, or nothing that was
 * reported.
 */
export type Cause =
  | { readonly kind: "prompt" | "several" | "other" }
  | { readonly kind: "tool"; readonly name: string; readonly mcpServer?: string };

/** A part of a session and its usage. */
export interface Share<T> {
  readonly part: T;
  readonly sums: CallSums;
}

export interface MoneySpent {
  readonly total: CallSums;
  /** By turn number, from 1; 0: outside any turn. */
  readonly turns: readonly Share<number>[];
  /** Model names, `undefined` for those without one; highest cost first, as in all following lists. */
  readonly models: readonly Share<string | undefined>[];
  /** The main thread, and each kind of subagent. */
  readonly threads: readonly Share<
    { readonly subagent: false } | { readonly subagent: true; readonly type?: string }
  >[];
  /**
   * By what preceded the calls. A call reads the whole conversation, so this is the cost at that moment, not the cost of the
   * tool's result alone, which is not reported.
   */
  readonly causes: readonly Share<Cause>[];
  /** Part of `causes`: calls after results of one MCP server only. */
  readonly mcpServers: readonly Share<string>[];
}

/** A model call with its turn and what preceded it. */
export interface PlacedCall extends Call {
  readonly turn: number;
  readonly cause: Cause;
  /** The tool calls whose results it is the first to read. */
  readonly results: readonly ToolCall[];
}

/** Usage by group. Each grouping adds up to the total, except MCP servers, which are a part of it. */
export function moneySpent(view: SessionView, calls: readonly PlacedCall[]): MoneySpent {
  const types = new Map(view.subagentList.map(({ agentId, agentType }) => [agentId, agentType]));
  const servers = calls.filter(({ cause }) => cause.kind === "tool" && cause.mcpServer !== undefined);
  return {
    total: sumOfCalls(calls),
    turns: [...shares(calls, ({ turn }) => turn)].sort((a, b) => a.part - b.part),
    models: byCost(shares(calls, ({ call }) => call.model)),
    threads: byCost(
      shares(calls, ({ call }) => {
        if (call.agentId === undefined) return { subagent: false as const };
        const type = types.get(call.agentId);
        return { subagent: true as const, ...(type !== undefined && { type }) };
      }),
    ),
    causes: byCost(shares(calls, ({ cause }) => cause)),
    mcpServers: byCost(shares(servers, ({ cause }) => (cause.kind === "tool" ? (cause.mcpServer ?? "") : ""))),
  };
}

/** Model calls by time, each with its turn and what preceded it. @param turns of each of the view's calls */
export function placedCalls(view: SessionView, turns: readonly number[]): readonly PlacedCall[] {
  const threads = new Map<string | undefined, PendingTools>();
  const toolsOf = grouped(
    view.toolCalls.map(({ tool }) => tool),
    ({ agentId }) => agentId,
  );
  return view.calls
    .map((placed, index) => ({ ...placed, turn: turns[index] ?? 0 }))
    .sort((a, b) => a.call.endMs - b.call.endMs || a.call.startMs - b.call.startMs)
    .map((placed) => {
      const { call, turn } = placed;
      const thread = threads.get(call.agentId) ?? new PendingTools(toolsOf.get(call.agentId) ?? []);
      threads.set(call.agentId, thread);
      return { ...placed, ...thread.before(call, turn) };
    });
}

/** What a call read the results of, if these are of one tool; of several skills or servers, none of them. */
export function readBy({ cause, results }: PlacedCall): NamedTool | undefined {
  const [first, ...others] = results.map(namedTool);
  if (cause.kind !== "tool" || first === undefined) return undefined;
  const same = (key: "server" | "skill"): string | undefined =>
    others.every((other) => other[key] === first[key]) ? first[key] : undefined;
  return { tool: first.tool, server: same("server"), skill: same("skill") };
}

/** Turn numbers by key: turns with a prompt count from 1 as in `show`; all others are 0. */
export function turnNumbers({ turnList }: Pick<SessionView, "turnList">): ReadonlyMap<string, number> {
  let number = 0;
  return new Map(
    [...turnList]
      .sort((a, b) => a.segment - b.segment || a.startMs - b.startMs)
      .map(({ key, origin }) => [key, origin === "human" || origin === "machine" ? ++number : 0]),
  );
}

/** Finds the number of the turn at a moment of a segment; 0 outside any turn. */
export function turnFinder(
  { turnList }: Pick<SessionView, "turnList">,
  numbers: ReadonlyMap<string, number>,
): (segment: number, ms: number) => number {
  const byTime = [...turnList].sort((a, b) => a.startMs - b.startMs);
  const bySegment = grouped(byTime, ({ segment }) => segment);
  return (segment, ms) => {
    const turns = bySegment.get(segment) ?? [];
    let [low, high] = [0, turns.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((turns[middle]?.startMs ?? 0) <= ms) low = middle + 1;
      else high = middle;
    }
    // The one that started last; work of an earlier, longer turn at the same time is attributed to it too
    const turn = turns[low - 1];
    return turn === undefined || turn.endMs < ms ? 0 : (numbers.get(turn.key) ?? 0);
  };
}

// --- internal ---

/** Tool results that no call of their thread has read yet. */
class PendingTools {
  readonly #tools: readonly ToolCall[];
  #next = 0;
  #late: ToolCall[] = [];
  #lastTurn: number | undefined;

  constructor(tools: readonly ToolCall[]) {
    this.#tools = [...tools].sort((a, b) => a.startMs - b.startMs);
  }

  /** What came before a call. */
  before(call: Call["call"], turn: number): Pick<PlacedCall, "cause" | "results"> {
    const isFirst = this.#lastTurn !== turn;
    this.#lastTurn = turn;
    const results = call.covers === undefined ? this.#read(call) : [];
    if (isFirst && call.covers === undefined) return { cause: { kind: "prompt" }, results };
    return { cause: causeOf(results), results };
  }

  /** Takes the results that a call reads. */
  #read({ startMs, endMs }: Call["call"]): readonly ToolCall[] {
    const pending = this.#late;
    for (let tool = this.#tools[this.#next]; tool !== undefined; tool = this.#tools[++this.#next]) {
      if (tool.startMs >= startMs && tool.endMs > startMs) break;
      pending.push(tool);
    }
    this.#late = pending.filter((tool) => tool.endMs > endMs);
    return pending.filter((tool) => tool.endMs <= endMs);
  }
}

function causeOf(results: readonly ToolCall[]): Cause {
  const [first] = results;
  if (first === undefined) return { kind: "other" };
  if (results.some((tool) => tool.name !== first.name)) return { kind: "several" };
  const mcpServer = mcpServerOf(first);
  return { kind: "tool", name: first.name, ...(mcpServer !== undefined && { mcpServer }) };
}

function shares<T>(calls: readonly PlacedCall[], partOf: (call: PlacedCall) => T): readonly Share<T>[] {
  const groups = new Map<unknown, { readonly part: T; readonly calls: PlacedCall[] }>();
  for (const call of calls) {
    const part = partOf(call);
    const key = typeof part === "object" ? JSON.stringify(part) : part;
    if (groups.get(key)?.calls.push(call) === undefined) groups.set(key, { part, calls: [call] });
  }
  return [...groups.values()].map((group) => ({ part: group.part, sums: sumOfCalls(group.calls) }));
}

const byCost = <T>(all: readonly Share<T>[]): readonly Share<T>[] =>
  [...all].sort(
    ({ sums: a }, { sums: b }) =>
      (b.costNanoUsd ?? -1) - (a.costNanoUsd ?? -1) ||
      (b.input ?? 0) + (b.output ?? 0) - (a.input ?? 0) - (a.output ?? 0) ||
      b.modelCalls - a.modelCalls,
  );
