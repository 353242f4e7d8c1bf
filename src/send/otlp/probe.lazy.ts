import { randomBytes } from "node:crypto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ExportOutcome, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { encodeLogs, encodeMetrics, encodeSpans } from "./encode.ts";
import { openTransport } from "./open-transport.ts";
import { toOutcome } from "./response.ts";
import type { TransportOptions } from "./transport-response.ts";

/** A backend's response to an empty export. */
export interface ProbeResult {
  readonly outcome: ExportOutcome;
  /** Absent without a response. */
  readonly httpStatus?: number;
  /**
   * The time of the backend's clock in milliseconds since the epoch, with a precision of one second. Absent if not in the
   * response.
   */
  readonly dateMs?: number;
}

export type ProbeOptions = Pick<TransportOptions, "version" | "readHeaders"> & {
  /** For request and response together. */
  readonly timeoutMs: number;
  /** The size of a request that still has no records. @default the smallest */
  readonly bytes?: number;
};

/**
 * Sends an empty export request with the same transport, headers, certificates and compression as a delivery. Never
 * rejects.
 */
export async function probe(
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
  { timeoutMs, bytes, ...options }: ProbeOptions,
): Promise<ProbeResult> {
  const encode = ENCODERS[signal];
  const transport = openTransport(signal, settings, options);
  try {
    const { protocol } = settings;
    const body = bytes === undefined ? encode([], protocol) : paddedBody(signal, protocol, bytes);
    const response = await transport.send(body, timeoutMs);
    const { httpStatus, dateMs } = response;
    return {
      outcome: toOutcome(response, signal, settings),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(dateMs !== undefined && { dateMs }),
    };
  } finally {
    transport.shutdown();
  }
}

// --- internal ---

const ENCODERS = { traces: encodeSpans, metrics: encodeMetrics, logs: encodeLogs } as const;
/** Endings of OTLP's names in JSON. */
const ENDINGS = { traces: "Spans", metrics: "Metrics", logs: "Logs" } as const satisfies Record<OtlpSignal, string>;

/**
 * The body of a request without records that has the size of a real one: a resource with a long attribute, and nothing of that
 * resource. It can be compressed about as well as spans.
 *
 * @param bytes at least; before compression
 * @see opentelemetry-proto: requests of all signals have the same field numbers, so in protobuf only their records differ
 */
function paddedBody(signal: OtlpSignal, protocol: OtlpSignalSettings["protocol"], bytes: number): Uint8Array {
  const resource = resourceFromAttributes({ "openhook.probe.padding": padding(bytes) });
  const body = encodeMetrics([{ resource, scopeMetrics: [] }], protocol);
  if (protocol !== "http/json") return body;
  const text = Buffer.from(body).toString();
  return Buffer.from(text.replaceAll(/"(resource|scope)Metrics"/g, `"$1${ENDINGS[signal]}"`));
}

/** Of spans about an eighth is left. */
const REPEATED = 8;
const PIECE_BYTES = 48;

function padding(bytes: number): string {
  const pieces: string[] = [];
  for (let made = 0; made < bytes; made += (REPEATED * PIECE_BYTES * 4) / 3) {
    pieces.push(randomBytes(PIECE_BYTES).toString("base64").repeat(REPEATED));
  }
  return pieces.join("");
}
