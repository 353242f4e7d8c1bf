import { type Event, extrasOf, timeMsOf } from "../model/event.ts";

/** What a call id begins with that was made here, because the agent gives none. */
export const MINTED = "minted:";

export const isMinted = (callId: string | undefined): boolean => callId?.startsWith(MINTED) === true;

/**
 * Gives tool events without a call id one: an end gets that of the oldest open start of the same session, subagent, tool and
 * input; one that tells no input that of the oldest open start of the same tool. Never by order alone across different
 * inputs. An end that finds no start gets an id of its own.
 *
 * Pure. The same events give the same ids, in whatever order they come.
 *
 * @returns the same events in the same order; those that have an id, or are no tool events, untouched
 */
export function mintCallIds<T extends Event>(events: readonly T[]): readonly T[] {
  const ids = new Map<string, string>();
  const open = new Map<string, Start[]>();
  const nameless = events.filter((event): event is T & ToolEvent => isNameless(event));
  for (const event of nameless.sort(byTime)) {
    if (ids.has(event.id)) continue; // told twice
    const { agent_id, input_digest } = extrasOf(event);
    const tool = JSON.stringify([event.source, event.session_id, agent_id ?? "", event.data?.tool_name ?? ""]);
    const starts = open.get(tool) ?? [];
    open.set(tool, starts);
    if (event.type === "tool.start") {
      const id = `${MINTED}${event.id}`;
      ids.set(event.id, id);
      starts.push({ id, digest: input_digest });
      continue;
    }
    const at = starts.findIndex((start) => input_digest === undefined || start.digest === input_digest);
    const [start] = at === -1 ? [] : starts.splice(at, 1);
    ids.set(event.id, start?.id ?? `${MINTED}${event.id}`);
  }
  return ids.size === 0 ? events : events.map((event) => withCallId(event, ids.get(event.id)));
}

// --- internal ---

interface Start {
  readonly id: string;
  readonly digest: string | undefined;
}

type ToolEvent = Extract<Event, { type: "tool.start" | "tool.end" }>;

const isNameless = (event: Event): event is ToolEvent =>
  (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined;

const withCallId = <T extends Event>(event: T, id: string | undefined): T =>
  id === undefined || !isNameless(event) ? event : { ...event, data: { ...event.data, tool_call_id: id } };

/** Of one moment, starts come first. */
const byTime = (a: Event, b: Event): number =>
  timeMsOf(a) - timeMsOf(b) ||
  (a.type === b.type ? 0 : a.type === "tool.start" ? -1 : 1) ||
  (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
