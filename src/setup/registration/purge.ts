import { lstat, readdir, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "#config/context.ts";
import { removeFile } from "#config/files.ts";
import type { Places } from "#config/places.ts";
import { schemaPathOf } from "#config/user-file.ts";
import { UserError } from "#kit/errors.ts";
import { nativePartMissing } from "#store/native-part.ts";

/**
 * Removes all collected data and this program's state. A folder that the user named with OPENHOOK_OTEL_HOME can have other files, which
 * stay.
 *
 * @param running copies of this program that processes run; on Windows they are in the same folder and stay
 * @returns what else is left in the folder; `undefined`: nothing
 * @throws UserError while a drain runs
 */
export async function removeState(
  { places, now }: Context,
  running: readonly string[],
): Promise<readonly string[] | undefined> {
  const { stateDir } = places;
  const isRunning = (name: string): boolean => running.includes(join(stateDir, name));
  const removable = async () => (await ownNames(stateDir)).filter((name) => !isRunning(name));
  await withoutDrain(join(stateDir, "drain.lock"), now, async () => {
    for (const name of await removable()) {
      // Windows removes no open file
      if (!LOCK.test(name)) await rm(join(stateDir, name), { recursive: true, force: true });
    }
  });
  for (const name of await removable()) await rm(join(stateDir, name), { recursive: true, force: true });
  const isLink = (await lstat(stateDir)).isSymbolicLink();
  const left = await readdir(stateDir);
  if (left.length > 0) return left.every(isRunning) ? undefined : left.filter((name) => !isRunning(name));
  await (isLink ? unlink(stateDir) : rmdir(stateDir));
  return undefined;
}

/** Removes the user's settings, and their folder if nothing else is in it. */
export async function removeSettings({ configPath }: Pick<Places, "configPath">): Promise<void> {
  await removeFile(configPath);
  await removeFile(schemaPathOf(configPath));
  await rmdir(dirname(configPath)).catch(() => {});
}

// --- internal ---

/** Everything in the usual folder, which has our name; in another one what this program writes. */
async function ownNames(stateDir: string): Promise<readonly string[]> {
  const names = await readdir(stateDir);
  return basename(stateDir) === "openhook-otel" ? names : names.filter((name) => OWN.test(name));
}

const LOCK = /^drain\.lock/;
const OWN =
  /^((inbox|claimed|quarantine|backup|lost-events|program\.gone|variables\.json)$|(store\.db|delivered\.|drain\.|bridge\.|spare-\d|statusline\.|rate-limits\.|doctor-))/;

const DRAIN_MS = 60_000;
const RETRY_MS = 200;

/** Runs the work while no drain runs. Without SQLite's native part none can. */
async function withoutDrain(lock: string, now: () => number, work: () => Promise<void>): Promise<void> {
  let take: typeof import("#store/lock.ts").withDrainLock;
  try {
    ({ withDrainLock: take } = await import("#store/lock.ts"));
  } catch (error) {
    if (nativePartMissing(error) === undefined) throw error;
    return work();
  }
  for (const endMs = now() + DRAIN_MS; !(await take(lock, work)); await sleep(RETRY_MS)) {
    if (now() < endMs) continue;
    throw new UserError("E_BUSY", "a drain is still running, so collected data stays: run the command again later", 1);
  }
}
