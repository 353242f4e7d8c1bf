import type { ModelCall } from "../model/session.ts";
import type { EntryOf } from "../model/transcript.ts";
import type { Database } from "./database.ts";

/**
 * Replaces a settled model call by what a fuller record of it says.
 *
 * @returns both states, or `undefined` when the call was never settled
 */
export function revise(
  db: Database,
  sessionNumber: number,
  entryBefore: EntryOf<"model_call">,
  entryAfter: EntryOf<"model_call">,
  price: (call: ModelCall) => number | undefined,
): { readonly before: ModelCall; readonly after: ModelCall } | undefined {
  const row = db
    .prepare("SELECT body FROM model_calls WHERE session = ? AND key = ?")
    .get(sessionNumber, entryBefore.key);
  if (row === undefined) return undefined;
  const before = JSON.parse(String(row["body"])) as ModelCall;
  const { usage, complete, finishReason } = entryAfter;
  const after: ModelCall = {
    ...before,
    complete,
    ...(usage !== undefined && { usage }),
    ...(finishReason !== undefined && { finishReason }),
  };
  db.prepare(
    `UPDATE model_calls SET input = ?, output = ?, cache_read = ?, cache_write = ?, cost_nano_usd = ?, complete = ?, body = ?
     WHERE session = ? AND key = ?`,
  ).run(
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cacheRead ?? null,
    usage?.cacheWrite ?? null,
    price(after) ?? null,
    complete ? 1 : 0,
    JSON.stringify(after),
    sessionNumber,
    entryBefore.key,
  );
  return { before, after };
}
