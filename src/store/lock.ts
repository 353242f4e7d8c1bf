import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";

/**
 * Lets one drain at a time work on a state directory. A drain that finds another at work leaves a note that makes that
 * one look again, and goes: no event waits for a drain that will not come, and no drain waits.
 *
 * The lock is the operating system's own, by way of SQLite: a process that is killed holds nothing.
 *
 * @param path of the lock file; the note lies beside it
 * @param work one pass; called again while notes come in
 * @returns false when another drain was at work
 * @throws what `work` throws, after giving the lock back
 */
export async function withDrainLock(path: string, work: () => Promise<void>): Promise<boolean> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const note = `${path}.again`;
  let worked = false;
  writeFileSync(note, "", { mode: 0o600 });
  // SQLite would make it readable by others
  if (!existsSync(path)) writeFileSync(path, "", { mode: 0o600, flag: "a" });
  // The holder looks for notes after it has let go: whoever fails to get the lock after writing one is seen
  while (existsSync(note)) {
    const release = tryLock(path);
    if (release === undefined) return worked;
    try {
      while (existsSync(note)) {
        rmSync(note, { force: true });
        worked = true;
        await work();
      }
    } finally {
      release();
    }
  }
  return worked;
}

// --- internal ---

function tryLock(path: string): (() => void) | undefined {
  const raw = new Libsql(path, {});
  try {
    raw.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    raw.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    throw error;
  }
  return () => {
    raw.exec("ROLLBACK");
    raw.close();
  };
}
