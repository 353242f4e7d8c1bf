import { maxOf, minOf } from "#kit/numbers.ts";
import type { SessionEndReason } from "../model/envelope.ts";
import type { Event } from "../model/event-schema.ts";
import { type Segment, type SessionInput, type SessionProcess, SUPERSEDED } from "../model/session.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { continuationOf, isContinuation } from "../rules/segments.ts";
import { isLeftOpen } from "./pair.ts";

export interface Segmentation {
  readonly segments: readonly Segment[];
  /** Activity key → ordinal of its segment. */
  readonly segmentOf: ReadonlyMap<string, number>;
  /** Id of a start event that no activity has followed yet. */
  readonly pending?: string;
}

interface Activity {
  readonly key: string;
  readonly ms: number;
  /** It is a further part of something settled. */
  readonly continues?: boolean;
  /** It is of a subagent, which can outlive the segment for any time. */
  readonly outlives?: boolean;
}

/**
 * Splits a session into segments: from a start to an end, or from the first activity if no start was reported.
 *
 * Events can arrive in another order than they happened: an end comes after the prompt it names, and a start shortly after the
 * first activity belongs to that segment. A start without activity opens no segment, even when the session goes idle. A second
 * start without an end in between means that the first process was killed.
 *
 * The last known segment gets nothing more once it has an end: its root span with all sums was exported. What becomes known of it
 * later belongs to a segment that continues it.
 *
 * @param activities starts of unsettled turns and subagents without a segment, any order
 */
export function splitIntoSegments(input: SessionInput, activities: readonly Activity[]): Segmentation {
  const marks = marksOf(input, activities);
  const starts = marks.filter((mark) => mark.kind === "start");
  const { segment, processes = [] } = input.context;
  const builder = new SegmentBuilder(segment, isSingleRun(marks, segment), processes);
  for (const mark of marks) {
    if (mark.kind === "activity") builder.activity(mark, startFollows(starts, mark.ms));
    else if (mark.kind === "start") builder.start(mark);
    else builder.end(mark);
  }
  return builder.finish(input.endIdle !== undefined);
}

/** Longest time by which an end can arrive before the last activity it ends. */
const LATE_ACTIVITY_WITHIN_MS = 60_000;

// --- internal ---

/** Longest time by which the hook of a start can arrive late; up to 0.2 s was measured. */
const LATE_START_WITHIN_MS = 10_000;

/** Two equal starts within this time are one that was reported twice: no program restarts as fast. */
const REPEATED_WITHIN_MS = 1_000;

/** The segment's own start, delivered after its end. */
const isOwnStart = (last: SegmentDraft, mark: StartMark): boolean =>
  !last.isExported &&
  !last.isLate &&
  !mark.resumes &&
  last.startOrigin === undefined &&
  mark.ms - (last.endMs ?? mark.ms) <= (mark.origin === undefined ? REPEATED_WITHIN_MS : LATE_START_WITHIN_MS);

const startFollows = (starts: readonly StartMark[], ms: number): boolean =>
  starts.some((start) => start.ms >= ms && start.ms - ms <= LATE_START_WITHIN_MS);

/** A new session with one start and one end: everything belongs to one segment, in any order. */
const isSingleRun = (marks: readonly Mark[], before: Segment | undefined): boolean => {
  const starts = marks.filter((mark) => mark.kind === "start");
  const ends = marks.filter((mark) => mark.kind === "end");
  return before === undefined && starts.length === 1 && ends.length === 1 && starts[0]?.resumes === false;
};

interface StartMark {
  readonly kind: "start";
  readonly ms: number;
  readonly id: string;
  readonly origin: string | undefined;
  /** It continues an earlier session. */
  readonly resumes: boolean;
  /** The process that started. Set if no event reports the start: its time is then only a limit. */
  readonly process?: string;
}
interface EndMark {
  readonly kind: "end";
  readonly ms: number;
  readonly id: string;
  readonly reason: SessionEndReason;
  readonly nativeReason: string | undefined;
  readonly promptId: string | undefined;
}
type Mark = StartMark | EndMark | (Activity & { readonly kind: "activity" });

