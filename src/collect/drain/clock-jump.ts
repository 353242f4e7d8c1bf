import type { Database } from "#store/database.ts";
import { readMeta } from "#store/meta.ts";

/**
 * Whether old data may be removed by age. If the last drain was weeks ago, either the machine was off or its clock is wrong: this
 * drain removes nothing, the next one does.
 *
 * @param nowMs milliseconds since the epoch
 */
export function hasNoClockJump(db: Database, nowMs: number): boolean {
  const last = readMeta(db, "last_drain");
  if (last === undefined) return true;
  const { atMs } = JSON.parse(last) as { readonly atMs?: number };
  return atMs === undefined || Math.abs(nowMs - atMs) < JUMP_MS;
}

// --- internal ---

const JUMP_MS = 21 * 86_400_000;
