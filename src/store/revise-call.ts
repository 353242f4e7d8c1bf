import type { ModelCall, PricedCall } from "#core/model/model-call.ts";
import type { NoPrice, Price } from "#core/model/price-list.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row } from "./database.ts";
import { numberIn, numbers } from "./rows.ts";

/** A settled call before and after a change, each with its price. */
export interface RevisedCall {
  readonly segment: number;
  readonly before: PricedCall;
  readonly after: PricedCall;
}

/**
 * Replaces a settled model call with the values of a more complete record.
 *
 * @returns its segment, and the call before and after with its costs; `undefined` if the call was never settled
 */
export function reviseCall(
  db: Database,
  sessionNumber: number,
  entryBefore: EntryOf<"model_call">,
  entryAfter: EntryOf<"model_call">,
  price: (call: ModelCall) => Price,
): RevisedCall | undefined {
  const row = db
    .prepare(
      "SELECT segment, cost_nano_usd, no_price, fee_nano_usd, body FROM model_calls WHERE session = ? AND key = ?",
    )
    .get(sessionNumber, entryBefore.key);
  if (row === undefined) return undefined;
  const before = JSON.parse(String(row["body"])) as ModelCall;
  const { usage, complete, finishReason, model = before.model } = entryAfter;
  const { coveredCalls, tier, webSearches, hasOtherFees, nanoCredits, cacheMiss } = entryAfter;
  const figures = { coveredCalls, webSearches, hasOtherFees, nanoCredits, cacheMiss, usage };
  const known = defined<Partial<ModelCall>>({ model, finishReason, ...figures });
  const after = defined<ModelCall>({ ...before, ...known, complete, tier });
  const priceBefore = storedPrice(row);
  const priced = (call: ModelCall): string => JSON.stringify(PRICED_BY.map((name) => call[name]));
  const priceAfter: Price = priced(after) === priced(before) ? priceBefore : price(after);
  const { costNanoUsd, noPrice, feeNanoUsd } = priceAfter;
  db.prepare(
    `UPDATE model_calls SET model = ?, input = ?, output = ?, cache_read = ?, cache_write = ?, cost_nano_usd = ?, no_price = ?, fee_nano_usd = ?,
       covered_calls = ?, complete = ?, body = ?
     WHERE session = ? AND key = ?`,
  ).run(
    model ?? null,
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cacheRead ?? null,
    usage?.cacheWrite ?? null,
    costNanoUsd ?? null,
    noPrice ?? null,
    feeNanoUsd ?? null,
    after.coveredCalls ?? null,
    complete ? 1 : 0,
    JSON.stringify(after),
    sessionNumber,
    entryBefore.key,
  );
  return {
    segment: Number(row["segment"]),
    before: { call: before, ...priceBefore },
    after: { call: after, ...priceAfter },
  };
}

/** Sessions with settled calls that report their tokens and have no price, or only a part of it. */
export const sessionsWithoutPrice = (db: Database): readonly number[] =>
  numbers(db, `SELECT DISTINCT session FROM model_calls WHERE ${IS_UNPRICED}`);

/**
 * Stores prices of a session's settled calls that had none, or only a part. A price that is known stays.
 *
 * @returns the calls whose cost has changed
 */
export function learnPrices(db: Database, session: number, price: (call: ModelCall) => Price): readonly RevisedCall[] {
  const rows = db
    .prepare(
      `SELECT key, segment, cost_nano_usd, no_price, fee_nano_usd, body FROM model_calls WHERE session = ? AND ${IS_UNPRICED}`,
    )
    .all(session);
  const update = db.prepare(
    "UPDATE model_calls SET cost_nano_usd = ?, no_price = ?, fee_nano_usd = ? WHERE session = ? AND key = ?",
  );
  return rows.flatMap((row) => {
    const call = JSON.parse(String(row["body"])) as ModelCall;
    const [before, after] = [storedPrice(row), price(call)];
    // What was known of the cost stays known
    if (after.noPrice !== undefined && before.costNanoUsd !== undefined) return [];
    update.run(after.costNanoUsd ?? null, after.noPrice ?? null, after.feeNanoUsd ?? null, session, String(row["key"]));
    if (after.costNanoUsd === undefined) return [];
    return [{ segment: Number(row["segment"]), before: { call, ...before }, after: { call, ...after } }];
  });
}

// --- internal ---

/** What the price of a call depends on. */
const PRICED_BY = ["usage", "model", "tier", "webSearches", "hasOtherFees"] as const;

const IS_UNPRICED = "(cost_nano_usd IS NULL OR no_price IS NOT NULL) AND input IS NOT NULL AND output IS NOT NULL";

const storedPrice = (row: Row): Price =>
  defined<Price>({
    costNanoUsd: numberIn(row, "cost_nano_usd"),
    feeNanoUsd: numberIn(row, "fee_nano_usd"),
    noPrice: row["no_price"] === null ? undefined : (String(row["no_price"]) as NoPrice),
  });
