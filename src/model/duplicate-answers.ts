import type { TranscriptEntry } from "./transcript.ts";

/**
 * Leaves out a subagent's copies of what the main conversation was answered: their request ids are the subagent's own, so that
 * nothing but the answer tells that they are one.
 *
 * @param isCounted whether the store counts a record, by its key: a copy that it counts in the place of its answer stays
 */
export function withoutDuplicateAnswers(
  entries: readonly TranscriptEntry[],
  isCounted: (key: string) => boolean = () => false,
): readonly TranscriptEntry[] {
  if (!entries.some((entry) => duplicatedAnswerId(entry) !== undefined)) return entries;
  const answers = new Map<string, TranscriptEntry[]>();
  for (const entry of entries) {
    const id = answerId(entry);
    if (id !== undefined) answers.set(id, [...(answers.get(id) ?? []), entry]);
  }
  const left = new Set<string>();
  for (const copy of entries) {
    for (const answer of answers.get(duplicatedAnswerId(copy) ?? "") ?? []) {
      if (!isDuplicateAnswer(copy, answer)) continue;
      left.add(isCounted(copy.key) && !isCounted(answer.key) ? answer.key : copy.key);
    }
  }
  return entries.filter(({ key }) => !left.has(key));
}

/** The id of an answer that a subagent's file tells, where it was drawn by lot; of a pass, that of the answer it stands beside. */
export const duplicatedAnswerId = (entry: TranscriptEntry): string | undefined =>
  entry.agentId === undefined ? undefined : drawnId(entry);

/** The same of one that the main conversation was given. */
export const answerId = (entry: TranscriptEntry): string | undefined =>
  entry.agentId === undefined ? drawnId(entry) : undefined;

/** Some servers give one id to all their answers, but no two requests of a conversation are as long as each other. */
export function isDuplicateAnswer(copy: TranscriptEntry, answer: TranscriptEntry): boolean {
  if (copy.kind !== "model_call" || answer.kind !== "model_call") return false;
  if (copy.agentId === undefined || answer.agentId !== undefined) return false;
  // A pass beside an answer is one of it, and never the answer
  if (copy.besideResponseId !== answer.besideResponseId) return false;
  const [a, b] = [copy.usage, answer.usage];
  return a?.input === b?.input && a?.cacheRead === b?.cacheRead && a?.cacheWrite === b?.cacheWrite;
}

// --- internal ---

function drawnId(entry: TranscriptEntry): string | undefined {
  if (entry.kind !== "model_call") return undefined;
  const id = entry.responseId ?? entry.besideResponseId;
  return id !== undefined && /[A-Za-z0-9]{16}/.test(id) ? id : undefined;
}
