import { type Event, extrasOf, timeMsOf } from "../model/event.ts";

/** What a call id begins with that was made here, because the agent gives none. */
const MINTED = "minted:";

export const isAssignedCallId = (callId: string | undefined): boolean => callId?.startsWith(MINTED) === true;

/**
 * Gives tool events without a call id one: an end gets that of the oldest open start of the same session, subagent, tool and
 * input; one that tells no input that of the oldest open start of the same tool. Starts of this turn go before those that
 * an earlier one left open: such calls were refused, most likely, and tried again. Never by order alone across different
 * inputs. A given id stands for the input, and its last start is the one at work. An end that finds no start gets an id of its
 * own.
 *
 * Pure. The same events give the same ids, in whatever order they come.
 *
 * @returns the same events in the same order; those that have an id, or are no tool events, untouched
 */
export function assignCallIds<T extends Event>(events: readonly T[]): readonly T[] {
  const ids = new Map<string, string>();
  const open = new Map<string, Half[]>();
  const ends = new Map<string, readonly Half[]>();
  const turns = new Map<string, number>();
  for (const event of events.filter((e) => isNameless(e) || isTurnMark(e)).sort(byTime)) {
    if (ids.has(event.id)) continue; // told twice
    const session = JSON.stringify([event.source, event.session_id]);
    const turn = turns.get(session) ?? 0;
    if (!isNameless(event)) {
      turns.set(session, turn + 1);
      continue;
    }
    const { agent_id, input_digest, given_id } = extrasOf(event);
    const digest = given_id ?? input_digest;
    const tool = JSON.stringify([event.source, event.session_id, agent_id ?? "", event.data?.tool_name ?? ""]);
    const starts = open.get(tool) ?? [];
    open.set(tool, starts);
    if (event.type === "tool.start") {
      // Hooks that run beside each other can arrive end first, and a given id says that the two are one
      const early = given_id === undefined ? undefined : ends.get(tool)?.find((end) => end.digest === digest);
      const id = early?.id ?? `${MINTED}${event.id}`;
      ids.set(event.id, id);
      if (early === undefined) starts.push({ id, digest, turn });
      else ends.set(tool, ends.get(tool)?.filter((end) => end !== early) ?? []);
      continue;
    }
    const like = starts.filter((start) => digest === undefined || start.digest === digest);
    // No conversation has two calls of one given id at work: those before it were refused
    const start = given_id === undefined ? (like.find((one) => one.turn === turn) ?? like[0]) : like.at(-1);
    if (start !== undefined) starts.splice(starts.indexOf(start), 1);
    const id = start?.id ?? `${MINTED}${event.id}`;
    ids.set(event.id, id);
    if (start === undefined && given_id !== undefined)
      ends.set(tool, [...(ends.get(tool) ?? []), { id, digest, turn }]);
  }
  return ids.size === 0 ? events : events.map((event) => withCallId(event, ids.get(event.id)));
}

/** An id that other calls can have too names none of them. */
export function withoutGivenId<T extends Event>(event: T): T {
  const isTool = event.type === "tool.start" || event.type === "tool.end";
  if (!isTool || extrasOf(event).given_id === undefined) return event;
  const { tool_call_id: _, ...data } = event.data ?? {};
  return { ...event, data };
}

// --- internal ---

interface Half {
  readonly id: string;
  readonly digest: string | undefined;
  readonly turn: number;
}

type ToolEvent = Extract<Event, { type: "tool.start" | "tool.end" }>;

const isNameless = (event: Event): event is ToolEvent =>
  (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined;

const withCallId = <T extends Event>(event: T, id: string | undefined): T =>
  id === undefined || !isNameless(event) ? event : { ...event, data: { ...event.data, tool_call_id: id } };

/** Of one moment: what begins comes before what ends, a turn around its tools. */
const RANK: Readonly<Partial<Record<Event["type"], number>>> = {
  "session.start": 0,
  "prompt.submit": 0,
  "tool.start": 1,
  "tool.end": 2,
  "turn.end": 3,
  "turn.error": 3,
  "session.end": 3,
};

/** Where a turn of the main agent begins or ends. */
const isTurnMark = (event: Event): boolean =>
  RANK[event.type] !== undefined && !event.type.startsWith("tool.") && extrasOf(event).agent_id === undefined;

const byTime = (a: Event, b: Event): number =>
  timeMsOf(a) - timeMsOf(b) || (RANK[a.type] ?? 0) - (RANK[b.type] ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
