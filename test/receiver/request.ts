import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { OtlpSignal } from "#core/model/settings.ts";
import { CONTENT_TYPES } from "./answer.ts";
import {
  DecodeError,
  decodeLogs,
  decodePoints,
  decodeSpans,
  type Encoding,
  type ReceivedLog,
  type ReceivedPoint,
  type ReceivedSpan,
} from "./decode.ts";

/** A request before its body is read. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's port: equal for requests on the same connection. */
  readonly clientPort: number;
  /** 0 for the receiver's first request. */
  readonly index: number;
}

/** A request that was read. */
export interface ReceivedRequest extends RequestHead {
  /** Size of the body as received. */
  readonly wireBytes: number;
  /** The body, decompressed. */
  readonly body: Buffer;
  readonly spans: readonly ReceivedSpan[];
  readonly metricPoints: readonly ReceivedPoint[];
  readonly logs: readonly ReceivedLog[];
  /** Whether its contents were added to the receiver's `spans`, `metricPoints` and `logs`. */
  readonly accepted: boolean;
}

/** The decoded request, or the status and message of its refusal. */
export type Reading =
  | { readonly fault?: undefined; readonly request: Omit<ReceivedRequest, "accepted"> }
  | { readonly fault: { readonly status: number; readonly message: string } };

/** The signal of a path; undefined for any other path. */
export function signalOf(path: string): OtlpSignal | undefined {
  return SIGNAL_OF_PATH[path];
}

/** From the content type; undefined if it is neither of OTLP's two. */
export function encodingOf(headers: IncomingHttpHeaders): Encoding | undefined {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === CONTENT_TYPES.protobuf) return "protobuf";
  return type === CONTENT_TYPES.json ? "json" : undefined;
}

/**
 * Reads and decodes one OTLP request, always to the end of its body.
 *
 * @param maxBodyBytes limit for the body, compressed and decompressed
 * @throws if the connection breaks within the body
 */
export async function readRequest(
  incoming: IncomingMessage,
  head: RequestHead,
  maxBodyBytes: number,
): Promise<Reading> {
  const wire = await readAll(incoming, maxBodyBytes);
  const signal = signalOf(head.path);
  const encoding = encodingOf(head.headers);
  if (signal === undefined)
    return fault(404, `no OTLP signal at ${head.path}: use /v1/traces, /v1/metrics or /v1/logs`);
  if (head.method !== "POST") return fault(405, `${head.method} is not served here: use POST`);
  if (encoding === undefined) return fault(415, "content-type must be application/x-protobuf or application/json");
  if (wire === undefined) return fault(413, `the body is larger than ${maxBodyBytes} bytes`);
  const compression = head.headers["content-encoding"] ?? "identity";
  if (compression !== "identity" && compression !== "gzip")
    return fault(415, `unknown content-encoding ${compression}`);
  try {
    const body = compression === "gzip" ? await unzip(wire, { maxOutputLength: maxBodyBytes }) : wire;
    const spans = signal === "traces" ? decodeSpans(body, encoding) : [];
    const metricPoints = signal === "metrics" ? decodePoints(body, encoding) : [];
    const logs = signal === "logs" ? decodeLogs(body, encoding) : [];
    return { request: { ...head, wireBytes: wire.length, body, spans, metricPoints, logs } };
  } catch (error) {
    if (error instanceof RangeError) return fault(413, `the body is larger than ${maxBodyBytes} bytes unpacked`);
    return fault(400, error instanceof DecodeError ? error.message : "cannot unpack the gzip body");
  }
}

// --- internal ---

const SIGNAL_OF_PATH: Readonly<Record<string, OtlpSignal>> = {
  "/v1/traces": "traces",
  "/v1/metrics": "metrics",
  "/v1/logs": "logs",
};

const unzip = promisify(gunzip);

function fault(status: number, message: string): Reading {
  return { fault: { status, message } };
}

/** The whole body; undefined if it is too large (it is then read to its end, but not kept). */
async function readAll(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}
