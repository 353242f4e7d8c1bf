import type { TranscriptEntry } from "#core/model/transcript.ts";
import { cardOf } from "#core/rules/cards.ts";
import { withFuller } from "#core/rules/merge.ts";
import { changeTimes } from "#store/changes.ts";
import { completeFromCopy } from "#store/facts.ts";
import { ownerOf } from "#store/owners.ts";
import { packedFacts, packedOwners, putPacked, readerOf, takePacked } from "#store/packed.ts";
import { sessionById } from "#store/sessions.ts";
import { packedUsage } from "#store/sum-rows.ts";
import type { Drain } from "../drain/context.ts";
import { applyRevisions } from "../drain/store-entries.ts";
import { pack } from "./pack.lazy.ts";
import { pricedInStore } from "./price.ts";
import { packOptions, type SessionRead } from "./read.ts";

type Facts = Map<string, TranscriptEntry>;

/** Completes the answers of other sessions with the figures of their copies, if these are fuller, see `withFuller`. */
export function completeFromCopies(drain: Drain, source: string, copies: readonly TranscriptEntry[]): void {
  const { db } = drain;
  const known = new Map<number, Facts>();
  const changed = new Set<number>();
  for (const copy of copies) {
    const { key, globalKey } = copy;
    if (copy.kind !== "model_call" || globalKey === undefined) continue;
    if (ownerOf(db, source, globalKey) !== undefined) {
      applyRevisions(drain, completeFromCopy(db, source, copy));
      continue;
    }
    for (const number of packedOwners(db, source, globalKey)) {
      const facts: Facts = known.get(number) ?? new Map(packedFacts(db, number)?.map((entry) => [entry.key, entry]));
      known.set(number, facts);
      const answer = facts.get(key);
      if (answer?.kind !== "model_call") continue;
      const fuller = withFuller(answer, copy);
      if (fuller === answer) continue;
      facts.set(key, fuller);
      changed.add(number);
    }
  }
  for (const number of changed) repack(drain, number, [...(known.get(number)?.values() ?? [])]);
}

// --- internal ---

function repack(drain: Drain, number: number, facts: readonly TranscriptEntry[]): void {
  const { db } = drain;
  const { source, sessionId, agentVersion, reported } = sessionById(db, number);
  const card = cardOf(drain, source);
  if (card === undefined) return;
  const known = {
    ...(agentVersion !== undefined && { agentVersion }),
    ...(reported !== undefined && { reported: JSON.parse(reported) as SessionRead["reported"] & object }),
  };
  const readBy = readerOf(db, number);
  const before = packedUsage(db, number);
  takePacked(db, number);
  // The owners of its records are already stored
  const packed = {
    ...pack(facts, packOptions(card, sessionId, known, changeTimes(db, number))),
    owned: new Float64Array(0),
  };
  putPacked(db, [{ id: number, packed: pricedInStore(drain, number, packed, card.provider, before), readBy }]);
}
