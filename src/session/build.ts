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
  type Subagent,
  type Turn,
} from "../model/session.ts";
import { assign, type Draft, type Drafts } from "./assign.ts";
import { idleEndReason } from "./idle-end-reason.ts";
import { isLeftOpen, type PairedTool, pairTools } from "./pair.ts";
import { cutSegments, SUPERSEDED } from "./segments.ts";

/**
 * Builds the session, or the part of it that is not settled, from hook events and transcript entries.
 *
 * Pure. Order and duplicates of events and entries make no difference. What was settled before is given as context and is
 * not returned again.
 *
 * @returns segments (starting with the last known one), turns and subagents ordered by time; empty lists when there are none
 * @throws never
 */
export function buildSession(input: SessionInput): Session {
  const { entries, context } = input;
  const events = [...new Map(input.events.map((e) => [e.id, e])).values()];
  const spent = new Set(spentEvents(input));
  const live = events.filter((e) => !spent.has(e.id));
  const paired = pairTools(live, entries, context.calls);
  const tools = paired.filter((tool) => !context.callIds.has(tool.callId));
  const goesBy = new Map(paired.flatMap((t) => (t.writtenId === undefined ? [] : [[t.writtenId, t.callId]])));
  const drafts = assign(live, entries, tools, context, goesBy);
  const idle = input.endIdle;
  const begun = drafts.turns.filter((t) => !t.continues || t.segment === undefined);
  // After pruning, a subagent may be all that is left of a session; it was running when the session was pruned
  const isLeft = idle !== undefined && drafts.turns.length === 0 && context.segment === undefined;
  const cut = cutSegments({ ...input, events: live }, [
    ...begun.map(({ key, markMs }) => ({ key, ms: markMs })),
    ...(isLeft ? drafts.subagents.map(({ key, startMs }) => ({ key, ms: startMs })) : []),
  ]);
  const segments = cut.segments.map((s): Segment => {
    const lastActivityMs = Math.max(s.lastActivityMs, lastActivity(s, drafts, cut.segmentOf));
    const seen = { ...s, lastActivityMs };
    if (s.endMs === undefined) return idle === undefined ? seen : { ...seen, endMs: lastActivityMs, ...idle };
    // A process that died was active until its last sign of life, or until the next process took over
    if (s.nativeReason !== SUPERSEDED) return seen;
    const next = cut.segments.find(({ ordinal }) => ordinal > s.ordinal);
    return { ...seen, endMs: Math.max(s.endMs, Math.min(lastActivityMs, next?.startMs ?? lastActivityMs)) };
  });
  const placed = new Map(segments.map((s) => [s.ordinal, s]));
  const last = segments.at(-1);
  /** A segment before the last known one is over; only its number is known here. */
  const past = (ordinal: number): Segment => ({
    ordinal,
    startMs: Number.NEGATIVE_INFINITY,
    endMs: Number.NEGATIVE_INFINITY,
    lastActivityMs: Number.NEGATIVE_INFINITY,
    uses: [],
  });
  const segmentOf = (draft: Draft): Segment | undefined => {
    const ordinal = draft.segment ?? cut.segmentOf.get(draft.key);
    return ordinal === undefined ? undefined : (placed.get(ordinal) ?? past(ordinal));
  };

  // A prompt typed ahead does not end the running turn before the agent starts on it
  const lastTakenUpMs = drafts.turns.reduce(
    (ms, turn) => (turn.hasPrompt && isTakenUp(turn) ? Math.max(ms, turn.markMs) : ms),
    -Infinity,
  );
  const turns = drafts.turns.map((draft) => toTurn(draft, lastTakenUpMs, segmentOf(draft), input));
  const byKey = new Map(turns.map((turn) => [turn.key, turn]));
  const subagents = drafts.subagents.map((settled) => {
    const draft = takenUpAgain(settled, byKey, segments);
    const turn = draft.turnKey === undefined ? undefined : byKey.get(draft.turnKey);
    const ordinal = draft.segment ?? turn?.segment ?? segmentAt(segments, draft.startMs);
    const segment = ordinal === undefined ? last : (placed.get(ordinal) ?? past(ordinal));
    return toSubagent(draft, segment, workplaceOf(draft, segment, segments), turn, idle !== undefined, input.facts);
  });
  // Facts that belong nowhere are marked as used, otherwise every drain would look at them again
  const used = new Set([...segments, ...turns, ...subagents].flatMap((part) => part.uses));
  for (const key of [...events.map((e) => e.id), ...entries.map((e) => e.key)]) {
    if (!used.has(key) && key !== cut.pending) spent.add(key);
  }
  const reported = entries.find((e) => e.kind === "reported_usage");
  return defined<Session>({
    facts: input.facts,
    segments: input.facts.endsSilently === true ? segments.map((s) => endedSilently(s, turns, context)) : segments,
    turns,
    subagents,
    compactions: compactionsOf(input),
    reportedUsage: reported?.byModel,
    spent: [...spent],
    expectedLines: [...turns, ...subagents].filter((run) => expectsLines(run, placed.get(run.segment), input)).length,
  });
}

