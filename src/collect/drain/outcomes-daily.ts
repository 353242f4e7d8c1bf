import { LAST_OUTCOMES, readMeta, writeMeta } from "#store/meta.ts";
import { hasRepositories } from "#store/outcomes.ts";
import type { Drain } from "./context.ts";

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

const DAY_MS = 86_400_000;
