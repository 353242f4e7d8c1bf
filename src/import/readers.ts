import { Worker } from "node:worker_threads";
import type { Agent } from "../model/agent.ts";
import type { Redact } from "../privacy/redact.ts";
import { type ReadResult, type ReadTask, readSession } from "./read.ts";

/** Reads sessions, here or in threads. */
export interface Readers {
  /** How many are worth asking for at once. */
  readonly concurrency: number;
  /**
   * Reads sessions one after the other.
   *
   * @returns in their order
   * @throws Error when they could not even be begun
   */
  read(tasks: readonly ReadTask[]): Promise<readonly ReadResult[]>;
  /**
   * Reads in this thread the first of what was asked for and no other has begun; absent where this one reads all.
   *
   * @returns false where there is nothing of that kind
   */
  help?(): Promise<boolean>;
  close(): Promise<void>;
}

/** What a thread needs to do the same as this one would. */
export interface ReaderSettings {
  readonly redaction: Parameters<typeof import("../privacy/protection.ts").protectionOf>[0];
  readonly home: string;
}

/** What one thread is given when it begins. `begun`: numbers of questions that somebody has begun, plus one, by place in turn. */
export type ReaderData = ReaderSettings & { readonly begun: Int32Array };

/** Of two threads that would read what is asked one alone does. @returns whether it is this one */
export function claim(begun: Int32Array, number: number): boolean {
  const place = number % MAX_ASKED;
  const known = Atomics.load(begun, place);
  return known <= number && Atomics.compareExchange(begun, place, known, number + 1) === known;
}

/** In this thread: for few sessions, and where there are no others. */
export const readersHere = (agentOf: (source: string) => Agent | undefined, redact: Redact): Readers => ({
  concurrency: 1,
  read: (tasks) => readSessions(tasks, agentOf, redact),
  close: async () => {},
});

/** One after the other, in the thread that asks. @throws Error for an agent that nobody knows */
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
 * Threads that read, with little memory each. They begin at once, also before it is known what there is to read: to begin
 * takes a thread as long as to read a hundred megabytes.
 */
export class Threads {
  readonly #all: readonly Thread[];
  #isClosed = false;

  /** @param path of the built worker */
  constructor(path: string, count: number, settings: ReaderSettings) {
    this.#all = Array.from({ length: count }, () => new Thread(path, settings));
  }

  /**
   * A session that is too large for a thread, so that it dies of it, is read again by `last`, with those that were asked for
   * together with it; what waited behind them is read by the thread that replaces it.
   */
  readers(last: Readers): Readers {
    const all = this.#all;
    return {
      concurrency: all.length * ASKED_PER_THREAD,
      help: () => all.reduce((most, one) => (one.waiting > most.waiting ? one : most)).help(last),
      // After the end nothing begins a thread again: it would keep the process alive
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

/** In threads that begin now. */
export const readersInThreads = (path: string, threads: number, settings: ReaderSettings, last: Readers): Readers =>
  new Threads(path, threads, settings).readers(last);

export interface Question {
  readonly number: number;
  readonly tasks: readonly ReadTask[];
}
export type Answer =
  | { readonly number: number; readonly results: readonly ReadResult[] }
  | { readonly number: number; readonly error: string };

// --- internal ---

/** So many wait that no thread waits for this one, also while that writes to the disk. */
const ASKED_PER_THREAD = 64;
/** More than one has to answer at a time. */
const MAX_ASKED = 1_024;

/** In megabytes: what all but the largest sessions need, and what keeps V8 from taking more for no reason. */
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
  readonly #begun = new Int32Array(new SharedArrayBuffer(MAX_ASKED * Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;
  #asked = 0;
  /** In the order in which they are read. */
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
    this.#worker.postMessage({ number, tasks: waiting.tasks } satisfies Question);
  }

  #start(): Worker {
    const worker = new Worker(this.#path, {
      workerData: { ...this.#settings, begun: this.#begun } satisfies ReaderData,
      resourceLimits: MEMORY,
    });
    worker.on("message", (answer: Answer) => {
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      if ("results" in answer) waiting?.done(answer.results);
      else waiting?.failed(new Error(answer.error));
    });
    // What it died of is told by who reads that session again, if it is the session's fault
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
