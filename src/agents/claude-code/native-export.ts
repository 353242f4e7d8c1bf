// https://code.claude.com/docs/en/monitoring-usage, read 2026-11-30. Seen with 2.1.332: variables of its settings win over those that it
// is started with, its hooks get no OTEL_ variable, and headers are sent as written, without decoding %20

import { join } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";
import type { NativeAddress, NativeExport, NativeForward, ReadText } from "#core/model/native-export.ts";
import { type Entry, JSON_EDITOR, withEntries, withoutEntries } from "../shared/native/edits.ts";
import {
  exporters,
  type Found,
  firstOf,
  headersIn,
  inEnvironment,
  inLayers,
  isOn,
  jsonLayers,
  type Lookup,
  otlpEndpoint,
  readText,
} from "../shared/native/exporters.ts";
import { type PolicySources, policiesOf } from "./check.ts";
import { settingsPath } from "./settings.ts";

export default {
  find: (target, read = readText) => find(target, read),
  doubles: "service",
  to: "port",
  signals: ["metrics", "logs", "traces"],
  settings: {
    path: async (target) => settingsPath("user", target),
    add: (text, address, forward) => withEntries(JSON_EDITOR, text, entriesFor(address, forward)),
    remove: (text, original) => withoutEntries(JSON_EDITOR, text, original, OURS),
    forwardOf,
  },
} satisfies NativeExport;

/** @param sources the administrator's policies */
export async function find(target: InstallTarget, read: ReadText, sources?: PolicySources) {
  const { managed } = await policiesOf(target, sources).catch(() => ({ managed: [] }));
  const user = await jsonLayers([settingsPath("user", target)], read);
  const folder = join(target.project, ".claude");
  const project = await jsonLayers([join(folder, "settings.json"), join(folder, "settings.local.json")], read);
  const policy = inLayers(managed, "env");
  const environment = inEnvironment(target.env);
  const lookup = firstOf(policy, withoutOptOuts(project, environment), inLayers(user, "env"), environment);
  if (!isOn(lookup("CLAUDE_CODE_ENABLE_TELEMETRY"))) return [];
  const hasContent = CONTENT.some((name) => isOn(lookup(name)));
  return exporters(SIGNALS, hasContent, (signal) => {
    const exporter = lookup(`OTEL_${signal.toUpperCase()}_EXPORTER`);
    const kinds = exporter?.value.split(",").map((kind) => kind.trim()) ?? [];
    if (exporter === undefined || !(kinds.includes("otlp") || kinds.includes("prometheus"))) return undefined;
    const isTracing = TRACING.some((name) => isOn(lookup(name)));
    if (signal === "traces" && !isTracing) return undefined;
    if (!kinds.includes("otlp")) return { ...exporter, value: "a Prometheus port" };
    return otlpEndpoint(lookup, signal) ?? { ...exporter, value: "http://localhost:4318" };
  });
}

// --- internal ---

const SIGNALS = ["metrics", "logs", "traces"] as const;
const TRACING = ["CLAUDE_CODE_ENHANCED_TELEMETRY_BETA", "ENABLE_ENHANCED_TELEMETRY_BETA"];
const CONTENT = [
  "OTEL_LOG_USER_PROMPTS",
  "OTEL_LOG_ASSISTANT_RESPONSES",
  "OTEL_LOG_TOOL_CONTENT",
  "OTEL_LOG_TOOL_DETAILS",
  "OTEL_LOG_RAW_API_BODIES",
] as const;

/** A project's settings can only switch exporters off, and only those that no variable of the process names. */
const withoutOptOuts =
  (project: Parameters<typeof inLayers>[0], environment: Lookup): Lookup =>
  (name): Found | undefined => {
    const found = inLayers(project, "env")(name);
    return found?.value === "none" && name.endsWith("_EXPORTER") && environment(name) === undefined ? found : undefined;
  };

const entriesFor = (
  { url, token }: Pick<NativeAddress, "url" | "token">,
  forward?: Pick<NativeForward, "protocol">,
): readonly Entry[] =>
  Object.entries({
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: forward?.protocol ?? "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${token}`,
    OTEL_LOGS_EXPORT_INTERVAL: "1000",
    OTEL_TRACES_EXPORT_INTERVAL: "1000",
    // Content that the user sends to another backend goes on to it
    ...(forward === undefined && Object.fromEntries(CONTENT.map((name) => [name, "0"]))),
  }).map(([name, value]) => [["env", name], value]);

const ANY = { url: "http://127.0.0.1:1/claude-code", token: "0".repeat(43) };
const OURS = [...entriesFor(ANY), ...entriesFor(ANY, { protocol: "http/protobuf" })];

function forwardOf(text: string): NativeForward | undefined {
  const value = (name: string) => {
    const found = JSON_EDITOR.get(text, ["env", name]);
    return typeof found === "string" ? found : undefined;
  };
  const endpoint = value("OTEL_EXPORTER_OTLP_ENDPOINT");
  const protocol = PROTOCOLS.find((known) => known === value("OTEL_EXPORTER_OTLP_PROTOCOL"));
  if (endpoint === undefined || protocol === undefined) return undefined;
  return { endpoint, headers: headersIn(value("OTEL_EXPORTER_OTLP_HEADERS") ?? ""), protocol };
}

const PROTOCOLS = ["http/json", "http/protobuf"] as const;
