import { type Segment, type SessionInput, SUPERSEDED, type Turn } from "../model/session.ts";
import { timeMsOf } from "../rules/event.ts";
import { openSegmentOf } from "../rules/segments.ts";
import type { Drafts } from "./assign.ts";
import { baseKey, type Draft } from "./drafts.ts";
import { type Segmentation, splitIntoSegments } from "./segments.ts";
import { isOver } from "./subagent.ts";

/** The segments of a session, and the one that each turn and subagent belongs to. */
export class PlacedSegments {
  /** From the last known one on. */
  readonly all: readonly Segment[];
  /** @see Segmentation.pending */
  readonly pending: string | undefined;
  readonly #ordinalOf: Segmentation["segmentOf"];
  readonly #byOrdinal: ReadonlyMap<number, Segment>;
  readonly #context: SessionInput["context"];

  constructor(input: SessionInput, drafts: Drafts) {
    const { segments, segmentOf, pending } = splitIntoSegments(input, activitiesOf(input, drafts));
    this.#ordinalOf = segmentOf;
    this.#context = input.context;
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
    return ordinal === undefined ? undefined : this.get(ordinal);
  }

  /**
   * @param turn the one that started it, if it is not settled
   * @returns `undefined` if there is none yet: it works on after the end of its own
   */
  ofSubagent(draft: Draft, turn: Turn | undefined): Segment | undefined {
    const ordinal =
      draft.segment ??
      turn?.segment ??
      openSegmentOf(this.#context.turns.get(draft.turnKey ?? ""), this.#context) ??
      this.#ordinalOf.get(draft.key) ??
      this.#ordinalAt(draft.startMs);
    return ordinal === undefined ? undefined : this.get(ordinal);
  }

  #ordinalOfTurn({ segment, key }: Draft): number | undefined {
    return segment ?? this.#ordinalOf.get(key);
  }

  #ordinalAt(ms: number): number | undefined {
    const exported = this.#context.segment?.endMs === undefined ? undefined : this.#context.segment.ordinal;
    const open = this.all.filter(({ ordinal }) => ordinal !== exported);
    return (open.findLast(({ startMs }) => startMs <= ms) ?? open[0])?.ordinal;
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
function activitiesOf({ endIdle, context, facts }: SessionInput, { turns, subagents }: Drafts) {
  const { segment: last } = context;
  const newTurns = turns.filter(({ segment }) => segment === undefined);
  const here = new Set(turns.map(({ key }) => baseKey(key)));
  const unplaced = subagents.filter((s) => s.segment === undefined && !here.has((s.resumedBy ?? s).turnKey ?? ""));
  // If a session was pruned while a subagent ran, only that subagent remains
  const hasOnlySubagents = endIdle !== undefined && turns.length === 0 && last === undefined;
  const opening =
    last?.endMs === undefined ? [] : unplaced.filter((s) => endIdle !== undefined || isOver(s, last, facts));
  return [
    ...newTurns.map(({ key, orderMs, continues }) => ({ key, ms: orderMs, continues })),
    ...(hasOnlySubagents ? subagents : opening).map(({ key, startMs }) => ({
      key,
      ms: startMs,
      continues: true,
      outlives: true,
    })),
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
