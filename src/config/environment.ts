import { OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import { hint } from "#kit/nearest.ts";
import { suggest } from "#kit/suggest.ts";
import { type Layer, newLayer, type Origin, put, putText } from "./layer.ts";
import { parsePairs } from "./pairs.ts";
import { PREFIX } from "./setting.ts";
import { invalidReason, SETTINGS, type Target, targetOf } from "./settings.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** Our own variables: one per setting, named after its key. An empty variable counts as not set. */
export function readOwnVariables(env: Env): Layer {
  const layer = newLayer();
  for (const setting of SETTINGS) {
    const text = env[setting.variable];
    if (text === undefined || text === "") continue;
    if (setting.filesOnly) {
      layer.warnings.push(
        `environment variable ${setting.variable} is ignored: a repository can set variables. ${suggest(`config set ${setting.key} VALUE`)} sets ${setting.key}`,
      );
      continue;
    }
    putText(layer, { setting }, text, originOf(setting.variable));
  }
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || NO_SETTING.has(name) || VARIABLES.includes(name)) continue;
    layer.warnings.push(`environment variable ${name} is not a setting and is ignored.${hint(name, VARIABLES)}`);
  }
  return layer;
}

/** The settings in OpenTelemetry's variables. */
export interface OtelLayer extends Layer {
  /** Signals with a protocol that we do not support, and the variable that sets it. */
  readonly unsupported: ReadonlyMap<OtlpSignal, string>;
  /** Signals for which a variable chooses gRPC, and that variable. */
  readonly grpc: ReadonlyMap<OtlpSignal, string>;
  /** Addresses (`""`: the general one) that are set but cannot be used: their headers are not sent. */
  readonly unusableEndpoints: ReadonlySet<"" | OtlpSignal>;
}

/**
 * The OpenTelemetry variables that apply here. Agents set them for their own telemetry, and a drain that a hook started inherits
 * those: the file and our own variables are more reliable.
 *
 * @see OpenTelemetry specification, configuration/sdk-environment-variables and protocol/exporter
 */
export function readOtelVariables(all: Env): OtelLayer {
  const env = withoutReceiver(all);
  const layer = newLayer();
  const unsupported = new Map<OtlpSignal, string>();
  const grpc = new Map<OtlpSignal, string>();
  for (const signal of OTLP_SIGNALS) {
    const variable = ["OTLP_PROTOCOL", `OTLP_${signal.toUpperCase()}_PROTOCOL`]
      .map((name) => `OTEL_EXPORTER_${name}`)
      .findLast((name) => isSet(env[name]));
    if (variable === undefined) continue;
    if (!isSupportedProtocol(env[variable])) unsupported.set(signal, variable);
    if (wordOf(env[variable]) === "grpc") grpc.set(signal, variable);
  }
  const unusableEndpoints = new Set<"" | OtlpSignal>();
  for (const scope of ["", ...OTLP_SIGNALS] as const) {
    for (const [suffix, name] of Object.entries(EXPORTER)) {
      const isUsed = readExporterVariable(layer, env, { scope, suffix, name, unsupported, grpc });
      if (name === "endpoint" && !isUsed) unusableEndpoints.add(scope);
    }
  }
  for (const signal of OTLP_SIGNALS) readExporterList(layer, env, signal);
  readTemporality(layer, env);
  readResource(layer, env);
  readSwitches(layer, env);
  return { ...layer, unsupported, grpc, unusableEndpoints };
}

// --- internal ---

/**
 * An agent that exports to our own receiver because of a variable hands it to everything that it starts, a drain too, which must not
 * send to the receiver. The address is recognised by the token in it, see `enable --native`.
 */
const withoutReceiver = (env: Env): Env =>
  RECEIVER.test(env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "") ? { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: undefined } : env;

const RECEIVER = /^http:\/\/127\.0\.0\.1:\d+\/[a-z0-9-]+\/[\w-]{43}$/;

/** Variables with our prefix that are no settings. */
const NO_SETTING: ReadonlySet<string> = new Set([
  "OPENHOOK_OTEL_HOME",
  "OPENHOOK_OTEL_DRAIN",
  // From `run`, for hooks and drains
  "OPENHOOK_OTEL_PIPELINE",
  // From hooks, for the drain that they start
  "OPENHOOK_OTEL_HOOK_FOLDER",
  "OPENHOOK_OTEL_HOOK_STATE",
  "OPENHOOK_OTEL_HOOK_NODE_OPTIONS",
  // From wrappers; inherited by everything below a wrapped program
  "OPENHOOK_OTEL_WRAP",
  "OPENHOOK_OTEL_WRAPPED",
  // From pi's extension, for the processes that a tool starts
  "OPENHOOK_OTEL_PI_PARENT",
  "OPENHOOK_OTEL_PI_CALL",
]);

const VARIABLES = SETTINGS.map(({ variable }) => variable);

/** Endings of `OTEL_EXPORTER_OTLP_…` and `OTEL_EXPORTER_OTLP_<SIGNAL>_…`, and our setting for each. */
const EXPORTER = {
  ENDPOINT: "endpoint",
  PROTOCOL: "protocol",
  HEADERS: "headers",
  COMPRESSION: "compression",
  TIMEOUT: "timeoutMs",
  CERTIFICATE: "certificate",
  CLIENT_CERTIFICATE: "clientCertificate",
  CLIENT_KEY: "clientKey",
} as const;

