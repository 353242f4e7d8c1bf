import type { Event } from "../model/event-schema.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { matchKeyOf } from "./join.ts";

/**
 * Gives tool events without a call id the id of the call during whose hook they arrived, if the transcript shows when hooks ran.
 * Agent, tool and input must be the same. Of equal calls at the same time, each gets one of the events.
 *
 * Pure. The same events and entries get the same ids in any order.
 *
 * @returns the same events in the same order
 */
export function withRunIds<T extends Event>(events: readonly T[], entries: readonly TranscriptEntry[]): readonly T[] {
  const runs = runsByCall(entries);
  if (runs.size === 0) return events;
  const callIds = new Map<string, string>();
  const assigned = new Set<string>();
  for (const event of events.flatMap(withoutCallId).sort(byTime)) {
    const ms = timeMsOf(event);
    const during = (runs.get(keyOfEvent(event)) ?? []).filter(
      (run) => run.timeMs - CLOCK_TICK_MS <= ms && ms <= run.endMs + CLOCK_TICK_MS,
    );
    // The run that ends first, because later events can belong to the others. If all are assigned, our hook is registered twice, and
    // the event repeats the first
    const run = during.find(({ key }) => !assigned.has(key)) ?? during[0];
    if (run === undefined) continue;
    assigned.add(run.key);
    callIds.set(event.id, run.callId);
  }
  return events.map((event) => {
    const callId = callIds.get(event.id);
    return callId === undefined
      ? event
      : { ...event, data: { ...("data" in event && event.data), tool_call_id: callId } };
  });
}

// --- internal ---

/** File times and the agent's clock can differ by a tick of the system. */
const CLOCK_TICK_MS = 10;

type Run = EntryOf<"hook_run">;
type ToolEvent = Extract<Event, { type: "tool.start" | "tool.end" }>;

/** Runs of equal calls, each list by the time when they ended. */
function runsByCall(entries: readonly TranscriptEntry[]): ReadonlyMap<string, readonly Run[]> {
  const all = entries.filter((entry) => entry.kind === "hook_run");
  const uses = new Map(entries.flatMap((entry) => (entry.kind === "tool_use" ? [[entry.callId, entry] as const] : [])));
  const byCall = new Map<string, Run[]>();
  for (const run of all.sort((a, b) => a.endMs - b.endMs || (a.key < b.key ? -1 : 1))) {
    const use = uses.get(run.callId);
    if (use === undefined) continue;
    const key = keyOf(run.at, use.agentId, use.name, use.inputDigest);
    byCall.set(key, [...(byCall.get(key) ?? []), run]);
  }
  return byCall;
}

const withoutCallId = (event: Event): readonly ToolEvent[] =>
  (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined ? [event] : [];

function keyOfEvent(event: ToolEvent): string {
  const { agent_id: agentId, input_digest: digest } = extrasOf(event);
  return keyOf(event.type === "tool.start" ? "start" : "end", agentId, event.data?.tool_name, digest);
}

const keyOf = (at: Run["at"], agentId: string | undefined, tool: string | undefined, digest: string | undefined) =>
  JSON.stringify([at, agentId ?? "", matchKeyOf(tool, digest, undefined)]);

const byTime = (a: Event, b: Event): number => timeMsOf(a) - timeMsOf(b) || (a.id < b.id ? -1 : 1);
