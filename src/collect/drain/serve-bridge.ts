import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPassAsked } from "#store/lock.ts";
import { BRIDGE_LIVE, EVENT_FILE } from "../intake/inbox-file.ts";
import type { Drain } from "./context.ts";
import { readInbox } from "./read-inbox.ts";

/**
 * Hands new events to the bridge's commands as they arrive, until none has arrived for three seconds and all commands have ended, or
 * until another drain asks for a pass over everything. Meanwhile hooks need not start a drain: each new process would cost more than a
 * look into the inbox.
 *
 * @param lock path of the drain's lock
 */
export async function serveBridge(drain: Drain, lock: string): Promise<void> {
  const { bridge, places, sleep } = drain;
  const mark = new LiveMark(join(places.stateDir, BRIDGE_LIVE));
  const startMs = performance.now();
  const inbox = new InboxWatch(places.inboxDir);
  try {
    for (let lastMs = startMs; ; await sleep(POLL_MS)) {
      mark.write();
      if (inbox.hasNews() && (await readInbox(drain)).size > 0) lastMs = performance.now();
      bridge.kick();
      const nowMs = performance.now();
      if (isPassAsked(lock) || nowMs - startMs > LONGEST_MS) break;
      if (!bridge.isBusy && nowMs - lastMs > LINGER_MS) break;
    }
  } finally {
    mark.remove();
  }
  // A hook that saw the mark had written its event before
  await readInbox(drain);
  bridge.kick();
}

/**
 * Hands new events to the bridge's commands while the drain waits for something else: a slow backend must not delay them. The next
 * drain builds their sessions.
 */
export async function serveBridgeDuring(drain: Drain, work: () => Promise<void>): Promise<void> {
  const { bridge, places, sleep } = drain;
  if (!bridge.isActive) return work();
  const inbox = new InboxWatch(places.inboxDir);
  let isDone = false;
  const ended = work().finally(() => {
    isDone = true;
  });
  const serve = async (): Promise<void> => {
    for (; !isDone; await Promise.race([sleep(POLL_MS), ended])) {
      if (!inbox.hasNews()) continue;
      await readInbox(drain);
      bridge.kick();
    }
  };
  // Neither may be left running when the store is closed
  for (const one of await Promise.allSettled([ended, serve()])) if (one.status === "rejected") throw one.reason;
}

/** Shows hooks that a drain reads new events from now on; written before it starts to read. */
export const announceDrain = ({ places }: Pick<Drain, "places">): void =>
  new LiveMark(join(places.stateDir, BRIDGE_LIVE)).write();

// --- internal ---

const POLL_MS = 50;
/** Most tool calls of a turn follow each other within this time. */
const LINGER_MS = 3_000;
/** The store is opened again from time to time. */
const LONGEST_MS = 10 * 60_000;
/** Files that stay in the inbox are looked at again after this time: an intake may be at work on them. */
const AGAIN_MS = 250;

/** Whether the inbox contains files that were not there, or not complete, at the last look. */
class InboxWatch {
  readonly #dir: string;
  #seen: ReadonlySet<string> = new Set();
  #atMs = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  hasNews(): boolean {
    const names = eventFiles(this.#dir);
    const nowMs = performance.now();
    const isNew = names.some((name) => !this.#seen.has(name)) || (names.length > 0 && nowMs - this.#atMs > AGAIN_MS);
    if (isNew) {
      this.#seen = new Set(names);
      this.#atMs = nowMs;
    }
    return isNew;
  }
}

function eventFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir).filter((name) => name.endsWith(EVENT_FILE));
  } catch {
    return [];
  }
}

/** The file by which hooks know this process; a hook overwrites it when it starts a drain. */
class LiveMark {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  write(): void {
    const text = `${process.pid}\n`;
    try {
      if (textAt(this.#path) !== text) writeFileSync(this.#path, text, { mode: 0o600 });
    } catch {
      // Hooks then start drains, which find the lock taken
    }
  }

  remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // As above: this process will not be found
    }
  }
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
