import type { ExportOutcome, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { encodeMetrics, encodeSpans } from "./encode.ts";
import { openTransport } from "./open-transport.ts";
import { paddedBody } from "./padded-body.ts";
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
  const encode = signal === "traces" ? encodeSpans : encodeMetrics;
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
