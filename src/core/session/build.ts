import { defined } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import {
  type Compaction,
  ENDED_IDLE,
  NOTHING_SETTLED,
  type Segment,
  type Session,
  type SessionFacts,
  type SessionInput,
  SUPERSEDED,
  type Subagent,
  type Turn,
} from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { isWholeUsage, lastCallOf } from "../rules/calls.ts";
import { isChangeFact } from "../rules/change-facts.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { isEndedByUs } from "../rules/segments.ts";
import { assign, type Drafts } from "./assign.ts";
import { baseKey, type Draft } from "./drafts.ts";
import { finishedPartsOf, type OpenRun, PART_LIMITS, withSettledWork } from "./finished-part.ts";
import { idleEndReason } from "./idle-end-reason.ts";
import { type PairedTool, pairTools } from "./pair.ts";
import { PlacedSegments } from "./placed-segments.ts";
import { endingSegmentOf, inLaterSegment, toSubagent } from "./subagent.ts";
import { isFromTranscript, toTurn } from "./turn.ts";
import { withWrittenFiles } from "./written-files.ts";

/**
 * Builds the session, or the part of it that is not settled, from hook events and transcript entries.
 *
 * Pure. Order and duplicates of events and entries make no difference. What was settled before is given as context and is
 * not returned again.
 *
 * @returns segments (starting with the last known one), turns and subagents ordered by time; empty lists when there are none
 * @throws never
 */
export function buildSession(whole: SessionInput): Session {
  const unique = [...new Map(whole.events.map((e) => [e.id, e])).values()];
  // Commits and changes are facts beside the turns
  const input = { ...whole, events: unique, entries: whole.entries.filter((entry) => !isChangeFact(entry)) };
  const withoutEffect = new Set([...factsWithoutEffect(input), ...stopsOfSubagents(unique)]);
  const remaining = { ...input, events: unique.filter((e) => !withoutEffect.has(e.id)) };
  const paired = withWrittenFiles(pairedTools(remaining), unique);
  const countedIds = new Map(paired.flatMap((t) => (t.transcriptId === undefined ? [] : [[t.transcriptId, t.callId]])));
  const drafts = assign(remaining.events, input.entries, newTools(paired, input), input.context, countedIds);
  const segments = new PlacedSegments(remaining, drafts);
  const turns = turnsOf(drafts, segments, input);
  const subagents = subagentsOf(drafts, segments, turns, input);
  const parentCalls = new Set(subagents.flatMap(({ parentCallId }) => parentCallId ?? []));
  const openRuns = openRunsOf(drafts, segments, turns, subagents).filter(hasFinalKey(input));
  const reported = input.entries.find((e) => e.kind === "reported_usage");
  const runs = [...turns, ...subagents];
  return defined<Session>({
    facts: input.facts,
    segments:
      input.facts.endsSilently === true ? segments.all.map((s) => endedSilently(s, turns, input)) : segments.all,
    turns,
    subagents,
    finishedParts: finishedPartsOf(openRuns, parentCalls, input.partLimits ?? PART_LIMITS),
    compactions: compactionsOf(input),
    reportedUsage: reported?.byModel,
    unused: unusedFacts(input, withoutEffect, [...segments.all, ...runs], segments.pending),
    expectedLines: runs.filter((run) => expectsLines(run, segments.get(run.segment), input)).length,
  });
}

/**
 * Ends of turns that are ends of subagents: some agents report both in the same way, without an id, and the subagent's end right
 * after it.
 *
 * @param events one session's events, any order
 * @returns the ids of these `turn.end` events
 */
export function stopsOfSubagents(events: readonly Event[]): readonly string[] {
  const ends = events.filter((event) => event.type === "subagent.end" && extrasOf(event).follows_stop === true);
  if (ends.length === 0) return [];
  const stops = events.filter((event) => event.type === "turn.end").sort(byTime);
  return ends.sort(byTime).flatMap((end) => {
    const ms = timeMsOf(end);
    const at = stops.findLastIndex((stop) => timeMsOf(stop) <= ms && ms - timeMsOf(stop) <= WITHIN_MS);
    return at === -1 ? [] : stops.splice(at, 1).map(({ id }) => id);
  });
}

