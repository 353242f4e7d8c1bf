import type { Database } from "../store/database.ts";
import { readMeta } from "../store/meta.ts";

/**
 * Whether the clock can be trusted with what takes things away by their age. After a jump of weeks nobody knows whether the
 * machine was off or its clock is wrong: this drain takes nothing away, the next one does.
 */
export function hasNoClockJump(db: Database, nowMs: number): boolean {
  const last = readMeta(db, "last_drain");
  if (last === undefined) return true;
  const { atMs } = JSON.parse(last) as { readonly atMs?: number };
  return atMs === undefined || Math.abs(nowMs - atMs) < JUMP_MS;
}

// --- internal ---

const JUMP_MS = 21 * 86_400_000;
