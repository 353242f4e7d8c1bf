import type { LoadedConfig } from "./resolve.ts";
import type { Signal } from "./signals.ts";

/** Why a signal without a destination has none; `undefined`: nobody gave it one. */
export function whyUnsent(signal: Signal, { config, sources }: LoadedConfig): string | undefined {
  if (sources.get(`otlp.${signal}.enabled`)?.kind === "withheld") return "not sent until the configuration is right";
  if (config.disabled) return "not sent: sending is switched off (disabled)";
  return config.otlp[signal].enabled ? undefined : `not sent: switched off (otlp.${signal}.enabled)`;
}
