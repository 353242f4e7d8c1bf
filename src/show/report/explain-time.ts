import type { ModelCall } from "#core/model/model-call.ts";
import type { JoinedNative } from "#core/model/native.ts";
import type { ToolCall } from "#core/model/session.ts";
import { type Interval, merged } from "#kit/numbers.ts";
import { criticalPath, type Work } from "./critical-path.ts";
import { nativeOfCall } from "./native/sums.ts";
import type { SessionView } from "./session-view.ts";

export interface TimeSpent {
  readonly startMs: number;
  readonly endMs: number;
  readonly parts: Readonly<Record<TimePart, number>>;
  /** `tool` and `held` by tool name, longest first. */
  readonly tools: readonly ToolTime[];
  /** Part of all others: time in subagents. */
  readonly subagentMs: number;
  /** False: the agent does not report single calls, so `agent` includes waiting for the model. */
  readonly isModelTimed: boolean;
  /** Tool calls with a reported run time; for the others `tool` includes the time before they ran. */
  readonly measuredTools: number;
  /** Part of `held`: waiting for permission; absent if no call reports it. */
  readonly permissionMs?: number;
}

interface ToolTime {
  readonly name: string;
  readonly toolMs: number;
  readonly heldMs: number;
  /** Calls with a reported run time; if 0, `heldMs` is unknown. */
  readonly measured: number;
  /** Part of both, on the main thread: while a subagent ran, which may be what the tool waited for. */
  readonly besideSubagentsMs: number;
}

/**
 * Where the time of a session went, from its start to its end or last activity. Every moment belongs to one part, and the
 * parts add up to the whole: of parallel work, the critical path counts.
 *
 * @returns `undefined` for a session without any activity
 */
export function timeSpent(view: SessionView): TimeSpent | undefined {
  const turns = merged(view.turnList.map((turn) => [turn.startMs, turn.endMs]));
  const subagents = merged(view.subagentList.map((subagent) => [subagent.startMs, subagent.endMs]));
  const segments = view.segments.map((s): Interval => [s.startMs, Math.max(s.startMs, s.endMs ?? s.lastActivityMs)]);
  // A subagent can go on after its part of the session has ended
  const open = merged([...segments, ...turns, ...subagents]);
  const [startMs, endMs] = [open[0]?.[0], open.at(-1)?.[1]];
  if (startMs === undefined || endMs === undefined) return undefined;
  const calls = view.calls.filter(({ call }) => call.covers === undefined);
  const parts = { model: 0, tool: 0, held: 0, agent: 0, user: 0, away: 0 };
  const tools = new Map<string, { toolMs: number; heldMs: number; besideSubagentsMs: number }>();
  let [subagentMs, permissionMs] = [0, 0];
  for (const { fromMs, toMs, value } of criticalPath(startMs, endMs, worksOf(view))) {
    const ms = toMs - fromMs;
    if (value?.agentId !== undefined) subagentMs += ms;
    if (value === undefined) {
      const inTurnsMs = overlap(turns, fromMs, toMs);
      const openMs = overlap(open, fromMs, toMs);
      parts.agent += inTurnsMs;
      parts.user += openMs - inTurnsMs;
      parts.away += ms - openMs;
    } else if (value.kind === "tool") {
      const native = nativeOfCall(view, "tool_call", value.tool.callId);
      const heldMs = heldOf(value.tool, native, fromMs, toMs);
      permissionMs += Math.min(heldMs, native?.permissionMs ?? 0);
      const sums = tools.get(value.tool.name) ?? { toolMs: 0, heldMs: 0, besideSubagentsMs: 0 };
      parts.tool += ms - heldMs;
      parts.held += heldMs;
      sums.toolMs += ms - heldMs;
      sums.heldMs += heldMs;
      if (value.agentId === undefined) sums.besideSubagentsMs += overlap(subagents, fromMs, toMs);
      tools.set(value.tool.name, sums);
    } else parts[value.kind === "model" ? "model" : "agent"] += ms;
  }
  const measured = view.toolCalls.filter(
    ({ tool }) => executionOf(tool, nativeOfCall(view, "tool_call", tool.callId)) !== undefined,
  );
  const reportsWaits = [...view.native.values()].some((one) => one.permissionMs !== undefined);
  return {
    startMs,
    endMs,
    parts,
    tools: [...tools]
      .map(([name, sums]) => ({ name, ...sums, measured: measured.filter(({ tool }) => tool.name === name).length }))
      .sort((a, b) => b.toolMs + b.heldMs - a.toolMs - a.heldMs),
    subagentMs,
    isModelTimed: calls.length > 0 || view.facts.usageUnknown !== true,
    measuredTools: measured.length,
    ...(reportsWaits && { permissionMs }),
  };
}

