import { goesBy, isBareCount, isRandomId, laterId } from "../shared/payload/call-ids.ts";
import { type Here, isSubagent, type LineState } from "./state.ts";

/**
 * Ids are the provider's, and some count `call_0` from nought in every answer: the first call of a thread has such an id for
 * itself, the id of a later one is completed by its time; in a subagent, by its thread before that, since its ids are counted
 * anew.
 *
 * @returns with what has to be remembered of it
 */
export function uniqueCallId({ state, timeMs }: Here, given: string) {
  if (isRandomId(given)) return { callId: given, used: {} };
  const used = state.used ?? [];
  const first = isBareCount(given) && isSubagent(state) ? laterId(given, state.threadId ?? "") : given;
  if (used.includes(given)) return { callId: laterId(first, String(timeMs)), used: {} };
  return { callId: first, used: { used: [...used, given].slice(-REMEMBERED_IDS) } };
}

/** The call of that id that waits for its output, the newest first. */
export const openCall = ({ open }: LineState, given: string | undefined): string | undefined =>
  given === undefined ? undefined : open?.findLast((id) => goesBy(id, given));

// --- internal ---

/** Ids that count are short and few; those of a session that makes up each of its own are many. */
const REMEMBERED_IDS = 1_000;
