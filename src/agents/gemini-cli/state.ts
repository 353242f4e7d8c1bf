import { defined } from "#kit/objects.ts";
import type { Fields } from "../shared/payload/json.ts";

/** State between two records. Plain JSON, stored between two drains. */
export interface ChatState {
  /** Time of the last record that had one; also used for records without a time. */
  readonly timeMs: number;
  /** When the process started that writes the records. */
  readonly startMs?: number;
  /** Key of the prompt whose turn the records belong to. */
  readonly promptKey?: string;
  /** Time of the model's last input. */
  readonly inputMs?: number;
  /** Call ids that may repeat, with their answers. Only for files of lines: others are always read from the start. */
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

/** A message, and the state that its entries depend on. */
export interface MessageContext {
  readonly o: Fields;
  readonly id: string;
  readonly timeMs: number;
  readonly state: ChatState;
  readonly agentId: string | undefined;
}
