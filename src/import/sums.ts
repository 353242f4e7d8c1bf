import { type PackedTools, type PackedTurns, type PackedUsage, QUARTER_MS } from "../model/packed.ts";
import type { ModelCall, Run, Session, ToolCall, Turn } from "../model/session.ts";
import type { Writable } from "../model/writable.ts";

/** What packed sessions are asked for together, in the words of the views `usage`, `tool_usage` and `turn_usage`. */
export interface Sums {
  /** No call has its price yet. */
  readonly usage: readonly Writable<PackedUsage>[];
  readonly tools: readonly PackedTools[];
  readonly turns: readonly PackedTurns[];
  /** In which of `usage` a call is. */
  readonly placeOf: ReadonlyMap<ModelCall, number>;
}

/** Sums over all runs of a session, by quarters of an hour. */
export function sumsOf({ turns, subagents }: Pick<Session, "turns" | "subagents">): Sums {
  const [usage, tools, asked] = [new Groups<PackedUsage>(), new Groups<PackedTools>(), new Groups<PackedTurns>()];
  const placeOf = new Map<ModelCall, number>();
  const runs: readonly Run[] = [...turns, ...subagents];
  for (const run of runs) {
    for (const call of run.modelCalls) {
      const [timeMs, subagent] = [quarterOf(call.endMs), subagentOf(call)];
      const place = usage.place(`${timeMs} ${subagent} ${call.model ?? "\0"}`, () => [
        timeMs,
        call.model ?? null,
        subagent,
        ...NO_USAGE,
      ]);
      placeOf.set(call, place.index);
      addCall(place.row, call);
    }
    for (const tool of run.toolCalls) {
      const [timeMs, subagent] = [quarterOf(tool.startMs), subagentOf(tool)];
      const key = `${timeMs} ${subagent} ${tool.name}\0${tool.mcpServer ?? "\0"}`;
      addTool(tools.place(key, () => [timeMs, tool.name, tool.mcpServer ?? null, subagent, 0, 0, 0, 0, 0]).row, tool);
    }
  }
  for (const turn of turns) {
    // What a turn did after it had closed is a part of the same turn
    if (turn.key.includes("~")) continue;
    const timeMs = quarterOf(turn.startMs);
    addTurn(asked.place(`${timeMs} ${turn.origin}`, () => [timeMs, turn.origin, 0, 0, 0]).row, turn);
  }
  return { usage: usage.rows, tools: tools.rows, turns: asked.rows, placeOf };
}

/** calls, sumsTold, withoutUsage, unpriced, incomplete; seven kinds of tokens and their cost, told by nobody yet; durationMs */
const NO_USAGE = [0, 0, 0, 0, 0, null, null, null, null, null, null, null, null, 0] as const;

/** `null` where nobody told. */
export const plus = (sum: number | null, value: number | undefined): number | null =>
  value === undefined ? sum : (sum ?? 0) + value;

// --- internal ---

const quarterOf = (ms: number): number => Math.floor(ms / QUARTER_MS) * QUARTER_MS;
const subagentOf = ({ agentId }: { readonly agentId?: string }): 0 | 1 => (agentId === undefined ? 0 : 1);

class Groups<T extends readonly unknown[]> {
  readonly rows: Writable<T>[] = [];
  readonly #places = new Map<string, number>();

  place(key: string, make: () => T): { readonly index: number; readonly row: Writable<T> } {
    const known = this.#places.get(key);
    const index = known ?? this.rows.length;
    if (known === undefined) {
      this.#places.set(key, index);
      this.rows.push(make() as Writable<T>);
    }
    return { index, row: this.rows[index] as Writable<T> };
  }
}

function addCall(row: Writable<PackedUsage>, { covers, usage, complete, startMs, endMs }: ModelCall): void {
  row[covers === undefined ? 3 : 4]++;
  if (usage === undefined) row[5]++;
  row[6]++;
  if (!complete) row[7]++;
  if (usage !== undefined) {
    row[8] = plus(row[8], usage.input);
    row[9] = plus(row[9], usage.output);
    row[10] = plus(row[10], usage.cacheRead);
    row[11] = plus(row[11], usage.cacheWrite);
    row[12] = plus(row[12], usage.cacheWrite5m);
    row[13] = plus(row[13], usage.cacheWrite1h);
    row[14] = plus(row[14], usage.reasoning);
  }
  row[16] += Math.max(0, endMs - startMs);
}

function addTool(row: Writable<PackedTools>, { status, startMs, endMs }: ToolCall): void {
  row[4]++;
  if (status === "error") row[5]++;
  if (status === "denied") row[6]++;
  if (status === "unfinished") row[7]++;
  row[8] += Math.max(0, endMs - startMs);
}

function addTurn(row: Writable<PackedTurns>, { state }: Turn): void {
  row[2]++;
  if (state === "failed") row[3]++;
  if (state === "interrupted") row[4]++;
}
