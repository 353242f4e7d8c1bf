import { isRandomId, repeatedCallId } from "../../model/call-ids.ts";
import type { View } from "../shared/transcript/sqlite.ts";
import { callRows } from "./rows.ts";

/**
 * Makes call ids unique within a session and its subagents. Goose keeps the provider's ids, and some providers count from 0 in every
 * answer: the first call keeps such an id, for later ones the message's id is appended.
 *
 * The session's calls are read only if an id is not random.
 *
 * @param sessionIds the session and all its subagents
 */
export function uniqueCallIds(db: View, sessionIds: readonly string[]): (callId: string, rowId: string) => string {
  let firstRowOf: ReadonlyMap<string, string> | undefined;
  return (callId, rowId) => {
    if (isRandomId(callId)) return callId;
    firstRowOf ??= firstRows(db, sessionIds);
    return (firstRowOf.get(callId) ?? rowId) === rowId ? callId : repeatedCallId(callId, rowId);
  };
}

// --- internal ---

/** Call id → the first message with it; the session's own messages come before those of its subagents. */
function firstRows(db: View, sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { callId, rowId } of sessionIds.flatMap((id) => callRows(db, id))) {
    if (!first.has(callId)) first.set(callId, rowId);
  }
  return first;
}
