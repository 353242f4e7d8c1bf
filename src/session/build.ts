import { isChangeFact } from "../model/change-facts.ts";
import { defined } from "../model/defined.ts";
import { extrasOf, timeMsOf } from "../model/event.ts";
import { maxOf, minOf } from "../model/min-max.ts";
import {
  type Compaction,
  isEndedByUs,
  type Segment,
  type Session,
  type SessionContext,
  type SessionFacts,
  type SessionInput,
  SUPERSEDED,
  type Subagent,
  type Turn,
} from "../model/session.ts";
import { isWholeUsage } from "../model/whole-usage.ts";
import { assign, type Drafts } from "./assign.ts";
import type { Draft } from "./drafts.ts";
import { finishedPartsOf, type OpenRun, PART_LIMITS, withSettledWork } from "./finished-part.ts";
import { idleEndReason } from "./idle-end-reason.ts";
import { isFromTranscript, withLostCall } from "./lost-call.ts";
import { isLeftOpen, type PairedTool, pairTools } from "./pair.ts";
import { splitIntoSegments } from "./segments.ts";
import { stopsOfSubagents } from "./subagent-stops.ts";
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
  // Commits and changes are facts beside the turns
  const input = { ...whole, entries: whole.entries.filter((entry) => !isChangeFact(entry)) };
  const { entries, context } = input;
  const events = [...new Map(input.events.map((e) => [e.id, e])).values()];
  const unused = new Set([...factsWithoutEffect(input), ...stopsOfSubagents(events)]);
  const remaining = events.filter((e) => !unused.has(e.id));
  const { hooksNameAgents } = input.facts;
  const paired = withWrittenFiles(
    pairTools(remaining, entries, context.calls, hooksNameAgents, context.processStarts),
    events,
  );
  // If the transcript was read, it has every call that such a start can report: this is a second registration of the hook
  const isRead = entries.length > 0 || [...context.turns].some(isFromTranscript);
  const tools = paired.filter((tool) => !context.callIds.has(tool.callId) && !(tool.isOnlyStarted === true && isRead));
  const countedIds = new Map(paired.flatMap((t) => (t.transcriptId === undefined ? [] : [[t.transcriptId, t.callId]])));
  const drafts = assign(remaining, entries, tools, context, countedIds);
  const endIdle = input.endIdle;
  const newTurns = drafts.turns.filter((t) => !t.continues || t.segment === undefined);
  // If a session was pruned while a subagent ran, only that subagent remains
  const hasOnlySubagents = endIdle !== undefined && drafts.turns.length === 0 && context.segment === undefined;
  const segmentation = splitIntoSegments({ ...input, events: remaining }, [
    ...newTurns.map(({ key, orderMs }) => ({ key, ms: orderMs })),
    ...(hasOnlySubagents ? drafts.subagents.map(({ key, startMs }) => ({ key, ms: startMs })) : []),
  ]);
  const segments = segmentation.segments.map((s): Segment => {
    const lastActivityMs = Math.max(s.lastActivityMs, lastActivity(s, drafts, segmentation.segmentOf));
    const seen = { ...s, lastActivityMs };
    if (s.endMs === undefined) return endIdle === undefined ? seen : { ...seen, endMs: lastActivityMs, ...endIdle };
    // A killed process counts as active until its last activity, or until the next process started
    if (s.nativeReason !== SUPERSEDED) return seen;
    const next = segmentation.segments.find(({ ordinal }) => ordinal > s.ordinal);
    return { ...seen, endMs: Math.max(s.endMs, Math.min(lastActivityMs, next?.startMs ?? lastActivityMs)) };
  });
  const segmentByOrdinal = new Map(segments.map((s) => [s.ordinal, s]));
  const last = segments.at(-1);
  /** A segment before the last known one is over; only its number is known here. */
  const earlierSegment = (ordinal: number): Segment => ({
    ordinal,
    startMs: Number.NEGATIVE_INFINITY,
    endMs: Number.NEGATIVE_INFINITY,
    lastActivityMs: Number.NEGATIVE_INFINITY,
    uses: [],
  });
  const segmentOf = (draft: Draft): Segment | undefined => {
    const ordinal = draft.segment ?? segmentation.segmentOf.get(draft.key);
    return ordinal === undefined ? undefined : (segmentByOrdinal.get(ordinal) ?? earlierSegment(ordinal));
  };

  // A queued prompt does not end the running turn before the agent starts to work on it
  const lastStartedMs = drafts.turns.reduce(
    (ms, turn) => (turn.hasPrompt && hasActivity(turn) ? Math.max(ms, turn.orderMs) : ms),
    -Infinity,
  );
  const turns = drafts.turns.map((draft) =>
    withSettledWork(toTurn(draft, lastStartedMs, segmentOf(draft), input), context),
  );
  const byKey = new Map(turns.map((turn) => [turn.key, turn]));
  const subagents = drafts.subagents.map((settled) => {
    const draft = inLaterSegment(settled, byKey, segments);
    const turn = draft.turnKey === undefined ? undefined : byKey.get(draft.turnKey);
    const ordinal = draft.segment ?? turn?.segment ?? segmentAt(segments, draft.startMs);
    const segment = ordinal === undefined ? last : (segmentByOrdinal.get(ordinal) ?? earlierSegment(ordinal));
    const ending = endingSegmentOf(draft, segment, segments);
    const subagent = toSubagent(draft, segment, ending, turn, endIdle !== undefined, input.facts);
    return withSettledWork(subagent, context);
  });
  const parentCalls = new Set(subagents.flatMap(({ parentCallId }) => parentCallId ?? []));
  const eventIds = new Set(events.map((e) => e.id));
  // A turn that only hooks reported gets another key when the transcript is read
  const hasFinalKey = ({ key }: Draft): boolean => !eventIds.has(key.replace(/~\d+$/, ""));
  const openTurns = drafts.turns.flatMap((draft, index): OpenRun[] => {
    const run = turns[index];
    return run === undefined || run.closed || segmentOf(draft) === undefined ? [] : [{ draft, run }];
  });
  const openSubagents = drafts.subagents.flatMap((draft, index): OpenRun[] => {
    const run = subagents[index];
    // In which trace it belongs is certain only if the call that started it is known
    const isPlaced = run?.parentCallId !== undefined && segments.length > 0;
    return run === undefined || run.closed || !isPlaced ? [] : [{ draft, run }];
  });
  const openRuns = [...openTurns, ...openSubagents].filter(({ draft }) => hasFinalKey(draft));
  const finishedParts = finishedPartsOf(openRuns, parentCalls, input.partLimits ?? PART_LIMITS);
  // Facts that belong to no part are marked as unused, otherwise every drain would process them again
  const used = new Set([...segments, ...turns, ...subagents].flatMap((part) => part.uses));
  for (const key of [...events.map((e) => e.id), ...entries.map((e) => e.key)]) {
    if (!used.has(key) && key !== segmentation.pending) unused.add(key);
  }
  const reported = entries.find((e) => e.kind === "reported_usage");
  return defined<Session>({
    facts: input.facts,
    segments: input.facts.endsSilently === true ? segments.map((s) => endedSilently(s, turns, context)) : segments,
    turns,
    subagents,
    finishedParts,
    compactions: compactionsOf(input),
    reportedUsage: reported?.byModel,
    unused: [...unused],
    expectedLines: [...turns, ...subagents].filter((run) => expectsLines(run, segmentByOrdinal.get(run.segment), input))
      .length,
  });
}

