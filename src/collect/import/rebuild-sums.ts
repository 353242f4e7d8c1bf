import { cardOf } from "#core/rules/cards.ts";
import { changeTimes } from "#store/changes.ts";
import { packedBody, putPacked, readerOf, takePacked } from "#store/packed.ts";
import { sessionById } from "#store/sessions.ts";
import { packedUsage } from "#store/sum-rows.ts";
import type { Drain } from "../drain/context.ts";
import { pack } from "./pack.lazy.ts";
import { pricedInStore } from "./price.ts";
import { packOptions, type SessionRead } from "./read.ts";

/**
 * Computes the sums of packed sessions again from their facts, divided at the commits and changes that the store has now. Call it inside a
 * transaction.
 *
 * @param keepsOwned whether the digests of their records are still stored
 */
export function rebuildSums(drain: Drain, sessions: readonly number[], keepsOwned: boolean): void {
  const { db } = drain;
  for (const number of sessions) {
    const stored = sessionById(db, number);
    const card = cardOf(drain, stored.source);
    if (card === undefined) continue;
    const { agentVersion, reported } = stored;
    const known = {
      ...(agentVersion !== undefined && { agentVersion }),
      ...(reported !== undefined && { reported: JSON.parse(reported) as SessionRead["reported"] & object }),
    };
    const facts = packedBody(db, number) ?? "";
    const readBy = readerOf(db, number);
    const before = packedUsage(db, number);
    const packed = pack(takePacked(db, number), packOptions(card, stored.sessionId, known, changeTimes(db, number)));
    const owned = keepsOwned ? new Float64Array() : packed.owned;
    putPacked(db, [
      {
        id: number,
        packed: { ...pricedInStore(drain, number, { ...packed, owned }, card.provider, before), facts },
        readBy,
      },
    ]);
  }
}
