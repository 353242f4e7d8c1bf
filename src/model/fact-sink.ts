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
  toolUse(base: FactBase, fact: FactOf<"tool_use">): void;
  toolResult(base: FactBase, fact: FactOf<"tool_result">): void;
  /** Any other kind. Members may be `undefined`. */
  other(entry: LooseEntry): void;
}

/** Passes an entry to a sink. */
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
