import type { TranscriptEntry } from "../model/transcript.ts";

/** Whether it has the tokens of one call. Sums over several calls are used only where single calls are unknown. */
export const isSingleCall = (entry: TranscriptEntry): boolean =>
  entry.kind === "model_call" && entry.covers === undefined && entry.usage !== undefined;
