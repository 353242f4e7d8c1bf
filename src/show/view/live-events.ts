import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { LiveDrains } from "./live-drains.ts";
import type { Changes } from "./watch-store.ts";

/** What an open page is connected to. */
export interface Live {
  readonly changes: Changes;
  readonly drains: LiveDrains;
}

/** Sends an event whenever the store has changed, as long as the page is open. */
export const streamLive = (context: Context, live: Live): Response =>
  streamSSE(context, (stream) => untilClosed(stream, live));

// --- internal ---

/** Shorter than the idle timeouts of proxies. */
const HEARTBEAT_MS = 20_000;

const untilClosed = (stream: SSEStreamingApi, { changes, drains }: Live): Promise<void> =>
  new Promise((done) => {
    const send = (event: string): void => void stream.writeSSE({ event, data: "" }).catch(() => end());
    const unsubscribe = changes.subscribe(() => send("change"));
    const leave = drains.join();
    // Only a write detects a closed connection
    const heartbeat = setInterval(() => send("heartbeat"), HEARTBEAT_MS);
    const end = (): void => {
      clearInterval(heartbeat);
      unsubscribe();
      leave();
      changes.closed.removeEventListener("abort", end);
      done();
    };
    stream.onAbort(end);
    changes.closed.addEventListener("abort", end, { once: true });
    send("connected");
  });
