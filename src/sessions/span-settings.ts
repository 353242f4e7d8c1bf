import type { LoadedConfig } from "../config/load.ts";
import type { SpanSettings } from "../telemetry/spans.ts";

/** The settings that spans are made with. */
export const spanSettings = ({ loaded: { config } }: { readonly loaded: LoadedConfig }): SpanSettings => ({
  semconv: config.semconv,
  traceScope: config.traces.scope,
});