interface ExporterVariable {
  readonly scope: "" | OtlpSignal;
  readonly suffix: string;
  readonly name: string;
  readonly unsupported: ReadonlyMap<OtlpSignal, string>;
  readonly grpc: ReadonlyMap<OtlpSignal, string>;
}

/** False if the variable is set and its value was refused. */
function readExporterVariable(layer: Layer, env: Env, exporter: ExporterVariable): boolean {
  const { scope, suffix, name, unsupported, grpc } = exporter;
  const variable = nameOf(scope, suffix);
  const text = env[variable]?.trim();
  if (!isSet(text)) return true;
  const target = mustBe(scope === "" ? `otlp.${name}` : `otlp.${scope}.${name}`);
  if (name === "protocol" && !isSupportedProtocol(text)) return false;
  const isFor = (signals: ReadonlyMap<OtlpSignal, string>) =>
    scope === "" ? MAIN.every((signal) => signals.has(signal)) : signals.has(scope);
  if (name === "endpoint" && isFor(unsupported) && invalidReason(target.setting, text) !== undefined) return false;
  const isWord = name === "compression" || name === "protocol";
  const address = name === "endpoint" && isFor(grpc) ? withScheme(text, env, scope) : text;
  putText(layer, target, isWord ? text.toLowerCase() : address, foreign(variable));
  return layer.values.has(target.setting.key);
}

/** Signals that everybody sends. */
const MAIN = ["traces", "metrics"] as const satisfies readonly OtlpSignal[];

const nameOf = (scope: "" | OtlpSignal, suffix: string): string =>
  `OTEL_EXPORTER_OTLP_${scope === "" ? "" : `${scope.toUpperCase()}_`}${suffix}`;

/** Addresses for gRPC may have no scheme ("localhost:4317"); they are for TLS unless a variable says otherwise. */
function withScheme(address: string, env: Env, scope: "" | OtlpSignal): string {
  if (!/^[a-z0-9.-]+:\d+$|^\[[0-9a-f:]+\]:\d+$/i.test(address)) return address;
  const insecure = ([scope, ""] as const).map((of) => wordOf(env[nameOf(of, "INSECURE")])).find(isSet);
  return `${insecure === "true" ? "http" : "https"}://${address}`;
}

/** `OTEL_TRACES_EXPORTER=none` switches a signal off. */
function readExporterList(layer: Layer, env: Env, signal: OtlpSignal): void {
  const variable = `OTEL_${signal.toUpperCase()}_EXPORTER`;
  const names = (env[variable] ?? "").split(",").map((name) => name.trim().toLowerCase());
  if (names.includes("none")) put(layer, mustBe(`otlp.${signal}.enabled`), false, foreign(variable));
}

/** `lowmemory` means delta for everything we send: counters and histograms. */
function readTemporality(layer: Layer, env: Env): void {
  const variable = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  const text = env[variable];
  if (!isSet(text)) return;
  const word = text.trim().toLowerCase();
  putText(layer, mustBe("otlp.metrics.temporality"), word === "lowmemory" ? "delta" : word, foreign(variable));
}

/** One unreadable pair makes the whole list invalid, as the specification requires. */
function readResource(layer: Layer, env: Env): void {
  const list = env["OTEL_RESOURCE_ATTRIBUTES"];
  if (isSet(list)) {
    const origin = foreign("OTEL_RESOURCE_ATTRIBUTES");
    const { pairs, problems } = parsePairs(list);
    if (problems.length > 0) layer.warnings.push(`${origin.place}: ${problems.join(", ")}; it is ignored`);
    else
      for (const [name, value] of pairs) put(layer, { ...mustBe("resource.attributes"), entry: name }, value, origin);
  }
  const serviceName = env["OTEL_SERVICE_NAME"];
  if (isSet(serviceName)) put(layer, mustBe("resource.serviceName"), serviceName, foreign("OTEL_SERVICE_NAME"));
}

function readSwitches(layer: Layer, env: Env): void {
  const disabled = env["OTEL_SDK_DISABLED"]?.trim().toLowerCase();
  if (disabled === "true") put(layer, mustBe("disabled"), true, foreign("OTEL_SDK_DISABLED"));
  else if (isSet(disabled) && disabled !== "false") {
    layer.warnings.push("environment variable OTEL_SDK_DISABLED: only true switches export off; it is ignored");
  }
  const optIn = (env["OTEL_SEMCONV_STABILITY_OPT_IN"] ?? "").split(",").map((name) => name.trim());
  if (optIn.includes("gen_ai_latest_experimental")) {
    put(layer, mustBe("semconv"), "latest", foreign("OTEL_SEMCONV_STABILITY_OPT_IN"));
  }
}

const wordOf = (text: string | undefined): string => text?.trim().toLowerCase() ?? "";

const isSupportedProtocol = (protocol: string | undefined): boolean =>
  ["http/protobuf", "http/json", "grpc"].includes(wordOf(protocol));

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== "";

const originOf = (variable: string): Origin => ({
  source: { kind: "environment", variable },
  place: `environment variable ${variable}`,
});

const foreign = (variable: string): Origin => ({ ...originOf(variable), foreign: true });

function mustBe(key: string): Target {
  const target = targetOf(key);
  if (target === undefined) throw new Error(`no setting ${key}`);
  return target;
}
