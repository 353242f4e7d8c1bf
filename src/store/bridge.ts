import type { Event } from "#core/model/event-schema.ts";
import { defined } from "#kit/objects.ts";
import { type Database, deferSync, syncEveryCommit } from "./database.ts";
import { numberIn, textIn } from "./rows.ts";

// Envelopes for the commands of allowed registration files, and what became of them

/** An envelope for which a command is started. */
export interface QueuedEnvelope {
  readonly seq: number;
  readonly session: number;
  readonly event: Event;
  /** This one included. */
  readonly attempts: number;
}

/** How the run of a command for one envelope ended. */
export type BridgeResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "failed"; readonly reason: string; readonly isDropped: boolean }
  /** The settings no longer allow this envelope; the command was not started. */
  | { readonly kind: "withheld" };

/** Number of a command, which is added if it is new. */
export function bridgeCommand(db: Database, path: string, command: string): number {
  db.prepare("INSERT INTO bridge_commands (path, command) VALUES (?, ?) ON CONFLICT DO NOTHING").run(path, command);
  return Number(db.prepare("SELECT id FROM bridge_commands WHERE path = ? AND command = ?").get(path, command)?.["id"]);
}

/** Queues an event for a command, in the commit that stores the event. @param timeMs of the event */
export function queueEnvelope(db: Database, command: number, eventId: string, timeMs: number, nowMs: number): void {
  db.prepare(
    "INSERT INTO bridge_queue (command, event, time_ms, since_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  ).run(command, eventId, timeMs, nowMs);
}

/**
 * Takes the next envelope of a command and stores that the command is started for it: if this process is killed, the next one knows
 * that the command may have received it. In order of the events' times; sessions for which the command is running are left out.
 *
 * @param ended an envelope for which the command has ended, and its result; stored in the same commit
 * @returns `undefined` if there is none, or the command is not due
 */
export function nextEnvelope(
  db: Database,
  command: number,
  options: {
    readonly nowMs: number;
    readonly exceptSessions: readonly number[];
    readonly ended?: { readonly seq: number; readonly result: BridgeResult; readonly backOffMs: BackOff };
    /** False: only stores the result. */
    readonly isWanted: boolean;
    /** False: the commit is on disk with a later one. A killed process loses nothing; a power failure may undo it. */
    readonly isOnDisk: boolean;
  },
): QueuedEnvelope | undefined {
  const { nowMs, exceptSessions, ended, isWanted, isOnDisk } = options;
  if (!isOnDisk) deferSync(db);
  try {
    return db.transaction(() => {
      if (ended !== undefined) settleEnvelope(db, command, ended.seq, ended.result, nowMs, ended.backOffMs);
      return isWanted ? takeNext(db, command, nowMs, exceptSessions) : undefined;
    }, "commit.bridge");
  } finally {
    if (!isOnDisk) syncEveryCommit(db);
  }
}

/** How long a command is not started after this many failures in a row, in milliseconds. */
type BackOff = (failures: number) => number;

/**
 * Makes envelopes available again whose command was running when a drain died. Each counts as a failed attempt.
 *
 * @returns how many there were
 */
export function releaseInterrupted(db: Database, nowMs: number, backOffMs: BackOff): number {
  const started = db.prepare("SELECT seq, command FROM bridge_queue WHERE started_ms IS NOT NULL ORDER BY seq").all();
  if (started.length === 0) return 0;
  db.transaction(() => {
    for (const row of started) {
      const result = { kind: "failed", reason: INTERRUPTED, isDropped: false } as const;
      settleEnvelope(db, Number(row["command"]), Number(row["seq"]), result, nowMs, backOffMs);
    }
  }, "commit.bridge");
  return started.length;
}

/** Makes commands due that rest after a failure, except those during which the drain was killed: they may have killed it. */
export function endBackOff(db: Database): void {
  db.prepare("UPDATE bridge_commands SET not_before_ms = 0 WHERE not_before_ms > 0 AND last_reason IS NOT ?").run(
    INTERRUPTED,
  );
}

/**
 * Drops envelopes that were queued before a time, those beyond a number per command (the oldest first), and those whose events are
 * not stored any more. All are counted.
 *
 * @returns how many were dropped
 */
export function enforceBridgeLimits(db: Database, beforeMs: number, maxQueued: number): number {
  if (isEmptyQueue(db)) return 0;
  return db.transaction(() => {
    let dropped = drop(db, `since_ms < ? AND ${IDLE}`, [beforeMs]);
    dropped += drop(db, `NOT EXISTS (SELECT 1 FROM events e WHERE e.id = bridge_queue.event) AND ${IDLE}`, []);
    for (const row of db.prepare("SELECT command, count(*) AS n FROM bridge_queue GROUP BY command").all()) {
      const [command, excess] = [Number(row["command"]), Number(row["n"]) - maxQueued];
      if (excess <= 0) continue;
      const oldest = `seq IN (SELECT seq FROM bridge_queue WHERE command = ? AND ${IDLE} ORDER BY time_ms, seq LIMIT ?)`;
      dropped += drop(db, oldest, [command, excess]);
    }
    return dropped;
  }, "commit.bridge");
}

/** Drops everything that is queued for a command that is not registered any more. @returns how many were dropped */
export const dropCommandQueue = (db: Database, command: number): number =>
  db.transaction(() => drop(db, `command = ? AND ${IDLE}`, [command]), "commit.bridge");

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
    .map((row) =>
      defined<BridgeCommandState>({
        id: Number(row["id"]),
        path: String(row["path"]),
        command: String(row["command"]),
        queued: Number(row["queued"]),
        delivered: Number(row["delivered"]),
        dropped: Number(row["dropped"]),
        failures: Number(row["failures"]),
        notBeforeMs: Number(row["not_before_ms"]),
        oldestMs: numberIn(row, "oldest_ms"),
        lastOkMs: numberIn(row, "last_ok_ms"),
        lastReason: textIn(row, "last_reason"),
      }),
    );

// --- internal ---

/** The command is not running for it. */
const IDLE = "started_ms IS NULL";
const INTERRUPTED = "the drain was killed while the command ran";

function takeNext(
  db: Database,
  command: number,
  nowMs: number,
  exceptSessions: readonly number[],
): QueuedEnvelope | undefined {
  const row = db
    .prepare(
      `SELECT q.seq, q.attempts, e.session, e.body FROM bridge_queue q JOIN events e ON e.id = q.event
         JOIN bridge_commands c ON c.id = q.command
       WHERE q.command = ?1 AND q.started_ms IS NULL AND c.not_before_ms <= ?2
         AND e.session NOT IN (SELECT value FROM json_each(?3))
       ORDER BY q.time_ms, q.seq LIMIT 1`,
    )
    .get(command, nowMs, JSON.stringify(exceptSessions));
  if (row === undefined) return undefined;
  const [seq, attempts] = [Number(row["seq"]), Number(row["attempts"]) + 1];
  db.prepare("UPDATE bridge_queue SET started_ms = ?, attempts = ? WHERE seq = ?").run(nowMs, attempts, seq);
  return { seq, attempts, session: Number(row["session"]), event: JSON.parse(String(row["body"])) as Event };
}

function settleEnvelope(
  db: Database,
  command: number,
  seq: number,
  result: BridgeResult,
  nowMs: number,
  backOffMs: BackOff,
): void {
  if (result.kind === "withheld") {
    drop(db, "seq = ?", [seq]);
    return;
  }
  if (result.kind === "accepted") {
    if (db.prepare("DELETE FROM bridge_queue WHERE seq = ?").run(seq).changes === 0) return;
    db.prepare(
      `UPDATE bridge_commands SET delivered = delivered + 1, failures = 0, not_before_ms = 0, last_ok_ms = ?, last_reason = NULL
       WHERE id = ?`,
    ).run(nowMs, command);
    return;
  }
  const failures =
    1 + Number(db.prepare("SELECT failures FROM bridge_commands WHERE id = ?").get(command)?.["failures"]);
  db.prepare("UPDATE bridge_commands SET failures = ?, not_before_ms = ?, last_reason = ? WHERE id = ?").run(
    failures,
    nowMs + backOffMs(failures),
    result.reason,
    command,
  );
  if (result.isDropped) drop(db, "seq = ?", [seq]);
  else db.prepare("UPDATE bridge_queue SET started_ms = NULL WHERE seq = ?").run(seq);
}

/** Deletes queued envelopes and counts them for their commands. */
function drop(db: Database, where: string, values: readonly number[]): number {
  const found = db
    .prepare(`SELECT command, count(*) AS n FROM bridge_queue WHERE ${where} GROUP BY command`)
    .all(...values);
  if (found.length === 0) return 0;
  for (const row of found) {
    db.prepare("UPDATE bridge_commands SET dropped = dropped + ? WHERE id = ?").run(
      Number(row["n"]),
      Number(row["command"]),
    );
  }
  return db.prepare(`DELETE FROM bridge_queue WHERE ${where}`).run(...values).changes;
}
