import { Worker } from "node:worker_threads";
import type { Agent } from "#core/model/agent.ts";
import type { Protection } from "#core/privacy/protection.ts";
import { type ReadResult, type ReadTask, readSession } from "./read.ts";

/** Reads sessions, in this thread or in others. */
export interface Readers {
  /** How many groups of sessions the caller should request at a time. */
  readonly concurrency: number;
  /**
   * Reads sessions one after the other.
   *
   * @returns results in the same order
   * @throws Error if reading could not start
   */
  read(tasks: readonly ReadTask[]): Promise<readonly ReadResult[]>;
  /**
   * Reads, in this thread, the first requested group that no other thread has started. Absent if there are no other threads.
   *
   * @returns false if there is no such group
   */
  readUnstarted?(): Promise<boolean>;
  close(): Promise<void>;
}

/** The settings with which threads read. */
interface ReaderSettings {
  readonly redaction: Parameters<typeof import("#core/privacy/protection.ts").protectionOf>[0];
  readonly home: string;
}

/** Data of a thread. `startedRequests`: a ring of the numbers of started requests plus one, shared with the main thread. */
export type ReaderData = ReaderSettings & { readonly startedRequests: Int32Array };

/** Claims a request, so that only one of the two threads reads it. @returns whether the claim succeeded */
export function claim(startedRequests: Int32Array, number: number): boolean {
  const place = number % MAX_REQUESTS;
  const known = Atomics.load(startedRequests, place);
  return known <= number && Atomics.compareExchange(startedRequests, place, known, number + 1) === known;
}

/** Reads in this thread. */
export const readersInThisThread = (
  agentOf: (source: string) => Agent | undefined,
  protection: Protection,
): Readers => ({
  concurrency: 1,
  read: (tasks) => readSessions(tasks, agentOf, protection),
  close: async () => {},
});

/** Reads sessions one after the other in the calling thread. @throws Error for an unknown agent */
export async function readSessions(
  tasks: readonly ReadTask[],
  agentOf: (source: string) => Agent | undefined,
  protection: Protection,
): Promise<readonly ReadResult[]> {
  const results: ReadResult[] = [];
  for (const task of tasks) {
    const agent = agentOf(task.source);
    if (agent === undefined) throw new Error(`no agent is called ${JSON.stringify(task.source)}`);
    results.push(await readSession(task, agent, protection, true));
  }
  return results;
}

/** Threads that read, each with little memory. They start in the constructor. */
export class Threads {
  readonly #all: readonly Thread[];
  #isClosed = false;

  /** @param path of the built reader thread */
  constructor(path: string, count: number, settings: ReaderSettings) {
    this.#all = Array.from({ length: count }, () => new Thread(path, settings));
  }

  /**
   * If a thread ends because a session is too large for its memory, `fallback` reads that group. A new thread reads the others.
   */
  readers(fallback: Readers): Readers {
    const all = this.#all;
    return {
      concurrency: all.length * REQUESTS_PER_THREAD,
      readUnstarted: () =>
        all.reduce((most, one) => (one.pendingCount > most.pendingCount ? one : most)).readUnstarted(fallback),
      // Never start a thread after `close`: it would keep the process alive
      read: async (tasks) => {
        if (this.#isClosed) throw new Error("the reader threads are closed");
        return all.reduce((least, one) => (one.pendingCount < least.pendingCount ? one : least)).read(tasks, fallback);
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
export const readersInThreads = (path: string, threads: number, settings: ReaderSettings, fallback: Readers): Readers =>
  new Threads(path, threads, settings).readers(fallback);

/** The message to a thread that makes it read sessions. */
export interface ReadRequest {
  readonly number: number;
  readonly tasks: readonly ReadTask[];
}
export type ReadResponse =
  | { readonly number: number; readonly results: readonly ReadResult[] }
  | { readonly number: number; readonly error: string };

// --- internal ---

/** Enough that no thread is idle while the main thread writes to disk. */
const REQUESTS_PER_THREAD = 64;
/** More than the requests of one thread at a time. */
const MAX_REQUESTS = 1_024;

/** In megabytes: enough for all but the largest sessions; without limits V8 takes more than it needs. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };

interface PendingRequest {
  readonly tasks: readonly ReadTask[];
  readonly fallback: Readers;
  readonly done: (results: readonly ReadResult[] | Promise<readonly ReadResult[]>) => void;
  readonly failed: (error: Error) => void;
}

class Thread {
  readonly #path: string;
  readonly #settings: ReaderSettings;
  readonly #startedRequests = new Int32Array(new SharedArrayBuffer(MAX_REQUESTS * Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;
  #requestCount = 0;
  /** Requests without a response, in the order in which they are read. */
  readonly #pending = new Map<number, PendingRequest>();

  constructor(path: string, settings: ReaderSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#worker = this.#start();
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  read(tasks: readonly ReadTask[], fallback: Readers): Promise<readonly ReadResult[]> {
    return new Promise((done, failed) => this.#send({ tasks, fallback, done, failed }));
  }

  async readUnstarted(here: Readers): Promise<boolean> {
    for (const [number, { tasks, done }] of this.#pending) {
      if (!claim(this.#startedRequests, number)) continue;
      this.#pending.delete(number);
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
    this.#pending.clear();
    await worker?.terminate();
  }

  #send(request: PendingRequest): void {
    this.#worker ??= this.#start();
    const number = this.#requestCount++;
    this.#pending.set(number, request);
    this.#worker.postMessage({ number, tasks: request.tasks } satisfies ReadRequest);
  }

  #start(): Worker {
    const worker = new Worker(this.#path, {
      workerData: { ...this.#settings, startedRequests: this.#startedRequests } satisfies ReaderData,
      resourceLimits: MEMORY,
    });
    worker.on("message", (response: ReadResponse) => {
      const request = this.#pending.get(response.number);
      this.#pending.delete(response.number);
      if ("results" in response) request?.done(response.results);
      else request?.failed(new Error(response.error));
    });
    // If a session caused the error, `fallback` reports it
    worker.on("error", () => this.#onThreadEnd(worker));
    worker.on("exit", () => this.#onThreadEnd(worker));
    return worker;
  }

  #onThreadEnd(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const [first, ...rest] = [...this.#pending.values()];
    this.#pending.clear();
    first?.done(first.fallback.read(first.tasks));
    for (const request of rest) this.#send(request);
  }
}