/** Builds a past session from its transcript entries alone. Pure; see `buildSession`. */
export const buildPacked = (
  facts: SessionFacts,
  entries: readonly TranscriptEntry[],
  expectsTranscript: boolean,
): Session =>
  buildSession({ facts, events: [], entries, context: NOTHING_SETTLED, expectsTranscript, endIdle: ENDED_IDLE });

// --- internal ---

/** Whether transcript lines are still missing: the last answer of an ended turn, the error of a failed one, the result of a call. */
function expectsLines(run: Turn | Subagent, segment: Segment | undefined, input: SessionInput): boolean {
  if (!input.expectsTranscript || input.endIdle !== undefined) return false;
  // The hook reports a failure before the agent writes the line with the details
  if ("state" in run && run.state === "failed" && run.errors.length === 0) return true;
  if (segment?.endMs !== undefined) {
    const lastCall = lastCallOf(run.modelCalls);
    const isEndedTurn = "state" in run && (run.state === "ended" || run.state === "unfinished");
    return (
      run.toolCalls.some((t) => t.status === "unfinished") ||
      (isEndedTurn && lastCall?.asksForTools === true) ||
      (lastCall === undefined
        ? run.errors.length === 0 && !("agentId" in run)
        : !lastCall.complete || lastCall.usage === undefined || isEarlySum(lastCall))
    );
  }
  return "state" in run && run.state === "ended" && !run.closed;
}

/** Ids and keys of facts from which no turn, subagent or segment is built. */
function factsWithoutEffect({ events, entries }: SessionInput): readonly string[] {
  return [
    ...events
      .filter(
        (e) =>
          e.type === "notice" ||
          // The call that wrote the file has its own events
          e.type === "file.write" ||
          e.type === "compaction" ||
          (e.type === "session.start" && extrasOf(e).continues === "compaction"),
      )
      .map((e) => e.id),
    ...entries
      .filter((e) => e.kind === "session" || e.kind === "reported_usage" || e.kind === "compaction")
      .map((e) => e.key),
  ];
}

const pairedTools = ({ events, entries, context, facts }: SessionInput): readonly PairedTool[] =>
  pairTools(events, entries, context.calls, facts.hooksNameAgents, context.processStarts);

/** The calls that are not settled. */
function newTools(tools: readonly PairedTool[], { entries, context }: SessionInput): readonly PairedTool[] {
  // If the transcript was read, it has every call that such a start can report: this is a second registration of the hook
  const isRead = entries.length > 0 || [...context.turns].some(isFromTranscript);
  return tools.filter((tool) => !context.callIds.has(tool.callId) && !(tool.isOnlyStarted === true && isRead));
}

function turnsOf(drafts: Drafts, segments: PlacedSegments, input: SessionInput): readonly Turn[] {
  // A queued prompt does not end the running turn before the agent starts to work on it
  const lastStartedMs = drafts.turns.reduce(
    (ms, turn) => (turn.hasPrompt && hasActivity(turn) ? Math.max(ms, turn.orderMs) : ms),
    -Infinity,
  );
  return drafts.turns.map((draft) => {
    const turn = toTurn(draft, segments.ofTurn(draft), draft.orderMs < lastStartedMs, input);
    return withSettledWork(turn, input.context);
  });
}

const hasActivity = ({ modelCalls, toolCalls, events, entries }: Draft): boolean =>
  modelCalls.length + toolCalls.length + events.length + entries.length > 0;

