import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import type { Fields } from "../shared/payload/json.ts";

/** State between two lines of a session file. Plain JSON, stored between two drains. */
export interface ChatState {
  /** Time of the last line that had one. */
  timeMs: number;
  /** The prompt whose turn the lines belong to. */
  promptKey: string | undefined;
  /** Digest of the facts about the session that were last passed on. */
  about: string | undefined;
  /** The latest answers: lines about their tool calls follow. */
  answers: readonly Answer[] | undefined;
  /** Call ids that the provider may use again, with the unique id of their last call. */
  counted: readonly (readonly [given: string, unique: string])[] | undefined;
}

/** A model call that was read. */
export interface Answer {
  readonly responseId: string;
  readonly place: FactBase;
  readonly endMs: number;
}

export const chatState = (timeMs: number, stored: Partial<ChatState> = {}): ChatState => ({
  timeMs,
  promptKey: undefined,
  about: undefined,
  answers: undefined,
  counted: undefined,
  ...stored,
});

/** A line, and what its facts depend on. */
export interface LineContext {
  readonly o: Fields;
  readonly uuid: string;
  readonly timeMs: number;
  /** The subagent that the file belongs to. */
  readonly agentId: string | undefined;
  /** The line says that it is a copy of another session's. */
  readonly isCopy: boolean;
  readonly state: ChatState;
  readonly sink: FactSink;
}

/** The members that every fact has. @param agentId the subagent, if it is not the file's */
export const factBase = (
  { timeMs, state, agentId: own }: Pick<LineContext, "timeMs" | "state" | "agentId">,
  key: string,
  globalKey?: string,
  agentId: string | undefined = own,
): FactBase => ({
  key,
  timeMs,
  globalKey,
  // A subagent's turn is that of the call that started it
  promptKey: agentId === undefined ? state.promptKey : undefined,
  agentId,
});
