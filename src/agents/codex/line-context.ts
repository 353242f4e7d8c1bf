import type { FactBase, FactOf, FactSink } from "#core/model/fact-sink.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { asString } from "../shared/payload/json.ts";
import type { Series } from "./running-totals.ts";

/**
 * State between two lines of a file. Stored between two drains as plain JSON. Reading a line changes it; the objects and lists
 * in it are replaced, never changed.
 */
export interface LineState {
  /** Time of the last line that had one. */
  timeMs: number;
  threadId: string | undefined;
  /** Differs from `threadId` in a subagent's file. */
  rootId: string | undefined;
  /** Start of the thread. */
  beganMs: number | undefined;
  /** Set while lines are copies from another thread, at the start of a file. */
  copied: true | undefined;
  /** The version gives each turn an id, so copied lines end at the first turn that is younger than the thread. */
  turnsTell: true | undefined;
  /** Number of the first line that is not copied, in versions that number lines. */
  ownOrdinal: number | undefined;
  turnId: string | undefined;
  /** The last turn with a prompt: further messages during the turn belong to it. */
  prompted: string | undefined;
  /** The turn of the main thread that a subagent's turn belongs to. */
  rootTurnId: string | undefined;
  /** A review started: its turns have the reviewer's thread id, but its end has another one. */
  isReviewed: true | undefined;
  /** This thread is such a reviewer: its turn is the turn of the main thread. */
  isReviewer: true | undefined;
  model: string | undefined;
  /** The provider, if it is not Codex's default. */
  provider: string | undefined;
  /** The thread's service tier, if it is not the standard one. */
  tier: string | undefined;
  /** Web searches of the current answer so far. */
  searches: number | undefined;
  /** Time of the model's last input. */
  inputMs: number | undefined;
  /** The current answer: when its request was sent, its last part so far, whether it requested tools. */
  answer: OpenAnswer | undefined;
  /** The model received input in this turn and has not answered yet. */
  isWaiting: true | undefined;
  /** Tool calls without an output so far. */
  open: readonly string[] | undefined;
  /** Ids of calls that may be reused. */
  used: readonly string[] | undefined;
  /** Usage has separate records; totals then count only for turns of an older version. */
  hasRecords: true | undefined;
  /** The last turn that wrote records. */
  recordedTurn: string | undefined;
  /** The turn was started by a version without usage records. */
  isOlderTurn: true | undefined;
  /** The totals may continue those of the thread from which this one was forked. */
  isFork: true | undefined;
  /** The model answered in this thread; copied lines do not count. */
  hasAnswered: true | undefined;
  /** A line since the last totals was unreadable. */
  isAfterGap: true | undefined;
  /** The counters whose totals were read. `seenTotals`: the last totals as texts. */
  series: readonly Series<CountedCall>[] | undefined;
  seenTotals: readonly string[] | undefined;
  /** Calls of this turn that are known from totals; their records may follow. */
  counted: readonly CountedCall[] | undefined;
  /** Usage from records whose totals may follow. */
  recorded: readonly TokenUsage[] | undefined;
}

/** A model call that was reported, or is reported when its series is confirmed. */
export interface CountedCall {
  readonly place: FactBase;
  readonly fact: FactOf<"model_call">;
}

interface OpenAnswer {
  readonly startMs: number;
  readonly endMs: number;
  readonly asksForTools?: true | undefined;
}

/** State before the first line of a file, or the stored one. */
export const lineState = (timeMs: number, stored: Partial<LineState> = {}): LineState => ({
  timeMs,
  threadId: undefined,
  rootId: undefined,
  beganMs: undefined,
  copied: undefined,
  turnsTell: undefined,
  ownOrdinal: undefined,
  turnId: undefined,
  prompted: undefined,
  rootTurnId: undefined,
  isReviewed: undefined,
  isReviewer: undefined,
  model: undefined,
  provider: undefined,
  tier: undefined,
  searches: undefined,
  inputMs: undefined,
  answer: undefined,
  isWaiting: undefined,
  open: undefined,
  used: undefined,
  hasRecords: undefined,
  recordedTurn: undefined,
  isOlderTurn: undefined,
  isFork: undefined,
  hasAnswered: undefined,
  isAfterGap: undefined,
  series: undefined,
  seenTotals: undefined,
  counted: undefined,
  recorded: undefined,
  ...stored,
});

export type Line = Readonly<Record<string, unknown>>;

/** A line's payload, and the state that its facts depend on. */
export interface LineContext {
  readonly p: Line;
  readonly timeMs: number;
  readonly state: LineState;
  readonly sink: FactSink;
}

export const isSubagent = ({ rootId, threadId }: LineState): boolean => rootId !== threadId;

/** The members that every fact of this line has. */
export function factBase(
  { timeMs, state }: Pick<LineContext, "timeMs" | "state">,
  key: string,
  globalKey?: string,
): FactBase {
  const isChild = isSubagent(state);
  return {
    key,
    timeMs,
    globalKey,
    promptKey: isChild ? state.rootTurnId : state.turnId,
    agentId: isChild ? state.threadId : undefined,
  };
}

/** Key of a fact about a call. Other threads of the session can have the same call id, so the thread is added if needed. */
export const callKey = (kind: string, { state }: LineContext, callId: string): string =>
  isSubagent(state) && !callId.includes(`#${state.threadId}`)
    ? `${kind}:${state.threadId}:${callId}`
    : `${kind}:${callId}`;

/** Sets the current turn to the one that a line names. Lines that name none belong to the current turn. */
export function enterTurn(state: LineState, p: Line): void {
  const turnId = asString(p["turn_id"]);
  if (turnId === undefined) return;
  state.rootTurnId = state.isReviewer ? turnId : asString(p["root_turn_id"]);
  if (turnId !== state.turnId) state.counted = undefined;
  state.turnId = turnId;
}

/** Notes that the model received input. */
export function noteInput(state: LineState, timeMs: number): void {
  state.inputMs = timeMs;
  state.isWaiting = true;
}

/** Notes a part of the model's answer. */
export function noteAnswerPart(state: LineState, asksForTools?: true): void {
  const { answer, inputMs, timeMs } = state;
  state.isWaiting = undefined;
  state.hasAnswered = true;
  state.answer = {
    startMs: answer?.startMs ?? inputMs ?? timeMs,
    endMs: timeMs,
    asksForTools: asksForTools ?? answer?.asksForTools,
  };
}