function marksOf(input: SessionInput, activities: readonly Activity[]): readonly Mark[] {
  const { events } = input;
  const startedMs = new Map(activities.map(({ key, ms }) => [key, ms]));
  const marks: Mark[] = [...activities.map((a) => ({ kind: "activity", ...a }) as const), ...resumptions(input)];
  for (const event of events) {
    const extras = extrasOf(event);
    const ms = timeMsOf(event);
    // The start or end of a subagent is no segment boundary
    if (extras.agent_id !== undefined) continue;
    if (event.type === "session.start" && extras.continues !== "compaction") {
      const resumes = extras.continues === "same-session";
      marks.push({ kind: "start", ms, id: event.id, origin: extras.start_origin, resumes });
    } else if (event.type === "session.end") {
      marks.push({
        kind: "end",
        ms: Math.max(ms, startedMs.get(extras.prompt_id ?? "") ?? ms),
        id: event.id,
        reason: event.data?.reason ?? "completed",
        nativeReason: extras.native_reason,
        promptId: extras.prompt_id,
      });
    }
  }
  marks.push(...impliedStarts(input, marks));
  const rank = { start: 0, activity: 1, end: 2 } as const;
  return marks
    .map((mark) => (mark.kind === "start" && mark.process === undefined ? beforeItsPrompt(mark, marks) : mark))
    .sort((a, b) => a.ms - b.ms || rank[a.kind] - rank[b.kind]);
}

/**
 * A start at the time of the prompt that it follows: some agents run both hooks at once, and the prompt's can be the first. No
 * program is killed and started again as fast.
 */
function beforeItsPrompt(start: StartMark, marks: readonly Mark[]): StartMark {
  const near = marks.filter(({ ms }) => ms < start.ms && start.ms - ms <= REPEATED_WITHIN_MS);
  // What is before an end or another start belongs to that
  const fromMs = maxOf(near.filter(({ kind }) => kind !== "activity").map(({ ms }) => ms));
  const own = near.filter(({ kind, ms }) => kind === "activity" && !(ms <= fromMs));
  return own.length === 0 ? start : { ...start, ms: minOf(own.map(({ ms }) => ms)) };
}

/**
 * Starts of later processes in a session without hooks. Some agents write them into the transcript. Otherwise it shows one only if
 * the process before was killed during a tool call: the next process writes the result of that call when it starts.
 */
function resumptions({ events, entries, context }: SessionInput): readonly StartMark[] {
  const isStart = ({ type }: Event): boolean => type === "session.start";
  if (context.segment?.startOrigin !== undefined || events.some(isStart)) return [];
  return entries
    .filter((entry) => (entry.kind === "resumption" || isLeftOpen(entry)) && entry.agentId === undefined)
    .map(({ timeMs, key }) => ({ kind: "start", ms: timeMs, id: key, origin: "resume", resumes: true }));
}

/**
 * Starts of further processes, for agents that report none: the next process of a session begins a segment, as if it had reported
 * its start. A process that did report it needs no other mark.
 */
function impliedStarts({ context }: SessionInput, marks: readonly Mark[]): readonly StartMark[] {
  const { segment } = context;
  const processes = inOrder(context.processes ?? []);
  const own =
    processes.find(({ process }) => process === segment?.process) ??
    processes.find(({ lastMs }) => segment === undefined || lastMs >= segment.startMs);
  return processes.flatMap(({ process, firstMs }, i): readonly StartMark[] => {
    const isReported = marks.some(({ kind, ms }) => kind === "start" && processAt(processes, ms)?.process === process);
    if (own === undefined || firstMs <= own.firstMs || isReported) return [];
    // The transcript's time of a prompt can be earlier than its hook
    const ms = Math.min(firstMs, Math.max(firstMs - EARLY_PROMPT_MS, (processes[i - 1]?.lastMs ?? 0) + 1));
    return [{ kind: "start", ms, id: `process:${process}`, origin: "resume", resumes: true, process }];
  });
}

const inOrder = (processes: readonly SessionProcess[]): readonly SessionProcess[] =>
  [...processes].sort((a, b) => a.firstMs - b.firstMs);

/** The process that had begun last at a time. */
const processAt = (processes: readonly SessionProcess[], ms: number): SessionProcess | undefined =>
  processes.findLast(({ firstMs }) => firstMs <= ms);

