import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/**
 * Follows the connections that this process opens while it sends. A library that gives up a handshake without an answer can leave its
 * connection open, and the process would run until the other side closes it.
 *
 * @returns to be called when the caller has sent everything; the last caller closes the connections that are still open
 */
export function followConnections(): () => void {
  if (users++ === 0) subscribe(CHANNEL, follow);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--users > 0) return;
    unsubscribe(CHANNEL, follow);
    for (const socket of opened) socket.destroy();
  };
}

// --- internal ---

/** Node reports each socket that `net.connect` makes. */
const CHANNEL = "net.client.socket";

let users = 0;
const opened = new Set<Socket>();

function follow(message: unknown): void {
  const { socket } = message as { readonly socket: Socket };
  opened.add(socket);
  socket.once("close", () => opened.delete(socket));
}