// --- internal ---

/** The reason for a segment whose end the agent never reported; a reason that was already exported stays. */
function endedSilently(segment: Segment, turns: readonly Turn[], { segment: before, turns: settled }: SessionContext) {
  const wasExported = before?.ordinal === segment.ordinal && before.endMs !== undefined;
  if (wasExported || !(isEndedByUs(segment) || segment.nativeReason === SUPERSEDED)) return segment;
  return { ...segment, reason: idleEndReason(segment.ordinal, [...settled.values(), ...turns]) };
}

/** Signals that affect nothing any more, and facts about calls that are already settled. */
function spentEvents({ events, entries }: SessionInput): readonly string[] {
  return [
    ...events
      .filter(
        (e) =>
          e.type === "notice" ||
          e.type === "compaction" ||
          (e.type === "session.start" && extrasOf(e).continues === "compaction"),
      )
      .map((e) => e.id),
    ...entries
      .filter((e) => e.kind === "session" || e.kind === "reported_usage" || e.kind === "compaction")
      .map((e) => e.key),
  ];
}

/** The transcript's compaction record has an id; hook events count only for agents without a transcript. */
function compactionsOf({ events, entries, expectsTranscript }: SessionInput): readonly Compaction[] {
  const written = entries.filter((e) => e.kind === "compaction");
  if (expectsTranscript)
    return written.map((e) => defined<Compaction>({ key: e.key, timeMs: e.timeMs, trigger: e.trigger }));
  return events
    .filter((e) => e.type === "compaction")
    .map((e) => defined<Compaction>({ key: e.id, timeMs: timeMsOf(e), trigger: extrasOf(e).trigger }));
}

const isTakenUp = ({ modelCalls, toolCalls, events, entries }: Draft): boolean =>
  modelCalls.length + toolCalls.length + events.length + entries.length > 0;

function toTurn(draft: Draft, lastTakenUpMs: number, segment: Segment | undefined, input: SessionInput): Turn {
  const lastCall = draft.modelCalls.at(-1);
  // An error followed by a complete answer was recovered, for example a request that was shortened and retried
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
  const superseded = draft.markMs < lastTakenUpMs;
  const hasLastWord =
    (lastCall?.complete === true && lastCall.asksForTools !== true) || draft.entries.some((e) => e.kind === "turn_end");
  const isWorking = draft.toolCalls.some((tool) => tool.status === "open");
  // After a broken stream the agent still runs the tool, then retries
  const goesOn = failure === undefined && draft.toolCalls.some((tool) => tool.endMs > (finalError?.timeMs ?? Infinity));
  const finished = !isWorking && ((failed && !goesOn) || !input.expectsTranscript || hasLastWord);
  const closed = segmentEnded || superseded || ((ended || failed) && finished);

  const isWell = superseded || segment?.reason === "completed" || segment?.reason === "user_exit";
  const over = closed && isWell && !isWorking && input.facts.reportsNoTurnEnds === true;

  const boundMs = segmentEnded ? segment.endMs : undefined;
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, boundMs));
  return defined<Turn>({
    key: draft.key,
    origin: draft.continues ? "continuation" : draft.origin,
    segment: segment?.ordinal ?? 0,
    state: interrupted
      ? "interrupted"
      : failed
        ? "failed"
        : ended || over || (hasLastWord && !isWorking)
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
      [...toolCalls, ...draft.modelCalls].map(({ startMs }) => startMs),
      draft.markMs,
    ),
    endMs: maxOf([
      draft.markMs,
      ...toolCalls.map((t) => t.endMs),
      ...draft.modelCalls.map((c) => c.endMs),
      ...draft.events.map(timeMsOf),
      ...draft.entries.filter((e) => !isLeftOpen(e)).map((e) => e.timeMs),
    ]),
    modelCalls: draft.modelCalls,
    toolCalls,
    errors: draft.errors,
    closed,
    uses: draft.uses,
  });
}

/**
 * A settled subagent that works again in a later segment belongs to that segment, under the call or turn that resumed it:
 * the trace and sums of the earlier segment are already exported.
 */
