import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";

/** What earlier lines mean for the next one. Plain JSON, stored between two drains. */
export interface LineState {
  /** Time of the last line that had one; lines without a time get it. */
  readonly timeMs: number;
  /** Key of the current turn's prompt. */
  readonly promptKey?: string;
  /** The model answered the main agent's last request, and no new request has started. */
  readonly isAtRest?: true;
  /** Digest of the last session facts, so that unchanged facts are not reported again. */
  readonly facts?: string;
  /** The file has a record per model call; older versions only wrote sums. */
  readonly hasRecords?: true;
  /** The last sums, if they replace the calls. */
  readonly sums?: RecordedSums;
  /** Answers since then: their count and the latest ones, since an answer can have several lines. */
  readonly answers?: { readonly count: number; readonly last: readonly string[] };
  /** Trigger of the running compaction. */
  readonly compactionTrigger?: string;
  /** Tool calls of the user or the program, and interrupted ones: their lines are skipped. */
  readonly passedOver?: readonly string[];
  /** Tool calls of the main agent that have not ended. */
  readonly openCalls?: readonly string[];
  /** Open calls that need the user's permission. */
  readonly asked?: readonly string[];
  /** Ids of calls that may be reused: some providers count them from zero in every answer. */
  readonly usedIds?: readonly string[];
  /** Open calls with those ids, including those of subagents. */
  readonly openIds?: readonly (readonly [given: string, callId: string, agent?: string, tool?: string])[];
}

/** Sums over a session. Versions count them differently. */
export interface RecordedSums {
  readonly startMs: number;
  /** As written in the line: over all runs, or over the last one only. */
  readonly told: Sums;
  /** Usage of earlier runs, if counting restarted with this one. */
  readonly before: Sums;
  readonly requests: number;
}

export type Sums = EntryOf<"reported_usage">["byModel"];

export interface LineResult {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A line with everything its facts depend on. */
export interface Here {
  readonly data: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: LineState;
  /** Set on lines of a subagent. */
  readonly agentId: string | undefined;
}

/**
 * The members that every entry has. Event ids are unique over all sessions, so they identify lines that a fork copied.
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

/** No entries; the state stays. */
export const nothing = (here: Here): LineResult => ({ entries: [], state: here.state });
/** One entry; the state stays. */
export const one = (here: Here, entry: TranscriptEntry): LineResult => ({ entries: [entry], state: here.state });
