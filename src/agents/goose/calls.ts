import { firstRowsOf, idsByFirstRow } from "../shared/transcript/first-calls.ts";
import type { View } from "../shared/transcript/sqlite.ts";
import { callRows } from "./rows.ts";

/** Makes call ids unique within these sessions: a session, and all its subagents after it. */
export const uniqueCallIds = (db: View, sessionIds: readonly string[]) =>
  idsByFirstRow(() => firstRowsOf(sessionIds.flatMap((id) => callRows(db, id))));
