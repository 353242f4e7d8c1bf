import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { pointsIn, type ReceivedPoint, spansIn } from "./otlp-json.ts";

/** What has arrived so far. */
export interface Received {
  readonly spans: readonly SpanRecord[];
  /** In order of arrival. */
  readonly points: readonly ReceivedPoint[];
  /** Number of OTLP requests. */
  readonly requests: number;
}

/** A running receiver. */
export interface DemoReceiver {
  /** E.g. `http://127.0.0.1:43121`, without a slash at the end. */
  readonly url: string;
  received(): Received;
  /** Closes the server and every connection. */
  close(): Promise<void>;
}

/**
 * Starts an OTLP receiver for our own exporter on a free port of 127.0.0.1: `http/json`, gzip or plain. Responds with 400 to anything it
 * cannot read, so that the drain reports it.
 *
 * @throws the listen error
 */
export async function startDemoReceiver(): Promise<DemoReceiver> {
  const spans: SpanRecord[] = [];
  const points: ReceivedPoint[] = [];
  let requests = 0;
  const server = createServer(async (incoming, response) => {
    response.setHeader("content-type", "application/json");
    try {
      const json = await bodyOf(incoming);
      if (incoming.url === "/v1/traces") spans.push(...spansIn(json));
      else if (incoming.url === "/v1/metrics") points.push(...pointsIn(json));
      else throw new Error(`no OTLP signal at ${incoming.url}`);
      requests++;
      response.end("{}");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      response.writeHead(400).end(JSON.stringify({ code: INVALID_ARGUMENT, message }));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    received: () => ({ spans, points, requests }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// --- internal ---

/** A google.rpc.Code. */
const INVALID_ARGUMENT = 3;

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const body = await buffer(incoming);
  const plain = incoming.headers["content-encoding"] === "gzip" ? await promisify(gunzip)(body) : body;
  return plain.toString("utf8");
}
