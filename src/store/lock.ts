import { existsSync, mkdirSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { step } from "#kit/fault-points.ts";
import { assertOwn } from "#kit/own-file.ts";
import { codeAndText, damagedError, StoreError } from "./connection.ts";
import { fileSystemOf } from "./file-system.ts";
import { type Progress, withProgress } from "./lock-holder.ts";
import { tryNameLock } from "./name-lock.ts";
import { createFile, removerOf } from "./spare-files.ts";

/** What a drain is for: everything, or only new events for the bridge. */
export type DrainScope = "all" | "events";

/**
 * Lets one drain at a time work on a state directory. If another drain is running, this one leaves a note that makes the
 * other one repeat its pass, and returns: every event is read, and no drain waits.
 *
 * The lock is the operating system's, used through SQLite, so a killed process releases it. On a file system that other machines
 * may have mounted, the lock is a file name: see `tryNameLock`.
 *
 * @param path of the lock file; the note is beside it
 * @param work one pass; called again while there are notes, with the larger of the scopes that were asked for
 * @returns false if another drain was running
 * @throws StoreError `E_STORE` if the lock cannot be created; what `work` throws, after the lock was released
 */
export async function withDrainLock(
  path: string,
  work: (scope: DrainScope, progress: Progress) => Promise<void>,
  scope: DrainScope = "all",
): Promise<boolean> {
  const stateDir = dirname(path);
  const [again, events] = [noteOf(path, "all"), noteOf(path, "events")];
  const isAsked = (): boolean => existsSync(again) || existsSync(events);
  let worked = false;
  withLockError(path, () => {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    step("lock.note", () => createFile(noteOf(path, scope), stateDir));
    // SQLite would make it readable for other users
    if (!existsSync(path)) step("lock.make", () => createFile(path, stateDir));
  });
  const take = fileSystemOf(stateDir).isShared ? tryNamed : tryLock;
  // The holder checks for notes after releasing the lock, so a note of a drain that failed to get it is always seen
  while (isAsked()) {
    const release = withLockError(path, () => step("lock.take", () => take(path)));
    if (release === undefined) return worked;
    try {
      await withProgress(path, stateDir, async (progress) => {
        while (isAsked()) {
          const isAll = existsSync(again);
          withLockError(path, () =>
            step("lock.take-note", () => {
              const remove = removerOf(stateDir);
              for (const note of [again, events]) if (existsSync(note)) remove(note);
            }),
          );
          worked = true;
          await work(isAll ? "all" : "events", progress);
          progress.left = undefined;
        }
      });
    } finally {
      step("lock.release", release);
    }
  }
  return worked;
}

/** Whether another drain, which found the lock taken, asks the holder for a pass over everything. */
export const isPassAsked = (path: string): boolean => existsSync(noteOf(path, "all"));

// --- internal ---

const noteOf = (path: string, scope: DrainScope): string => `${path}.${scope === "all" ? "again" : "events"}`;

function withLockError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const advice = adviceOn(path) ?? "check that its folder can be written and the disk is not full";
    const text = `cannot lock ${JSON.stringify(path)}: ${codeAndText(error).text}; ${advice}`;
    throw new StoreError("E_STORE", text, { cause: error });
  }
}

/** A run as another user, for example with `sudo`, left files that this user cannot use. */
function adviceOn(path: string): string | undefined {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return undefined;
  for (const one of [path, `${path}.again`, dirname(path)]) {
    const owner = statSync(one, { throwIfNoEntry: false })?.uid;
    if (owner === undefined || owner === uid) continue;
    return `${JSON.stringify(one)} belongs to user ${owner}, not to you: sudo chown -R ${uid} ${JSON.stringify(dirname(path))}`;
  }
  return undefined;
}

function tryNamed(path: string): (() => void) | undefined {
  return tryNameLock(`${path}.name`, {
    onLost: (holder) => {
      const text = `this drain was suspended for so long that ${holder} took over ${JSON.stringify(path)}: it stops, and the other one continues`;
      throw new StoreError("E_STORE", text);
    },
  });
}

function tryLock(path: string, isSecondTry = false): (() => void) | undefined {
  assertOwn(path);
  const raw = new Libsql(path, {});
  try {
    // Nothing is ever written to it; on an empty database, SQLite would create the file of a journal all the same. IMMEDIATE, not
    // EXCLUSIVE: SQLite first takes a shared lock, and EXCLUSIVE fails while another process has one. Two processes that try at the
    // same moment could both fail, and no drain would run
    raw.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
  } catch (error) {
    raw.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    if (isSecondTry || damagedError(path, error) === undefined) throw error;
    // The file contains no data. Empty it, do not remove it: another process may hold a lock on it
    truncateSync(path);
    return tryLock(path, true);
  }
  return () => {
    raw.exec("ROLLBACK");
    raw.close();
  };
}
