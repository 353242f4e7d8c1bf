import { timeMsOf } from "../model/event.ts";
import { type Segment, type SessionInput, SUPERSEDED, type Turn } from "../model/session.ts";
import type { Drafts } from "./assign.ts";
import type { Draft } from "./drafts.ts";
import { type Segmentation, splitIntoSegments } from "./segments.ts";

/** The segments of a session, and the one that each turn and subagent belongs to. */
export class PlacedSegments {
  /** From the last known one on. */
  readonly all: readonly Segment[];
  /** @see Segmentation.pending */
  readonly pending: string | undefined;
  readonly #ordinalOf: Segmentation["segmentOf"];
  readonly #byOrdinal: ReadonlyMap<number, Segment>;

  constructor(input: SessionInput, drafts: Drafts) {
    const { segments, segmentOf, pending } = splitIntoSegments(input, activitiesOf(input, drafts));
    this.#ordinalOf = segmentOf;
    this.pending = pending;
    this.all = segments.map((segment) => withEnd(segment, segments, this.#lastActivityMs(segment, drafts), input));
    this.#byOrdinal = new Map(this.all.map((segment) => [segment.ordinal, segment]));
  }

  /** @returns `undefined` if it is not known here */
  get(ordinal: number): Segment | undefined {
    return this.#byOrdinal.get(ordinal);
  }

  ofTurn(draft: Draft): Segment | undefined {
    const ordinal = this.#ordinalOfTurn(draft);
    return ordinal === undefined ? undefined : (this.get(ordinal) ?? earlierSegment(ordinal));
  }

  /** @param turn the one that started it */
  ofSubagent(draft: Draft, turn: Turn | undefined): Segment | undefined {
    const ordinal = draft.segment ?? turn?.segment ?? this.#ordinalAt(draft.startMs);
    return ordinal === undefined ? this.all.at(-1) : (this.get(ordinal) ?? earlierSegment(ordinal));
  }

  #ordinalOfTurn({ segment, key }: Draft): number | undefined {
    return segment ?? this.#ordinalOf.get(key);
  }

  #ordinalAt(ms: number): number | undefined {
    return this.all.findLast(({ startMs }) => startMs <= ms)?.ordinal ?? this.all[0]?.ordinal;
  }

  #lastActivityMs(segment: Segment, { turns, subagents }: Drafts): number {
    let lastMs = segment.lastActivityMs;
    const include = (draft: Draft) => {
      for (const tool of draft.toolCalls) lastMs = Math.max(lastMs, tool.endMs);
      for (const call of draft.modelCalls) lastMs = Math.max(lastMs, call.endMs);
      for (const event of draft.events) lastMs = Math.max(lastMs, timeMsOf(event));
    };
    for (const turn of turns) if (this.#ordinalOfTurn(turn) === segment.ordinal) include(turn);
    if (segment.endMs === undefined) for (const subagent of subagents) include(subagent);
    return lastMs;
  }
}

// --- internal ---

/** What can open a segment. */
function activitiesOf({ endIdle, context }: SessionInput, { turns, subagents }: Drafts) {
  const newTurns = turns.filter((turn) => !turn.continues || turn.segment === undefined);
  // If a session was pruned while a subagent ran, only that subagent remains
  const hasOnlySubagents = endIdle !== undefined && turns.length === 0 && context.segment === undefined;
  return [
    ...newTurns.map(({ key, orderMs }) => ({ key, ms: orderMs })),
    ...(hasOnlySubagents ? subagents.map(({ key, startMs }) => ({ key, ms: startMs })) : []),
  ];
}

function withEnd(
  segment: Segment,
  all: readonly Segment[],
  lastActivityMs: number,
  { endIdle }: SessionInput,
): Segment {
  const seen = { ...segment, lastActivityMs };
  if (segment.endMs === undefined) return endIdle === undefined ? seen : { ...seen, endMs: lastActivityMs, ...endIdle };
  // A killed process counts as active until its last activity, or until the next process started
  if (segment.nativeReason !== SUPERSEDED) return seen;
  const next = all.find(({ ordinal }) => ordinal > segment.ordinal);
  return { ...seen, endMs: Math.max(segment.endMs, Math.min(lastActivityMs, next?.startMs ?? lastActivityMs)) };
}

/** A segment before the last known one is over; only its number is known here. */
const earlierSegment = (ordinal: number): Segment => ({
  ordinal,
  startMs: Number.NEGATIVE_INFINITY,
  endMs: Number.NEGATIVE_INFINITY,
  lastActivityMs: Number.NEGATIVE_INFINITY,
  uses: [],
});
