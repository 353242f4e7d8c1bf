import { damagedStore } from "../store/connection.ts";
import { checkIntegrity } from "../store/health.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import { storeBytes } from "../store/size.ts";
import type { Drain } from "./context.ts";

/**
 * Looks through the store once a day, and whenever a drain is asked for by hand. A damaged page would else be seen only when
 * something on it is needed, long after the damage.
 *
 * @throws StoreError (damaged), which has the store set aside and read as far as it can be
 */
export function checkStore({ db, places, now }: Drain, isEager: boolean): void {
  const lastMs = Number(readMeta(db, CHECKED) ?? "0");
  if (!isEager && Math.abs(now() - lastMs) < CHECK_AFTER_MS) return;
  const [problem] = checkIntegrity(db, storeBytes(places.storePath)).problems;
  if (problem !== undefined) throw damagedStore(places.storePath, problem);
  writeMeta(db, CHECKED, String(now()));
}

// --- internal ---

const CHECKED = "store.checked_ms";
const CHECK_AFTER_MS = 24 * 3_600_000;
