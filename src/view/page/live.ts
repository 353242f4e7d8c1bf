import { useEffect, useState } from "preact/hooks";

/** Counts the changes of the store. A page that nobody sees learns of them when it is looked at again. */
export function useLive(): number {
  const [change, setChange] = useState(changes);
  useEffect(() => subscribe(() => setChange(changes)), []);
  return change;
}

export type Line = "connecting" | "live" | "lost";

/** Whether the server still tells of changes. */
export function useLine(): Line {
  const [now, setNow] = useState(line);
  useEffect(() => subscribe(() => setNow(line)), []);
  return now;
}

// --- internal ---

let changes = 0;
let line: Line = "connecting";
let isStale = false;
let source: EventSource | undefined;
const listeners = new Set<() => void>();

function subscribe(told: () => void): () => void {
  if (source === undefined) connect();
  listeners.add(told);
  return () => listeners.delete(told);
}

const tell = (): void => {
  for (const told of [...listeners]) told();
};

function changed(): void {
  if (document.hidden) {
    isStale = true;
    return;
  }
  isStale = false;
  changes++;
  tell();
}

function connect(): void {
  source = new EventSource("api/live");
  source.addEventListener("change", changed);
  source.addEventListener("here", () => {
    // What happened while we did not listen is not told again
    if (line === "lost") changed();
    line = "live";
    tell();
  });
  source.addEventListener("error", () => {
    line = "lost";
    tell();
    // The browser tries again by itself, but not after a refusal
    if (source?.readyState === EventSource.CLOSED) {
      source = undefined;
      setTimeout(connect, AGAIN_MS);
    }
  });
}

const AGAIN_MS = 5000;

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isStale) changed();
});
