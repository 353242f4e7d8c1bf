import { damagedStore } from "#store/connection.ts";
import { checkIntegrity } from "#store/health.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { storeBytes } from "#store/size.ts";
import type { Drain } from "./context.ts";

/**
 * Checks the store once a day, and whenever the user starts a drain. Otherwise a damaged page shows only when something on it is
 * needed, long after the damage.
 *
 * @throws StoreError `E_STORE_DAMAGED`, so that the store is set aside and salvaged
 */
export function checkStoreDaily({ db, places, now }: Drain, isEager: boolean): void {
  const lastMs = Number(readMeta(db, CHECKED) ?? "0");
  if (!isEager && Math.abs(now() - lastMs) < CHECK_AFTER_MS) return;
  const [problem] = checkIntegrity(db, storeBytes(places.storePath)).problems;
  if (problem !== undefined) throw damagedStore(places.storePath, problem);
  writeMeta(db, CHECKED, String(now()));
}

// --- internal ---

const CHECKED = "store.checked_ms";
const CHECK_AFTER_MS = 24 * 3_600_000;
