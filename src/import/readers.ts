import { Worker } from "node:worker_threads";
import type { Agent } from "../model/agent.ts";
import type { Redact } from "../privacy/redact.ts";
import { type ReadResult, type ReadTask, readSession } from "./read.ts";

/** Reads sessions, here or in threads. */
export interface Readers {
  /** How many are worth asking for at once. */
  readonly concurrency: number;
  /** @throws Error when its thread died */
  read(task: ReadTask): Promise<ReadResult>;
  close(): Promise<void>;
}

/** What a thread needs to do the same as this one would. */
export interface ReaderSettings {
  readonly redaction: Parameters<typeof import("../privacy/protection.ts").protectionOf>[0];
  readonly home: string;
}

/** In this thread: for few sessions, and where there are no others. */
export const readersHere = (agentOf: (source: string) => Agent | undefined, redact: Redact): Readers => ({
  concurrency: 1,
  read: (task) => {
    const agent = agentOf(task.source);
    if (agent === undefined) throw new Error(`no agent is called ${JSON.stringify(task.source)}`);
    return readSession(task, agent, redact, true);
  },
  close: async () => {},
});

/**
 * In threads of their own. One that dies takes the session that it was reading with it, and is replaced.
 *
 * @param path of the built worker
 */
export function readersInThreads(path: string, threads: number, settings: ReaderSettings): Readers {
  const all = Array.from({ length: threads }, () => new Thread(path, settings));
  return {
    concurrency: threads * TASKS_PER_THREAD,
    read: (task) => all.reduce((least, one) => (one.waiting < least.waiting ? one : least)).read(task),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

export interface Question {
  readonly number: number;
  readonly task: ReadTask;
}
export type Answer =
  | { readonly number: number; readonly result: ReadResult }
  | { readonly number: number; readonly error: string };

// --- internal ---

/** One that is read and one that waits, so that no thread waits for this one. */
const TASKS_PER_THREAD = 2;

interface Waiting {
  readonly done: (result: ReadResult) => void;
  readonly failed: (error: Error) => void;
}

class Thread {
  readonly #path: string;
  readonly #settings: ReaderSettings;
  #worker: Worker | undefined;
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(path: string, settings: ReaderSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#worker = this.#start();
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  read(task: ReadTask): Promise<ReadResult> {
    this.#worker ??= this.#start();
    const number = this.#asked++;
    const worker = this.#worker;
    return new Promise((done, failed) => {
      this.#waiting.set(number, { done, failed });
      worker.postMessage({ number, task } satisfies Question);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#path, { workerData: this.#settings, stdout: false, stderr: false });
    worker.on("message", (answer: Answer) => {
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      if ("result" in answer) waiting?.done(answer.result);
      else waiting?.failed(new Error(answer.error));
    });
    const gone = (error: Error): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { failed } of this.#waiting.values()) failed(error);
      this.#waiting.clear();
    };
    worker.on("error", gone);
    worker.on("exit", (code) => gone(new Error(`its reader ended with ${code}`)));
    return worker;
  }
}
