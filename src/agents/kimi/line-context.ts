import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import type { Fields } from "../shared/payload/json.ts";

/** State between two lines of a file. Plain JSON, stored between two drains. */
export interface WireState {
  /** Time of the last line that had one. */
  timeMs: number;
  /** The prompt whose turn the lines belong to. */
  promptKey: string | undefined;
  /** The last request to a model. */
  request:
    | { readonly model?: string; readonly alias?: string; readonly provider?: string; readonly ms: number }
    | undefined;
  /** The current step: one request to a model and the tools that its answer calls. */
  step: string | undefined;
  /** The model call of the current step. */
  answer: { readonly place: FactBase; readonly endMs: number } | undefined;
  /** How many answers the step had. */
  answers: number | undefined;
  /** Call ids that the provider may use again, with the unique id and the tool of their last call. */
  calls: readonly KnownCall[] | undefined;
  /** Calls that started a subagent, with its id. */
  spawned: readonly (readonly [callId: string, agentId: string])[] | undefined;
  /** What started the compaction that runs. */
  compaction: string | undefined;
}

export interface KnownCall {
  readonly given: string;
  readonly unique: string;
  readonly name: string;
}

export const wireState = (timeMs: number, stored: Partial<WireState> = {}): WireState => ({
  timeMs,
  promptKey: undefined,
  request: undefined,
  step: undefined,
  answer: undefined,
  answers: undefined,
  calls: undefined,
  spawned: undefined,
  compaction: undefined,
  ...stored,
});

/** A line, and what its facts depend on. */
export interface LineContext {
  readonly o: Fields;
  readonly timeMs: number;
  /** The subagent that the file belongs to; `undefined` for the main agent. */
  readonly agentId: string | undefined;
  readonly state: WireState;
  readonly sink: FactSink;
}

/** The members that every fact has. A subagent's turn is that of the call that started it. */
export const factBase = ({ timeMs, state, agentId }: LineContext, key: string, globalKey?: string): FactBase => ({
  key,
  timeMs,
  globalKey,
  promptKey: agentId === undefined ? state.promptKey : undefined,
  agentId,
});

/** Key of a fact that has no id: the agent distinguishes it from those of other files. */
export const placeKey = ({ agentId }: LineContext, kind: string, id: string | number): string =>
  `${kind}:${agentId ?? "main"}:${id}`;
