import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Renames or removes files that a connection of this process had open, after its `close` and `release`. libsql 0.5.29 closes the
 * files of a connection when its statements are garbage collected, and on Windows an open file cannot be renamed or removed. There,
 * this collects garbage first, and retries while another program, such as a virus scanner, has the file open.
 *
 * @param work may be called several times
 * @throws what `work` throws; on Windows after five seconds of trying, if the file is in use
 */
export async function whenReleased<T>(
  work: () => T | Promise<T>,
  platform: NodeJS.Platform = process.platform,
): Promise<T> {
  if (platform !== "win32") return work();
  for (let attempt = 1; ; attempt++) {
    await collectGarbage();
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isInUse(error)) throw error;
    }
    await sleep(RETRY_MS);
  }
}

/** Whether another program, or another part of this one, has the file open. Only Windows refuses because of that. */
export const isInUse = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["EBUSY", "EPERM", "EACCES"].includes(String(error.code));

// --- internal ---

const ATTEMPTS = 50;
const RETRY_MS = 100;

/** Closes the files of connections that were closed and released. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  // Node runs finalizers of native objects after the current work
  await sleep(1);
}
