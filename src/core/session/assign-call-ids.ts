import type { Event } from "../model/event-schema.ts";
import { givenIdOf } from "../rules/call-ids.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";

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
  const sessions = new Map<string, SessionState>();
  for (const event of events.filter((e) => isWithoutCallId(e) || isTurnBoundary(e)).sort(byTime)) {
    const isDuplicate = ids.has(event.id);
    if (isDuplicate) continue;
    const key = JSON.stringify([event.source, event.session_id]);
    const session = sessions.get(key) ?? { turn: 0, processStartsMs: settledStarts, tools: new Map() };
    sessions.set(key, session);
    if (isWithoutCallId(event)) {
      ids.set(event.id, event.type === "tool.start" ? idOfStart(event, session) : idOfEnd(event, session));
    } else {
      session.turn++;
      session.processStartsMs = processStarts([event], session.processStartsMs);
    }
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

// A process that was killed leaves calls open. Some agents run them again when the session is resumed, and report the end of the second
// run without a start: it is not the end of the first one.

/**
 * When processes of a session started.
 *
 * @param known starts that are settled
 */
export const processStarts = (events: readonly Event[], known: readonly number[] = []): readonly number[] => [
  ...known,
  ...events
    .filter(
      (event) =>
        event.type === "session.start" &&
        extrasOf(event).continues !== "compaction" &&
        extrasOf(event).agent_id === undefined,
    )
    .map(timeMsOf),
];

/** Whether a process started between a call's start and an end, so that the end is not the call's. */
export const isCutOff = (startMs: number, endMs: number, starts: readonly number[]): boolean =>
  starts.some((ms) => ms > startMs + LATE_START_MS && ms <= endMs);

// --- internal ---

/** What is known of one session after the events so far. */
interface SessionState {
  turn: number;
  processStartsMs: readonly number[];
  /** Halves of calls that can belong together: by agent, and by the given id or the tool's name. */
  readonly tools: Map<string, OpenHalves>;
}

/** Halves without the other one, in the order of their times. */
interface OpenHalves {
  readonly starts: Half[];
  /** Only of calls with a given id. */
  readonly ends: Half[];
}

/** The start or end of a call whose other half was not reported yet. */
interface Half {
  readonly id: string;
  readonly name: string | undefined;
  /** The given id, otherwise the input's digest. */
  readonly digest: string | undefined;
  readonly turn: number;
  readonly ms: number;
}

function idOfStart(event: ToolEvent, session: SessionState): string {
  const { starts, ends } = openHalvesFor(event, session);
  // Concurrent hooks can deliver the end first; the given id shows that both belong together
  const earlyEnd = ends.find((end) => canBeTool(end, event.data?.tool_name));
  if (earlyEnd !== undefined) return take(ends, earlyEnd).id;
  const start = halfOf(event, session);
  starts.push(start);
  return start.id;
}

function idOfEnd(event: ToolEvent, session: SessionState): string {
  const { starts, ends } = openHalvesFor(event, session);
  const end = halfOf(event, session);
  const candidates = starts.filter(
    (start) => canBePair(start, end) && !isCutOff(start.ms, end.ms, session.processStartsMs),
  );
  const isGiven = extrasOf(event).given_id !== undefined;
  const start = isGiven
    ? // A conversation runs one call per given id at a time, so the earlier ones were refused
      candidates.at(-1)
    : (candidates.find(({ turn }) => turn === end.turn) ?? candidates[0]);
  if (start !== undefined) return take(starts, start).id;
  if (isGiven) ends.push(end);
  return end.id;
}

function openHalvesFor(event: ToolEvent, { tools }: SessionState): OpenHalves {
  const { agent_id: agentId = "", given_id: givenId } = extrasOf(event);
  // Not every end repeats the tool's name, and a given id finds its start without it
  const scope = givenId === undefined ? [event.data?.tool_name ?? ""] : ["", givenId];
  const key = JSON.stringify([agentId, ...scope]);
  const halves = tools.get(key) ?? { starts: [], ends: [] };
  tools.set(key, halves);
  return halves;
}

function halfOf(event: ToolEvent, { turn }: SessionState): Half {
  const { given_id, input_digest } = extrasOf(event);
  return {
    id: `${PREFIX}${event.id}`,
    name: event.data?.tool_name,
    digest: given_id ?? input_digest,
    turn,
    ms: timeMsOf(event),
  };
}

/** Removes a half, because its other half is there. */
function take(halves: Half[], half: Half): Half {
  halves.splice(halves.indexOf(half), 1);
  return half;
}

const canBePair = (start: Half, end: Half): boolean =>
  (end.digest === undefined || start.digest === end.digest) && canBeTool(start, end.name);

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

/** The hook of a process's start can arrive this long after that of its first call. Killing and restarting a program takes longer. */
const LATE_START_MS = 1_000;
