import { defined } from "../../model/defined.ts";
import type { TranscriptEntry } from "../../model/transcript.ts";

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
  /** Why the compaction that is at work began. */
  readonly compactionTrigger?: string;
  /** Tool calls that the user or the program made, not the model. */
  readonly foreignCalls?: readonly string[];
}

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
