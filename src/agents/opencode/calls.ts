import { isRandomId, laterId } from "../shared/payload/call-ids.ts";
import type { View } from "./database.ts";
import { isCopy } from "./ids.ts";
import { toolRows } from "./rows.ts";

/**
 * Call ids that are unique within a session and its subagents. OpenCode keeps what the provider sent, and some providers count
 * `functions.bash:0` from nought in every conversation: the first call has such an id for itself, the id of a later one is
 * completed by its part's.
 *
 * The other calls are looked at only when an id does not look like one that is drawn by lot.
 *
 * @param sessionIds the session and all that work for it
 */
export function uniqueCallIds(db: View, sessionIds: readonly string[]): (callId: string, partId: string) => string {
  let firstOf: ReadonlyMap<string, string> | undefined;
  return (callId, partId) => {
    if (isRandomId(callId)) return callId;
    firstOf ??= firstUses(db, sessionIds);
    return (firstOf.get(callId) ?? partId) === partId ? callId : laterId(callId, partId);
  };
}

// --- internal ---

/** By call id the part that had it first. Part ids ascend with time; copies in a fork are not told of. */
function firstUses(db: View, sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { id, callId, lastMs } of sessionIds.flatMap((sessionId) => toolRows(db, sessionId))) {
    if (callId === undefined || (lastMs !== undefined && isCopy(id, lastMs))) continue;
    const known = first.get(callId);
    if (known === undefined || id < known) first.set(callId, id);
  }
  return first;
}
