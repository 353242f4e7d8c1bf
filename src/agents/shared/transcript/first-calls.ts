import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";

/** A call id, and the row that has the call. */
interface CallRow {
  readonly callId: string;
  readonly rowId: string;
}

/**
 * Makes call ids unique within a session and its subagents, for agents that keep the provider's ids: some providers count from 0 in
 * every answer or conversation. The first call keeps such an id, for later ones the row's id is appended.
 *
 * @param firstRows call id → the first row with it; only called if an id is not random
 */
export function idsByFirstRow(firstRows: () => ReadonlyMap<string, string>): (callId: string, rowId: string) => string {
  let firstRowOf: ReadonlyMap<string, string> | undefined;
  return (callId, rowId) => {
    if (isRandomId(callId)) return callId;
    firstRowOf ??= firstRows();
    return (firstRowOf.get(callId) ?? rowId) === rowId ? callId : repeatedCallId(callId, rowId);
  };
}

/** The first row of each call id, for rows in the order of their calls. */
export function firstRowsOf(rows: readonly CallRow[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { callId, rowId } of rows) if (!first.has(callId)) first.set(callId, rowId);
  return first;
}
