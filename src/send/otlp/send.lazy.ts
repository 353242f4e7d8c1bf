import type { HeaderReader } from "#config/headers.ts";
import type { ExportOutcome, OtlpSettings, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import type { LogRecord, MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { withSeriesLabels } from "#core/rules/series-labels.ts";
import { messageOf } from "#kit/errors.ts";
import { encodeLogs, encodeMetrics, encodeSpans } from "./encode.ts";
import { EncodeError } from "./encode-error.ts";
import { openTransport } from "./open-transport.ts";
import { scopeOf, toReadableLogs, toReadableSpans, toResourceMetrics } from "./readable.ts";
import { resourcesOver, withoutSeriesLabels } from "./resource.ts";
import { toOutcome } from "./response.ts";
import type { Transport } from "./transport-response.ts";

/** Sends records to the configured destinations. Each call is one request and one attempt; it only rejects with `EncodeError`. */
export interface Sender {
  /** All records in one request. An empty list returns `ok` without a request. */
  sendSpans(records: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** The same for log records. */
  sendLogs(records: readonly LogRecord[]): Promise<ExportOutcome>;
  /** All points in one request, for all resources. Points keep their order; those that are not finite are left out. */
  sendMetrics(points: readonly MetricPoint[]): Promise<ExportOutcome>;
  /** Closes kept connections. Running requests, and all later calls, return `retry`. */
  close(): void;
}

/** The outcome of one request; `dateMs`: the time of the backend's clock, with a precision of one second, if known. */
export type OnResponse = (response: {
  readonly signal: OtlpSignal;
  readonly outcome: ExportOutcome;
  readonly dateMs?: number;
}) => void;

/**
 * Makes a sender. Nothing is read or connected before the first call; unusable certificate files and invalid addresses are reported by
 * the calls' `refused` outcomes.
 *
 * A body larger than `maxBytesPerRequest` is not sent: the outcome is `too-large`.
 *
 * @param options.version of this program: instrumentation scope of spans, and user agent
 * @param options.signal ends running requests; they return `retry`
 * @param options.onResponse called with the outcome of every request that was sent
 * @param options.readHeaders reads the headers that a command or file provides
 * @param options.transport receives the bodies instead of the network
 */
export function createSender(
  settings: OtlpSettings,
  options: {
    readonly version: string;
    readonly signal?: AbortSignal;
    readonly onResponse?: OnResponse;
    readonly readHeaders?: HeaderReader;
    readonly transport?: (signal: OtlpSignal) => Pick<Transport, "send" | "shutdown">;
  },
): Sender {
  const scope = scopeOf(options.version);
  const resourceOf = resourcesOver(settings.resource);
  const resourceOfPoint = resourcesOver(withoutSeriesLabels(settings.resource));
  const open = (signal: OtlpSignal, destination: OtlpSignalSettings | undefined): Channel | undefined =>
    destination && {
      signal,
      settings: destination,
      transport:
        options.transport?.(signal) ?? openTransport(signal, destination, { ...options, abort: options.signal }),
      onResponse: options.onResponse ?? (() => {}),
    };
  const traces = open("traces", settings.traces);
  const metrics = open("metrics", settings.metrics);
  const logs = open("logs", settings.logs);
  return {
    async sendSpans(records) {
      if (records.length === 0) return NOTHING_TO_SEND;
      if (traces === undefined) return noDestination("traces");
      const { protocol } = traces.settings;
      const body = encoded(() => encodeSpans(toReadableSpans(records, resourceOf, scope), protocol));
      return post(traces, body, settings.maxBytesPerRequest);
    },
    async sendLogs(records) {
      if (records.length === 0) return NOTHING_TO_SEND;
      if (logs === undefined) return noDestination("logs");
      const { protocol } = logs.settings;
      const body = encoded(() => encodeLogs(toReadableLogs(records, resourceOf, scope), protocol));
      return post(logs, body, settings.maxBytesPerRequest);
    },
    async sendMetrics(points) {
      if (points.length === 0) return NOTHING_TO_SEND;
      if (metrics === undefined || settings.metrics === undefined) return noDestination("metrics");
      const { temporality } = settings.metrics;
      const data = encoded(() => toResourceMetrics(points.map(withSeriesLabels), resourceOfPoint, temporality));
      if (data.length === 0) return NOTHING_TO_SEND;
      const { protocol } = metrics.settings;
      return post(
        metrics,
        encoded(() => encodeMetrics(data, protocol)),
        settings.maxBytesPerRequest,
      );
    },
    close() {
      for (const channel of [traces, metrics, logs]) channel?.transport.shutdown();
    },
  };
}

// --- internal ---

interface Channel {
  readonly signal: OtlpSignal;
  readonly settings: OtlpSignalSettings;
  readonly transport: Pick<Transport, "send" | "shutdown">;
  readonly onResponse: OnResponse;
}

const NOTHING_TO_SEND: ExportOutcome = { status: "ok", rejected: 0 };

/** @throws EncodeError for any error */
function encoded<T>(encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    throw new EncodeError(messageOf(error), { cause: error });
  }
}

async function post(channel: Channel, body: Uint8Array, maxBytes: number): Promise<ExportOutcome> {
  if (body.length > maxBytes) {
    return { status: "too-large", reason: `a request of ${body.length} bytes is over the limit of ${maxBytes} bytes` };
  }
  const response = await channel.transport.send(body, channel.settings.timeoutMs);
  const outcome = toOutcome(response, channel.signal, channel.settings);
  channel.onResponse({
    signal: channel.signal,
    outcome,
    ...(response.dateMs !== undefined && { dateMs: response.dateMs }),
  });
  return outcome;
}

function noDestination(signal: OtlpSignal): ExportOutcome {
  return { status: "refused", reason: `no OTLP address is set for ${signal}` };
}
