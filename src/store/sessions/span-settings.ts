import type { LoadedConfig } from "#config/load.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";

/** The settings for building spans. */
export const spanSettings = ({ loaded: { config } }: { readonly loaded: LoadedConfig }): SpanSettings => ({
  semconv: config.semconv,
  traceScope: config.traces.scope,
});