function subagentsOf(
  drafts: Drafts,
  segments: PlacedSegments,
  turns: readonly Turn[],
  { endIdle, facts, context }: SessionInput,
): readonly Subagent[] {
  // A further part of a turn has the turn's subagents
  const byKey = new Map(turns.map((turn) => [baseKey(turn.key), turn]));
  return drafts.subagents.map((settled) => {
    const draft = inLaterSegment(settled, byKey, segments.all);
    const turn = draft.turnKey === undefined ? undefined : byKey.get(draft.turnKey);
    const segment = segments.ofSubagent(draft, turn);
    const ending = endingSegmentOf(draft, segment, segments.all);
    return withSettledWork(toSubagent(draft, segment, ending, turn, endIdle !== undefined, facts), context);
  });
}

/** Runs that are not over, and whose trace is certain. */
function openRunsOf(
  drafts: Drafts,
  segments: PlacedSegments,
  turns: readonly Turn[],
  subagents: readonly Subagent[],
): readonly OpenRun[] {
  const openTurns = drafts.turns.flatMap((draft, index): OpenRun[] => {
    const run = turns[index];
    return run === undefined || run.closed || segments.ofTurn(draft) === undefined ? [] : [{ draft, run }];
  });
  const openSubagents = drafts.subagents.flatMap((draft, index): OpenRun[] => {
    const run = subagents[index];
    // In which trace it belongs is certain only if the call that started it is known, and the segment is open
    const own = run === undefined ? undefined : segments.get(run.segment);
    const isPlaced = run?.parentCallId !== undefined && own !== undefined && own.endMs === undefined;
    return run === undefined || run.closed || !isPlaced ? [] : [{ draft, run }];
  });
  return [...openTurns, ...openSubagents];
}

/** A turn that only hooks reported gets another key when the transcript is read. */
function hasFinalKey({ events }: SessionInput): (run: OpenRun) => boolean {
  const eventIds = new Set(events.map((e) => e.id));
  return ({ draft }) => !eventIds.has(baseKey(draft.key));
}

/** The reason for a segment whose end the agent never reported; a reason that was already exported stays. */
function endedSilently(segment: Segment, turns: readonly Turn[], { context }: SessionInput) {
  const { segment: before, turns: settled } = context;
  const wasExported = before?.ordinal === segment.ordinal && before.endMs !== undefined;
  if (wasExported || !(isEndedByUs(segment) || segment.nativeReason === SUPERSEDED)) return segment;
  return { ...segment, reason: idleEndReason(segment.ordinal, [...settled.values(), ...turns]) };
}

/** Hook events count only for agents without a transcript: the transcript's record of a compaction has an id, theirs do not. */
function compactionsOf({ events, entries, expectsTranscript }: SessionInput): readonly Compaction[] {
  const written = entries.filter((e) => e.kind === "compaction");
  if (expectsTranscript || written.length > 0)
    return written.map((e) =>
      defined<Compaction>({ key: e.key, timeMs: e.timeMs, trigger: e.trigger, agentId: e.agentId }),
    );
  return events
    .filter((e) => e.type === "compaction")
    .map((e) => defined<Compaction>({ key: e.id, timeMs: timeMsOf(e), trigger: extrasOf(e).trigger }));
}

/** Facts that belong to no part; they are settled too, otherwise every drain would process them again. */
function unusedFacts(
  { events, entries }: SessionInput,
  withoutEffect: ReadonlySet<string>,
  parts: readonly (Segment | Turn | Subagent)[],
  pending: string | undefined,
): readonly string[] {
  const used = new Set(parts.flatMap((part) => part.uses));
  const all = [...events.map((e) => e.id), ...entries.map((e) => e.key)];
  return [...new Set([...withoutEffect, ...all.filter((key) => !used.has(key) && key !== pending)])];
}

/** Sums over calls of a run that is not over yet: the line that completes them is still missing. */
const isEarlySum = ({ covers, usage }: Turn["modelCalls"][number]): boolean =>
  covers !== undefined && !isWholeUsage(usage);

/** The agent starts the second hook directly after the first; each is a process that a busy machine can delay. */
const WITHIN_MS = 2_000;

const byTime = (a: Event, b: Event): number => timeMsOf(a) - timeMsOf(b) || (a.id < b.id ? -1 : 1);
