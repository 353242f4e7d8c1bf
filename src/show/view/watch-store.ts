import { statSync } from "node:fs";

/** Notifies when the store has changed. */
export interface Changes {
  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void;
  /** Ends all subscriptions and aborts `closed`. */
  close(): void;
  /** Aborted by `close`. */
  readonly closed: AbortSignal;
}

/**
 * Compares the store's files four times a second while there are subscribers. Keeps no connection open, which would still refer to the
 * old store after it was moved away.
 */
export function watchStore(path: string): Changes {
  const listeners = new Set<() => void>();
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let last = "";
  const check = (): void => {
    const now = stampOf(path);
    if (now === last) return;
    last = now;
    for (const listener of listeners) listener();
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    closed: ended.signal,
    subscribe(listener) {
      if (timer === undefined) {
        last = stampOf(path);
        timer = setInterval(check, CHECK_MS);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
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

const CHECK_MS = 250;

/** Changes with every commit, which writes to the main file or its log. */
const stampOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      return found === undefined ? "-" : `${found.ino}:${found.size}:${found.mtimeNs}`;
    })
    .join(" ");
