import { closeSync, ftruncateSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { openOwn, readOwn } from "#kit/own-file.ts";
import { type ProcessIdentity, selfOf, startOf } from "./name-lock.ts";
import { createFile } from "./spare-files.ts";

// The holder of the drain's lock writes what it is doing to a file beside the lock. Others read who holds the lock, since when and for
// what; and the next holder learns what the last one was doing if it did not end by itself.

/** What the holder of the lock does. */
export type LockStep =
  | "start"
  | "inbox"
  | "read"
  | "build"
  | "count"
  | "send"
  | "tidy"
  | "bridge"
  | "import"
  | "export";

/** The holder of the lock, as it describes itself. Times are milliseconds since the epoch. */
export interface LockHolder extends ProcessIdentity {
  readonly sinceMs: number;
  readonly step: LockStep;
  /** When the step, or the work on these files, began. */
  readonly stepMs: number;
  /** The last sign of life. */
  readonly beatMs: number;
  /** Absolute paths, or names of inbox files. */
  readonly files: readonly string[];
  /** The database that was queried last, if one is open. */
  readonly database?: string | undefined;
  /** A query of the database did not return, and the holder ended itself. */
  readonly isHung?: true;
}

/** Seconds that each step may take without a further note; 0: without limit. `query`: of processor time, for one query of a database. */
type StepLimits = Readonly<Record<LockStep | "query", number>>;

/** Where the holder notes what it does. */
export interface Progress {
  /** A step, or a further part of it, begins. */
  note(step: LockStep, file?: string): void;
  /** Work on a file of the step `read` begins. @returns a function for its end */
  enter(file: string): () => void;
  /**
   * A database will be opened.
   *
   * @param isKnown its queries have returned while it was the same
   * @returns functions for the beginning of each query, and for the end
   */
  database(path: string, isKnown?: boolean): Promise<{ readonly query: () => void; readonly leave: () => void }>;
  /** The command that continues the work, with its program, if a query of a database does not return. */
  restart?: readonly string[] | undefined;
  /** The last holder, if it did not end by itself. Only during the first pass. */
  readonly left?: LockHolder | undefined;
}

export const NO_PROGRESS: Progress = {
  note() {},
  enter: () => () => {},
  database: async () => ({ query() {}, leave() {} }),
};

/** Path of the drain's lock in a state directory. */
export const lockOf = (stateDir: string): string => join(stateDir, "drain.lock");

/** Path of the file beside a lock. */
export const holderPathOf = (lock: string): string => `${lock.replace(/\.lock$/, "")}.holder`;

/** The process that holds the lock, or held it when it died. @returns `undefined` if none is known */
export function holderAt(lock: string): LockHolder | undefined {
  try {
    const text = readOwn(holderPathOf(lock)).toString("utf8").trim();
    return text === "" ? undefined : (JSON.parse(text) as LockHolder);
  } catch {
    return undefined;
  }
}

/** The same, if its process still runs, as far as that can be known. `isStopped`: it was stopped by a signal. */
export function runningHolder(lock: string): (LockHolder & { readonly isStopped: boolean }) | undefined {
  const holder = holderAt(lock);
  if (holder === undefined) return undefined;
  // Another machine or container: its processes are not visible
  if (holder.host !== selfOf().host)
    return Math.abs(Date.now() - holder.beatMs) < GONE_MS ? { ...holder, isStopped: false } : undefined;
  if (startOf(holder.pid) !== holder.start) return undefined;
  return { ...holder, isStopped: /^[Tt]/.test(stateOf(holder.pid)) };
}

/** Describes the holder for users: who, since when, at which step, of which file, and what to do about a stopped one. */
export function holderText(holder: LockHolder & { readonly isStopped: boolean }, nowMs: number): string {
  const { pid, host, sinceMs, step, stepMs, beatMs, files, isStopped } = holder;
  const who = host === selfOf().host ? `process ${pid}` : `process ${pid} on ${host.split(" ")[0]}`;
  const [file, ...more] = files;
  const of = file === undefined ? "" : ` ${file}${more.length === 0 ? "" : ` and ${more.length} more`}`;
  const text = `${who}, for ${seconds(nowMs - sinceMs)}, ${DOES[step]}${of} for ${seconds(nowMs - stepMs)}`;
  if (isStopped)
    return `${text}; it was stopped by a signal: let it continue (kill -CONT ${pid}) or end it (kill -9 ${pid})`;
  if (nowMs - beatMs > SILENT_MS)
    return `${text}; it has shown no sign of life for ${seconds(nowMs - beatMs)}: if that does not change, end it (kill -9 ${pid}); nothing is lost`;
  return text;
}

/** Describes the process that holds the drain's lock of a state directory. */
export function lockHolderText(stateDir: string, nowMs: number): string {
  const holder = runningHolder(lockOf(stateDir));
  return holder === undefined ? "it is not known which process" : holderText(holder, nowMs);
}

/** Runs the work of the process that has the lock, and describes it meanwhile. */
export async function withProgress<T>(
  lock: string,
  stateDir: string,
  work: (progress: HolderFile) => Promise<T>,
  limits: StepLimits = LIMIT_S,
): Promise<T> {
  const progress = new HolderFile(lock, stateDir, limits);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

// --- internal ---

/** As in: it is …. */
const DOES: Readonly<Record<LockStep, string>> = {
  start: "starting",
  inbox: "reading the inbox",
  read: "reading",
  build: "building sessions",
  count: "counting",
  send: "sending",
  tidy: "tidying up",
  bridge: "running the bridge's commands",
  import: "importing",
  export: "exporting",
};

/**
 * How long a step may take without a further note, in seconds; 0: without limit, the user is waiting for it. Usual steps take
 * milliseconds. Steps with a backend have time limits of their own.
 */
const LIMIT_S: StepLimits = {
  ...{ start: 900, inbox: 120, read: 120, build: 1_800, count: 900, send: 1_800, tidy: 1_800, bridge: 1_800 },
  ...{ import: 0, export: 0, query: 10 },
};

const BEAT_MS = 2_000;
const SILENT_MS = 10_000;
const GONE_MS = 10 * 60_000;
const MAX_BYTES = 4_096;
const MAX_FILES = 4;
const MAX_PATH = 600;

class HolderFile implements Progress {
  left: LockHolder | undefined;
  restart: readonly string[] | undefined;
  readonly #path: string;
  readonly #log: string;
  readonly #limits: StepLimits;
  readonly #sinceMs = Date.now();
  readonly #self = selfOf();
  readonly #files = new Set<string>();
  /** Number of notes; seconds that the current step may take; seconds of processor time that the current query may take. */
  readonly #shared = new Int32Array(new SharedArrayBuffer(12));
  readonly #beat: NodeJS.Timeout;
  #fd: number | undefined;
  #step: LockStep = "start";
  #stepMs = this.#sinceMs;
  #file: string | undefined;
  #watchdog: Worker | undefined;
  #isWatched = false;
  #openDatabases = 0;
  #database: string | undefined;

  constructor(lock: string, stateDir: string, limits: StepLimits) {
    this.#limits = limits;
    this.#path = holderPathOf(lock);
    this.#log = lock.replace(/\.lock$/, ".log");
    this.left = holderAt(lock);
    try {
      createFile(this.#path, stateDir);
      this.#fd = openOwn(this.#path, "r+");
    } catch {
      // The work is more important than its description
    }
    this.#beat = setInterval(() => {
      if (this.#limits[this.#step] > 0) void this.#watch();
      this.#write();
    }, BEAT_MS).unref();
    this.note("start");
  }

  note(step: LockStep, file?: string): void {
    this.#step = step;
    this.#file = file;
    this.#begin();
  }

  enter(file: string): () => void {
    this.#files.add(file);
    this.note("read");
    return () => {
      this.#files.delete(file);
      this.#begin();
    };
  }

  async database(path: string, isKnown = false): ReturnType<Progress["database"]> {
    // Nothing else in this thread runs during a query
    if (!isKnown) await this.#watch();
    this.#openDatabases++;
    return {
      query: () => {
        this.#shared[2] = this.#limits.query;
        Atomics.add(this.#shared, 0, 1);
        if (this.#database === path) return;
        this.#database = path;
        this.#write();
      },
      leave: () => {
        if (--this.#openDatabases > 0) return;
        this.#shared[2] = 0;
        this.#database = undefined;
      },
    };
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return;
    this.#isWatched = true;
    try {
      const threads = await import("node:worker_threads");
      // It was fast
      if (this.#fd === undefined) return;
      const { restart = [] } = this;
      const workerData = { shared: this.#shared, holder: this.#path, log: this.#log, pid: process.pid, restart };
      this.#watchdog = new threads.Worker(WATCHDOG, { eval: true, workerData, execArgv: [], env: threads.SHARE_ENV });
      this.#watchdog.on("error", () => {});
      this.#watchdog.unref();
    } catch {
      // Too little memory for a thread
    }
  }

  end(): void {
    clearInterval(this.#beat);
    void this.#watchdog?.terminate();
    if (this.#fd === undefined) return;
    try {
      ftruncateSync(this.#fd);
      closeSync(this.#fd);
    } catch {
      // The next holder takes it for a process that died, which has no effect if it happens once
    }
    this.#fd = undefined;
  }

  #begin(): void {
    this.#stepMs = Date.now();
    this.#shared[1] = this.#limits[this.#step];
    Atomics.add(this.#shared, 0, 1);
    this.#write();
  }

  #write(): void {
    if (this.#fd === undefined) return;
    const files =
      this.#step === "read" ? [...this.#files].slice(-MAX_FILES) : this.#file === undefined ? [] : [this.#file];
    const holder: LockHolder = {
      ...this.#self,
      ...{ sinceMs: this.#sinceMs, step: this.#step, stepMs: this.#stepMs },
      ...{ beatMs: Date.now(), files: files.map((file) => file.slice(0, MAX_PATH)), database: this.#database },
    };
    try {
      // One write of one length: a reader sees no mixture
      writeSync(this.#fd, JSON.stringify(holder).padEnd(MAX_BYTES), 0);
    } catch {
      // As above
    }
  }
}

/**
 * A thread, because the main one can be busy with a single call. It ends the process when a step takes too long: everything stored so far is
 * kept, and the next drain continues; after a query that does not return, it starts that drain. It stops with the process, so a suspended
 * one does not count as slow.
 */
const WATCHDOG = `
const { appendFileSync, readFileSync, writeFileSync, writeSync } = require("node:fs");
const { shared, holder, log, pid, restart } = require("node:worker_threads").workerData;
const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const sleep = new Int32Array(new SharedArrayBuffer(4));
let [notes, seconds, before] = [0, 0, 0];
for (;;) {
  Atomics.wait(sleep, 0, 0, 1000);
  const [now, limit, query] = [0, 1, 2].map((at) => Atomics.load(shared, at));
  seconds = now === notes ? seconds + 1 : 0;
  if (seconds === 0) before = spent();
  notes = now;
  const isHung = query > 0 && spent() - before >= query;
  if (!isHung && (limit === 0 || seconds < limit)) continue;
  try {
    const left = JSON.parse(readFileSync(holder, "utf8"));
    const what = isHung ? "a query of " + left.database : ["the step " + left.step, left.files.join(", ")].filter(Boolean).join(" of ");
    const plain = what.replace(/[\\u0000-\\u001f\\u007f-\\u009f]/g, " ");
    const text = plain + " took more than " + (isHung ? query : limit) + " s: this drain ended itself, the next one continues\\n";
    appendFileSync(log, new Date().toISOString() + " " + text, { mode: 0o600 });
    if (isHung) {
      writeFileSync(holder, JSON.stringify({ ...left, isHung }).padEnd(4096), { flag: "r+" });
      writeSync(2, "openhook-otel: " + text);
      const [program, ...args] = restart;
      if (program) require("node:child_process").spawn(program, args, { detached: true, windowsHide: true, stdio: "inherit" });
    }
  } catch {}
  process.kill(pid, "SIGKILL");
}`;

const seconds = (ms: number): string => {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  return s < 7_200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3_600)} h`;
};

/** One letter, from Linux; empty elsewhere. */
function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(") ") + 2);
  } catch {
    return "";
  }
}
