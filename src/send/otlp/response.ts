import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ExportOutcome, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import type { SendError, TransportResponse } from "./transport-response.ts";

/**
 * What a response means for the records of its request.
 *
 * The same bytes are retried only after 429, 502, 503 and 504, the statuses of gRPC that the OTLP specification names, and after
 * requests without a response. A 2xx response means that the records were accepted, even if its body is unreadable. Neither `reason` nor `message` contains a
 * configured secret.
 */
export function toOutcome(
  response: TransportResponse,
  signal: OtlpSignal,
  configured: OtlpSignalSettings,
): ExportOutcome {
  const settings = response.settings ?? configured;
  switch (response.status) {
    case "success":
      return { status: "ok", ...readSuccess(response, signal, settings) };
    case "retryable": {
      const afterMs = response.retryInMillis;
      const { remedy } = response.error;
      return {
        status: "retry",
        reason: reasonOf(response.error, settings),
        ...(afterMs !== undefined && { afterMs }),
        ...(remedy !== undefined && { remedy }),
        ...(response.httpStatus !== undefined && { httpStatus: response.httpStatus }),
      };
    }
    case "failure": {
      const httpStatus = response.error.code;
      const reason = reasonOf(response.error, settings);
      if (httpStatus === 413) return { status: "too-large", reason };
      return { status: "refused", reason, ...(httpStatus === undefined ? {} : { httpStatus }) };
    }
  }
}

/**
 * Removes every configured secret from a text that comes from outside (a backend may repeat the credentials that it refuses):
 * header values, each word of a header value, the URL's user, password and query values.
 */
export function withoutSecrets(text: string, settings: OtlpSignalSettings): string {
  return secretsOf(settings).reduce((clean, secret) => clean.replace(occurrences(secret), "***"), text);
}

// --- internal ---

const MAX_QUOTED_CHARACTERS = 200;

interface Success {
  readonly rejected: number;
  readonly message?: string;
}

const UNREADABLE: Success = { rejected: 0, message: "unreadable answer" };

function readSuccess(
  { data, contentType, complete }: Extract<TransportResponse, { status: "success" }>,
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
): Success {
  if (!complete) return UNREADABLE;
  if (data.length === 0) return { rejected: 0 };
  const json = isJson(contentType, data) ? jsonObject(data) : undefined;
  if (json === undefined && isJson(contentType, data)) return UNREADABLE;
  try {
    const { count, errorMessage } = json === undefined ? partialOf(data) : partialInJson(signal, json);
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

function partialOf(data: Uint8Array): Partial {
  // The responses of all signals have the same encoding
  const partial = ProtobufTraceSerializer.deserializeResponse(data).partialSuccess;
  return { count: partial?.rejectedSpans, errorMessage: partial?.errorMessage };
}

/** proto3's JSON has two spellings of each name, and readers must accept both. */
function partialInJson(signal: OtlpSignal, json: Readonly<Record<string, unknown>>): Partial {
  const partial = asObject(json["partialSuccess"] ?? json["partial_success"]) ?? {};
  const [name, snake] = REJECTED[signal];
  return {
    count: partial[name] ?? partial[snake],
    errorMessage: partial["errorMessage"] ?? partial["error_message"],
  };
}

const REJECTED = {
  traces: ["rejectedSpans", "rejected_spans"],
  metrics: ["rejectedDataPoints", "rejected_data_points"],
  logs: ["rejectedLogRecords", "rejected_log_records"],
} as const satisfies Record<OtlpSignal, readonly [string, string]>;

/** Some backends respond to protobuf with JSON, and some send no content type. */
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

/** The error's message, followed by the backend's message if there is one. */
function reasonOf(error: SendError, settings: OtlpSignalSettings): string {
  const message = quotable(backendMessage(error.body), settings);
  return message === "" ? error.message : `${error.message}: ${message}`;
}

/** The message of a google.rpc.Status (OTLP specification) in JSON or protobuf, or plain text. Empty for an HTML page. */
function backendMessage(body: Uint8Array): string {
  const json = jsonObject(body);
  if (json !== undefined) {
    const candidates = [json["message"], json["error"], asObject(json["error"])?.["message"], json["detail"]];
    return candidates.find((candidate) => typeof candidate === "string") ?? "";
  }
  const text = Buffer.from(body).toString();
  return /^\s*</.test(text) ? "" : (statusMessage(body) ?? text);
}

/**
 * google.rpc.Status and ExportTracePartialSuccess have the same encoding: field 1 is a number, field 2 a text. The SDK has no
 * decoder for a Status, so we wrap it as the partial success of a response (field 1, with its length) and decode that.
 */
function statusMessage(status: Uint8Array): string | undefined {
  try {
    const wrapped = Buffer.concat([Uint8Array.of(0x0a), varint(status.length), status]);
    return ProtobufTraceSerializer.deserializeResponse(wrapped).partialSuccess?.errorMessage;
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

/** The text without secrets, as one line of printable characters with limited length. */
function quotable(text: string, settings: OtlpSignalSettings): string {
  // Remove secrets before truncating: half a secret would not be recognised
  const safe = withoutSecrets(text, settings);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
  const line = safe.replace(/[\u0000-\u001f\u007f-\u009f\ufffd]+/g, " ").trim();
  return line.length > MAX_QUOTED_CHARACTERS ? `${line.slice(0, MAX_QUOTED_CHARACTERS)}…` : line;
}

/** A shorter secret ("1", a tenant's number) is removed only where it is a separate word, so that other texts stay readable. */
const SHORT_SECRET_LENGTH = 6;

const SCHEMES: ReadonlySet<string> = new Set(["basic", "bearer", "token", "apikey", "api-key", "digest"]);

/** Longest first, so that no part of a longer secret is left. */
function secretsOf(settings: OtlpSignalSettings): string[] {
  const values = Object.values(settings.headers);
  const found = new Set(values.flatMap((value) => [value, ...value.split(/\s+/)]));
  for (const value of values) {
    const basic = /^basic\s+(\S+)$/i.exec(value)?.[1];
    if (basic === undefined) continue;
    const userAndPassword = Buffer.from(basic, "base64").toString();
    for (const part of [userAndPassword, ...userAndPassword.split(":")]) found.add(part);
  }
  if (URL.canParse(settings.url)) {
    const url = new URL(settings.url);
    const user = percentDecoded(url.username);
    const password = percentDecoded(url.password);
    for (const part of [url.username, url.password, user, password, ...url.searchParams.values()]) found.add(part);
    if (user !== "" || password !== "") found.add(Buffer.from(`${user}:${password}`).toString("base64"));
  }
  return [...found]
    .filter((secret) => secret !== "" && !SCHEMES.has(secret.toLowerCase()))
    .sort((a, b) => b.length - a.length);
}

function occurrences(secret: string): RegExp {
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return secret.length < SHORT_SECRET_LENGTH
    ? new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu")
    : new RegExp(literal, "gu");
}

function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
