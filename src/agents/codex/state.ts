import { defined } from "../../model/defined.ts";
import type { TokenUsage, TranscriptEntry } from "../../model/transcript.ts";
import { asString } from "../shared/payload/json.ts";

/** What a line can mean depends on the lines before it. Plain JSON: it is kept between two drains. */
export interface LineState {
  /** Time of the last line that had one. */
  readonly timeMs: number;
  readonly threadId?: string;
  /** Differs from `threadId` in the file of a subagent. */
  readonly rootId?: string;
  /** When the thread began. */
  readonly beganMs?: number;
  /** Set while the lines are those of another thread, copied to the start of this one. */
  readonly copied?: true;
  /** Its version gives each turn an id: the first that is younger than the thread is its own. */
  readonly turnsTell?: true;
  /** Where the thread's own lines begin again, in versions that number them. */
  readonly ownOrdinal?: number;
  readonly turnId?: string;
  /** The last turn whose prompt was told: what the user writes while it is at work joins it. */
  readonly prompted?: string;
  /** The turn of the main thread that a subagent's turn belongs to. */
  readonly rootTurnId?: string;
  /** A review began: turns are told under the id of the reviewer, a thread of its own, but the end of it all under another. */
  readonly isReviewed?: true;
  /** This thread is such a reviewer: its own turn is the one of the main thread. */
  readonly isReviewer?: true;
  readonly model?: string;
  /** Who answers, where that is not who Codex asks of itself. */
  readonly provider?: string;
  /** When the model was last given something to answer. */
  readonly inputMs?: number;
  /** Of the answer that is being written: when its request left, its last part so far, whether it asked for tools. */
  readonly answer?: Answer;
  /** The model was given something in this turn and has not begun to answer. */
  readonly isWaiting?: true;
  /** Tool calls without an output so far. */
  readonly open?: readonly string[];
  /** Ids of calls that could come again. */
  readonly used?: readonly string[];
  /** Usage comes in records of its own; the totals are those of turns of an older version alone. */
  readonly hasRecords?: true;
  /** The last turn that wrote records. */
  readonly recordedTurn?: string;
  /** The turn began as in versions that write no records. */
  readonly isOlderTurn?: true;
  /** The totals go on from those of the thread it was forked from. */
  readonly isFork?: true;
  readonly totals?: TokenUsage;
}

export interface Answer {
  readonly startMs: number;
  readonly endMs: number;
  readonly asksForTools?: true;
}

export type Line = Readonly<Record<string, unknown>>;

/** What line handlers are given: the line's payload and where it stands. */
export interface Here {
  readonly p: Line;
  readonly timeMs: number;
  readonly state: LineState;
}

export interface Read {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

export const isSubagent = ({ rootId, threadId }: LineState): boolean => rootId !== threadId;

/** The fields that every entry has. */
export function at({ timeMs, state }: Pick<Here, "timeMs" | "state">, key: string, globalKey?: string) {
  const isChild = isSubagent(state);
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs,
    globalKey,
    promptKey: isChild ? state.rootTurnId : state.turnId,
    agentId: isChild ? state.threadId : undefined,
  });
}

/** Call ids are the provider's: the same one can come in another thread of the session, and those that are counted say which. */
export const callKey = (kind: string, { state }: Here, callId: string): string =>
  `${kind}:${isSubagent(state) && !callId.includes(`#${state.threadId}`) ? `${state.threadId}:` : ""}${callId}`;

/** The turn that a line names; lines that name none stay in theirs. */
export function inTurn(state: LineState, p: Line): LineState {
  const turnId = asString(p["turn_id"]);
  if (turnId === undefined) return state;
  const { rootTurnId: _, ...rest } = state;
  const rootTurnId = state.isReviewer ? turnId : asString(p["root_turn_id"]);
  return { ...rest, turnId, ...(rootTurnId !== undefined && { rootTurnId }) };
}

/** The model was given something to answer. */
export const asking = (state: LineState, timeMs: number): LineState => ({ ...state, inputMs: timeMs, isWaiting: true });

/** A part of the model's answer came. */
export function answering({ isWaiting: _, ...state }: LineState, asksForTools?: true): LineState {
  const { answer, inputMs, timeMs } = state;
  return {
    ...state,
    answer: defined<Answer>({
      startMs: answer?.startMs ?? inputMs ?? timeMs,
      endMs: timeMs,
      asksForTools: asksForTools ?? answer?.asksForTools,
    }),
  };
}
