import { idsByFirstRow } from "../transcript/first-calls.ts";
import type { View } from "../transcript/sqlite.ts";
import { isCopy } from "./ids.ts";
import { toolRows } from "./rows.ts";

/** Makes call ids unique within these sessions: a session and all its subagents. For later calls the part's id is appended. */
export const uniqueCallIds = (db: View, sessionIds: readonly string[]) =>
  idsByFirstRow(() => firstParts(db, sessionIds));

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
