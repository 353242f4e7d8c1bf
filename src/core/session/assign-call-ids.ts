import type { Event } from "../model/event-schema.ts";
import { givenIdOf } from "../rules/call-ids.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { isCutOff, processStarts } from "./process-starts.ts";

/** Prefix of the call ids that we assign where the agent sends none. */
const PREFIX = "minted:";

export const isAssignedCallId = (callId: string | undefined): boolean => callId?.startsWith(PREFIX) === true;

/**
 * Assigns call ids to tool events without one. An end gets the id of the oldest open start with the same session, subagent,
 * tool and input; an end without input gets that of the oldest open start of the same tool. Starts of the current turn come
 * before starts that an earlier turn left open, which were most likely refused and retried. Calls with different inputs are
 * never paired by order alone, nor calls of different processes. A `given_id` (an id that the provider counts per
 * conversation) replaces the input, and its last start is the running one. An end without a matching start gets a separate id.
 *
 * Pure. The same events get the same ids in any order of arrival.
 *
 * @param settledStarts of processes, in addition to those among the events
 * @returns the same events in the same order; tool events with an id and all other events are unchanged
 */
export function assignCallIds<T extends Event>(
  events: readonly T[],
  settledStarts: readonly number[] = [],
): readonly T[] {
  const ids = new Map<string, string>();
  const open = new Map<string, Half[]>();
  const ends = new Map<string, readonly Half[]>();
  const turns = new Map<string, number>();
  const processes = new Map<string, readonly number[]>();
  for (const event of events.filter((e) => isWithoutCallId(e) || isTurnBoundary(e)).sort(byTime)) {
    if (ids.has(event.id)) continue; // duplicate event
    const session = JSON.stringify([event.source, event.session_id]);
    const turn = turns.get(session) ?? 0;
    if (!isWithoutCallId(event)) {
      turns.set(session, turn + 1);
      processes.set(session, processStarts([event], processes.get(session) ?? settledStarts));
      continue;
    }
    const { agent_id, input_digest, given_id } = extrasOf(event);
    const digest = given_id ?? input_digest;
    const name = event.data?.tool_name;
    // Not every end repeats the tool's name, and a given id finds its start without it
    const scope = given_id === undefined ? [name ?? ""] : ["", given_id];
    const tool = JSON.stringify([event.source, event.session_id, agent_id ?? "", ...scope]);
    const starts = open.get(tool) ?? [];
    open.set(tool, starts);
    if (event.type === "tool.start") {
      // Concurrent hooks can deliver the end first; the given id shows that both belong together
      const earlyEnd = given_id === undefined ? undefined : ends.get(tool)?.find((end) => canBeTool(end, name));
      const id = earlyEnd?.id ?? `${PREFIX}${event.id}`;
      ids.set(event.id, id);
      if (earlyEnd === undefined) starts.push({ id, name, digest, turn, ms: timeMsOf(event) });
      else ends.set(tool, ends.get(tool)?.filter((end) => end !== earlyEnd) ?? []);
      continue;
    }
    const processStartsMs = processes.get(session) ?? settledStarts;
    const candidates = starts.filter(
      (one) =>
        (digest === undefined || one.digest === digest) &&
        canBeTool(one, name) &&
        !isCutOff(one.ms, timeMsOf(event), processStartsMs),
    );
    // A conversation runs one call per given id at a time, so the earlier ones were refused
    const start =
      given_id === undefined ? (candidates.find((one) => one.turn === turn) ?? candidates[0]) : candidates.at(-1);
    if (start !== undefined) starts.splice(starts.indexOf(start), 1);
    const id = start?.id ?? `${PREFIX}${event.id}`;
    ids.set(event.id, id);
    if (start === undefined && given_id !== undefined)
      ends.set(tool, [...(ends.get(tool) ?? []), { id, name, digest, turn, ms: timeMsOf(event) }]);
  }
  return ids.size === 0 ? events : events.map((event) => withCallId(event, ids));
}

/**
 * Removes a given id that several calls share, because it identifies none of them: another agent of the session, or a later
 * answer, has a call with the same id. It stays as `given_id`.
 */
export function withoutGivenId<T extends Event>(event: T): T {
  const givenId = givenIdOf(event);
  if (givenId === undefined || (event.type !== "tool.start" && event.type !== "tool.end")) return event;
  const { tool_call_id: _, ...data } = event.data ?? {};
  return { ...event, data, extensions: { ...event.extensions, given_id: givenId } };
}

// --- internal ---

/** The start or end of a call whose other half was not reported yet. */
interface Half {
  readonly id: string;
  readonly name: string | undefined;
  readonly digest: string | undefined;
  readonly turn: number;
  readonly ms: number;
}

/** Whether a start or end can be of this tool: true if one of them has no name. */
const canBeTool = (half: Half, name: string | undefined): boolean =>
  half.name === undefined || name === undefined || half.name === name;

type ToolEvent = Extract<Event, { type: "tool.start" | "tool.end" }>;

const isWithoutCallId = (event: Event): event is ToolEvent =>
  (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined;

/** A `file.write` has the id of the call that wrote the file. */
function withCallId<T extends Event>(event: T, ids: ReadonlyMap<string, string>): T {
  const isWrite = event.type === "file.write" && event.data.tool_call_id === undefined;
  const id = ids.get(isWrite ? (extrasOf(event).tool_event ?? "") : event.id);
  if (id === undefined || !(event.type === "file.write" || isWithoutCallId(event))) return event;
  return { ...event, data: { ...event.data, tool_call_id: id } };
}

/** At equal times, starts come before ends and a turn encloses its tools. */
const RANK: Readonly<Partial<Record<Event["type"], number>>> = {
  "session.start": 0,
  "prompt.submit": 0,
  "tool.start": 1,
  "tool.end": 2,
  "turn.end": 3,
  "turn.error": 3,
  "session.end": 3,
};

/** The start or end of a turn of the main agent. */
const isTurnBoundary = (event: Event): boolean =>
  RANK[event.type] !== undefined && !event.type.startsWith("tool.") && extrasOf(event).agent_id === undefined;

const byTime = (a: Event, b: Event): number =>
  timeMsOf(a) - timeMsOf(b) || (RANK[a.type] ?? 0) - (RANK[b.type] ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
