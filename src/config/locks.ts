import type { MachineLayer } from "./document.lazy.ts";
import type { OtelLayer } from "./environment.ts";
import { describeSource, type Given, type Layer } from "./layer.ts";

/**
 * Whether the administrator's file locks a setting or an entry of a map. A lock on a group (`otlp`) holds for all of it, and one on a
 * general setting (`otlp.endpoint`) for that of each signal. A lock on headers holds for commands and files that provide them.
 */
export const isLocked = (locked: readonly string[], key: string): boolean =>
  [key, key.replace(/^otlp\.(?:traces|metrics)\./, "otlp.")]
    .flatMap((name) => [name, name.replace(/\.headers(?:Command|File)$/, ".headers")])
    .some((name) => locked.some((lock) => name === lock || name.startsWith(`${lock}.`)));

/** The layer without locked settings, and a warning for each that it had. Agents' own variables are left out silently. */
export function withoutLocked<L extends Layer>(layer: L, machine: MachineLayer): L {
  const { locked, path } = machine;
  if (locked.length === 0) return layer;
  const ignored = [...layer.values].filter(([key]) => isLocked(locked, key));
  const own = ignored.filter(([, { source }]) => !isForeign(source));
  return {
    ...layer,
    values: new Map([...layer.values].filter(([key]) => !isLocked(locked, key))),
    broken: new Set([...layer.broken].filter((key) => !isLocked(locked, key))),
    refused: new Map([...layer.refused].filter(([key]) => !isLocked(locked, key))),
    warnings: [
      ...layer.warnings,
      ...own.map(([key, { source }]) => `${describeSource(source)}: ${key} is locked by ${path}; it is ignored`),
    ],
  };
}

/** OpenTelemetry's variables without locked settings. If addresses or protocols are locked, it does not matter which they name. */
export function otelWithoutLocked(otel: OtelLayer, machine: MachineLayer): OtelLayer {
  const rest = withoutLocked(otel, machine);
  return ["otlp.endpoint", "otlp.protocol"].some((key) => isLocked(machine.locked, key))
    ? { ...rest, unsupported: new Map(), grpc: new Map(), unusableEndpoints: new Set() }
    : rest;
}

// --- internal ---

const isForeign = (source: Given["source"]): boolean =>
  source.kind === "environment" && source.variable.startsWith("OTEL_");