// --- internal ---

/** The reason for a segment whose end the agent never reported; a reason that was already exported stays. */
function endedSilently(segment: Segment, turns: readonly Turn[], { segment: before, turns: settled }: SessionContext) {
  const wasExported = before?.ordinal === segment.ordinal && before.endMs !== undefined;
  if (wasExported || !(isEndedByUs(segment) || segment.nativeReason === SUPERSEDED)) return segment;
  return { ...segment, reason: idleEndReason(segment.ordinal, [...settled.values(), ...turns]) };
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

/** Hook events count only for agents without a transcript: the transcript's record of a compaction has an id, theirs do not. */
function compactionsOf({ events, entries, expectsTranscript }: SessionInput): readonly Compaction[] {
  const written = entries.filter((e) => e.kind === "compaction");
  if (expectsTranscript || written.length > 0)
    return written.map((e) => defined<Compaction>({ key: e.key, timeMs: e.timeMs, trigger: e.trigger }));
  return events
    .filter((e) => e.type === "compaction")
    .map((e) => defined<Compaction>({ key: e.id, timeMs: timeMsOf(e), trigger: extrasOf(e).trigger }));
}

const hasActivity = ({ modelCalls, toolCalls, events, entries }: Draft): boolean =>
  modelCalls.length + toolCalls.length + events.length + entries.length > 0;

function toTurn(draft: Draft, lastStartedMs: number, segment: Segment | undefined, input: SessionInput): Turn {
  const lastCall = draft.modelCalls.at(-1);
  // An error before a complete answer did not end the turn: the request was, for example, shortened and retried
  const answeredMs = lastCall?.complete === true && lastCall.covers === undefined ? lastCall.startMs : 0;
  const failure = draft.events.find((e) => e.type === "turn.error" && timeMsOf(e) >= answeredMs);
  const finalError = draft.errors.findLast((e) => e.final);
  const interruption = draft.entries.findLast((e) => e.kind === "interruption");
  const ended = draft.events.some((e) => e.type === "turn.end") || draft.entries.some((e) => e.kind === "turn_end");
  const failed = failure !== undefined || (finalError !== undefined && finalError.timeMs >= (lastCall?.endMs ?? 0));
  const interrupted =
    (interruption !== undefined && interruption.timeMs >= (lastCall?.startMs ?? 0)) ||
    (failure !== undefined && extrasOf(failure).error_type === "interrupted");

  const segmentEnded = segment?.endMs !== undefined;
  const superseded = draft.orderMs < lastStartedMs;
  const hasFinalAnswer =
    (lastCall?.complete === true && lastCall.asksForTools !== true) || draft.entries.some((e) => e.kind === "turn_end");
  const hasOpenCall = draft.toolCalls.some((tool) => tool.status === "open");
  // After a broken stream the agent still runs the tool, then retries
  const continuesAfterError =
    failure === undefined && draft.toolCalls.some((tool) => tool.endMs > (finalError?.timeMs ?? Infinity));
  const finished = !hasOpenCall && ((failed && !continuesAfterError) || !input.expectsTranscript || hasFinalAnswer);
  const closed = segmentEnded || superseded || ((ended || failed) && finished);

  const endedNormally = superseded || segment?.reason === "completed" || segment?.reason === "user_exit";
  const isImpliedEnd = closed && endedNormally && !hasOpenCall && input.facts.reportsNoTurnEnds === true;

  const modelCalls = withLostCall(
    draft,
    input,
    failed ? "failed" : closed && !ended && !interrupted ? "killed" : "other",
  );

  const latestEndMs = segmentEnded ? segment.endMs : undefined;
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, latestEndMs));
  return defined<Turn>({
    key: draft.key,
    origin: draft.continues ? "continuation" : draft.origin,
    segment: segment?.ordinal ?? 0,
    state: interrupted
      ? "interrupted"
      : failed
        ? "failed"
        : ended || isImpliedEnd || (hasFinalAnswer && !hasOpenCall)
          ? "ended"
          : closed
            ? "unfinished"
            : "open",
    errorType:
      failed && !interrupted
        ? (finalError?.errorType ?? (failure && extrasOf(failure).error_type) ?? "_OTHER")
        : interrupted
          ? "interrupted"
          : undefined,
    promptLength: draft.promptLength,
    hasHookPrompt: draft.hasHookPrompt,
    backgroundCount: draft.events.reduce((n, e) => Math.max(n, extrasOf(e).background_count ?? 0), 0),
    startMs: minOf(
      [...toolCalls, ...modelCalls].map(({ startMs }) => startMs),
      draft.orderMs,
    ),
    endMs: maxOf([
      draft.orderMs,
      ...toolCalls.map((t) => t.endMs),
      ...modelCalls.map((c) => c.endMs),
      ...draft.events.map(timeMsOf),
      ...draft.entries.filter((e) => !isLeftOpen(e)).map((e) => e.timeMs),
    ]),
    modelCalls,
    toolCalls,
    errors: draft.errors,
    closed,
    uses: draft.uses,
    exportedKey: exportedKeyOf(draft, segment),
  });
}

