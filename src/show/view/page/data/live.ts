import { useEffect, useState } from "preact/hooks";
import { EXPORTED } from "./exported.ts";

/**
 * Calls back whenever the server's responses may differ: the store has changed, or a new quarter of an hour has begun, because "today"
 * changes at midnight. A hidden page is called back when it becomes visible.
 *
 * @returns ends the subscription
 */
export function onChange(listener: () => void): () => void {
  return subscribe(changeListeners, listener);
}

/** `paused`: the page is hidden, so it is not kept up to date. */
type ConnectionState = "connecting" | "live" | "lost" | "paused";

/** State of the connection that reports changes. */
export function useConnection(): ConnectionState {
  const [current, setCurrent] = useState(connection);
  useEffect(() => subscribe(connectionListeners, () => setCurrent(connection)), []);
  return current;
}

// --- internal ---

let connection: ConnectionState = "connecting";
let lastChangeMs = Date.now();
let source: EventSource | undefined;
const changeListeners = new Set<() => void>();
const connectionListeners = new Set<() => void>();

function subscribe(listeners: Set<() => void>, listener: () => void): () => void {
  if (source === undefined && EXPORTED === undefined) connect();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const notify = (listeners: ReadonlySet<() => void>): void => {
  for (const listener of [...listeners]) listener();
};

function notifyChange(): void {
  lastChangeMs = Date.now();
  notify(changeListeners);
}

function connect(): void {
  source = new EventSource("api/live");
  source.addEventListener("change", notifyChange);
  source.addEventListener("heartbeat", () => {
    if (quarterOf(Date.now()) !== quarterOf(lastChangeMs)) notifyChange();
  });
  source.addEventListener("connected", () => {
    // The server does not repeat changes that happened while disconnected
    if (connection !== "connecting") notifyChange();
    setConnection("live");
  });
  source.addEventListener("error", () => {
    setConnection("lost");
    // The browser reconnects by itself, but not after an error response
    if (source?.readyState === EventSource.CLOSED) {
      source = undefined;
      setTimeout(() => {
        if (source === undefined && connection === "lost") connect();
      }, RECONNECT_MS);
    }
  });
}

function setConnection(state: ConnectionState): void {
  connection = state;
  notify(connectionListeners);
}

const RECONNECT_MS = 5000;

/** In every time zone a day begins at the start of a quarter of an hour. */
const quarterOf = (ms: number): number => Math.floor(ms / 900_000);

// A hidden page is not connected, so that no drains run for it
document.addEventListener("visibilitychange", () => {
  if (document.hidden && source !== undefined) {
    source.close();
    source = undefined;
    setConnection("paused");
  } else if (!document.hidden && source === undefined && connection === "paused") connect();
});
