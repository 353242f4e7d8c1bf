import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { step } from "#kit/fault-points.ts";
import { appendOwn } from "#kit/own-file.ts";
import { safeText } from "#kit/safe-output.ts";

interface LogContext extends Pick<Context, "now"> {
  readonly places: Pick<Context["places"], "stateDir">;
}

/** Appends to `drain.log` in the state directory, for drains without a terminal. Keeps one rotated file. */
export class DrainLog {
  readonly #path: string;
  readonly #lines: string[] = [];
  #skipped = 0;
  readonly #context: LogContext;

  constructor(context: LogContext) {
    this.#context = context;
    this.#path = join(context.places.stateDir, "drain.log");
  }

  readonly line = (line: string): void => {
    if (this.#lines.length >= LOG_LINES) {
      this.#skipped++;
      return;
    }
    this.#lines.push(`${new Date(this.#context.now()).toISOString()} ${safeText(line)}\n`);
  };

  /** Never throws: a drain must not fail because its log cannot be written. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    if (this.#skipped > 0) this.#lines.push(`… and ${this.#skipped} more lines\n`);
    try {
      await mkdir(this.#context.places.stateDir, { recursive: true, mode: 0o700 });
      const { size } = await stat(this.#path).catch(() => ({ size: 0 }));
      if (size > LOG_BYTES) await step("log.rotate", () => rename(this.#path, `${this.#path}.1`));
      step("log.write", () => appendOwn(this.#path, this.#lines.join("")));
    } catch {
      // `status` also shows the last problems, which are in the store
    }
  }
}

// --- internal ---

const LOG_BYTES = 1 << 20;
/** Limit per drain, because ten thousand unrecognised payloads would repeat the same line. */
const LOG_LINES = 1_000;
