import { hasGivenId, isRandomId, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { isSubagent, type LineContext, type LineState } from "./line-context.ts";

/**
 * Returns and remembers the id of a new call, unique in its session. Some providers number calls from 0 in every answer
 * (`call_0`): the first call of a thread keeps such an id, for later ones the time is added. In a subagent the thread is added
 * first, because ids restart there.
 */
export function uniqueCallId({ state, timeMs }: LineContext, given: string): string {
  if (isRandomId(given)) return given;
  const used = state.used ?? [];
  const first = isSequenceNumber(given) && isSubagent(state) ? repeatedCallId(given, state.threadId ?? "") : given;
  if (used.includes(given)) return repeatedCallId(first, String(timeMs));
  state.used = [...used, given].slice(-REMEMBERED_IDS);
  return first;
}

/** The latest call with that id and without an output. */
export const openCall = ({ open }: LineState, given: string | undefined): string | undefined =>
  given === undefined ? undefined : open?.findLast((id) => hasGivenId(id, given));

// --- internal ---

/** A session has few numbered ids, but can have many random ones. */
const REMEMBERED_IDS = 1_000;
