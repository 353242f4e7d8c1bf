import type { FactBase } from "#core/model/fact-sink.ts";

/** A call of a tool that has no result yet. */
export interface OpenCall {
  /** Id of its event. */
  readonly id: string;
  /** The call's id as the provider gave it, which may be used again. */
  readonly givenId: string;
  /** The unique id under which the call is counted. */
  readonly callId: string;
  readonly name: string;
  readonly digest?: string;
  readonly executable?: string;
  readonly promptKey?: string;
  readonly ms: number;
  /** Present for a call that starts a subagent. */
  readonly task?: Task;
}

export interface Task {
  /** Digest of the subagent's prompt. */
  readonly digest: string;
  /** The file of the call's event: the subagent's type is read from it, because the state must not contain names. */
  readonly fileName: string;
}

/** A run of a call that started a subagent whose folder is not known yet. */
export interface TaskRun extends Task {
  readonly callId: string;
  readonly ms: number;
  /** When the process that runs it got its prompt. */
  readonly runMs: number;
}

/** An answer whose usage is not known yet. */
interface OpenAnswer {
  readonly ms: number;
  readonly promptKey?: string;
}

/** State between two reads of a conversation. Plain JSON. */
export interface WalkState {
  /** Number of the next event, and the file of the last one. */
  next: number;
  lastName: string;
  /** See `LocalTimes`. */
  offsetMs?: number | undefined;
  /** Time of the last event. */
  timeMs: number;
  /** The prompt whose turn the events belong to. */
  promptKey?: string | undefined;
  /** When the running process got that prompt. A call that was opened before then was interrupted. */
  runMs: number;
  /** Time of the last result in this run. */
  resultMs: number;
  /** The last event was the start of a session. */
  isStart: boolean;
  open: readonly OpenCall[];
  answers: Readonly<Record<string, OpenAnswer>>;
  tasks: readonly TaskRun[];
  /** Subagents whose call is known. */
  linked: readonly string[];
  /** How many calls of each use of a model were counted. */
  counted: Readonly<Record<string, number>>;
}

export const initialState = (timeMs: number): WalkState => ({
  next: 0,
  lastName: "",
  timeMs,
  runMs: 0,
  resultMs: 0,
  isStart: false,
  open: [],
  answers: {},
  tasks: [],
  linked: [],
  counted: {},
});

/** Limit for what is kept between two reads: killed runs leave calls and answers that are never completed. */
export const MAX_KEPT = 1_000;

/** The members that every fact has. A subagent's turn is that of the call that started it. */
export const factBase = (
  state: WalkState,
  agentId: string | undefined,
  key: string,
  timeMs: number,
  promptKey = state.promptKey,
): FactBase => ({ key, timeMs, globalKey: key, promptKey: agentId === undefined ? promptKey : undefined, agentId });
