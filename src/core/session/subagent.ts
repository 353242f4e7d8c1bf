import { maxOf, minOf } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { Segment, SessionFacts, Subagent, Turn } from "../model/session.ts";
import { lastCallOf } from "../rules/calls.ts";
import { timeMsOf } from "../rules/event.ts";
import { type Draft, exportedKeyOf, isLatePart } from "./drafts.ts";
import { finishTool } from "./pair.ts";

/**
 * @param endingSegment see `endingSegmentOf`
 * @param endsSession the session ends now; a subagent without a segment ends with it
 */
export function toSubagent(
  draft: Draft,
  segment: Segment | undefined,
  endingSegment: Segment | undefined,
  turn: Turn | undefined,
  endsSession: boolean,
  facts: SessionFacts,
): Subagent {
  const lastCall = lastCallOf(draft.modelCalls);
  const hasReportedEnd = reportsEnd(draft);
  const finished =
    draft.toolCalls.every((tool) => tool.status !== "open") &&
    lastCall?.complete === true &&
    lastCall.asksForTools !== true;
  const closed =
    endsSession ||
    (endingSegment?.endMs !== undefined && isOver(draft, endingSegment, facts)) ||
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
    isLate: isLatePart(draft, segment),
  });
}

/**
 * A settled subagent that works again in a later segment belongs to that segment, under the call or turn that resumed it:
 * the trace and sums of the earlier segment are already exported.
 */
export function inLaterSegment(draft: Draft, turns: ReadonlyMap<string, Turn>, segments: readonly Segment[]): Draft {
  const { resumedBy, segment: open, settledSegment: before, turnKey: _, parentCallId: __, ...rest } = draft;
  if (resumedBy === undefined || before === undefined) return draft;
  const turn = resumedBy.turnKey === undefined ? undefined : turns.get(resumedBy.turnKey);
  const segment = turn?.segment ?? segments.findLast((s) => s.startMs <= draft.startMs)?.ordinal;
  if (open === undefined) return { ...rest, settledSegment: before, ...resumedBy };
  return segment === undefined || segment <= before ? draft : { ...rest, ...resumedBy, segment };
}

/** Whether it ends with the segment: it does not work on after that, as far as is known. */
export function isOver(draft: Draft, { endMs = 0, reason }: Segment, facts: SessionFacts): boolean {
  // Its span belongs to the segment's trace, because spans of its calls are there
  if (draft.hasParts === true) return true;
  // It started a call later
  if (draft.toolCalls.some(({ status, startMs }) => status === "open" && startMs > endMs)) return false;
  // Sessions of its agent may end first
  if (facts.endsBeforeSubagents !== true || reason !== "completed" || reportsEnd(draft)) return true;
  return !draft.events.some((event) => event.type === "subagent.start");
}

/**
 * The segment whose end also ends the subagent: the latest one in which it worked. The subagent still belongs to the segment
 * that started it.
 */
export function endingSegmentOf(
  draft: Draft,
  own: Segment | undefined,
  segments: readonly Segment[],
): Segment | undefined {
  const now = segments.findLast((s) => s.startMs <= lastStartMs(draft));
  return now !== undefined && own !== undefined && now.ordinal > own.ordinal ? now : own;
}

// --- internal ---

/** When the subagent or its latest open call started: a subagent that finished can be resumed. */
const lastStartMs = ({ startMs, toolCalls }: Draft): number =>
  maxOf([startMs, ...toolCalls.filter(({ status }) => status === "open").map((tool) => tool.startMs)]);

const reportsEnd = (draft: Draft): boolean =>
  draft.events.some((e) => SUBAGENT_ENDS.has(e.type) && timeMsOf(e) >= lastStartMs(draft));

const SUBAGENT_ENDS: ReadonlySet<string> = new Set(["subagent.end", "turn.end", "turn.error", "session.end"]);