/** The key of the exported span of what the draft continues. In a later segment, which is another trace, it gets a new span. */
const exportedKeyOf = ({ exported }: Draft, segment: Segment | undefined): string | undefined =>
  exported !== undefined && exported.segment === segment?.ordinal ? exported.key : undefined;

/**
 * A settled subagent that works again in a later segment belongs to that segment, under the call or turn that resumed it:
 * the trace and sums of the earlier segment are already exported.
 */
function inLaterSegment(draft: Draft, turns: ReadonlyMap<string, Turn>, segments: readonly Segment[]): Draft {
  const { resumedBy, segment: before, turnKey: _, parentCallId: __, ...rest } = draft;
  if (resumedBy === undefined || before === undefined) return draft;
  const turn = resumedBy.turnKey === undefined ? undefined : turns.get(resumedBy.turnKey);
  const segment = turn?.segment ?? segments.findLast((s) => s.startMs <= draft.startMs)?.ordinal;
  return segment === undefined || segment <= before ? draft : { ...rest, ...resumedBy, segment };
}

/** When the subagent or its latest open call started: a subagent that finished can be resumed. */
const lastStartMs = ({ startMs, toolCalls }: Draft): number =>
  maxOf([startMs, ...toolCalls.filter(({ status }) => status === "open").map((tool) => tool.startMs)]);

/**
 * The segment whose end also ends the subagent: the latest one in which it worked. The subagent still belongs to the segment
 * that started it.
 */
function endingSegmentOf(draft: Draft, own: Segment | undefined, segments: readonly Segment[]): Segment | undefined {
  const now = segments.findLast((s) => s.startMs <= lastStartMs(draft));
  return now !== undefined && own !== undefined && now.ordinal > own.ordinal ? now : own;
}