/**
 * What a moment of a session was spent on: waiting for a model, running a tool, waiting to run a tool (permission, hooks),
 * the agent itself within a turn, waiting for the user, or the session being closed.
 */
export const TIME_PARTS = ["model", "tool", "held", "agent", "user", "away"] as const;
export type TimePart = (typeof TIME_PARTS)[number];

// --- internal ---

type Doing = { readonly agentId?: string } & (
  | { readonly kind: "model"; readonly call: ModelCall }
  | { readonly kind: "tool"; readonly tool: ToolCall }
  | { readonly kind: "subagent" }
);

function worksOf({ calls, toolCalls, subagentList }: SessionView): readonly Work<Doing>[] {
  const parents = new Set(subagentList.flatMap(({ parentCallId }) => parentCallId ?? []));
  const withAgent = (agentId: string | undefined): { readonly agentId?: string } =>
    agentId === undefined ? {} : { agentId };
  return [
    ...calls
      .filter(({ call }) => call.covers === undefined)
      .map(({ call }): Work<Doing> => {
        const { startMs, endMs, agentId } = call;
        return { startMs, endMs, isHost: false, value: { kind: "model", call, ...withAgent(agentId) } };
      }),
    ...toolCalls.map(({ tool }): Work<Doing> => {
      const { startMs, endMs, agentId, callId, spawnedAgentId } = tool;
      const isHost = spawnedAgentId !== undefined || parents.has(callId);
      return { startMs, endMs, isHost, value: { kind: "tool", tool, ...withAgent(agentId) } };
    }),
    ...subagentList.map(({ agentId, startMs, endMs }): Work<Doing> => {
      return { startMs, endMs, isHost: true, value: { kind: "subagent", agentId } };
    }),
  ];
}

/** How long a call ran, from the agent's files or its telemetry; `undefined`: neither says it. */
function executionOf({ startMs, endMs, executionMs }: ToolCall, native: JoinedNative | undefined): number | undefined {
  const waited = native?.permissionMs;
  return (
    executionMs ?? native?.executionMs ?? (waited === undefined ? undefined : Math.max(0, endMs - startMs - waited))
  );
}

/** The run time is at the end of a call; the time before it is the wait. */
function heldOf(tool: ToolCall, native: JoinedNative | undefined, fromMs: number, toMs: number): number {
  const { startMs, endMs } = tool;
  const executionMs = executionOf(tool, native);
  if (executionMs === undefined) return 0;
  const runsFromMs = Math.max(startMs, endMs - executionMs);
  return Math.max(0, Math.min(toMs, runsFromMs) - fromMs);
}

/** The part of a range that is covered by sorted intervals without overlaps. */
function overlap(intervals: readonly Interval[], fromMs: number, toMs: number): number {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle]?.[1] ?? 0) <= fromMs) low = middle + 1;
    else high = middle;
  }
  let sum = 0;
  for (let i = low; i < intervals.length; i++) {
    const [from, to] = intervals[i] ?? [toMs, toMs];
    if (from >= toMs) break;
    sum += Math.max(0, Math.min(to, toMs) - Math.max(from, fromMs));
  }
  return sum;
}
