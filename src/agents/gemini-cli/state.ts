import { defined } from "../../model/defined.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** What a record can mean depends on those before it. Plain JSON: it is kept between two drains. */
export interface ChatState {
  /** Time of the last record that had one; for those that have none. */
  readonly timeMs: number;
  /** Key of the prompt whose turn we are in. */
  readonly promptKey?: string;
  /** When the model was last given something to answer. */
  readonly inputMs?: number;
  /** The answers that gave them, of call ids that can come again; a file of one object is read from its start. */
  readonly givenIn?: readonly (readonly [callId: string, answer: string])[];
  /** The history is being written again, prompts and all, under new ids. */
  readonly repeating?: true;
}

/** The fields that every entry has. */
export function at({ timeMs, state, agentId }: Here, key: string, globalKey?: string) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs,
    globalKey,
    promptKey: state.promptKey,
    agentId,
  });
}

/** A message and where it stands. */
export interface Here {
  readonly o: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: ChatState;
  readonly agentId: string | undefined;
}
