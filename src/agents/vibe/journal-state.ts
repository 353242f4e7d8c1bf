import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import { asObject, type Fields } from "../shared/payload/json.ts";

/** State between two lines of a session's journals. Plain JSON, stored between two drains. */
export interface JournalState {
  /** Time of the last line that had one. */
  timeMs: number;
  /** Number of the last line that was read. */
  readTo: number;
  /** Lines are missing: the agent deleted them before they were read. */
  hasGap?: boolean | undefined;
  /** The current turn. */
  turn?: string | undefined;
  /** A turn has begun without a prompt of the user; the next line of a call names it. */
  isMachineTurn?: boolean | undefined;
  /** The program, not the user, wrote the next user message. */
  isInjected?: boolean | undefined;
  /** Requested model calls without an answer, with their start. */
  asked?: readonly (readonly [actionId: string, startMs: number])[] | undefined;
  /** Actions of tools and of hooks before tools, with the tool call. */
  actions?: readonly (readonly [actionId: string, callId: string])[] | undefined;
  /** Tool calls without a result. */
  open?: readonly (readonly [callId: string, name: string])[] | undefined;
  /** Ids that the provider may use again, with the unique id of their last call. */
  given?: readonly (readonly [given: string, callId: string])[] | undefined;
  /** The last request for a compaction. */
  compactionId?: string | undefined;
  /** What started the compaction that runs. */
  compaction?: string | undefined;
}

/** A line, and what its facts depend on. */
export interface JournalLine {
  readonly payload: Fields;
  /** Number of the line in the session. */
  readonly sequence: number;
  readonly state: JournalState;
  readonly sink: FactSink;
  readonly of: JournalOwner;
}

/** The session that a journal belongs to. */
export interface JournalOwner {
  /** The subagent, by its session id; `undefined` for the main agent. */
  readonly agentId: string | undefined;
  /** The model in the session's settings. */
  readonly model: string | undefined;
}

/** The members that every fact has. */
export const factBase = (
  { state, of }: Pick<JournalLine, "state" | "of">,
  key: string,
  { timeMs = state.timeMs, globalKey }: { readonly timeMs?: number; readonly globalKey?: string } = {},
): FactBase => ({
  key,
  timeMs,
  globalKey,
  promptKey: of.agentId === undefined ? state.turn : undefined,
  agentId: of.agentId,
});

/** Keys of facts that both journals and snapshots have. */
export const keyOf = {
  prompt: (turnId: string): string => `prompt:${turnId}`,
  use: (callId: string): string => `use:${callId}`,
  result: (callId: string): string => `result:${callId}`,
  turnEnd: (turnId: string): string => `turn_end:${turnId}`,
  failure: (turnId: string): string => `failure:${turnId}`,
  interruption: (turnId: string): string => `interruption:${turnId}`,
};

/** Adds to a list of the state; the oldest members are dropped. */
export const withMember = <T>(list: readonly T[] | undefined, member: T): readonly T[] =>
  [...(list ?? []), member].slice(-MAX_MEMBERS);

/** The value for an id in a list of the state. */
export const memberOf = <T>(list: readonly (readonly [string, T])[] | undefined, id: string): T | undefined =>
  list?.findLast(([one]) => one === id)?.[1];

/** A list of the state without the values for an id; `undefined` if nothing is left. */
export const without = <T>(
  list: readonly (readonly [string, T])[] | undefined,
  id: string,
): readonly (readonly [string, T])[] | undefined => {
  const rest = list?.filter(([one]) => one !== id);
  return rest?.length === 0 ? undefined : rest;
};

/** The object in a field; an empty object if there is none. */
export const fieldsIn = (fields: Fields | undefined, name: string): Fields => asObject(fields?.[name]) ?? {};

// --- internal ---

/** More than the calls of one answer. */
const MAX_MEMBERS = 500;
