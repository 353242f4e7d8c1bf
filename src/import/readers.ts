import { Worker } from "node:worker_threads";
import type { Agent } from "../model/agent.ts";
import type { Redact } from "../privacy/redact.ts";
import { type ReadResult, type ReadTask, readSession } from "./read.ts";

/** Reads sessions, in this thread or in others. */
export interface Readers {
  /** How many groups of sessions to request ahead. */
  readonly concurrency: number;
  /**
   * Reads sessions one after the other.
   *
   * @returns results in the same order
   * @throws Error if reading could not start
   */
  read(tasks: readonly ReadTask[]): Promise<readonly ReadResult[]>;
  /**
   * Reads the first requested group that no thread has started, in this thread. Absent if this thread reads everything.
   *
   * @returns false if there is no such group
   */
  help?(): Promise<boolean>;
  close(): Promise<void>;
}

/** What a thread needs to read as this one does. */
export interface ReaderSettings {
  readonly redaction: Parameters<typeof import("../privacy/protection.ts").protectionOf>[0];
  readonly home: string;
}

/** Data of a thread. `begun`: numbers of started requests plus one, in a ring, shared with the main thread. */
export type ReaderData = ReaderSettings & { readonly begun: Int32Array };

/** Claims a request, so that only one of two threads reads it. @returns whether this thread has it */
export function claim(begun: Int32Array, number: number): boolean {
  const place = number % MAX_REQUESTS;
  const known = Atomics.load(begun, place);
  return known <= number && Atomics.compareExchange(begun, place, known, number + 1) === known;
}

/** Reads in this thread. */
export const readersHere = (agentOf: (source: string) => Agent | undefined, redact: Redact): Readers => ({
  concurrency: 1,
  read: (tasks) => readSessions(tasks, agentOf, redact),
  close: async () => {},
});

/** Reads sessions one after the other in the calling thread. @throws Error for an unknown agent */
export async function readSessions(
  tasks: readonly ReadTask[],
  agentOf: (source: string) => Agent | undefined,
  redact: Redact,
): Promise<readonly ReadResult[]> {
  const results: ReadResult[] = [];
  for (const task of tasks) {
    const agent = agentOf(task.source);
    if (agent === undefined) throw new Error(`no agent is called ${JSON.stringify(task.source)}`);
    results.push(await readSession(task, agent, redact, true));
  }
  return results;
}

/**
 * Threads that read, with little memory each. They start when they are created.
 */
export class Threads {
  readonly #all: readonly Thread[];
  #isClosed = false;

  /** @param path of the built reader thread */
  constructor(path: string, count: number, settings: ReaderSettings) {
    this.#all = Array.from({ length: count }, () => new Thread(path, settings));
  }

  /**
   * If a session is too large for a thread and ends it, `last` reads its group again. A new thread reads the other requests.
   */
  readers(last: Readers): Readers {
    const all = this.#all;
    return {
      concurrency: all.length * REQUESTS_PER_THREAD,
      help: () => all.reduce((most, one) => (one.waiting > most.waiting ? one : most)).help(last),
      // Never start a thread after `close`: it would keep the process alive
      read: async (tasks) => {
        if (this.#isClosed) throw new Error("its readers are closed");
        return all.reduce((least, one) => (one.waiting < least.waiting ? one : least)).read(tasks, last);
      },
      close: () => this.close(),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#all.map((one) => one.close()));
  }
}

/** Readers in threads that start now. */
export const readersInThreads = (path: string, threads: number, settings: ReaderSettings, last: Readers): Readers =>
  new Threads(path, threads, settings).readers(last);

export interface ReadRequest {
  readonly number: number;
  readonly tasks: readonly ReadTask[];
}
export type ReadResponse =
  | { readonly number: number; readonly results: readonly ReadResult[] }
  | { readonly number: number; readonly error: string };

// --- internal ---

/** Enough that no thread idles while the main thread writes to disk. */
const REQUESTS_PER_THREAD = 64;
/** More than the requests of one thread at a time. */
const MAX_REQUESTS = 1_024;

/** In megabytes: enough for all but the largest sessions; without limits V8 takes more than it needs. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };

interface Waiting {
  readonly tasks: readonly ReadTask[];
  readonly last: Readers;
  readonly done: (results: readonly ReadResult[] | Promise<readonly ReadResult[]>) => void;
  readonly failed: (error: Error) => void;
}

class Thread {
  readonly #path: string;
  readonly #settings: ReaderSettings;
  readonly #begun = new Int32Array(new SharedArrayBuffer(MAX_REQUESTS * Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;
  #asked = 0;
  /** In the order of reading. */
  readonly #waiting = new Map<number, Waiting>();

  constructor(path: string, settings: ReaderSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#worker = this.#start();
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  read(tasks: readonly ReadTask[], last: Readers): Promise<readonly ReadResult[]> {
    return new Promise((done, failed) => this.#ask({ tasks, last, done, failed }));
  }

  async help(here: Readers): Promise<boolean> {
    for (const [number, { tasks, done }] of this.#waiting) {
      if (!claim(this.#begun, number)) continue;
      this.#waiting.delete(number);
      const answer = here.read(tasks);
      done(answer);
      await answer.catch(() => {});
      return true;
    }
    return false;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#waiting.clear();
    await worker?.terminate();
  }

  #ask(waiting: Waiting): void {
    this.#worker ??= this.#start();
    const number = this.#asked++;
    this.#waiting.set(number, waiting);
    this.#worker.postMessage({ number, tasks: waiting.tasks } satisfies ReadRequest);
  }

  #start(): Worker {
    const worker = new Worker(this.#path, {
      workerData: { ...this.#settings, begun: this.#begun } satisfies ReaderData,
      resourceLimits: MEMORY,
    });
    worker.on("message", (answer: ReadResponse) => {
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      if ("results" in answer) waiting?.done(answer.results);
      else waiting?.failed(new Error(answer.error));
    });
    // If the session caused it, reading it again reports the error
    worker.on("error", () => this.#gone(worker));
    worker.on("exit", () => this.#gone(worker));
    return worker;
  }

  #gone(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const [first, ...rest] = [...this.#waiting.values()];
    this.#waiting.clear();
    first?.done(first.last.read(first.tasks));
    for (const waiting of rest) this.#ask(waiting);
  }
}
