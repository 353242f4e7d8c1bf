import type { OtlpSettings, OtlpSignalSettings } from "#core/model/settings.ts";

/** Settings that send traces and metrics to one receiver. */
export function otlpSettings(
  receiver: { readonly url: string },
  signal: Partial<OtlpSignalSettings> = {},
  rest: Partial<Omit<OtlpSettings, "traces" | "metrics">> & { readonly temporality?: "cumulative" | "delta" } = {},
): OtlpSettings {
  const { temporality = "cumulative", ...bounds } = rest;
  const common: Omit<OtlpSignalSettings, "url"> = {
    protocol: "http/protobuf",
    headers: {},
    compression: "none",
    timeoutMs: 5000,
    ...signal,
  };
  return {
    traces: { url: `${receiver.url}/v1/traces`, ...common },
    metrics: { url: `${receiver.url}/v1/metrics`, ...common, temporality },
    resource: {},
    maxSpansPerRequest: 100,
    maxBytesPerRequest: 1_000_000,
    concurrency: 2,
    ...bounds,
  };
}
