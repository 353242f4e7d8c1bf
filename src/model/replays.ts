import type { EntryOf, TranscriptEntry } from "./transcript.ts";

/**
 * Leaves out a subagent's copies of what the main conversation was answered: their request ids are the subagent's own, so that
 * nothing but the answer tells that they are one.
 */
export function withoutReplays(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  if (!entries.some((entry) => replayedId(entry) !== undefined)) return entries;
  const answers = new Map<string, EntryOf<"model_call">[]>();
  for (const entry of entries) {
    if (entry.kind !== "model_call" || entry.agentId !== undefined || entry.responseId === undefined) continue;
    answers.set(entry.responseId, [...(answers.get(entry.responseId) ?? []), entry]);
  }
  return entries.filter((entry) => !answers.get(replayedId(entry) ?? "")?.some((answer) => isReplay(entry, answer)));
}

/** The id of an answer that a subagent's file tells, where it was drawn by lot. */
export const replayedId = (entry: TranscriptEntry): string | undefined =>
  entry.kind === "model_call" && entry.agentId !== undefined && /[A-Za-z0-9]{16}/.test(entry.responseId ?? "")
    ? entry.responseId
    : undefined;

/** Some servers give one id to all their answers, but no two requests of a conversation are as long as each other. */
export function isReplay(copy: TranscriptEntry, answer: TranscriptEntry): boolean {
  if (copy.kind !== "model_call" || answer.kind !== "model_call" || answer.agentId !== undefined) return false;
  const [a, b] = [copy.usage, answer.usage];
  return a?.input === b?.input && a?.cacheRead === b?.cacheRead && a?.cacheWrite === b?.cacheWrite;
}
