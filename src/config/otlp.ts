import type { OtlpSettings, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { defined } from "#kit/objects.ts";
import type { Config } from "./schema.ts";

/** The program's resource attributes, in addition to the user's. */
interface Identity {
  /** This program's version. */
  readonly version: string;
  /** One per machine and user, from the state directory. */
  readonly instanceId: string;
  readonly os: NodeJS.Platform;
  /** As in `process.arch`. */
  readonly arch: string;
}

/**
 * The destination of each signal: its own settings, otherwise the general ones.
 *
 * A signal is missing if it has no endpoint, is not `enabled`, or everything is `disabled`; log records also if `logs` is off: its records are then only stored. The
 * user's attributes win over ours; `service.name` is only present if the user set one.
 *
 * @see OpenTelemetry resource conventions for the values of os.type and host.arch
 */
export function otlpSettings(config: Config, identity: Identity): OtlpSettings {
  const { otlp, resource } = config;
  const traces = signalSettings(config, "traces");
  const metrics = signalSettings(config, "metrics");
  const logs = config.logs === "off" ? undefined : signalSettings(config, "logs");
  return {
    ...(traces !== undefined && { traces }),
    ...(metrics !== undefined && { metrics: { ...metrics, temporality: otlp.metrics.temporality } }),
    ...(logs !== undefined && { logs }),
    resource: {
      "service.namespace": "coding-agents",
      "service.instance.id": identity.instanceId,
      "telemetry.distro.name": "openhook-otel",
      "telemetry.distro.version": identity.version,
      "os.type": OS_TYPES[identity.os] ?? identity.os,
      "host.arch": HOST_ARCHES[identity.arch] ?? identity.arch,
      ...resource.attributes,
      ...(resource.serviceName !== undefined && { "service.name": resource.serviceName }),
    },
    maxSpansPerRequest: otlp.maxSpansPerRequest,
    maxBytesPerRequest: otlp.maxBytesPerRequest,
    concurrency: otlp.concurrency,
    maxSpansPerSecond: config.outbox.maxSpansPerSecond,
    maxDeliveryMs: config.outbox.maxDeliveryMs,
  };
}

/** Appends to the path, whether or not it ends in a slash; a query stays behind it. */
export function appendPath(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}

// --- internal ---

const OS_TYPES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { win32: "windows", sunos: "solaris" };

const HOST_ARCHES: Readonly<Record<string, string>> = {
  x64: "amd64",
  ia32: "x86",
  arm: "arm32",
  ppc: "ppc32",
};

function signalSettings({ otlp, disabled }: Config, signal: OtlpSignal): OtlpSignalSettings | undefined {
  const own = otlp[signal];
  const protocol = own.protocol ?? otlp.protocol;
  const path = protocol === "grpc" ? "" : `/v1/${signal}`;
  const url = own.endpoint ?? (otlp.endpoint === undefined ? undefined : appendPath(otlp.endpoint, path));
  if (disabled || !own.enabled || url === undefined) return undefined;
  return defined<OtlpSignalSettings>({
    url,
    protocol,
    headers: { ...otlp.headers, ...own.headers },
    headersCommand: own.headersCommand ?? otlp.headersCommand,
    headersFile: own.headersFile ?? otlp.headersFile,
    compression: own.compression ?? otlp.compression,
    timeoutMs: own.timeoutMs ?? otlp.timeoutMs,
    proxy: otlp.proxy,
    certificatePath: own.certificate ?? otlp.certificate,
    clientCertificatePath: own.clientCertificate ?? otlp.clientCertificate,
    clientKeyPath: own.clientKey ?? otlp.clientKey,
  });
}