/**
 * @param endingSegment see `endingSegmentOf`
 * @param endsSession the session ends now; a subagent without a segment ends with it
 */
function toSubagent(
  draft: Draft,
  segment: Segment | undefined,
  endingSegment: Segment | undefined,
  turn: Turn | undefined,
  endsSession: boolean,
  facts: SessionFacts,
): Subagent {
  const lastCall = draft.modelCalls.at(-1);
  const sinceMs = lastStartMs(draft);
  const hasReportedEnd = draft.events.some((e) => SUBAGENT_ENDS.has(e.type) && timeMsOf(e) >= sinceMs);
  const finished =
    draft.toolCalls.every((tool) => tool.status !== "open") &&
    lastCall?.complete === true &&
    lastCall.asksForTools !== true;
  const closed =
    endsSession ||
    (endingSegment?.endMs !== undefined && !outlives(draft, endingSegment, hasReportedEnd, facts)) ||
    // Without a segment the span would have no parent; settled parts open no new segment
    (hasReportedEnd && segment !== undefined && (finished || turn?.closed === true));
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, endingSegment?.endMs));
  return defined<Subagent>({
    key: draft.key,
    agentId: draft.agentId ?? draft.key,
    agentType: draft.agentType,
    parentCallId: draft.parentCallId,
    turnKey: draft.turnKey,
    segment: segment?.ordinal ?? 0,
    startMs: minOf(
      [...toolCalls, ...draft.modelCalls].map(({ startMs }) => startMs),
      draft.startMs,
    ),
    endMs: maxOf([
      draft.startMs,
      ...toolCalls.map((t) => t.endMs),
      ...draft.modelCalls.map((c) => c.endMs),
      ...draft.events.map(timeMsOf),
    ]),
    modelCalls: draft.modelCalls,
    toolCalls,
    errors: draft.errors,
    closed,
    uses: draft.uses,
    exportedKey: exportedKeyOf(draft, segment),
  });
}

/** Whether the subagent still works after the session's end: it started a call later, or sessions of its agent may end first. */
function outlives(
  { toolCalls, events }: Draft,
  { endMs = 0, reason }: Segment,
  hasReportedEnd: boolean,
  facts: SessionFacts,
): boolean {
  if (toolCalls.some(({ status, startMs }) => status === "open" && startMs > endMs)) return true;
  if (facts.endsBeforeSubagents !== true || reason !== "completed" || hasReportedEnd) return false;
  return events.some((event) => event.type === "subagent.start");
}

const SUBAGENT_ENDS: ReadonlySet<string> = new Set(["subagent.end", "turn.end", "turn.error", "session.end"]);

/** A call that is still open when its run closes is reported as unfinished, not as success or error. */
function finishTool(
  { promptKey: _, uses: __, transcriptId: ___, ...tool }: PairedTool,
  closed: boolean,
  latestEndMs: number | undefined,
) {
  if (tool.status !== "open" || !closed) return tool;
  return { ...tool, status: "unfinished" as const, endMs: Math.max(tool.startMs, latestEndMs ?? tool.endMs) };
}

/** Whether transcript lines are still missing: the last answer of an ended turn, the error of a failed one, the result of a call. */
function expectsLines(run: Turn | Subagent, segment: Segment | undefined, input: SessionInput): boolean {
  if (!input.expectsTranscript || input.endIdle !== undefined) return false;
  // The hook reports a failure before the agent writes the line with the details
  if ("state" in run && run.state === "failed" && run.errors.length === 0) return true;
  if (segment?.endMs !== undefined) {
    const lastCall = run.modelCalls.at(-1);
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

/** Of a run whose output is known so far; its sums follow. */
const isEarlySum = ({ covers, usage }: Turn["modelCalls"][number]): boolean =>
  covers !== undefined && !isWholeUsage(usage);

function lastActivity(segment: Segment, drafts: Drafts, segmentOf: ReadonlyMap<string, number>): number {
  let lastMs = segment.lastActivityMs;
  const include = (draft: Draft) => {
    for (const tool of draft.toolCalls) lastMs = Math.max(lastMs, tool.endMs);
    for (const call of draft.modelCalls) lastMs = Math.max(lastMs, call.endMs);
    for (const event of draft.events) lastMs = Math.max(lastMs, timeMsOf(event));
  };
  for (const turn of drafts.turns) {
    if ((turn.segment ?? segmentOf.get(turn.key)) === segment.ordinal) include(turn);
  }
  if (segment.endMs === undefined) for (const subagent of drafts.subagents) include(subagent);
  return lastMs;
}

const segmentAt = (segments: readonly Segment[], ms: number): number | undefined =>
  segments.findLast((s) => s.startMs <= ms)?.ordinal ?? segments[0]?.ordinal;
