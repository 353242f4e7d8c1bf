import type { Event } from "../model/event-schema.ts";
import type { SessionFacts, SettledCall } from "../model/session.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { isCategory } from "../rules/names.ts";
import { isAssignedCallId, isCutOff, processStarts } from "./assign-call-ids.ts";

/**
 * Finds calls that hooks and transcript report under different ids, because only one of them has the agent's id. They are
 * matched by tool and input, nearest in time first; or by given id where several calls can share it.
 *
 * @param events with call ids, assigned ones included
 * @param settled calls already counted that could be the same
 * @param hooksNameAgents whether hooks say which agent a call belongs to; see `Agent.hooksNameAgents`
 * @param settledStarts of the agent's processes, in addition to those among the events
 * @returns call id → the id it is counted under; other ids stay as they are
 */
export function joinCalls(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  settled: readonly SettledCall[],
  hooksNameAgents?: SessionFacts["hooksNameAgents"],
  settledStarts: readonly number[] = [],
): ReadonlyMap<string, string> {
  const hookCalls = assignedCalls(events, hooksNameAgents);
  if (hookCalls.length === 0 && settled.length === 0) return new Map();
  const results = new Map(entries.flatMap((entry) => (entry.kind === "tool_result" ? [[entry.callId, entry]] : [])));
  const transcriptCalls = entries.flatMap((entry) =>
    entry.kind === "tool_use" ? transcriptCall(entry, results.get(entry.callId), hooksNameAgents) : [],
  );
  const starts = processStarts(events, settledStarts);
  const matches = (from: readonly Call[], to: readonly Call[], withinMs?: number) =>
    matching(from, to, starts, withinMs);
  const joined = new Map(matches(hookCalls, transcriptCalls));
  // Facts that arrive late belong to calls that are already counted
  const unmatchedHooks = hookCalls.filter(({ id }) => !joined.has(id));
  const settledCalls = settled.map((call) => settledCall(call, hooksNameAgents));
  for (const [id, own] of matches(unmatchedHooks, settledCalls, LATE_WITHIN_MS)) joined.set(id, own);
  const matched = new Set(joined.values());
  const settledAssigned = settledCalls.filter(({ id }) => isAssignedCallId(id));
  const unmatchedLines = transcriptCalls.filter(({ id }) => !matched.has(id));
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

/**
 * What hooks and transcript both report of one call: tool and input, or only the given id if there is one, because they may name a
 * tool differently.
 */
export const matchKeyOf = (
  name: string | undefined,
  digest: string | undefined,
  givenId: string | undefined,
): string =>
  givenId === undefined
    ? JSON.stringify([name === undefined || isCategory(name) ? "" : name, digest ?? ""])
    : JSON.stringify([givenId]);

/** Ids of two facts that may report the same thing. */
interface Candidate {
  readonly a: string;
  readonly b: string;
  readonly apartMs: number;
  /** Breaks ties at equal distance. @default the order given */
  readonly order?: number;
}

/** Pairs of ids, each id used once, nearest in time first. */
export function nearestPairs(candidates: readonly Candidate[]): ReadonlyMap<string, string> {
  const sorted = candidates.toSorted((x, y) => x.apartMs - y.apartMs || (x.order ?? 0) - (y.order ?? 0));
  const pairs = new Map<string, string>();
  const taken = new Set<string>();
  for (const { a, b } of sorted) {
    if (pairs.has(a) || taken.has(b)) continue;
    pairs.set(a, b);
    taken.add(b);
  }
  return pairs;
}

// --- internal ---

/** Longest delay of a transcript line or hook after the call. */
const LATE_WITHIN_MS = 60_000;

interface Call {
  readonly id: string;
  /** Tool and input, or the given id. */
  readonly matchKey: string;
  /** `MAIN_AGENT`, or the subagent's id. Absent: unknown. */
  readonly agentId?: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hooks?: SettledCall["hooks"];
  /** Counted without an end. */
  readonly isUnanswered?: boolean;
  /** Its end can be reported long after it; see `reported_late`. */
  readonly isReportedLate?: boolean;
  readonly status?: string | undefined;
  readonly spawnedAgentId?: string | undefined;
}

const MAIN_AGENT = "";

type HooksNameAgents = SessionFacts["hooksNameAgents"];

function assignedCalls(events: readonly Event[], hooksNameAgents: HooksNameAgents): readonly Call[] {
  const calls = new Map<string, Call>();
  for (const event of events) {
    if (event.type !== "tool.start" && event.type !== "tool.end") continue;
    const id = event.data?.tool_call_id;
    const extras = extrasOf(event);
    const { input_digest: digest, given_id: givenId } = extras;
    if (id === undefined || !isAssignedCallId(id)) continue;
    const known = calls.get(id);
    const ms = timeMsOf(event);
    const namesAgent =
      hooksNameAgents === true || (hooksNameAgents === "with-prompts" && extras.prompt_id !== undefined);
    const agentId = extras.agent_id ?? (namesAgent ? MAIN_AGENT : undefined);
    calls.set(id, {
      id,
      matchKey: known?.matchKey ?? matchKeyOf(event.data?.tool_name, digest, givenId),
      ...(agentId !== undefined && { agentId }),
      startMs: Math.min(known?.startMs ?? ms, ms),
      endMs: Math.max(known?.endMs ?? ms, ms),
      hooks: known !== undefined ? "both" : event.type === "tool.start" ? "start" : "end",
      isReportedLate: extras.reported_late === true,
      ...(known !== undefined && outcomeOf(known)),
      ...(event.type === "tool.end" &&
        outcomeOf({ status: event.data?.status, spawnedAgentId: extras.spawned_agent_id })),
    });
  }
  return [...calls.values()];
}

/** The members that distinguish equal calls once they have ended. */
const outcomeOf = ({ status, spawnedAgentId }: Outcome): Outcome => ({ status, spawnedAgentId });

type Outcome = Pick<Call, "status" | "spawnedAgentId">;

function transcriptCall(
  entry: EntryOf<"tool_use">,
  result: EntryOf<"tool_result"> | undefined,
  hooksNameAgents: HooksNameAgents,
): Call {
  // A call without an agent is the main agent's only if hooks name agents; then the transcript does too
  const agentId = entry.agentId ?? (hooksNameAgents === undefined ? undefined : MAIN_AGENT);
  return {
    id: entry.callId,
    matchKey: matchKeyOf(entry.name, entry.inputDigest, entry.givenId),
    ...(agentId !== undefined && { agentId }),
    startMs: entry.timeMs,
    endMs: entry.timeMs,
    ...(result !== undefined && outcomeOf(result)),
  };
}

function settledCall(call: SettledCall, hooksNameAgents: HooksNameAgents): Call {
  const { hooks } = call;
  const agentId = call.agentId ?? (hooksNameAgents === true ? MAIN_AGENT : undefined);
  return {
    id: call.callId,
    isUnanswered: call.status === "unfinished",
    matchKey: matchKeyOf(call.name, call.inputDigest, call.givenId),
    ...(agentId !== undefined && { agentId }),
    startMs: call.startMs,
    endMs: call.endMs,
    ...(hooks !== undefined && { hooks }),
  };
}

function matching(
  from: readonly Call[],
  to: readonly Call[],
  starts: readonly number[],
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
      if (!canBeSameCall(a, b) || (a.hooks === "end" && isCutOff(b.startMs, a.startMs, starts))) return [];
      const apartMs = distanceMs(a, b);
      const hasOtherStatus = a.status !== undefined && b.status !== undefined && a.status !== b.status;
      const order = i + j + (hasOtherStatus ? from.length + to.length : 0);
      return apartMs <= withinMs || isLateEnd(a, b) ? [{ a: a.id, b: b.id, apartMs, order }] : [];
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
  !haveDifferentAgents(a, b) && !haveSpawnedDifferentAgents(a, b) && (!areBothReported(a, b) || isHalfWithin(a, b));

/** False if the agent of one of them is unknown. */
const haveDifferentAgents = (a: Call, b: Call): boolean =>
  a.agentId !== undefined && b.agentId !== undefined && a.agentId !== b.agentId;

const haveSpawnedDifferentAgents = (a: Call, b: Call): boolean =>
  a.spawnedAgentId !== undefined && b.spawnedAgentId !== undefined && a.spawnedAgentId !== b.spawnedAgentId;

/** A call that waited for permission can end long after its run was closed, and the end of a parallel one can be reported late. */
const isLateEnd = (a: Call, b: Call): boolean =>
  a.startMs >= b.startMs &&
  (b.isUnanswered === true ||
    (a.hooks === "end" && (b.hooks === "start" || (a.isReportedLate === true && b.hooks === undefined))));

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
