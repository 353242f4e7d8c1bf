import { hasGivenId, isRandomId, isSequenceNumber, repeatedCallId } from "../../model/call-ids.ts";
import { isSubagent, type LineContext, type LineState } from "./line-context.ts";

/**
 * Returns and remembers the id of a new call, unique in its session. Some providers count `call_0` from zero in every answer: the
 * first call of a thread keeps such an id, later ones get their time added. In a subagent the thread is added first, since ids
 * restart there.
 */
export function uniqueCallId({ state, timeMs }: LineContext, given: string): string {
  if (isRandomId(given)) return given;
  const used = state.used ?? [];
  const first = isSequenceNumber(given) && isSubagent(state) ? repeatedCallId(given, state.threadId ?? "") : given;
  if (used.includes(given)) return repeatedCallId(first, String(timeMs));
  state.used = [...used, given].slice(-REMEMBERED_IDS);
  return first;
}

/** The newest call with that id that has no output yet. */
export const openCall = ({ open }: LineState, given: string | undefined): string | undefined =>
  given === undefined ? undefined : open?.findLast((id) => hasGivenId(id, given));

// --- internal ---

/** Counted ids are short and few; a session that makes up ids has many. */
const REMEMBERED_IDS = 1_000;
