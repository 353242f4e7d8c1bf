import { rmSync } from "node:fs";

const TRIES = 100;
const PAUSE_MS = 100;

/**
 * Removes a folder that something may still be writing into: a drain that was started by a hook outlives its test. From
 * the start each time, since `maxRetries` of rmSync does not look again what has come.
 */
export function removeFolder(path: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
