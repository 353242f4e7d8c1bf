import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { isCategory } from "../model/names.ts";
import type { SettledCall } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { isAssignedCallId } from "./assign-call-ids.ts";
import { nearestPairs } from "./nearest.ts";

/**
 * Finds calls that hooks and transcript report under different ids, because only one of them has the agent's id. They are
 * matched by tool and input, nearest in time first; or by given id where several calls can share it.
 *
 * @param events with call ids, assigned ones included
 * @param settled calls already counted that could be the same
 * @returns call id → the id it is counted under; other ids stay as they are
 */
export function joinCalls(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  settled: readonly SettledCall[],
): ReadonlyMap<string, string> {
  const hookCalls = assignedCalls(events);
  if (hookCalls.length === 0 && settled.length === 0) return new Map();
  const transcriptCalls = entries.flatMap((entry) => (entry.kind === "tool_use" ? transcriptCall(entry) : []));
  const joined = new Map(matches(hookCalls, transcriptCalls));
  // Facts that arrive late belong to calls that are already counted
  const unmatchedHooks = hookCalls.filter(({ id }) => !joined.has(id));
  for (const [id, own] of matches(unmatchedHooks, settled.map(settledCall), LATE_WITHIN_MS)) joined.set(id, own);
  const taken = new Set(joined.values());
  const settledAssigned = settled.filter(({ callId }) => isAssignedCallId(callId)).map(settledCall);
  const unmatchedLines = transcriptCalls.filter(({ id }) => !taken.has(id));
  for (const [id, own] of matches(unmatchedLines, settledAssigned, LATE_WITHIN_MS)) joined.set(id, own);
  // The line and the end of a call that was closed as unfinished can both arrive late; then they match each other
  const ends = new Map(hookCalls.flatMap(({ id, hooks }) => (hooks === "end" ? [[joined.get(id), id] as const] : [])));
  const ended = transcriptCalls.filter(({ id }) => ends.has(id));
  const unanswered = settledAssigned.filter(({ isUnanswered }) => isUnanswered);
  for (const [id, own] of matches(ended, unanswered, LATE_WITHIN_MS)) {
    joined.set(id, own).set(ends.get(id) ?? id, own);
  }
  return joined;
}

// --- internal ---

/** Longest delay of a transcript line or hook after the call. */
const LATE_WITHIN_MS = 60_000;

interface Call {
  readonly id: string;
  /** Tool and input, or the given id. */
  readonly matchKey: string;
  readonly agentId?: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hooks?: SettledCall["hooks"];
  /** Counted without an end. */
  readonly isUnanswered?: boolean;
}

function assignedCalls(events: readonly Event[]): readonly Call[] {
  const calls = new Map<string, Call>();
  for (const event of events) {
    if (event.type !== "tool.start" && event.type !== "tool.end") continue;
    const id = event.data?.tool_call_id;
    const { input_digest: digest, given_id: givenId, agent_id: agentId } = extrasOf(event);
    if (id === undefined || !isAssignedCallId(id)) continue;
    const known = calls.get(id);
    const ms = timeMsOf(event);
    calls.set(id, {
      id,
      matchKey: known?.matchKey ?? matchKeyOf(event.data?.tool_name, digest, givenId),
      ...(agentId !== undefined && { agentId }),
      startMs: Math.min(known?.startMs ?? ms, ms),
      endMs: Math.max(known?.endMs ?? ms, ms),
      hooks: known !== undefined ? "both" : event.type === "tool.start" ? "start" : "end",
    });
  }
  return [...calls.values()];
}

const transcriptCall = ({ callId, name, inputDigest, givenId, timeMs, agentId }: EntryOf<"tool_use">): Call => ({
  id: callId,
  matchKey: matchKeyOf(name, inputDigest, givenId),
  ...(agentId !== undefined && { agentId }),
  startMs: timeMs,
  endMs: timeMs,
});

