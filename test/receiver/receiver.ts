import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { CONTENT_TYPES, errorBody, successBody } from "./answer.ts";
import type { ReceivedLog, ReceivedPoint, ReceivedSpan } from "./decode.ts";
import { dropConnection, type Reply, sendReply } from "./reply.ts";
import { encodingOf, type ReceivedRequest, type RequestHead, readRequest, signalOf } from "./request.ts";

export type { PlainAttributes, PlainValue, ReceivedLog, ReceivedPoint, ReceivedSpan } from "./decode.ts";
export type { Reply } from "./reply.ts";
export type { ReceivedRequest, RequestHead } from "./request.ts";

/** Called once per request, before its body is read; undefined answers like a healthy backend. */
export type Behaviour = (request: RequestHead) => Reply | undefined;

export interface ReceiverOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** @default 0, any free port */
  readonly port?: number;
  readonly behaviour?: Behaviour;
  /** PEM texts. With `clientCa`, clients must present a certificate signed by it. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** Limit for one body, compressed and decompressed; a larger one is answered with 413. @default 64 MiB */
  readonly maxBodyBytes?: number;
}

export interface Receiver {
  /** E.g. `http://127.0.0.1:43121`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Everything accepted, in order of arrival, duplicates included. */
  readonly spans: readonly ReceivedSpan[];
  readonly metricPoints: readonly ReceivedPoint[];
  readonly logs: readonly ReceivedLog[];
  /** Every OTLP request with a readable body, whatever the response was. */
  readonly requests: readonly ReceivedRequest[];
  /** Replaces the behaviour; undefined makes it healthy again. */
  setBehaviour(behaviour: Behaviour | undefined): void;
  /** The last accepted span per span id. */
  spansById(): ReadonlyMap<string, ReceivedSpan>;
  /** For each stream (metric, resource, attributes) the point with the latest time; for equal times the last one received. */
  latestPoints(): readonly ReceivedPoint[];
  /** Discards everything collected so far. */
  clear(): void;
  /** Closes the server and every connection. */
  close(): Promise<void>;
}

/** What a receiver has collected. */
export interface Records {
  readonly spans: ReceivedSpan[];
  readonly metricPoints: ReceivedPoint[];
  readonly logs: ReceivedLog[];
  readonly requests: ReceivedRequest[];
}

/**
 * Starts an OTLP/HTTP receiver: POST /v1/traces, /v1/metrics and /v1/logs, protobuf and JSON, gzip. It responds as the OTLP specification
 * requires (415, 400 with google.rpc.Status and so on), or as `behaviour` says.
 *
 * @throws the listen error, e.g. EADDRINUSE
 */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const host = options.host ?? "127.0.0.1";
  const state: State = {
    spans: [],
    metricPoints: [],
    logs: [],
    requests: [],
    behaviour: options.behaviour,
    requestCount: 0,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
  };
  const onRequest = (incoming: IncomingMessage, response: ServerResponse) => {
    // A broken connection is the client's problem and must not end the process
    incoming.on("error", () => {});
    response.on("error", () => {});
    serve(state, incoming, response).catch(() => response.destroy());
  };
  const server = options.tls ? createTlsServer(tlsOptions(options.tls), onRequest) : createServer(onRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `${options.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    spans: state.spans,
    metricPoints: state.metricPoints,
    logs: state.logs,
    requests: state.requests,
    setBehaviour(behaviour) {
      state.behaviour = behaviour;
    },
    spansById: () => new Map(state.spans.map((span) => [span.spanId, span])),
    latestPoints: () => latestPoints(state.metricPoints),
    clear() {
      state.spans.length = 0;
      state.metricPoints.length = 0;
      state.logs.length = 0;
      state.requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Adds the records of an accepted request, without the last `rejected`. */
export function collect(state: Records, request: Omit<ReceivedRequest, "accepted">, rejected: number): void {
  for (const span of withoutLast(request.spans, rejected)) state.spans.push(span);
  for (const point of withoutLast(request.metricPoints, rejected)) state.metricPoints.push(point);
  for (const log of withoutLast(request.logs, rejected)) state.logs.push(log);
}

/** The last point of each stream. */
export function latestPoints(points: readonly ReceivedPoint[]): readonly ReceivedPoint[] {
  const latest = new Map<string, ReceivedPoint>();
  for (const point of points) {
    const stream = JSON.stringify([point.name, sorted(point.resource), sorted(point.attributes)], bigintAsText);
    const former = latest.get(stream);
    if (former === undefined || former.timeNs <= point.timeNs) latest.set(stream, point);
  }
  return [...latest.values()];
}

// --- internal ---

const DEFAULT_MAX_BODY_BYTES = 64 * 1024 * 1024;

interface State extends Records {
  readonly maxBodyBytes: number;
  behaviour: Behaviour | undefined;
  requestCount: number;
}

async function serve(state: State, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const head: RequestHead = {
    method: incoming.method ?? "",
    path: new URL(incoming.url ?? "/", "http://receiver.invalid").pathname,
    headers: incoming.headers,
    clientPort: incoming.socket.remotePort ?? 0,
    index: state.requestCount++,
  };
  const reply = state.behaviour?.(head) ?? {};
  if (reply.reset === "before-reading") return dropConnection(incoming.socket);

  const reading = await readRequest(incoming, head, state.maxBodyBytes);
  const encoding = encodingOf(head.headers) ?? "json";
  const headers = { "content-type": CONTENT_TYPES[encoding] };
  if (reading.fault) {
    const { status, message } = reading.fault;
    return sendReply(response, status, headers, errorBody(message, encoding), {});
  }

  const status = reply.status ?? 200;
  const isSuccess = status >= 200 && status < 300;
  const accepted = reply.accepted ?? (isSuccess && !reply.hang && reply.reset === undefined);
  state.requests.push({ ...reading.request, accepted });
  if (accepted) collect(state, reading.request, reply.partial?.rejected ?? 0);
  const usualBody = isSuccess
    ? successBody(signalOf(head.path) ?? "traces", encoding, reply.partial)
    : errorBody(`answered ${status} as requested`, encoding);
  const body = reply.body === undefined ? usualBody : Buffer.from(reply.body);
  return sendReply(response, status, { ...headers, ...reply.headers }, body, reply);
}

function withoutLast<T>(records: readonly T[], count: number): readonly T[] {
  return records.slice(0, Math.max(0, records.length - count));
}

function sorted(attributes: ReceivedPoint["attributes"]): unknown {
  return Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

function tlsOptions(tls: NonNullable<ReceiverOptions["tls"]>) {
  const { cert, key, clientCa } = tls;
  return {
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  };
}
