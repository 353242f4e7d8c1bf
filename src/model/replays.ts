import type { TranscriptEntry } from "./transcript.ts";

/**
 * Leaves out a subagent's copies of what the main conversation was answered: their request ids are the subagent's own, so that
 * nothing but the answer's id tells that they are one.
 */
export function withoutReplays(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  if (!entries.some((entry) => replayedId(entry) !== undefined)) return entries;
  const answers = new Set(
    entries.flatMap((e) => (e.kind === "model_call" && e.agentId === undefined ? (e.responseId ?? []) : [])),
  );
  return entries.filter((entry) => !answers.has(replayedId(entry) ?? ""));
}

/** The id of an answer that a subagent's file tells, where no server gives it to two: one that was drawn by lot. */
export const replayedId = (entry: TranscriptEntry): string | undefined =>
  entry.kind === "model_call" && entry.agentId !== undefined && /[A-Za-z0-9]{16}/.test(entry.responseId ?? "")
    ? entry.responseId
    : undefined;