function takenUpAgain(draft: Draft, turns: ReadonlyMap<string, Turn>, segments: readonly Segment[]): Draft {
  const { again, segment: before, turnKey: _, parentCallId: __, ...rest } = draft;
  if (again === undefined || before === undefined) return draft;
  const turn = again.turnKey === undefined ? undefined : turns.get(again.turnKey);
  const segment = turn?.segment ?? segments.findLast((s) => s.startMs <= draft.startMs)?.ordinal;
  return segment === undefined || segment <= before ? draft : { ...rest, ...again, segment };
}

/** When a subagent last began something: a finished one can be asked to continue. */
const atWorkMs = ({ startMs, toolCalls }: Draft): number =>
  maxOf([startMs, ...toolCalls.filter(({ status }) => status === "open").map((tool) => tool.startMs)]);

/** The segment whose end also ends the subagent. Another process may have resumed it, but it belongs to the segment that started it. */
function workplaceOf(draft: Draft, own: Segment | undefined, segments: readonly Segment[]): Segment | undefined {
  const now = segments.findLast((s) => s.startMs <= atWorkMs(draft));
  return now !== undefined && own !== undefined && now.ordinal > own.ordinal ? now : own;
}

/**
 * @param workplace see `workplaceOf`
 * @param isOver nothing is left open; a session that consists of subagents alone has no segment that could end
 */
function toSubagent(
  draft: Draft,
  segment: Segment | undefined,
  workplace: Segment | undefined,
  turn: Turn | undefined,
  isOver: boolean,
  facts: SessionFacts,
): Subagent {
  const lastCall = draft.modelCalls.at(-1);
  const sinceMs = atWorkMs(draft);
  const hasReportedEnd = draft.events.some((e) => SUBAGENT_ENDS.has(e.type) && timeMsOf(e) >= sinceMs);
  const finished =
    draft.toolCalls.every((tool) => tool.status !== "open") &&
    lastCall?.complete === true &&
    lastCall.asksForTools !== true;
  const closed =
    isOver ||
    (workplace?.endMs !== undefined && !outlives(draft, workplace, hasReportedEnd, facts)) ||
    // Without a segment its span would have no parent, and settled work opens no new segment
    (hasReportedEnd && segment !== undefined && (finished || turn?.closed === true));
  const toolCalls = draft.toolCalls.map((tool) => finishTool(tool, closed, workplace?.endMs));
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
  });
}

/** Whether it still works after its session ended: it began a call later, or its agent may end before its subagents do. */
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

/** A call that is open when its run closes was never answered; it is reported as unfinished, not as success or error. */
function finishTool(
  { promptKey: _, uses: __, writtenId: ___, ...tool }: PairedTool,
  closed: boolean,
  boundMs: number | undefined,
) {
  if (tool.status !== "open" || !closed) return tool;
  return { ...tool, status: "unfinished" as const, endMs: Math.max(tool.startMs, boundMs ?? tool.endMs) };
}

/** Whether transcript lines are still missing: the last answer of an ended turn, the error of a failed one, the result of a call. */
function expectsLines(run: Turn | Subagent, segment: Segment | undefined, input: SessionInput): boolean {
  if (!input.expectsTranscript || input.endIdle !== undefined) return false;
  // The hook reported the failure; the line with the details is written after it
  if ("state" in run && run.state === "failed" && run.errors.length === 0) return true;
  if (segment?.endMs !== undefined) {
    const lastCall = run.modelCalls.at(-1);
    const wentOn = "state" in run && (run.state === "ended" || run.state === "unfinished");
    return (
      run.toolCalls.some((t) => t.status === "unfinished") ||
      (wentOn && lastCall?.asksForTools === true) ||
      (lastCall === undefined
        ? run.errors.length === 0 && !("agentId" in run)
        : !lastCall.complete || lastCall.usage === undefined)
    );
  }
  return "state" in run && run.state === "ended" && !run.closed;
}

function lastActivity(segment: Segment, drafts: Drafts, segmentOf: ReadonlyMap<string, number>): number {
  let lastMs = segment.lastActivityMs;
  const see = (draft: Draft) => {
    for (const tool of draft.toolCalls) lastMs = Math.max(lastMs, tool.endMs);
    for (const call of draft.modelCalls) lastMs = Math.max(lastMs, call.endMs);
    for (const event of draft.events) lastMs = Math.max(lastMs, timeMsOf(event));
  };
  for (const turn of drafts.turns) {
    if ((turn.segment ?? segmentOf.get(turn.key)) === segment.ordinal) see(turn);
  }
  if (segment.endMs === undefined) for (const subagent of drafts.subagents) see(subagent);
  return lastMs;
}

const segmentAt = (segments: readonly Segment[], ms: number): number | undefined =>
  segments.findLast((s) => s.startMs <= ms)?.ordinal ?? segments[0]?.ordinal;
