import { OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import { DEFAULTS } from "./computed.const.ts";
import type { FileLayer } from "./document.lazy.ts";
import { describeSource, type Given } from "./layer.ts";
import { SETTINGS } from "./settings.ts";

/** The settings in effect, by key; maps have one key per entry. */
export type Effective = Map<string, Given>;

/** A signal's key and the general one behind it: `otlp.traces.endpoint`, `otlp.endpoint`. */
export const keysFor = (signal: OtlpSignal, name: string): readonly string[] => [
  `otlp.${signal}.${name}`,
  `otlp.${name}`,
];

/** The signals that are sent if they have an address. */
export const wantedSignals = (effective: Effective): readonly OtlpSignal[] =>
  OTLP_SIGNALS.filter((signal) => signal !== "logs" || (effective.get("logs")?.value ?? DEFAULTS.logs) !== "off");

/** Addresses with the port of the other protocol. */
export function portRemarks(effective: Effective): readonly string[] {
  const remarks = wantedSignals(effective).flatMap((signal) => {
    const key = keysFor(signal, "endpoint").find((name) => effective.has(name));
    const endpoint = key === undefined ? undefined : effective.get(key);
    if (endpoint === undefined) return [];
    const known = PORTS.find(({ port }) => port === new URL(String(endpoint.value)).port);
    if (known === undefined || known.isFor(protocolOf(effective, signal))) return [];
    return `${describeSource(endpoint.source)}: ${key} has port ${known.port}, which is usually for ${known.usually}; export uses ${known.used} (otlp.protocol)`;
  });
  return [...new Set(remarks)];
}

/** What is probably not meant. One line each. */
export function remarksOn(effective: Effective, file: FileLayer): readonly string[] {
  const remarks: string[] = [];
  const base = effective.get("otlp.endpoint");
  if (
    base !== undefined &&
    wantedSignals(effective).some((signal) => protocolOf(effective, signal) !== "grpc") &&
    /\/v1\/(traces|metrics|logs)\/?$/.test(new URL(String(base.value)).pathname)
  ) {
    remarks.push(
      `${describeSource(base.source)}: otlp.endpoint ends in /v1/…, which is appended again; remove it, or use otlp.traces.endpoint`,
    );
  }
  for (const key of ENDPOINTS) {
    const [value, inFile] = [effective.get(key), file.values.get(key)];
    if (value?.source.kind !== "environment" || !value.source.variable.startsWith("OTEL_")) continue;
    if (inFile === undefined || inFile.value === value.value) continue;
    const ours = SETTINGS.find((setting) => setting.key === key)?.variable;
    remarks.push(
      `environment variable ${value.source.variable} overrides ${key} of the file; if it is meant only for the agent, set ${ours} too`,
    );
  }
  for (const signal of wantedSignals(effective)) {
    const has = (name: string) => keysFor(signal, name).some((key) => effective.has(key));
    if (has("clientCertificate") === has("clientKey")) continue;
    remarks.push(`otlp: clientCertificate and clientKey work only together; one of them is missing for ${signal}`);
  }
  return remarks;
}

// --- internal ---

const ENDPOINTS = ["otlp.endpoint", "otlp.traces.endpoint", "otlp.metrics.endpoint", "otlp.logs.endpoint"] as const;

/** Ports that are usually for one protocol, and the text for the other. */
const PORTS = [
  {
    port: "4317",
    usually: "gRPC",
    isFor: (protocol: string) => protocol === "grpc",
    used: "HTTP, usually on port 4318",
  },
  {
    port: "4318",
    usually: "HTTP",
    isFor: (protocol: string) => protocol !== "grpc",
    used: "gRPC, usually on port 4317",
  },
] as const;

function protocolOf(effective: Effective, signal: OtlpSignal): string {
  const [own, shared] = keysFor(signal, "protocol").map((key) => effective.get(key)?.value);
  return String(own ?? shared ?? DEFAULTS.otlp.protocol);
}
