import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { PATIENCE_MS } from "../support/patience.ts";
import { sleep } from "../support/program.ts";

/** How a server is started and restarted. */
export interface Start {
  /** Its name in messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; it is not removed. */
  readonly cwd: string;
  /** Whether it accepts requests; may throw before that. */
  readonly isReady: () => Promise<boolean>;
  /** @default 60 s: Go programs of 200 MB start slowly on a busy machine */
  readonly timeoutMs?: number;
}

/** A server in a separate process. It ends with the tests, even if they are killed. */
export class Server {
  readonly #start: Start;
  #child: ChildProcess | undefined;
  #log = "";

  private constructor(start: Start) {
    this.#start = start;
  }

  /** Starts it and waits until it accepts requests. @throws as `start` */
  static async started(start: Start): Promise<Server> {
    const server = new Server(start);
    await server.start();
    return server;
  }

  get name(): string {
    return this.#start.name;
  }

  /** The end of its output, over all starts. */
  get log(): string {
    return this.#log;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts or restarts it. @throws with the end of its log if it ends, or is not ready in time */
  async start(): Promise<void> {
    if (this.isRunning) return;
    const { name, program, args, env = {}, cwd, isReady, timeoutMs = PATIENCE_MS } = this.#start;
    const child = spawn(program, args, {
      cwd,
      // Not the tests' environment: OTEL_* and HTTP_PROXY would affect these programs
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    guard(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#log = `${this.#log}${data.toString("utf8")}`.slice(-LOG_CHARACTERS);
      });
    }
    let failure: Error | undefined;
    child.on("error", (error) => {
      failure = error;
    });
    for (const endMs = Date.now() + timeoutMs; ; await sleep(50)) {
      if (failure !== undefined) throw new Error(`cannot start ${name} (${program}): ${failure.message}`);
      if (!this.isRunning)
        throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}:\n${this.#lastWords}`);
      if (await isReady().catch(() => false)) return;
      if (Date.now() > endMs) {
        await this.kill();
        throw new Error(`${name} is not ready after ${timeoutMs} ms:\n${this.#lastWords}`);
      }
    }
  }

  /** Ends it by SIGTERM and waits. @throws if it had to be killed */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    child.kill("SIGTERM");
    if (await this.#ended(STOP_MS)) return;
    await this.kill();
    throw new Error(`${this.#start.name} did not end within ${STOP_MS} ms of SIGTERM:\n${this.#lastWords}`);
  }

  /** Kills it by SIGKILL and waits until it is gone. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#ended(STOP_MS);
  }

  get #lastWords(): string {
    return this.#log.trimEnd().split("\n").slice(-25).join("\n");
  }

  async #ended(withinMs: number): Promise<boolean> {
    for (const endMs = Date.now() + withinMs; this.isRunning; await sleep(20)) if (Date.now() > endMs) return false;
    return true;
  }
}

/** Free ports of the loopback interface; no port is returned twice. */
export async function freePorts<N extends string>(...names: readonly N[]): Promise<Readonly<Record<N, number>>> {
  const entries: [N, number][] = [];
  for (const name of names) entries.push([name, await freePort()]);
  return Object.fromEntries(entries) as Record<N, number>;
}

/** Sends a GET request. @returns whether the response was 200 */
export const answers = async (url: string): Promise<boolean> =>
  (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;

// --- internal ---

const LOG_CHARACTERS = 200_000;
/** A Collector empties its queues before it ends. */
const STOP_MS = 30_000;

/**
 * Kills it when this process is gone. An exit handler is not enough, because the test runner's worker can itself be
 * killed.
 */
function guard(child: ChildProcess): void {
  if (child.pid === undefined) return;
  // Its stdin ends with this process
  const guardian = spawn("/bin/sh", ["-c", `read -r _; kill -9 ${child.pid}`], { stdio: ["pipe", "ignore", "ignore"] });
  guardian.unref();
  child.on("exit", () => guardian.kill("SIGKILL"));
}

const HANDED_OUT = new Set<number>();

async function freePort(): Promise<number> {
  for (;;) {
    const port = await new Promise<number>((done, failed) => {
      const server = createServer();
      server.on("error", failed);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        server.close(() => (typeof address === "object" && address !== null ? done(address.port) : failed(address)));
      });
    });
    if (HANDED_OUT.has(port)) continue;
    HANDED_OUT.add(port);
    return port;
  }
}
