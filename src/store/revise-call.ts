import { defined } from "../model/defined.ts";
import type { ModelCall, PricedCall } from "../model/model-call.ts";
import type { EntryOf } from "../model/transcript.ts";
import type { Database } from "./database.ts";

/**
 * Replaces a settled model call with the values of a more complete record.
 *
 * @param price the cost of a call in billionths of a US dollar, `undefined` if unknown
 * @returns its segment, and the call before and after with its costs; `undefined` if the call was never settled
 */
export function reviseCall(
  db: Database,
  sessionNumber: number,
  entryBefore: EntryOf<"model_call">,
  entryAfter: EntryOf<"model_call">,
  price: (call: ModelCall) => number | undefined,
): { readonly segment: number; readonly before: PricedCall; readonly after: PricedCall } | undefined {
  const row = db
    .prepare("SELECT segment, cost_nano_usd, body FROM model_calls WHERE session = ? AND key = ?")
    .get(sessionNumber, entryBefore.key);
  if (row === undefined) return undefined;
  const before = JSON.parse(String(row["body"])) as ModelCall;
  const { usage, complete, finishReason, model = before.model, noListPrice } = entryAfter;
  const { noListPrice: _, ...rest } = before;
  const after: ModelCall = {
    ...rest,
    complete,
    ...(model !== undefined && { model }),
    ...(noListPrice && { noListPrice }),
    ...(usage !== undefined && { usage }),
    ...(finishReason !== undefined && { finishReason }),
  };
  const costBefore = row["cost_nano_usd"] === null ? undefined : Number(row["cost_nano_usd"]);
  const priced = (call: Partial<ModelCall>): string => JSON.stringify([call.usage, call.model, call.noListPrice]);
  const cost = priced(after) === priced(before) ? costBefore : price(after);
  db.prepare(
    `UPDATE model_calls SET model = ?, input = ?, output = ?, cache_read = ?, cache_write = ?, cost_nano_usd = ?, complete = ?, body = ?
     WHERE session = ? AND key = ?`,
  ).run(
    model ?? null,
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cacheRead ?? null,
    usage?.cacheWrite ?? null,
    cost ?? null,
    complete ? 1 : 0,
    JSON.stringify(after),
    sessionNumber,
    entryBefore.key,
  );
  return {
    segment: Number(row["segment"]),
    before: defined<PricedCall>({ call: before, costNanoUsd: costBefore }),
    after: defined<PricedCall>({ call: after, costNanoUsd: cost }),
  };
}