/** By this much a prompt in the transcript can be earlier than its hook. */
const EARLY_PROMPT_MS = 2_000;

interface SegmentDraft {
  ordinal: number;
  startMs: number;
  startOrigin: string | undefined;
  endMs?: number;
  reason?: SessionEndReason;
  nativeReason?: string | undefined;
  process?: string | undefined;
  lastMs: number;
  superseded: boolean;
  /** Its end was exported before this run. */
  isExported: boolean;
  /** It continues an exported one, see `continuationOf`. */
  isLate: boolean;
  uses: string[];
}

class SegmentBuilder {
  readonly #list: SegmentDraft[] = [];
  readonly #segmentOf = new Map<string, number>();
  #pending: StartMark | undefined;
  /** The last end that was reported while no segment was open. */
  #unmatchedEnd: EndMark | undefined;
  #starts = 0;
  #ends = 0;
  readonly #isSingleRun: boolean;
  readonly #processes: readonly SessionProcess[];

  constructor(last: Segment | undefined, isSingleRun: boolean, processes: readonly SessionProcess[]) {
    this.#isSingleRun = isSingleRun;
    this.#processes = inOrder(processes);
    if (last === undefined) return;
    const isLate = isContinuation(last);
    this.#list.push(toDraft(last, isLate));
    if (isLate) return;
    if (last.startOrigin !== undefined) this.#starts++;
    if (last.endMs !== undefined) this.#ends++;
  }

  activity({ key, ms, continues = false, outlives = false }: Activity, startFollows: boolean): void {
    const last = this.#list.at(-1);
    const isLast = last !== undefined && (last.endMs === undefined || ms <= last.endMs);
    const isLate =
      last !== undefined &&
      (isLast ||
        (last.isExported || last.isLate
          ? continues && !startFollows && this.#isAfterwards(last, ms, outlives)
          : this.#isLate(last, ms, startFollows)));
    const segment = !isLate ? this.#open(ms) : last.isExported ? this.#continue(last, ms) : last;
    segment.lastMs = Math.max(segment.lastMs, ms);
    if (segment.endMs !== undefined) segment.endMs = Math.max(segment.endMs, ms);
    this.#segmentOf.set(key, segment.ordinal);
  }

  start(mark: StartMark): void {
    this.#starts++;
    const current = this.#current();
    const last = this.#list.at(-1);
    if (current === undefined && last !== undefined && isOwnStart(last, mark)) {
      last.startOrigin = mark.origin;
      last.uses.push(mark.id);
      return;
    }
    if (current === undefined) {
      this.#pending = mark;
      return;
    }
    const near = mark.ms - current.startMs <= LATE_START_WITHIN_MS;
    // A session can be resumed, killed and resumed again: a start well after the last activity is from another process
    const isRepeat = current.startOrigin === mark.origin && mark.ms - current.lastMs <= REPEATED_WITHIN_MS;
    // Of an agent whose starts have no origin, the segment may have had its own
    const isOwn = current.startOrigin === undefined && mark.origin !== undefined;
    if (near && mark.process === undefined && (isOwn || isRepeat)) {
      current.startOrigin ??= mark.origin;
      current.uses.push(mark.id);
      return;
    }
    current.endMs = Math.max(current.startMs, current.lastMs);
    current.reason = "timeout";
    current.nativeReason = SUPERSEDED;
    current.superseded = true;
    this.#pending = mark;
  }

  end(mark: EndMark): void {
    const current = this.#current();
    const last = this.#list.at(-1);
    if (current !== undefined) this.#close(current, mark);
    else if (this.#pending !== undefined && !this.#belongsToEarlier(mark)) this.#close(this.#open(mark.ms), mark);
    else if (last?.superseded === true) {
      last.superseded = false;
      this.#close(last, mark);
    } else this.#unmatchedEnd = mark;
  }

  finish(endIdle: boolean): Segmentation {
    const current = this.#current();
    const early = this.#unmatchedEnd;
    if (early !== undefined && this.#list.length === 0) this.#close(this.#open(early.ms), early);
    else if (early !== undefined && current !== undefined && this.#isEarlyEnd(early, current))
      this.#close(current, early);
    return {
      segments: this.#list.map(toSegment),
      segmentOf: this.#segmentOf,
      ...(this.#pending !== undefined && !endIdle && { pending: this.#pending.id }),
    };
  }

  #current(): SegmentDraft | undefined {
    const last = this.#list.at(-1);
    return last?.endMs === undefined ? last : undefined;
  }

  #close(segment: SegmentDraft, mark: EndMark): void {
    this.#ends++;
    close(segment, mark);
  }

  /**
   * For activity after an end, without a start in between. If the agent reports starts, the end was reported too early; if it
   * reports only ends, a new segment begins.
   */
  #isLate(last: SegmentDraft, ms: number, startFollows: boolean): boolean {
    const isNear = last.endMs !== undefined && ms - last.endMs <= LATE_ACTIVITY_WITHIN_MS;
    if (!isNear) return false;
    return this.#isSingleRun || (this.#starts > 0 && this.#pending === undefined && !startFollows);
  }

  /** Activity right after an exported end, of no other process. */
  #isAfterwards({ endMs = 0 }: SegmentDraft, ms: number, outlives: boolean): boolean {
    return (outlives || ms - endMs <= LATE_ACTIVITY_WITHIN_MS) && this.#pending === undefined;
  }

  #continue(exported: SegmentDraft, ms: number): SegmentDraft {
    const segment = { ...toDraft(continuationOf(toSegment(exported), ms), true), isExported: false };
    this.#list.push(segment);
    return segment;
  }

  /** An end that was reported before its segment opened belongs to the current segment, unless a later start needs it. */
  #isEarlyEnd(mark: EndMark, current: SegmentDraft): boolean {
    return current.startMs - mark.ms <= LATE_ACTIVITY_WITHIN_MS && this.#starts <= this.#ends + 1;
  }

