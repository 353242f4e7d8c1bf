import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { allAgents } from "../agents/registry.ts";
import { loadConfig } from "../config/load.ts";
import type { Context } from "../context.ts";
import type { DrainDeps } from "../drain/context.ts";
import { step } from "../model/fault-points.ts";
import { safeText } from "../safe-output.ts";
import { VERSION } from "../version.ts";

/** What a drain needs, from the real world. */
export async function drainDeps(context: Context, log: (line: string) => void): Promise<DrainDeps> {
  const loaded = await loadConfig(context);
  for (const line of [...loaded.errors, ...loaded.warnings]) log(`configuration: ${line}`);
  return {
    places: context.places,
    loaded,
    agents: await allAgents(),
    version: VERSION,
    platform: context.platform,
    arch: context.arch,
    now: context.now,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    log,
  };
}

/** `drain.log` in the state directory, and the one before it: drains that hooks start have nobody to tell. */
export class Log {
  readonly #path: string;
  readonly #lines: string[] = [];
  #left = 0;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
    this.#path = join(context.places.stateDir, "drain.log");
  }

  readonly line = (line: string): void => {
    if (this.#lines.length >= LOG_LINES) {
      this.#left++;
      return;
    }
    this.#lines.push(`${new Date(this.#context.now()).toISOString()} ${safeText(line)}\n`);
  };

  /** Never throws: a log that cannot be written must not stop the drain's work from being done. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    if (this.#left > 0) this.#lines.push(`… and ${this.#left} more lines\n`);
    try {
      await mkdir(this.#context.places.stateDir, { recursive: true, mode: 0o700 });
      const { size } = await stat(this.#path).catch(() => ({ size: 0 }));
      if (size > LOG_BYTES) await step("log.rotate", () => rename(this.#path, `${this.#path}.1`));
      await step("log.write", () => appendFile(this.#path, this.#lines.join(""), { mode: 0o600 }));
    } catch {
      // `status` shows the last problems from the store as well
    }
  }
}

// --- internal ---

const LOG_BYTES = 1 << 20;
/** Of one drain: ten thousand payloads that nobody knows say the same each. */
const LOG_LINES = 1_000;
