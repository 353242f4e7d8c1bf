import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "#config/places.ts";
import { processStart } from "../intake/inbox-file.ts";

/**
 * The commands that run now, in a file: if this process is killed, the next drain ends what is left of them before it starts them
 * again. Linux only, where a process has a start time that distinguishes it from a later one with the same id.
 */
export class RunningCommands {
  readonly #path: string;
  readonly #running = new Map<number, string>();
  #file: number | undefined;

  constructor({ stateDir }: Pick<Places, "stateDir">) {
    this.#path = join(stateDir, "bridge.running");
  }

  started(pid: number): void {
    const start = startOf(pid);
    if (start === undefined) return;
    this.#running.set(pid, start);
    this.#write();
  }

  /** The file keeps the process until the next one starts: one that has ended is not found again. */
  ended(pid: number): void {
    this.#running.delete(pid);
  }

  /** No command runs any more. */
  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#remove();
  }

  /** Ends the commands of a drain that died. */
  endLeftovers(): void {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch {
      return;
    }
    for (const line of text.split("\n")) {
      const [, pid, start] = /^(\d{1,10}) (\d{1,20})$/.exec(line) ?? [];
      // Process 1 and groups 0 and 1 are never ours
      if (pid === undefined || Number(pid) < 2 || startOf(Number(pid)) !== start) continue;
      try {
        process.kill(-Number(pid), "SIGKILL");
      } catch {
        // It has ended, or belongs to another user
      }
    }
    this.#remove();
  }

  /** The file stays open, because this happens for every envelope. */
  #write(): void {
    try {
      this.#file ??= openSync(this.#path, "w", 0o600);
      const text = Buffer.from([...this.#running].map((pair) => `${pair.join(" ")}\n`).join(""));
      writeSync(this.#file, text, 0, text.length, 0);
      ftruncateSync(this.#file, text.length);
    } catch {
      // Only a killed drain needs it
    }
  }

  #remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // As above
    }
  }
}

// --- internal ---

function startOf(pid: number): string | undefined {
  try {
    return processStart(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}
