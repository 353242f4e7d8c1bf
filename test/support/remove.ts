import { rmSync } from "node:fs";

const TRIES = 100;
const PAUSE_MS = 100;
const IN_USE: ReadonlySet<string> = new Set(["EBUSY", "EPERM", "ENOTEMPTY"]);

/**
 * Removes a folder that a drain may still write into: a drain started by a hook can outlive its test. Starts over on
 * each try, because `maxRetries` of rmSync does not list the folder again.
 */
export function removeFolder(path: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      // Windows keeps a store's file until its statements are collected (decision 0040), which this thread cannot wait for
      if (process.platform === "win32" && IN_USE.has((error as NodeJS.ErrnoException).code ?? "")) return;
      if (tries === TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
