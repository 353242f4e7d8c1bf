import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import type { ExportOutcome, OtlpSignal, OtlpSignalSettings } from "../model/settings.ts";
import { withoutSecrets } from "./secrets.ts";
import type { HttpAnswer, SendError } from "./transport.ts";

/**
 * What a response means for the records of its request.
 *
 * Only 429, 502, 503 and 504 (OTLP specification) and requests without a response are worth retrying with the same bytes. A 2xx
 * has accepted them even if its body makes no sense. Neither `reason` nor `message` contains a configured secret.
 */
export function toOutcome(answer: HttpAnswer, signal: OtlpSignal, settings: OtlpSignalSettings): ExportOutcome {
  switch (answer.status) {
    case "success":
      return { status: "ok", ...readSuccess(answer, signal, settings) };
    case "retryable": {
      const afterMs = answer.retryInMillis;
      const { remedy } = answer.error;
      return {
        status: "retry",
        reason: reasonOf(answer.error, settings),
        ...(afterMs !== undefined && { afterMs }),
        ...(remedy !== undefined && { remedy }),
      };
    }
    case "failure": {
      const httpStatus = answer.error.code;
      const reason = reasonOf(answer.error, settings);
      if (httpStatus === 413) return { status: "too-large", reason };
      return { status: "refused", reason, ...(httpStatus === undefined ? {} : { httpStatus }) };
    }
  }
}

/** Nothing at this address accepts this signal. */
export const isNotThere = (httpStatus: number | undefined): boolean => httpStatus === 404 || httpStatus === 405;

/** The address is not the final one. */
export const isRedirect = (httpStatus = 0): boolean => httpStatus >= 300 && httpStatus < 400;

// --- internal ---

const MAX_QUOTED_CHARACTERS = 200;

interface Success {
  readonly rejected: number;
  readonly message?: string;
}

const UNREADABLE: Success = { rejected: 0, message: "unreadable answer" };

function readSuccess(
  { data, contentType, complete }: Extract<HttpAnswer, { status: "success" }>,
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
): Success {
  if (!complete) return UNREADABLE;
  if (data.length === 0) return { rejected: 0 };
  const json = isJson(contentType, data);
  // The JSON deserializers treat invalid JSON as an empty response
  if (json && jsonObject(data) === undefined) return UNREADABLE;
  try {
    const { count, errorMessage } = signal === "traces" ? partialOfTraces(data, json) : partialOfMetrics(data, json);
    // int64 is a string in proto3's JSON, but some backends write a number
    const rejected = Number(count ?? 0);
    if (!Number.isSafeInteger(rejected) || rejected < 0) return UNREADABLE;
    const message = typeof errorMessage === "string" ? quotable(errorMessage, settings) : "";
    return message === "" ? { rejected } : { rejected, message };
  } catch {
    return UNREADABLE;
  }
}

interface Partial {
  readonly count: unknown;
  readonly errorMessage: unknown;
}

function partialOfTraces(data: Uint8Array, json: boolean): Partial {
  const serializer = json ? JsonTraceSerializer : ProtobufTraceSerializer;
  const partial = serializer.deserializeResponse(data).partialSuccess;
  return { count: partial?.rejectedSpans, errorMessage: partial?.errorMessage };
}

function partialOfMetrics(data: Uint8Array, json: boolean): Partial {
  const serializer = json ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  const partial = serializer.deserializeResponse(data).partialSuccess;
  return { count: partial?.rejectedDataPoints, errorMessage: partial?.errorMessage };
}

/** Some backends answer JSON to protobuf, and some send no content type. */
function isJson(contentType: string, data: Uint8Array): boolean {
  if (/\bjson\b/i.test(contentType)) return true;
  // In protobuf, "{" would be field 15, which no OTLP response has
  return !/protobuf/i.test(contentType) && data[0] === "{".charCodeAt(0);
}

function jsonObject(data: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(Buffer.from(data).toString()));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

/** The error's own text and what the backend added. */
function reasonOf(error: SendError, settings: OtlpSignalSettings): string {
  const said = quotable(backendWords(error.body), settings);
  return said === "" ? error.message : `${error.message}: ${said}`;
}

/** From google.rpc.Status (as OTLP specifies), in JSON or protobuf, or plain text. Nothing from an HTML page. */
function backendWords(body: Uint8Array): string {
  const json = jsonObject(body);
  if (json !== undefined) {
    const words = [json["message"], json["error"], asObject(json["error"])?.["message"], json["detail"]];
    return words.find((word) => typeof word === "string") ?? "";
  }
  const text = Buffer.from(body).toString();
  return /^\s*</.test(text) ? "" : (statusMessage(body) ?? text);
}

/**
 * google.rpc.Status and ExportTracePartialSuccess have the same encoding: field 1 a number, field 2 a text. The SDK's reader therefore
 * reads a Status that is placed where a response has its partial success (field 1, with its length).
 */
function statusMessage(status: Uint8Array): string | undefined {
  try {
    const answer = Buffer.concat([Uint8Array.of(0x0a), varint(status.length), status]);
    return ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess?.errorMessage;
  } catch {
    return undefined;
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Uint8Array.of(...bytes, rest);
}

/** Without secrets, as one line of printable characters with limited length. */
function quotable(text: string, settings: OtlpSignalSettings): string {
  // Secrets first: half of a truncated secret would stay
  const safe = withoutSecrets(text, settings);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
  const line = safe.replace(/[\u0000-\u001f\u007f-\u009f\ufffd]+/g, " ").trim();
  return line.length > MAX_QUOTED_CHARACTERS ? `${line.slice(0, MAX_QUOTED_CHARACTERS)}…` : line;
}
