import type { ExportOutcome, OtlpSignalSettings } from "../model/settings.ts";
import { type Signal, toOutcome } from "./answer.ts";
import { encodeMetrics, encodeSpans } from "./encode.ts";
import { createTransport } from "./transport.ts";

/** What a backend said to an export of nothing. */
export interface ProbeAnswer {
  readonly outcome: ExportOutcome;
  /** Absent when no answer came. */
  readonly httpStatus?: number;
  /** The backend's own clock, to the second, where its answer tells it. Milliseconds since the epoch. */
  readonly dateMs?: number;
}

/**
 * Sends an empty export request, through the same transport and with the same headers, certificates and compression as
 * a delivery. Never rejects.
 *
 * @param timeoutMs of the whole exchange
 */
export async function probe(
  signal: Signal,
  settings: OtlpSignalSettings,
  { version, timeoutMs }: { readonly version: string; readonly timeoutMs: number },
): Promise<ProbeAnswer> {
  const encode = signal === "traces" ? encodeSpans : encodeMetrics;
  const transport = createTransport(settings, version);
  try {
    const answer = await transport.send(encode([], settings.protocol), timeoutMs);
    const { httpStatus, dateMs } = answer;
    return {
      outcome: toOutcome(answer, signal, settings),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(dateMs !== undefined && { dateMs }),
    };
  } finally {
    transport.shutdown();
  }
}
