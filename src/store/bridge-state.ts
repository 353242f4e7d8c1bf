import type { Database } from "./database.ts";

/** What is stored about a command of the bridge. Times in milliseconds since the epoch. */
export interface BridgeCommandState {
  readonly id: number;
  readonly path: string;
  readonly command: string;
  readonly queued: number;
  /** When the oldest queued envelope was queued; absent if there is none. */
  readonly oldestMs?: number;
  readonly delivered: number;
  readonly dropped: number;
  /** In a row. */
  readonly failures: number;
  readonly notBeforeMs: number;
  readonly lastOkMs?: number;
  /** Why the last attempt failed; absent after a success. */
  readonly lastReason?: string;
}

/** Whether nothing is queued for any command. */
export const isEmptyQueue = (db: Pick<Database, "prepare">): boolean =>
  db.prepare("SELECT 1 FROM bridge_queue LIMIT 1").get() === undefined;

/** Commands for which envelopes are queued. @param nowMs only those that are due then */
export const commandsWithQueue = (
  db: Pick<Database, "prepare">,
  nowMs: number,
): readonly Pick<BridgeCommandState, "id" | "path" | "command">[] =>
  db
    .prepare(
      `SELECT id, path, command FROM bridge_commands c
       WHERE not_before_ms <= ? AND EXISTS (SELECT 1 FROM bridge_queue WHERE command = c.id)`,
    )
    .all(nowMs)
    .map((row) => ({ id: Number(row["id"]), path: String(row["path"]), command: String(row["command"]) }));

/** All commands, by file, in the order in which they were first used. */
export const bridgeCommandStates = (db: Pick<Database, "prepare">): readonly BridgeCommandState[] =>
  db
    .prepare(
      `SELECT c.*, count(q.seq) AS queued, min(q.since_ms) AS oldest_ms FROM bridge_commands c
         LEFT JOIN bridge_queue q ON q.command = c.id GROUP BY c.id ORDER BY c.path, c.id`,
    )
    .all()
    .map((row) => ({
      id: Number(row["id"]),
      path: String(row["path"]),
      command: String(row["command"]),
      queued: Number(row["queued"]),
      delivered: Number(row["delivered"]),
      dropped: Number(row["dropped"]),
      failures: Number(row["failures"]),
      notBeforeMs: Number(row["not_before_ms"]),
      ...(row["oldest_ms"] !== null && { oldestMs: Number(row["oldest_ms"]) }),
      ...(row["last_ok_ms"] !== null && { lastOkMs: Number(row["last_ok_ms"]) }),
      ...(row["last_reason"] !== null && { lastReason: String(row["last_reason"]) }),
    }));
