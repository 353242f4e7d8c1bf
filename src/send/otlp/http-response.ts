import { gunzipSync } from "node:zlib";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import type { IncomingMessage } from "../network/request.ts";
import { shownUrl } from "../network/shown-url.ts";
import { MAX_RETRY_AFTER_MS, SendError, type TransportResponse } from "./transport-response.ts";

/** Longer responses are not read, nor unpacked. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * What a backend's response means.
 *
 * @param complete `data` is the whole body
 */
export function toResponse(
  response: IncomingMessage,
  data: Buffer,
  complete: boolean,
  settings: OtlpSignalSettings,
): TransportResponse {
  const httpStatus = response.statusCode ?? 0;
  const dateMs = Date.parse(response.headers.date ?? "");
  return { ...verdictOf(response, data, complete, settings), httpStatus, ...(Number.isFinite(dateMs) && { dateMs }) };
}

// --- internal ---

const MAX_SHOWN_PATH = 200;

/** The only statuses after which the OTLP specification allows a retry with the same bytes. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function verdictOf(
  response: IncomingMessage,
  data: Buffer,
  complete: boolean,
  settings: OtlpSignalSettings,
): TransportResponse {
  const httpStatus = response.statusCode ?? 0;
  const shown = shownUrl(settings.url);
  if (httpStatus >= 200 && httpStatus < 300) {
    const contentType = response.headers["content-type"] ?? "";
    const unpacked = unpack(data, response.headers["content-encoding"]);
    if (isWebPage(contentType, unpacked ?? data)) {
      const message = `${shown} answered ${httpStatus} with a web page, which no OTLP receiver does`;
      return { status: "failure", error: new SendError(message, { httpStatus }) };
    }
    return { status: "success", data: unpacked ?? data, complete: complete && unpacked !== undefined, contentType };
  }
  if (httpStatus >= 300 && httpStatus < 400) {
    const target = redirectTarget(response.headers.location, settings.url);
    const message = `${shown} redirects to ${target} (${httpStatus}), and redirects are not followed`;
    return { status: "failure", error: new SendError(message, { httpStatus }) };
  }
  const error = new SendError(`${shown} answered ${httpStatus}`, { httpStatus, body: data });
  if (!RETRYABLE_STATUSES.has(httpStatus)) return { status: "failure", error };
  const retryInMillis = retryAfterMs(response.headers["retry-after"]);
  return { status: "retryable", error, ...(retryInMillis === undefined ? {} : { retryInMillis }) };
}

/**
 * A web page means that the response is not from an OTLP endpoint, but from a login portal, a proxy or the backend's user
 * interface.
 */
const isWebPage = (contentType: string, data: Uint8Array): boolean =>
  /^\s*text\/html\b/i.test(contentType) ||
  /^\s*<(?:!doctype html|html)\b/i.test(Buffer.from(data.subarray(0, 200)).toString());

/** We request no compression, but some servers compress. @returns `undefined` if it cannot be decompressed */
function unpack(data: Buffer, encoding: string | undefined): Buffer | undefined {
  if (data.length === 0 || !/^\s*(?:x-)?gzip\s*$/i.test(encoding ?? "")) return data;
  try {
    return gunzipSync(data, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch {
    return undefined;
  }
}

/** Origin and path: credentials and the query of a Location may be secret. */
function redirectTarget(location: string | undefined, base: string): string {
  if (location === undefined || !URL.canParse(location, base)) return "an address it does not name";
  const { origin, protocol, pathname } = new URL(location, base);
  if (origin === "null") return `a ${protocol} address`;
  return `${origin}${pathname.length > MAX_SHOWN_PATH ? `${pathname.slice(0, MAX_SHOWN_PATH)}…` : pathname}`;
}

/** Seconds or an HTTP date, as milliseconds from now, at most an hour; undefined if absent or unreadable. */
function retryAfterMs(header: string | undefined): number | undefined {
  const text = header?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}
