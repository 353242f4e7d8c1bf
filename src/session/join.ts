import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { isKind } from "../model/names.ts";
import type { SettledCall } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { isAssignedCallId } from "./assign-call-ids.ts";
import { nearestPairs } from "./nearest.ts";

/**
 * Finds calls that hooks and transcript report under different ids, because only one side knows the agent's id. They are
 * matched by tool and input, nearest in time first; or by given id where several calls can share it.
 *
 * @param events with call ids, assigned ones included
 * @param settled calls counted before that could be the same
 * @returns call id → the id it is counted under; other ids stay as they are
 */
export function joinCalls(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  settled: readonly SettledCall[],
): ReadonlyMap<string, string> {
  const hookCalls = mintedCalls(events);
  if (hookCalls.length === 0 && settled.length === 0) return new Map();
  const written = entries.flatMap((entry) => (entry.kind === "tool_use" ? usedCall(entry) : []));
  const joined = new Map(matches(hookCalls, written));
  // Late facts about counted calls belong to those calls
  const spare = hookCalls.filter(({ id }) => !joined.has(id));
  for (const [id, own] of matches(spare, settled.map(settledCall), LATE_WITHIN_MS)) joined.set(id, own);
  const taken = new Set(joined.values());
  const minted = settled.filter(({ callId }) => isAssignedCallId(callId)).map(settledCall);
  const news = written.filter(({ id }) => !taken.has(id));
  for (const [id, own] of matches(news, minted, LATE_WITHIN_MS)) joined.set(id, own);
  // The line and the end of an abandoned call can both arrive late and then match each other
  const ends = new Map(hookCalls.flatMap(({ id, hooks }) => (hooks === "end" ? [[joined.get(id), id] as const] : [])));
  const ended = written.filter(({ id }) => ends.has(id));
  const givenUp = minted.filter(({ isUnanswered }) => isUnanswered);
  for (const [id, own] of matches(ended, givenUp, LATE_WITHIN_MS)) {
    joined.set(id, own).set(ends.get(id) ?? id, own);
  }
  return joined;
}

// --- internal ---

/** Longest delay of a transcript line or hook behind the call. */
const LATE_WITHIN_MS = 60_000;

interface Call {
  readonly id: string;
  /** Tool and input, or the given id. */
  readonly same: string;
  readonly agentId?: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hooks?: SettledCall["hooks"];
  /** Counted without an end. */
  readonly isUnanswered?: boolean;
}

function mintedCalls(events: readonly Event[]): readonly Call[] {
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
      same: known?.same ?? sameness(event.data?.tool_name, digest, givenId),
      ...(agentId !== undefined && { agentId }),
      startMs: Math.min(known?.startMs ?? ms, ms),
      endMs: Math.max(known?.endMs ?? ms, ms),
      hooks: known !== undefined ? "both" : event.type === "tool.start" ? "start" : "end",
    });
  }
  return [...calls.values()];
}

const usedCall = ({ callId, name, inputDigest, givenId, timeMs, agentId }: EntryOf<"tool_use">): Call => ({
  id: callId,
  same: sameness(name, inputDigest, givenId),
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
  same: sameness(name, inputDigest, givenId),
  ...(agentId !== undefined && { agentId }),
  startMs,
  endMs,
  ...(hooks !== undefined && { hooks }),
});

/** Hooks and transcript may name a tool differently, so a given id decides first. */
const sameness = (name: string | undefined, digest: string | undefined, givenId: string | undefined): string =>
  givenId === undefined
    ? JSON.stringify([name === undefined || isKind(name) ? "" : name, digest ?? ""])
    : JSON.stringify([givenId]);

function matches(
  from: readonly Call[],
  to: readonly Call[],
  withinMs = Number.POSITIVE_INFINITY,
): readonly (readonly [string, string])[] {
  const like = new Map<string, Place[]>();
  for (const [j, b] of to.entries()) {
    const places = like.get(b.same) ?? [];
    like.set(b.same, places);
    places.push({ b, j });
  }
  for (const places of like.values()) places.sort((one, other) => one.b.startMs - other.b.startMs);
  const candidates = from.flatMap((a, i) =>
    nearIn(like.get(a.same) ?? [], a).flatMap(({ b, j }) => {
      if (!canBeOne(a, b)) return [];
      const apartMs = distanceMs(a, b);
      return apartMs <= withinMs || isOfGivenUp(a, b) ? [{ a: a.id, b: b.id, apartMs, order: i + j }] : [];
    }),
  );
  return [...nearestPairs(candidates)];
}

/** A call with its position among those given. */
interface Place {
  readonly b: Call;
  readonly j: number;
}

/** With thousands of identical calls, as from answers whose ids restart at 0, comparing all pairs takes too long. */
const MAX_LIKE = 64;

function nearIn(places: readonly Place[], { startMs }: Call): readonly Place[] {
  if (places.length <= MAX_LIKE) return places;
  const behind = places.findIndex(({ b }) => b.startMs > startMs);
  const at = behind === -1 ? places.length : behind;
  return places.slice(Math.max(0, at - MAX_LIKE / 2), at + MAX_LIKE / 2);
}

/** Equal, and not both reported by hooks; half a call inside another one may be half of a third. */
const canBeOne = (a: Call, b: Call): boolean => !isOfAnother(a, b) && (!isReportedTwice(a, b) || isHalfWithin(a, b));

/** Not all hooks name the agent of a call. */
const isOfAnother = (a: Call, b: Call): boolean =>
  a.agentId !== undefined && b.agentId !== undefined && a.agentId !== b.agentId;

/** A call that waited for permission can end long after its run was closed; its end is still to come. */
const isOfGivenUp = (a: Call, b: Call): boolean =>
  a.startMs >= b.startMs && (b.isUnanswered === true || (a.hooks === "end" && b.hooks === "start"));

const isReportedTwice = (a: Call, b: Call): boolean =>
  a.hooks !== undefined && b.hooks !== undefined && (a.hooks === b.hooks || [a.hooks, b.hooks].includes("both"));

const isHalfWithin = (a: Call, b: Call): boolean =>
  a.hooks !== "both" && a.startMs >= b.startMs && a.startMs <= b.endMs;

/** Between the nearest ends: a transcript has one time per call, its start or its end. */
const distanceMs = (a: Call, b: Call): number =>
  Math.min(
    Math.abs(a.startMs - b.startMs),
    Math.abs(a.endMs - b.endMs),
    Math.abs(a.startMs - b.endMs),
    Math.abs(a.endMs - b.startMs),
  );
