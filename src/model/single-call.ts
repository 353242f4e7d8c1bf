import type { TranscriptEntry } from "./transcript.ts";

/** Whether it tells the tokens of one call: sums over several stand in for calls of which nobody tells them. */
export const isSingleCall = (entry: TranscriptEntry): boolean =>
  entry.kind === "model_call" && entry.covers === undefined && entry.usage !== undefined;
