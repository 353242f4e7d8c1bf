import { callPrice, pricesInUse, takePriceError } from "#core/telemetry/cost.ts";
import { hasPriceErrors } from "#store/failures.ts";
import { PRICES_TRIED, readMeta, writeMeta } from "#store/meta.ts";
import { packedWithoutPrice } from "#store/packed-rows.ts";
import { learnPrices, sessionsWithoutPrice } from "#store/revise-call.ts";
import { sessionFactsOf } from "#store/sessions/read-session.ts";
import { sessionById } from "#store/sessions.ts";
import { contained, notePriceError } from "../drain/contain.ts";
import type { Drain } from "../drain/context.ts";
import { applyRevisedCalls } from "../drain/store-entries.ts";

/**
 * Prices the calls that had no price when they were recorded: once after the price table or the file of own prices has changed, and
 * again if calculating a price failed. Reports, sums and counters follow; spans that were sent cannot change. Each session is one
 * commit, so that every price is counted once, and the next drain continues after a kill.
 */
export async function fillPrices(drain: Drain): Promise<void> {
  const { db } = drain;
  const inUse = pricesInUse();
  if (inUse === undefined || (readMeta(db, PRICES_TRIED) === inUse && !hasPriceErrors(db))) return;
  const settled = sessionsWithoutPrice(db);
  const packed = packedWithoutPrice(db);
  let isDone = true;
  const fill = async (session: number, work: () => void): Promise<void> => {
    const commit = (): true => {
      db.transaction(work, "commit.session");
      return true;
    };
    isDone = (await contained(drain, session, "price", commit, false)) && isDone;
  };
  for (const session of settled) await fill(session, () => fillSettled(drain, session));
  if (packed.length > 0) {
    const { rebuildSums } = await import("./rebuild-sums.ts");
    for (const session of packed) await fill(session, () => rebuildSums(drain, [session], true));
  }
  if (isDone) writeMeta(db, PRICES_TRIED, inUse);
}

// --- internal ---

function fillSettled(drain: Drain, number: number): void {
  const session = sessionById(drain.db, number);
  const { provider } = sessionFactsOf(drain, session);
  takePriceError();
  const learnt = learnPrices(drain.db, number, (call) => callPrice(call, provider));
  notePriceError(drain, number, takePriceError());
  applyRevisedCalls(drain, session, learnt);
}
