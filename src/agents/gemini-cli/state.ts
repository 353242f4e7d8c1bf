import { defined } from "../../model/defined.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** What earlier records mean for the next one. Plain JSON, stored between two drains. */
export interface ChatState {
  /** Time of the last record that had one; records without a time get it. */
  readonly timeMs: number;
  /** Key of the prompt whose turn the records belong to. */
  readonly promptKey?: string;
  /** When the model last received input. */
  readonly inputMs?: number;
  /** Answers by those of their call ids that may repeat. A file that is one object is always read from its start. */
  readonly givenIn?: readonly (readonly [callId: string, answer: string])[];
  /** The history, including prompts, is being repeated with new ids. */
  readonly repeating?: true;
}

/** The members that every entry has. */
export function entryBase({ timeMs, state, agentId }: MessageContext, key: string, globalKey?: string) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs,
    globalKey,
    promptKey: state.promptKey,
    agentId,
  });
}

/** A message and everything its entries depend on. */
export interface MessageContext {
  readonly o: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: ChatState;
  readonly agentId: string | undefined;
}
