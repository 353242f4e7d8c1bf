import { statSync } from "node:fs";

/** Tells when the store has changed. */
export interface Changes {
  /** @returns stops it */
  subscribe(told: () => void): () => void;
  /** Nothing is told any more; who waits is told so. */
  close(): void;
  /** Aborted by `close`. */
  readonly closed: AbortSignal;
}

/**
 * Looks twice a second whether the store's files are others than before: no connection is kept that a store which is moved
 * away could leave behind, and nothing is looked at while nobody listens.
 */
export function watchStore(path: string): Changes {
  const listeners = new Set<() => void>();
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let last = "";
  const look = (): void => {
    const now = stampOf(path);
    if (now === last) return;
    last = now;
    for (const told of listeners) told();
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    closed: ended.signal,
    subscribe(told) {
      if (timer === undefined) {
        last = stampOf(path);
        timer = setInterval(look, LOOK_MS);
      }
      listeners.add(told);
      return () => {
        listeners.delete(told);
        if (listeners.size === 0) stop();
      };
    },
    close() {
      listeners.clear();
      stop();
      ended.abort();
    },
  };
}

// --- internal ---

const LOOK_MS = 500;

/** Of the main file and its log: a commit writes to one of them. */
const stampOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      return found === undefined ? "-" : `${found.ino}:${found.size}:${found.mtimeNs}`;
    })
    .join(" ");
