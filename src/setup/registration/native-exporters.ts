import { exportedFile, readReceiver } from "#collect/native/receiver-file.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import type { Agent } from "#core/model/agent.ts";
import type { NativeExport, NativeExporter } from "#core/model/native-export.ts";
import { isLoopback } from "#kit/loopback.ts";
import { suggest } from "#kit/suggest.ts";
import { VERSION } from "#kit/version.ts";
import { targetOf } from "./settings.ts";

/** One destination of an agent's own OpenTelemetry, beside ours. As `doctor --json` and `status --json` print it. */
export interface NativeDestination {
  readonly source: string;
  readonly title: string;
  readonly signals: NativeExporter["signals"];
  /** Without secrets. */
  readonly endpoint: string;
  readonly where: string;
  readonly has_content: boolean;
  /** `same`: the host of one of our addresses, so probably one Collector; `ours`: openhook-otel itself; `local`: no address. */
  readonly backend: "same" | "other" | "ours" | "local";
  /** In one sentence, without the agent's title. */
  readonly text: string;
  /** What to do; `null`: nothing. */
  readonly todo: string | null;
}

/** Where an agent's own telemetry goes. Empty if it sends none. Never throws. */
export async function nativeDestinations(
  agent: Agent,
  loaded: LoadedConfig,
  context: Pick<Context, "places" | "cwd" | "env" | "platform" | "arch">,
): Promise<readonly NativeDestination[]> {
  const native = (await agent.nativeExport?.())?.default;
  if (native === undefined) return [];
  const { platform, arch } = context;
  const own = otlpSettings(loaded.config, { version: VERSION, instanceId: "", os: platform, arch });
  const hosts = [own.traces, own.metrics].flatMap((signal) => (signal === undefined ? [] : [hostOf(signal.url)]));
  return (await native.find(targetOf(context))).map((exporter) => {
    const backend = isOurs(exporter, agent, context) ? "ours" : backendOf(exporter.endpoint, hosts);
    const { hasContent, ...facts } = exporter;
    return {
      ...{ source: agent.source, title: agent.title, ...facts, has_content: hasContent, backend },
      text: textOf(exporter, native, backend),
      todo: backend === "same" ? TODO : null,
    };
  });
}

/** Whether it leads to the receiver, or to the file that drains read. */
export function isOurs({ endpoint }: NativeExporter, { source }: Agent, { places }: Pick<Context, "places">): boolean {
  const receiver = readReceiver(places.stateDir);
  const isReceiver = receiver !== undefined && endpoint.startsWith(`http://127.0.0.1:${receiver.port}/`);
  return isReceiver || endpoint === exportedFile(places.stateDir, source);
}

// --- internal ---

const TODO = `keep them apart at the gateway with collector-config/native.yaml, or switch one of them off; ${suggest("enable --native --forward")} joins both into one trace`;

function hostOf(address: string): string | undefined {
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  return host === "" ? undefined : isLoopback(host) ? "localhost" : host;
}

function backendOf(endpoint: string, hosts: readonly (string | undefined)[]): NativeDestination["backend"] {
  const host = /^https?:/.test(endpoint) ? hostOf(endpoint) : hostOf(`http://${endpoint}`);
  if (!/^[a-z]+:\/\/|^[\w.-]+:\d+/i.test(endpoint) || host === undefined) return "local";
  return hosts.includes(host) ? "same" : "other";
}

function textOf(exporter: NativeExporter, native: NativeExport, backend: NativeDestination["backend"]): string {
  const { signals, endpoint, where, hasContent } = exporter;
  const what = `its own ${signals.join(", ").replace(/, (\w+)$/, " and $1")}`;
  const content = hasContent ? "; prompts or other content are in them" : "";
  switch (backend) {
    case "ours":
      return `sends ${what} to openhook-otel, which joins them with its sessions${content}`;
    case "local":
      return `also exports ${what} to ${endpoint} (${where}); nothing doubles${content}`;
    case "other":
      return `also sends ${what} to ${endpoint} (${where}), not to your backend of openhook-otel, so nothing doubles there${content}`;
    case "same":
      return `also sends ${what} to ${endpoint} (${where}), where openhook-otel sends too: ${doublingOf(native, signals)}${content}`;
  }
}

function doublingOf({ doubles, sharedMetrics }: NativeExport, signals: NativeExporter["signals"]): string {
  if (doubles === "metrics" && signals.includes("metrics"))
    return `${sharedMetrics} of its metrics have names of ours, so sums of tokens and times count twice`;
  return doubles === "trace"
    ? "each session has a second trace there"
    : "both have the same service.name, so each session has two traces, and sums over that name count twice";
}
