import { isRandomId, repeatedCallId } from "../../model/call-ids.ts";
import type { View } from "./database.ts";
import { isCopy } from "./ids.ts";
import { toolRows } from "./rows.ts";

/**
 * Makes call ids unique within a session and its subagents. OpenCode keeps the provider's ids, and some providers restart
 * `functions.bash:0` in every conversation: the first call keeps such an id, a later one gets its part's id appended.
 *
 * Other calls are only read if an id does not look random.
 *
 * @param sessionIds the session and all its subagents
 */
export function uniqueCallIds(db: View, sessionIds: readonly string[]): (callId: string, partId: string) => string {
  let firstOf: ReadonlyMap<string, string> | undefined;
  return (callId, partId) => {
    if (isRandomId(callId)) return callId;
    firstOf ??= firstUses(db, sessionIds);
    return (firstOf.get(callId) ?? partId) === partId ? callId : repeatedCallId(callId, partId);
  };
}

// --- internal ---

/** Call id → the part that had it first. Part ids ascend with time; a fork's copies are not reported. */
function firstUses(db: View, sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { id, callId, lastMs } of sessionIds.flatMap((sessionId) => toolRows(db, sessionId))) {
    if (callId === undefined || (lastMs !== undefined && isCopy(id, lastMs))) continue;
    const known = first.get(callId);
    if (known === undefined || id < known) first.set(callId, id);
  }
  return first;
}
