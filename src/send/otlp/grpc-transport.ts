import type { OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { http2Failure } from "../network/check-http2.ts";
import { type GrpcChannel, type GrpcReply, openGrpcChannel } from "../network/grpc-channel.lazy.ts";
import { shownUrl } from "../network/shown-url.ts";
import { TlsFileError } from "../network/tls-files.ts";
import { type Destination, readDestination } from "./destination.ts";
import {
  MAX_RETRY_AFTER_MS,
  SendError,
  type Transport,
  type TransportOptions,
  type TransportResponse,
} from "./transport-response.ts";

/**
 * OTLP over gRPC, with the outcomes of OTLP over HTTP: a status of gRPC becomes the HTTP status that means the same. One attempt per
 * call; the library repeats a call only if the server certainly did not see it.
 */
export function createGrpcTransport(
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
  { version, abort, authorities }: TransportOptions,
): Transport {
  const closing = new AbortController();
  const stop = abort === undefined ? closing.signal : AbortSignal.any([abort, closing.signal]);
  let ready: Promise<Connection> | undefined;
  return {
    async send(data, timeoutMs) {
      const shown = shownAddress(settings);
      const stopped = (): TransportResponse => ({
        status: "retryable",
        error: new SendError(`sending to ${shown} was stopped`),
      });
      if (stop.aborted) return stopped();
      ready ??= connect(settings, version, authorities);
      try {
        const connection = await ready;
        const beganMs = performance.now();
        const reply = await connection.channel.call(METHODS[signal], data, timeoutMs, stop);
        if (stop.aborted && reply.code !== OK) return stopped();
        if (!reply.isAnswered && reply.code !== OK) {
          const leftMs = Math.max(MIN_CHECK_MS, timeoutMs - (performance.now() - beganMs));
          return await withoutAnswer(reply, connection, { shown, timeoutMs, leftMs });
        }
        return toResponse(reply, shown);
      } catch (error) {
        return { status: "failure", error: toSendError(error) };
      }
    },
    shutdown() {
      closing.abort();
      ready?.then(
        ({ channel }) => channel.close(),
        () => {},
      );
    },
  };
}

// --- internal ---

/** The message of a google.rpc.Status; `undefined` if there is none. */
function messageOfStatus(status: Uint8Array | undefined): string | undefined {
  const message = fieldsOf(status).find(({ number, bytes }) => number === 2 && bytes !== undefined)?.bytes;
  return message === undefined || message.length === 0 ? undefined : Buffer.from(message).toString();
}

/**
 * The delay that a google.rpc.RetryInfo among the status's details requests, in milliseconds, at most an hour; `undefined` without one.
 *
 * @see OTLP specification, OTLP/gRPC throttling
 */
function retryDelayMs(status: Uint8Array | undefined): number | undefined {
  for (const detail of fieldsOf(status).filter(({ number }) => number === 3)) {
    const any = fieldsOf(detail.bytes);
    const type = Buffer.from(any.find(({ number }) => number === 1)?.bytes ?? []).toString();
    if (!type.endsWith("/google.rpc.RetryInfo")) continue;
    const info = fieldsOf(any.find(({ number }) => number === 2)?.bytes);
    const delay = fieldsOf(info.find(({ number }) => number === 1)?.bytes);
    const part = (field: number): number => Number(delay.find(({ number }) => number === field)?.value ?? 0n);
    return Math.min(Math.max(0, part(1) * 1000 + Math.ceil(part(2) / 1e6)), MAX_RETRY_AFTER_MS);
  }
  return undefined;
}

const METHODS = {
  traces: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
  logs: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
} as const satisfies Record<OtlpSignal, string>;

const OK = 0;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const OUT_OF_RANGE = 11;
const UNIMPLEMENTED = 12;

/** A failed call may have used the whole time; the check must still have a chance. */
const MIN_CHECK_MS = 500;

/** What a status of gRPC means in OTLP/HTTP, and whether the records are sent again. */
interface Meaning {
  readonly httpStatus: number;
  readonly isRetryable?: true;
}

/**
 * By code. The other codes are 500 and final.
 *
 * @see OTLP specification, failures of OTLP/gRPC
 */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  1: { httpStatus: 503, isRetryable: true }, // CANCELLED
  3: { httpStatus: 400 }, // INVALID_ARGUMENT
  [DEADLINE_EXCEEDED]: { httpStatus: 504, isRetryable: true },
  5: { httpStatus: 404 }, // NOT_FOUND
  7: { httpStatus: 403 }, // PERMISSION_DENIED
  [RESOURCE_EXHAUSTED]: { httpStatus: 429 }, // retryable if the server names a delay
  10: { httpStatus: 503, isRetryable: true }, // ABORTED
  [OUT_OF_RANGE]: { httpStatus: 503, isRetryable: true },
  [UNIMPLEMENTED]: { httpStatus: 404 },
  14: { httpStatus: 503, isRetryable: true }, // UNAVAILABLE
  15: { httpStatus: 503, isRetryable: true }, // DATA_LOSS
  16: { httpStatus: 401 }, // UNAUTHENTICATED
};
const TOO_LARGE = 413;
const UNSUPPORTED_ENCODING = 415;

/** Headers of the protocol itself; settings must not contradict them. */
const isReserved = (name: string): boolean =>
  /^(?:grpc-.*|te|content-type|content-length|connection|host)$/i.test(name);

