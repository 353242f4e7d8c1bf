import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";

/** What a line can mean depends on the lines before it. Plain JSON: it is kept between two drains. */
export interface LineState {
  /** Time of the last line that had one; for those that have none. */
  readonly timeMs: number;
  /** Key of the prompt whose turn we are in. */
  readonly promptKey?: string;
  /** The main agent's last request is answered, and nothing has asked for another one. */
  readonly isAtRest?: true;
  /** What was last told of the session, so that it is told once. */
  readonly facts?: string;
  /** The file has a record per model call; older versions wrote sums only. */
  readonly hasRecords?: true;
  /** The sums that were told last, where they stand in for the calls. */
  readonly sums?: ToldSums;
  /** The answers since then: how many, and the latest of them, since one can come in several pieces. */
  readonly answers?: { readonly count: number; readonly last: readonly string[] };
  /** Why the compaction that is at work began. */
  readonly compactionTrigger?: string;
  /** Tool calls that the user or the program made, not the model, and those that were broken off: their lines tell nothing. */
  readonly passedOver?: readonly string[];
  /** Tool calls of the main agent that have not ended. */
  readonly openCalls?: readonly string[];
  /** Those of them that the user is asked about. */
  readonly asked?: readonly string[];
  /** Ids of calls that could come again: some providers count them from nought in every answer. */
  readonly usedIds?: readonly string[];
  /** Of those ids the calls that have not ended, of subagents too. */
  readonly openIds?: readonly (readonly [given: string, callId: string])[];
}

/** Sums over a session, whichever way its version counts. */
export interface ToldSums {
  readonly startMs: number;
  /** As they stood in the line: over all runs, or over the last alone. */
  readonly told: Sums;
  /** What the runs had used before it, where the count began anew with it. */
  readonly before: Sums;
  readonly requests: number;
}

export type Sums = EntryOf<"reported_usage">["byModel"];

export interface LineResult {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

export type Fields = Readonly<Record<string, unknown>>;

/** One line, and what is known when it is read. */
export interface Here {
  readonly data: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: LineState;
  /** Set on what a subagent did. */
  readonly agentId: string | undefined;
}

/**
 * The fields that every entry has. Event ids are unique over all sessions: a line that a fork copied is known by its id.
 */
export function at(here: Here, key: string, globalKey: string | undefined = `event:${here.id}`) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs: here.timeMs,
    globalKey,
    promptKey: here.state.promptKey,
    agentId: here.agentId,
  });
}

/** Nothing to tell; what was learned stays. */
export const nothing = (here: Here): LineResult => ({ entries: [], state: here.state });
/** One entry, nothing learned. */
export const one = (here: Here, entry: TranscriptEntry): LineResult => ({ entries: [entry], state: here.state });
