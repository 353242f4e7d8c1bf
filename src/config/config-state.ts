import type { OtlpSignal } from "#core/model/settings.ts";
import type { LoadedConfig } from "./resolve.ts";

/** Whether the user's value could not be read. The default does not replace it, so nothing may be deleted by it. */
export const isUnknown = ({ sources }: Pick<LoadedConfig, "sources">, key: string): boolean =>
  sources.get(key)?.kind === "unknown";

/** Why a signal is not sent; `undefined` if it simply has no endpoint. */
export function whyUnsent(signal: OtlpSignal, { config, sources, ignoredEndpoint }: LoadedConfig): string | undefined {
  if (sources.get(`otlp.${signal}.enabled`)?.kind === "withheld") return "not sent until the configuration is fixed";
  if (signal === "logs" && config.logs === "off") return "not sent: log records are off (logs)";
  if (config.disabled) return "not sent: export is switched off (disabled)";
  if (!config.otlp[signal].enabled) return `not sent: export is switched off (otlp.${signal}.enabled)`;
  const isSet = (config.otlp[signal].endpoint ?? config.otlp.endpoint) !== undefined;
  return ignoredEndpoint === undefined || isSet ? undefined : `not sent: ${ignoredEndpoint}`;
}