interface Connection extends Destination {
  readonly channel: GrpcChannel;
}

async function connect(
  settings: OtlpSignalSettings,
  version: string,
  authorities: string[] | undefined,
): Promise<Connection> {
  const destination = await readDestination(settings, authorities);
  if (destination.proxy !== undefined && !/^http:/i.test(destination.proxy.url)) {
    throw new SendError(
      "gRPC cannot use a proxy whose address begins with https://: set otlp.protocol to http/protobuf",
    );
  }
  const channel = openGrpcChannel({
    ...destination,
    headers: Object.fromEntries(Object.entries(settings.headers).filter(([name]) => !isReserved(name))),
    userAgent: `openhook-otel/${version}`,
    isCompressed: settings.compression === "gzip",
  });
  return { ...destination, channel };
}

/** The library gives only a text, so this opens the connection again to find the reason. */
async function withoutAnswer(
  reply: GrpcReply,
  { url, tls, proxy }: Connection,
  { shown, timeoutMs, leftMs }: { readonly shown: string; readonly timeoutMs: number; readonly leftMs: number },
): Promise<TransportResponse> {
  const found = await http2Failure(url, { tls, timeoutMs: leftMs, ...(proxy !== undefined && { proxy }) });
  const reason =
    reply.code === DEADLINE_EXCEEDED
      ? `no answer from ${shown} within ${timeoutMs} ms`
      : `the call to ${shown} ended without an answer (${reply.name})`;
  const isCheckLate = reply.code === DEADLINE_EXCEEDED && found?.remedy === undefined;
  const error = found === undefined || isCheckLate ? new SendError(reason) : new SendError(found.reason, found);
  return { status: "retryable", error };
}

function toResponse(reply: GrpcReply, shown: string): TransportResponse {
  const httpStatus = reply.code === OK ? 200 : httpStatusOf(reply);
  const dateMs = Date.parse(reply.date ?? "");
  const facts = { httpStatus, ...(Number.isFinite(dateMs) && { dateMs }) };
  // A response message means that the records were accepted, even if it is too long to be read
  const isTooLong = reply.code === RESOURCE_EXHAUSTED && reply.hasBegun && isSizeLimit(reply.details);
  if (reply.code === OK || isTooLong) {
    return { ...facts, status: "success", data: reply.data, contentType: PROTOBUF, complete: !isTooLong };
  }
  const message = messageOfStatus(reply.statusDetails) ?? reply.details;
  const error = new SendError(`${shown} answered ${reply.name} (${reply.code})`, {
    httpStatus,
    body: Buffer.from(message),
  });
  const delayMs = retryDelayMs(reply.statusDetails);
  const isRetryable =
    httpStatus !== TOO_LARGE &&
    (MEANINGS[reply.code]?.isRetryable === true || (reply.code === RESOURCE_EXHAUSTED && delayMs !== undefined));
  if (!isRetryable) return { ...facts, status: "failure", error };
  return { ...facts, status: "retryable", error, ...(delayMs !== undefined && { retryInMillis: delayMs }) };
}

const PROTOBUF = "application/x-protobuf";

function httpStatusOf({ code, details }: GrpcReply): number {
  if ((code === RESOURCE_EXHAUSTED || code === OUT_OF_RANGE) && isSizeLimit(details)) return TOO_LARGE;
  if (code === UNIMPLEMENTED && /compress|encoding/i.test(details)) return UNSUPPORTED_ENCODING;
  return MEANINGS[code]?.httpStatus ?? 500;
}

/**
 * Servers report a message that is too large in these words.
 *
 * "received message larger than max (5 vs. 4)" (Go, Node, C++), "Received message that decompresses to a size larger than 4" (Node),
 * "gRPC message exceeds maximum size 4: 5" (Java), "message length too large: found 5 bytes, the limit is: 4 bytes" (Rust).
 */
const isSizeLimit = (details: string): boolean =>
  /message (?:\w+ )*larger than (?:max|\d)|message exceeds maximum|length too large/i.test(details);

const shownAddress = ({ url }: OtlpSignalSettings): string => shownUrl(url).replace(/\/$/, "");

/** Failures before the first byte. The library's messages about headers are not shown, because they contain values. */
function toSendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  if (error instanceof TlsFileError) return new SendError(error.message, { cause: error });
  const isHeader = error instanceof Error && /metadata/i.test(error.message);
  return new SendError(
    isHeader ? "one of the headers set for OTLP cannot be sent over gRPC" : "the OTLP request cannot be made",
    { cause: error },
  );
}

interface Field {
  readonly number: number;
  /** Of a varint. */
  readonly value?: bigint;
  /** Of a text, bytes or message. */
  readonly bytes?: Uint8Array;
}

/** The fields of a protobuf message; those before the first unreadable byte. The SDK has no decoder for a status. */
function fieldsOf(message: Uint8Array | undefined): readonly Field[] {
  const fields: Field[] = [];
  const bytes = message ?? new Uint8Array();
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = Number(varint() ?? -1n);
    const number = tag >> 3;
    const wire = tag & 7;
    if (tag < 0) return fields;
    if (wire === 0) {
      const value = varint();
      if (value === undefined) return fields;
      fields.push({ number, value });
    } else {
      const length = wire === 2 ? Number(varint() ?? -1n) : (FIXED_BYTES[wire] ?? -1);
      if (length < 0 || at + length > bytes.length) return fields;
      fields.push({ number, bytes: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

/** By wire type. */
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
