import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "../support/patience.ts";
import { ROOT } from "../support/program.ts";
import type { Fault } from "./fault.ts";
import type { State } from "./world.ts";

/** How a drain ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

export interface DrainOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly fault?: Fault;
  /** File for the names of the steps it passes; `!` is the fault, `~` a step that failed before the fault. */
  readonly trace?: string;
  /** Runs the program through another one: `["setpriv", …]`. */
  readonly under?: readonly string[];
}

/** The fault build: the real program with steps that can fail. */
export class FaultBuild {
  readonly #dir = mkdtempSync(join(tmpdir(), "openhook-fault-build-"));
  readonly program = join(this.#dir, "openhook-otel.cjs");

  /** @param migrations path of the module that replaces the store's migrations. @default the real ones */
  constructor(migrations?: string) {
    const args = [
      join(ROOT, "test", "faults", "build.mjs"),
      this.#dir,
      ...(migrations === undefined ? [] : [migrations]),
    ];
    const built = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (built.status !== 0) throw new Error(`the fault build failed:\n${built.stderr}`);
  }

  drain(state: State, options: DrainOptions = {}): Promise<Ended> {
    return this.run(["drain", "--json"], state, options);
  }

  /** Runs a command to its end. One that hangs is ended by SIGTERM, which no other drain gets. */
  run(args: readonly string[], state: State, { env, fault, trace, under = [] }: DrainOptions = {}): Promise<Ended> {
    const [program = "", ...rest] = [...under, process.execPath, this.program, ...args];
    const startMs = performance.now();
    return new Promise((done, failed) => {
      const child = spawn(program, rest, {
        cwd: "/",
        timeout: PATIENCE_MS,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...state.env,
          // The bundle is far from the one package that is not part of it
          NODE_PATH: join(ROOT, "node_modules"),
          ...env,
          ...(fault !== undefined && { OPENHOOK_FAULT: JSON.stringify(fault) }),
          ...(trace !== undefined && { OPENHOOK_FAULT_TRACE: trace }),
        },
      });
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on("data", (data: Buffer) => stdout.push(data));
      child.stderr.on("data", (data: Buffer) => stderr.push(data));
      child.on("error", failed);
      child.on("close", (code, signal) => {
        const texts = { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
        done({ code, signal, ...texts, tookMs: performance.now() - startMs });
      });
    });
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 10 });
  }
}

// --- internal ---
