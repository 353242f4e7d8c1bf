import { isRandomId, repeatedCallId } from "../../../model/call-ids.ts";
import type { View } from "../transcript/sqlite.ts";
import { isCopy } from "./ids.ts";
import { toolRows } from "./rows.ts";

/**
 * Makes call ids unique within a session and its subagents. OpenCode keeps the provider's ids, and some providers restart at
 * `functions.bash:0` in every conversation: the first call keeps such an id, for later ones the part's id is appended.
 *
 * The session's other calls are read only if an id is not random.
 *
 * @param sessionIds the session and all its subagents
 */
export function uniqueCallIds(db: View, sessionIds: readonly string[]): (callId: string, partId: string) => string {
  let firstPartOf: ReadonlyMap<string, string> | undefined;
  return (callId, partId) => {
    if (isRandomId(callId)) return callId;
    firstPartOf ??= firstParts(db, sessionIds);
    return (firstPartOf.get(callId) ?? partId) === partId ? callId : repeatedCallId(callId, partId);
  };
}

// --- internal ---

/** Call id → the first part with it. Part ids ascend with time; a fork's copies are not reported. */
function firstParts(db: View, sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { id, callId, lastMs } of sessionIds.flatMap((sessionId) => toolRows(db, sessionId))) {
    if (callId === undefined || (lastMs !== undefined && isCopy(id, lastMs))) continue;
    const known = first.get(callId);
    if (known === undefined || id < known) first.set(callId, id);
  }
  return first;
}
