import { defined } from "#kit/objects.ts";
import type { FactBase, FactOf, FactSink } from "../model/fact-sink.ts";
import type { TokenUsage, TranscriptEntry } from "../model/transcript.ts";

/** Collects facts as transcript entries, in the order in which they were found. */
export class EntrySink implements FactSink {
  readonly needsOnlyPrompts: boolean;
  #entries: TranscriptEntry[] = [];
  #removed = 0;

  constructor({ needsOnlyPrompts = false }: Pick<FactSink, "needsOnlyPrompts"> = {}) {
    this.needsOnlyPrompts = needsOnlyPrompts;
  }

  get count(): number {
    return this.#removed + this.#entries.length;
  }

  prompt(base: FactBase, fact: FactOf<"prompt">): void {
    this.#add({ kind: "prompt", ...base, ...fact });
  }

  modelCall(base: FactBase, fact: FactOf<"model_call">): void {
    const usage = fact.usage && defined<TokenUsage>(fact.usage as never);
    this.#add({ kind: "model_call", ...base, ...fact, usage });
  }

  toolUse(base: FactBase, fact: FactOf<"tool_use">): void {
    this.#add({ kind: "tool_use", ...base, ...fact });
  }

  toolResult(base: FactBase, fact: FactOf<"tool_result">): void {
    this.#add({ kind: "tool_result", ...base, ...fact });
  }

  other(entry: TranscriptEntry): void {
    this.#add(entry);
  }

  /** Entries from the given count on that `take` has not removed yet. */
  since(count: number): readonly TranscriptEntry[] {
    return this.#entries.slice(count - this.#removed);
  }

  /** Returns and removes the collected entries; `count` still includes them. */
  take(): TranscriptEntry[] {
    const entries = this.#entries;
    this.#removed += entries.length;
    this.#entries = [];
    return entries;
  }

  #add(entry: TranscriptEntry): void {
    this.#entries.push(defined<TranscriptEntry>(entry as never));
  }
}
