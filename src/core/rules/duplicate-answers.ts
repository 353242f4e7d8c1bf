import type { TranscriptEntry } from "../model/transcript.ts";

/**
 * Removes a subagent's copies of answers that the main conversation received. The copies have other request ids, so only the
 * answer's id shows that they are the same answer.
 *
 * @param isCounted whether the store counts a record, by key: a copy that is counted instead of its original stays
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
  const removed = new Set<string>();
  for (const copy of entries) {
    for (const answer of answers.get(duplicatedAnswerId(copy) ?? "") ?? []) {
      if (!isDuplicateAnswer(copy, answer)) continue;
      removed.add(isCounted(copy.key) && !isCounted(answer.key) ? answer.key : copy.key);
    }
  }
  return entries.filter(({ key }) => !removed.has(key));
}

/** The answer id in a subagent's record, if it is random; for a side pass, the id of the answer it belongs to. */
export const duplicatedAnswerId = (entry: TranscriptEntry): string | undefined =>
  entry.agentId === undefined ? undefined : randomAnswerId(entry);

/** The answer id in a record of the main conversation. */
export const answerId = (entry: TranscriptEntry): string | undefined =>
  entry.agentId === undefined ? randomAnswerId(entry) : undefined;

/** Some servers reuse one id for all answers, but two requests of a conversation never have the same size. */
export function isDuplicateAnswer(copy: TranscriptEntry, answer: TranscriptEntry): boolean {
  if (copy.kind !== "model_call" || answer.kind !== "model_call") return false;
  if (copy.agentId === undefined || answer.agentId !== undefined) return false;
  // A side pass can only duplicate a side pass of the same answer
  if (copy.besideResponseId !== answer.besideResponseId) return false;
  const [a, b] = [copy.usage, answer.usage];
  return a?.input === b?.input && a?.cacheRead === b?.cacheRead && a?.cacheWrite === b?.cacheWrite;
}

// --- internal ---

function randomAnswerId(entry: TranscriptEntry): string | undefined {
  if (entry.kind !== "model_call") return undefined;
  const id = entry.responseId ?? entry.besideResponseId;
  return id !== undefined && /[A-Za-z0-9]{16}/.test(id) ? id : undefined;
}
