import { minOf } from "#kit/numbers.ts";
import type { Event } from "../model/event-schema.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import type { PairedTool } from "./pair.ts";
import type { JoinedPrompt } from "./prompts.ts";

/** The facts of one turn or subagent. */
export interface Bin {
  prompt?: JoinedPrompt;
  meta?: EntryOf<"subagent">;
  readonly events: Event[];
  readonly entries: TranscriptEntry[];
  readonly calls: EntryOf<"model_call">[];
  readonly toolCalls: PairedTool[];
  /** Start of what was settled of the run while it was open. */
  settledStartMs?: number | undefined;
}

/** The bin of a key; a new one if there is none yet. */
export function binOf(bins: Map<string, Bin>, key: string): Bin {
  const bin = bins.get(key) ?? { events: [], entries: [], calls: [], toolCalls: [] };
  bins.set(key, bin);
  return bin;
}

/** Without a prompt and without calls: signals alone are no turn. */
export function isEmpty(bin: Bin, settled: boolean): boolean {
  const work = bin.calls.length + bin.toolCalls.length;
  if (work > 0 || bin.entries.some((e) => e.kind === "model_error")) return false;
  return settled || bin.prompt === undefined;
}

/** When its first fact happened, or its work that was settled while it was open; `undefined` without any. */
export function firstMs(bin: Bin): number | undefined {
  const times = [
    ...bin.events.map(timeMsOf),
    ...bin.calls.map((c) => Math.min(c.startMs ?? c.timeMs, c.timeMs)),
    ...bin.toolCalls.map((t) => t.startMs),
    ...bin.entries.map((e) => e.timeMs),
    ...(bin.settledStartMs === undefined ? [] : [bin.settledStartMs]),
  ];
  return times.length === 0 ? (bin.meta?.timeMs ?? undefined) : minOf(times);
}

/** The turn that the events or tools name. */
export const namedTurnKey = ({ events, toolCalls }: Bin): string | undefined =>
  events.map((e) => extrasOf(e).prompt_id).find((id) => id !== undefined) ??
  toolCalls.map((t) => t.promptKey).find((key) => key !== undefined);
