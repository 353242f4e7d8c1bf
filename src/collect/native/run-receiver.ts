import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get, type Server } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startDrain } from "../intake/hook.ts";
import { PORT_TAKEN, RECEIVER_LIVE } from "../intake/inbox-file.ts";
import { UNFINISHED } from "./body-file.ts";
import { CHALLENGE, proofOf, receiverServer } from "./receiver.ts";
import { nativeDir, type Receiver, readReceiver } from "./receiver-file.ts";

/** Where the receiver works, and what it starts drains with. */
interface ReceiverPlaces {
  readonly stateDir: string;
  readonly nodePath: string;
  readonly programPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called once, when it listens. */
  readonly onListening?: (receiver: Receiver) => void;
  /** @default `TIMES` */
  readonly times?: typeof TIMES;
}

/** In milliseconds. */
export const TIMES = {
  /** It ends when no agent has sent anything for this long. */
  idle: 10 * 60_000,
  /** How often it looks whether it is still needed. */
  look: 10_000,
  /** The last bodies of a turn come in one go; the drain that starts after this pause finds all of them. */
  quiet: 2_000,
  betweenDrains: 10_000,
};

/**
 * Receives agents' own telemetry until none has come for ten minutes, or no agent exports any more. One at a time: hooks start it
 * whenever they find none.
 *
 * @returns `off`: no agent exports; `running`: another receiver of this user has the port; `taken`: another program has it
 * @throws what the network or the file system throws if it cannot listen
 */
export async function runReceiver(places: ReceiverPlaces): Promise<"ended" | "off" | "running" | "taken"> {
  const { stateDir } = places;
  const receiver = readReceiver(stateDir);
  if (receiver === undefined) return "off";
  const work = new Work(places, receiver);
  for (let attempt = 1; ; attempt++) {
    if (await work.listen()) break;
    const owner = await ownerOf(receiver);
    if (owner === "ours") return "running";
    if (owner === "foreign" || attempt === ATTEMPTS) {
      writeLive(stateDir, PORT_TAKEN);
      return "taken";
    }
    // One that has just ended
    await sleep(RETRY_MS);
  }
  places.onListening?.(receiver);
  await work.untilIdle();
  return "ended";
}

// --- internal ---

const ATTEMPTS = 3;
const RETRY_MS = 200;
const ASK_MS = 2_000;

class Work {
  readonly #places: ReceiverPlaces;
  readonly #receiver: Receiver;
  readonly #server: Server;
  readonly #times: typeof TIMES;
  #usedMs = performance.now();
  #drainedMs = Number.NEGATIVE_INFINITY;
  #drain: NodeJS.Timeout | undefined;

  constructor(places: ReceiverPlaces, receiver: Receiver) {
    this.#places = places;
    this.#receiver = receiver;
    this.#times = places.times ?? TIMES;
    this.#server = receiverServer({
      dir: nativeDir(places.stateDir),
      allowed: () => this.#allowed(),
      onUse: () => {
        this.#usedMs = performance.now();
      },
      onKept: () => this.#drainSoon(),
      // The hook that started the other one wrote down its process
      onAsked: () => this.#announce(),
    });
  }

  /** @returns false: the port is taken */
  listen(): Promise<boolean> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error);
      server.once("error", onError);
      server.listen({ port: this.#receiver.port, host: "127.0.0.1", exclusive: true }, () => {
        server.off("error", onError);
        // A connection that ends while it is accepted
        server.on("error", () => {});
        resolve(true);
      });
    });
  }

  async untilIdle(): Promise<void> {
    const { stateDir } = this.#places;
    this.#announce();
    const dir = nativeDir(stateDir);
    // Bodies that a killed receiver left; their senders got no answer
    for (const name of readdirSync(dir)) if (name.startsWith(UNFINISHED)) rmSync(join(dir, name), { force: true });
    const { idle, look } = this.#times;
    while (this.#allowed() !== undefined && performance.now() - this.#usedMs < idle) await sleep(look);
    this.#server.close();
    this.#server.closeAllConnections();
    clearTimeout(this.#drain);
    if (readLive(stateDir) === String(process.pid)) rmSync(join(stateDir, RECEIVER_LIVE), { force: true });
  }

  /** `undefined` if no agent exports any more, or they got another port. */
  #allowed(): Receiver | undefined {
    const now = readReceiver(this.#places.stateDir);
    return now?.port === this.#receiver.port ? now : undefined;
  }

  #announce(): void {
    writeLive(this.#places.stateDir, String(process.pid));
  }

  #drainSoon(): void {
    clearTimeout(this.#drain);
    const { quiet, betweenDrains } = this.#times;
    const waitMs = Math.max(quiet, this.#drainedMs + betweenDrains - performance.now());
    this.#drain = setTimeout(() => {
      this.#drainedMs = performance.now();
      startDrain(this.#places, this.#places.env);
    }, waitMs);
  }
}

/** Who has the port: only a receiver of this user can answer the question. `nobody`: it has just become free. */
const ownerOf = ({ port, token }: Receiver): Promise<"ours" | "foreign" | "nobody"> =>
  new Promise((resolve) => {
    const challenge = randomBytes(16).toString("hex");
    const request = get({ port, host: "127.0.0.1", headers: { [CHALLENGE]: challenge }, agent: false });
    const end = (owner: "ours" | "foreign" | "nobody"): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(owner);
    };
    const timer = setTimeout(end, ASK_MS, "foreign");
    request.on("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED" ? "nobody" : "foreign"));
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_PROOF) end("foreign");
      });
      response.on("end", () => end(text === proofOf(token, challenge) ? "ours" : "foreign"));
    });
  });
const MAX_PROOF = 100;

function readLive(stateDir: string): string | undefined {
  try {
    return readFileSync(join(stateDir, RECEIVER_LIVE), "latin1").trim();
  } catch {
    return undefined;
  }
}

function writeLive(stateDir: string, text: string): void {
  try {
    writeFileSync(join(stateDir, RECEIVER_LIVE), `${text}\n`, { mode: 0o600 });
  } catch {
    // Then each hook starts a receiver, which finds this one and ends
  }
}