  /** A late end that names a prompt of a closed segment belongs to that segment. */
  #belongsToEarlier(mark: EndMark): boolean {
    const segment = mark.promptId === undefined ? undefined : this.#segmentOf.get(mark.promptId);
    return segment !== undefined;
  }

  #open(ms: number): SegmentDraft {
    const pending = this.#pending;
    this.#pending = undefined;
    const startMs = pending === undefined || pending.process !== undefined ? ms : Math.min(pending.ms, ms);
    const latest = processAt(this.#processes, Math.max(ms, pending?.ms ?? ms)) ?? this.#processes[0];
    const segment: SegmentDraft = {
      ordinal: (this.#list.at(-1)?.ordinal ?? -1) + 1,
      startMs,
      startOrigin: pending?.origin,
      process: pending?.process ?? latest?.process,
      lastMs: ms,
      superseded: false,
      isExported: false,
      isLate: false,
      uses: pending === undefined ? [] : [pending.id],
    };
    this.#list.push(segment);
    return segment;
  }
}

function close(segment: SegmentDraft, mark: EndMark): void {
  segment.endMs = Math.max(segment.startMs, mark.ms);
  segment.lastMs = Math.max(segment.lastMs, segment.endMs);
  segment.reason = mark.reason;
  segment.nativeReason = mark.nativeReason;
  segment.uses.push(mark.id);
}

const toDraft = (s: Segment, isLate: boolean): SegmentDraft => ({
  ordinal: s.ordinal,
  startMs: s.startMs,
  startOrigin: s.startOrigin,
  ...(s.endMs !== undefined && { endMs: s.endMs }),
  ...(s.reason !== undefined && { reason: s.reason }),
  nativeReason: s.nativeReason,
  process: s.process,
  lastMs: s.lastActivityMs,
  superseded: s.nativeReason === SUPERSEDED && !isLate,
  isExported: s.endMs !== undefined,
  isLate,
  uses: [...s.uses],
});

function toSegment(s: SegmentDraft): Segment {
  return {
    ordinal: s.ordinal,
    startMs: s.startMs,
    lastActivityMs: s.lastMs,
    uses: s.uses,
    ...(s.endMs !== undefined && { endMs: s.endMs }),
    ...(s.reason !== undefined && { reason: s.reason }),
    ...(s.nativeReason !== undefined && { nativeReason: s.nativeReason }),
    ...(s.startOrigin !== undefined && { startOrigin: s.startOrigin }),
    ...(s.process !== undefined && { process: s.process }),
  };
}
