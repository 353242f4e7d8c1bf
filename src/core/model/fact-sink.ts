import type { EntryOf, TranscriptEntry } from "./transcript.ts";

/** The members that every transcript entry has. */
export interface FactBase {
  readonly key: string;
  readonly timeMs: number;
  readonly globalKey?: string | undefined;
  readonly promptKey?: string | undefined;
  readonly agentId?: string | undefined;
}

/** The other members of an entry. `undefined` means the same as a missing member. */
export type FactOf<K extends TranscriptEntry["kind"]> = Omit<EntryOf<K>, "kind" | keyof FactBase>;

/**
 * Receives the facts that a transcript reader finds. A drain collects them as entries; an import puts them into tables
 * without keeping an object for each. A sink does not keep the objects that it receives: a reader may reuse them.
 */
export interface FactSink {
  /** Number of facts received so far. */
  readonly count: number;
  prompt(base: FactBase, fact: FactOf<"prompt">): void;
  modelCall(base: FactBase, fact: FactOf<"model_call">): void;
  /** @param given the call's arguments, for a sink that looks for commits and changes in them */
  toolUse(base: FactBase, fact: FactOf<"tool_use">, given?: unknown): void;
  /** @param result what the call returned, for such a sink. Only of calls for which `needsResult` is true must it be complete */
  toolResult(base: FactBase, fact: FactOf<"tool_result">, result?: unknown): void;
  /** Any other kind. Members may be `undefined`. */
  other(entry: TranscriptEntry): void;
  /**
   * Whether the sink looks at the result of a call that was passed to `toolUse`, by the id that the provider gave it. Absent: it looks at
   * no arguments and results.
   */
  needsResult?(givenId: string): boolean;
  /** Facts other than prompts are not needed, so a reader need not compute them. @default false */
  readonly needsOnlyPrompts?: boolean;
}
