import type { EntryOf, TranscriptEntry } from "./transcript.ts";

/** Where a fact stands: the members that every transcript entry has. */
export interface Place {
  readonly key: string;
  readonly timeMs: number;
  readonly globalKey?: string | undefined;
  readonly promptKey?: string | undefined;
  readonly agentId?: string | undefined;
}

/** The members of an entry besides its place. `undefined` and a missing member mean the same. */
export type FactOf<K extends TranscriptEntry["kind"]> = Omit<EntryOf<K>, "kind" | keyof Place>;

/**
 * Receives the facts that a transcript reader finds. A drain collects them as entries; an import puts them into tables
 * without keeping an object for each. A sink does not keep the objects it is given: a reader may reuse them.
 */
export interface FactSink {
  /** Number of facts received so far. */
  readonly count: number;
  prompt(place: Place, fact: FactOf<"prompt">): void;
  modelCall(place: Place, fact: FactOf<"model_call">): void;
  toolUse(place: Place, fact: FactOf<"tool_use">): void;
  toolResult(place: Place, fact: FactOf<"tool_result">): void;
  /** Any rarer kind. Members may be `undefined`. */
  other(entry: LooseEntry): void;
}

/** Gives a sink a fact that is an entry. */
export function putEntry(sink: FactSink, entry: TranscriptEntry): void {
  switch (entry.kind) {
    case "prompt":
      sink.prompt(entry, entry);
      return;
    case "model_call":
      sink.modelCall(entry, entry);
      return;
    case "tool_use":
      sink.toolUse(entry, entry);
      return;
    case "tool_result":
      sink.toolResult(entry, entry);
      return;
    default:
      sink.other(entry);
      return;
  }
}

/** An entry whose optional members may be present as `undefined`. */
export type LooseEntry = TranscriptEntry;