const settledCall = ({
  callId,
  name,
  inputDigest,
  givenId,
  startMs,
  endMs,
  hooks,
  status,
  agentId,
}: SettledCall): Call => ({
  id: callId,
  isUnanswered: status === "unfinished",
  matchKey: matchKeyOf(name, inputDigest, givenId),
  ...(agentId !== undefined && { agentId }),
  startMs,
  endMs,
  ...(hooks !== undefined && { hooks }),
});

/** Tool and input, or only the given id if there is one: hooks and transcript may name a tool differently. */
const matchKeyOf = (name: string | undefined, digest: string | undefined, givenId: string | undefined): string =>
  givenId === undefined
    ? JSON.stringify([name === undefined || isCategory(name) ? "" : name, digest ?? ""])
    : JSON.stringify([givenId]);

function matches(
  from: readonly Call[],
  to: readonly Call[],
  withinMs = Number.POSITIVE_INFINITY,
): readonly (readonly [string, string])[] {
  const callsByKey = new Map<string, IndexedCall[]>();
  for (const [j, b] of to.entries()) {
    const places = callsByKey.get(b.matchKey) ?? [];
    callsByKey.set(b.matchKey, places);
    places.push({ b, j });
  }
  for (const places of callsByKey.values()) places.sort((one, other) => one.b.startMs - other.b.startMs);
  const candidates = from.flatMap((a, i) =>
    nearestStarts(callsByKey.get(a.matchKey) ?? [], a).flatMap(({ b, j }) => {
      if (!canBeSameCall(a, b)) return [];
      const apartMs = distanceMs(a, b);
      return apartMs <= withinMs || isLateEnd(a, b) ? [{ a: a.id, b: b.id, apartMs, order: i + j }] : [];
    }),
  );
  return [...nearestPairs(candidates)];
}

/** A call with its position among those given. */
interface IndexedCall {
  readonly b: Call;
  readonly j: number;
}

/** With thousands of identical calls, for example if ids restart at 0 in each answer, comparing all pairs takes too long. */
const MAX_COMPARED = 64;

function nearestStarts(places: readonly IndexedCall[], { startMs }: Call): readonly IndexedCall[] {
  if (places.length <= MAX_COMPARED) return places;
  const firstLater = places.findIndex(({ b }) => b.startMs > startMs);
  const at = firstLater === -1 ? places.length : firstLater;
  return places.slice(Math.max(0, at - MAX_COMPARED / 2), at + MAX_COMPARED / 2);
}

/** Two calls that hooks reported are different, unless one is only a start or end inside the other. */
const canBeSameCall = (a: Call, b: Call): boolean =>
  !haveDifferentAgents(a, b) && (!areBothReported(a, b) || isHalfWithin(a, b));

/** False if one of them names no agent: not all hooks do. */
const haveDifferentAgents = (a: Call, b: Call): boolean =>
  a.agentId !== undefined && b.agentId !== undefined && a.agentId !== b.agentId;

/** A call that waited for permission can end long after its run was closed. */
const isLateEnd = (a: Call, b: Call): boolean =>
  a.startMs >= b.startMs && (b.isUnanswered === true || (a.hooks === "end" && b.hooks === "start"));

const areBothReported = (a: Call, b: Call): boolean =>
  a.hooks !== undefined && b.hooks !== undefined && (a.hooks === b.hooks || [a.hooks, b.hooks].includes("both"));

const isHalfWithin = (a: Call, b: Call): boolean =>
  a.hooks !== "both" && a.startMs >= b.startMs && a.startMs <= b.endMs;

/** The smallest difference: a transcript has one time per call, its start or its end. */
const distanceMs = (a: Call, b: Call): number =>
  Math.min(
    Math.abs(a.startMs - b.startMs),
    Math.abs(a.endMs - b.endMs),
    Math.abs(a.startMs - b.endMs),
    Math.abs(a.endMs - b.startMs),
  );
