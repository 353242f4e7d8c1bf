import { damagedStore } from "#store/connection.ts";
import { checkIntegrity } from "#store/health.ts";
import { LAST_OUTCOMES, readMeta, writeMeta } from "#store/meta.ts";
import { hasRepositories } from "#store/outcomes.ts";
import { storeBytes } from "#store/vacuum.ts";
import type { Drain } from "./context.ts";
import { isEmpty } from "./open.ts";

/**
 * Checks the store once a day, and whenever the user starts a drain. Otherwise a damaged page shows only when something on it is
 * needed, long after the damage.
 *
 * @throws StoreError `E_STORE_DAMAGED`, so that the store is set aside and salvaged
 */
export function checkStoreDaily({ db, places, now }: Drain, isEager: boolean): void {
  const checked = readMeta(db, CHECKED);
  if (!isEager && Math.abs(now() - Number(checked ?? "0")) < CHECK_AFTER_MS) return;
  // A store that was made just now has nothing to check yet
  const isNew = checked === undefined && isEmpty(db);
  const [problem] = isNew ? [] : checkIntegrity(db, storeBytes(places.storePath)).problems;
  if (problem !== undefined) throw damagedStore(places.storePath, problem);
  writeMeta(db, CHECKED, String(now()));
}

/**
 * Once a day, asks for a process that finds out what became of the agents' commits. The drain does not wait for it.
 *
 * @param start starts it
 */
export function startOutcomesDaily({ db, loaded, now }: Drain, start: () => void): void {
  if (!loaded.config.changes.enabled || !loaded.config.changes.outcomes) return;
  if (Math.abs(now() - Number(readMeta(db, LAST_OUTCOMES) ?? "0")) < DAY_MS || !hasRepositories(db)) return;
  writeMeta(db, LAST_OUTCOMES, String(now()));
  start();
}

// --- internal ---

const CHECKED = "store.checked_ms";
const CHECK_AFTER_MS = 24 * 3_600_000;

const DAY_MS = 86_400_000;
