import { useEffect, useState } from "preact/hooks";

/**
 * Calls back whenever the server's answers may differ: the store has changed, or a quarter of an hour is over, because "today" changes at
 * midnight. A hidden page is called back when it becomes visible.
 *
 * @returns stops it
 */
export function onChange(told: () => void): () => void {
  return subscribe(changes, told);
}

export type Line = "connecting" | "live" | "lost";

/** Whether the connection for changes is open. */
export function useLine(): Line {
  const [now, setNow] = useState(line);
  useEffect(() => subscribe(lines, () => setNow(line)), []);
  return now;
}

// --- internal ---

let line: Line = "connecting";
let isStale = false;
let toldMs = Date.now();
let source: EventSource | undefined;
const changes = new Set<() => void>();
const lines = new Set<() => void>();

function subscribe(listeners: Set<() => void>, told: () => void): () => void {
  if (source === undefined) connect();
  listeners.add(told);
  return () => listeners.delete(told);
}

const tell = (listeners: ReadonlySet<() => void>): void => {
  for (const told of [...listeners]) told();
};

function changed(): void {
  if (document.hidden) {
    isStale = true;
    return;
  }
  isStale = false;
  toldMs = Date.now();
  tell(changes);
}

function connect(): void {
  source = new EventSource("api/live");
  source.addEventListener("change", changed);
  source.addEventListener("beat", () => {
    if (quarterOf(Date.now()) !== quarterOf(toldMs)) changed();
  });
  source.addEventListener("here", () => {
    // Changes while disconnected are not reported again
    if (line === "lost") changed();
    line = "live";
    tell(lines);
  });
  source.addEventListener("error", () => {
    line = "lost";
    tell(lines);
    // The browser reconnects by itself, but not after a refusal
    if (source?.readyState === EventSource.CLOSED) {
      source = undefined;
      setTimeout(connect, AGAIN_MS);
    }
  });
}

const AGAIN_MS = 5000;

/** In no time zone does a day begin within a quarter of an hour. */
const quarterOf = (ms: number): number => Math.floor(ms / 900_000);

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isStale) changed();
});
