import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PartialSuccess } from "./answer.ts";

/** How to respond differently from a healthy backend. */
export interface Reply {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default what OTLP requires for `status` */
  readonly body?: Uint8Array | string;
  /** A 200 that rejects the last `rejected` records of the request. */
  readonly partial?: PartialSuccess;
  /** Delay before the response. */
  readonly delayMs?: number;
  /** Read the request, never respond. */
  readonly hang?: boolean;
  /** Drop the connection: before the body is read, after it, or in the middle of the response's body. */
  readonly reset?: "before-reading" | "after-reading" | "within-answer";
  /** Send the response byte by byte, one per this many milliseconds; headers included unless `dripFrom` is `body`. */
  readonly dripMs?: number;
  readonly dripFrom?: "headers" | "body";
  /** Respond completely, then drop the connection after this time, like an idle timeout. */
  readonly dropAfterMs?: number;
  /** How a receiver of gRPC ends the call. */
  readonly grpc?: {
    /** A status code of gRPC; 0 is OK. @default 0 */
    readonly code?: number;
    readonly details?: string;
    /** google.rpc.Status, see `statusBytes`. */
    readonly statusDetails?: Uint8Array;
    readonly trailers?: Readonly<Record<string, string>>;
  };
  /** Whether the records count as accepted. @default `status` is 2xx, and neither `hang` nor `reset` is set */
  readonly accepted?: boolean;
}

/** Sends the response that `reply` describes, after its delay: whole, dripping, cut off, or not at all. */
export async function sendReply(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  reply: Reply,
): Promise<void> {
  const { socket } = response;
  if (reply.delayMs !== undefined) await sleep(reply.delayMs);
  if (reply.hang || socket === null) return;
  if (reply.reset === "after-reading") return dropConnection(socket);
  if (reply.dripMs !== undefined) return drip(socket, status, headers, body, reply);
  if (reply.reset === "within-answer") {
    response.writeHead(status, { ...headers, "content-length": body.length + 1000 });
    response.write(body);
    await sleep(20);
    return dropConnection(socket);
  }
  response.writeHead(status, headers);
  response.end(body);
  if (reply.dropAfterMs !== undefined) {
    await sleep(reply.dropAfterMs);
    dropConnection(socket);
  }
}

/** Ends a connection with a TCP reset (over TLS without a close message). */
export function dropConnection(socket: Socket): void {
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}

// --- internal ---

/** Writes to the socket itself, so that the headers too can be sent byte by byte. */
async function drip(
  socket: Socket,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  reply: Reply,
): Promise<void> {
  const head = [`HTTP/1.1 ${status} Drip`, `content-length: ${body.length}`];
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
  const headBytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n`);
  if (reply.dripFrom === "body") socket.write(headBytes);
  const slow = reply.dripFrom === "body" ? body : Buffer.concat([headBytes, body]);
  for (const byte of slow) {
    if (socket.destroyed) return;
    socket.write(Uint8Array.of(byte));
    await sleep(reply.dripMs ?? 0);
  }
}

// A pending delay must not keep the process alive
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
