import { OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import { suggest } from "#kit/suggest.ts";
import { wordList } from "#kit/text/word-list.ts";
import { DEFAULTS } from "./computed.const.ts";
import type { FileLayer, MachineLayer } from "./document.lazy.ts";
import type { OtelLayer } from "./environment.ts";
import { decidesDestination, describeSource, type Given, type Layer, type Source } from "./layer.ts";
import { otelWithoutLocked, withoutLocked } from "./locks.ts";
import { type Effective, keysFor, portRemarks, remarksOn, wantedSignals } from "./remarks.ts";
import type { Config } from "./schema.ts";
import type { Setting } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

/** The effective configuration: complete and valid even if its sources have errors. */
export interface LoadedConfig {
  readonly config: Config;
  /** By key: every setting, and every entry of a map (`otlp.headers.authorization`). */
  readonly sources: ReadonlyMap<string, Source>;
  /** What the user should know. One line each. */
  readonly warnings: readonly string[];
  /** An address that is set but cannot be used: place, how to write it, consequence. Absent if there is none. */
  readonly ignoredEndpoint?: string;
  /** What was given and refused. One line each: place, key, allowed values, value found. */
  readonly errors: readonly string[];
  /** Settings and groups that the machine file locks, see `isLocked`. */
  readonly locked: readonly string[];
  readonly machinePath: string;
}

/** The values of each place. */
interface Layers {
  readonly flags: Layer;
  /** Our own variables. */
  readonly own: Layer;
  readonly otel: OtelLayer;
  readonly file: FileLayer;
  /** The administrator's file. */
  readonly machine: MachineLayer;
}

/**
 * Combines the places: each setting separately, maps entry by entry. Pure; never throws.
 *
 * Four rules keep data and credentials from going where the user did not send them:
 * - our own general setting wins over OpenTelemetry's variable for one signal (agents set those for themselves);
 * - an address for another protocol than the user's own, gRPC or one that we do not support, never replaces the user's own address if
 *   it comes from OpenTelemetry's variables;
 * - headers only go to the origin that their place names, if it names one: a token is for one backend;
 * - an unreadable setting that decides where data goes stops its signal.
 */
export function resolve(all: Layers): LoadedConfig {
  const read = unlocked(all);
  // Nothing concerns log records that the user does not want
  const signals = wantedSignals(overlay(read));
  const layers = prepare(read, signals);
  const effective = overlay(layers);
  const unsupported = stopUnsupported(effective, layers);
  const bound = bindHeaders(effective, layers, read.otel, signals);
  const stopped = new Set([...unsupported.stopped, ...stoppedByErrors(effective, layers, signals)]);
  for (const signal of stopped) {
    effective.set(`otlp.${signal}.enabled`, { value: false, source: { kind: "withheld" } });
  }
  const order = highestFirst(layers);
  const ignoredEndpoint = order.flatMap(({ refused }) => refused.get("otlp.endpoint") ?? [])[0];
  return {
    config: toConfig(effective),
    ...(ignoredEndpoint !== undefined && { ignoredEndpoint }),
    sources: sourcesOf(effective),
    warnings: [
      ...order.flatMap((layer) => layer.warnings),
      ...unsupported.warnings,
      ...bound,
      // Otherwise the warning about gRPC explains the port already
      ...(unsupported.warnings.length === 0 ? portRemarks(effective) : []),
      ...remarksOn(effective, layers.file),
    ],
    errors: order.flatMap((layer) => layer.errors),
    locked: layers.machine.locked,
    machinePath: layers.machine.path,
  };
}

// --- internal ---

const highestFirst = ({ flags, own, otel, file, machine }: Layers): readonly Layer[] => [
  flags,
  own,
  otel,
  file,
  machine,
];

/** No other place can set what the machine file locks. */
const unlocked = ({ flags, own, otel, file, machine }: Layers): Layers => ({
  flags: withoutLocked(flags, machine),
  own: withoutLocked(own, machine),
  otel: otelWithoutLocked(otel, machine),
  file: withoutLocked(file, machine),
  machine,
});

/** The user's own places, as opposed to variables that every OpenTelemetry program reads. */
const userLayers = ({ flags, own, file }: Layers): readonly Layer[] => [flags, own, file];

const sets = (layers: readonly Layer[], signal: OtlpSignal, name: string): boolean =>
  layers.some((layer) => keysFor(signal, name).some((key) => layer.values.has(key)));

// 1. Each place by itself

function prepare(layers: Layers, signals: readonly OtlpSignal[]): Layers {
  const otel = withServiceName(layers.otel);
  for (const key of [...otel.values.keys()]) {
    const general = key.replace(/^otlp\.(traces|metrics|logs)\./, "otlp.");
    if (general !== key && [layers.flags, layers.own].some(({ values }) => values.has(general)))
      otel.values.delete(key);
  }
  const yielding = yieldingToOwn(layers);
  const unsupported = new Map([...otel.unsupported, ...yielding].filter(([signal]) => signals.includes(signal)));
  for (const signal of yielding.keys()) removeProtocol(otel, signal, signals);
  for (const signal of unsupported.keys()) {
    if (!sets(userLayers(layers), signal, "endpoint")) continue;
    otel.values.delete(`otlp.${signal}.endpoint`);
    if (unsupported.size === signals.length) otel.values.delete("otlp.endpoint");
  }
  return {
    flags: withServiceName(layers.flags),
    own: withServiceName(layers.own),
    otel: { ...otel, unsupported },
    file: withServiceName(layers.file),
    machine: withServiceName(layers.machine),
  };
}

/** Signals for which OpenTelemetry's variables choose gRPC, while the user's own address is for HTTP. */
function yieldingToOwn(layers: Layers): ReadonlyMap<OtlpSignal, string> {
  const users = userLayers(layers);
  const ownProtocol = (signal: OtlpSignal) =>
    keysFor(signal, "protocol").flatMap((key) => users.flatMap(({ values }) => values.get(key) ?? []))[0]?.value;
  return new Map(
    [...layers.otel.grpc].filter(([signal]) => sets(users, signal, "endpoint") && ownProtocol(signal) !== "grpc"),
  );
}

/** Removes OpenTelemetry's protocol for one signal and keeps it for the others. */
function removeProtocol({ values }: Layer, signal: OtlpSignal, signals: readonly OtlpSignal[]): void {
  const general = values.get("otlp.protocol");
  values.delete(`otlp.${signal}.protocol`);
  values.delete("otlp.protocol");
  for (const other of signals) {
    const key = `otlp.${other}.protocol`;
    if (other !== signal && general !== undefined && !values.has(key)) values.set(key, general);
  }
}

/** `service.name` among a place's attributes is that place's service name, unless it sets one directly. */
function withServiceName<T extends Layer>(layer: T): T {
  const values = new Map(layer.values);
  const name = values.get("resource.attributes.service.name");
  if (name !== undefined && name.value !== "" && !values.has("resource.serviceName"))
    values.set("resource.serviceName", name);
  values.delete("resource.attributes.service.name");
  return { ...layer, values };
}

// 2. Precedence

/** Settings that delete data: if the user's value is unreadable, the default must not decide. */
const DELETES: ReadonlySet<string> = new Set([
  "capture",
  "outbox.maxAgeDays",
  "outbox.maxMegabytes",
  "store.retentionDays",
]);

function overlay(layers: Layers): Effective {
  const effective: Effective = new Map();
  const order = highestFirst(layers);
  for (const setting of SETTINGS) {
    // `bindHeaders` adds those
    if (isHeaders(setting.key)) continue;
    if (setting.kind === "map") {
      for (const [key, value] of entriesOf(order, (one) => one.startsWith(`${setting.key}.`)))
        effective.set(key, value);
      continue;
    }
    const top = order.find((layer) => layer.values.has(setting.key) || layer.broken.has(setting.key));
    const value = top?.values.get(setting.key);
    if (value !== undefined) effective.set(setting.key, value);
    else if (
      isUnreadable(layers, setting) &&
      (typeof setting.default === "string" || typeof setting.default === "number")
    ) {
      effective.set(setting.key, { value: setting.default, source: { kind: "unknown" } });
    }
  }
  return effective;
}

const isUnreadable = (layers: Layers, { key }: Setting): boolean =>
  DELETES.has(key) &&
  (layers.file.unreadable || layers.machine.unreadable || highestFirst(layers).some(({ refused }) => refused.has(key)));

/** Values over all these places whose keys are wanted, e.g. the entries of a map; the highest place wins for each. */
function entriesOf(order: readonly Layer[], isWanted: (key: string) => boolean): ReadonlyMap<string, Given> {
  const entries = new Map<string, Given>();
  for (const { values } of order.toReversed()) {
    for (const [key, value] of values) if (isWanted(key)) entries.set(key, value);
  }
  return entries;
}

// 3. Signals that are not sent

/** Signals whose address, from OpenTelemetry's variables, is for an unsupported protocol, if the user set no other. */
function stopUnsupported(effective: Effective, { otel, ...others }: Layers) {
  const stopped: OtlpSignal[] = [];
  const ignored = new Set<string>();
  const stopping = new Map<string, OtlpSignal[]>();
  for (const [signal, variable] of otel.unsupported) {
    const owns = (name: string) => sets(userLayers({ otel, ...others }), signal, name);
    if (owns("protocol") && !owns("endpoint")) continue;
    const endpoint = keysFor(signal, "endpoint").flatMap((key) => effective.get(key) ?? [])[0];
    const isForeign = endpoint !== undefined && [...otel.values.values()].includes(endpoint);
    if (isForeign) stopped.push(signal);
    if (endpoint !== undefined && !isForeign) ignored.add(variable);
    else if (isForeign || otel.unusableEndpoints.size > 0)
      stopping.set(variable, [...(stopping.get(variable) ?? []), signal]);
  }
  const start = (variable: string) =>
    [...otel.grpc.values()].includes(variable)
      ? `environment variable ${variable} chooses gRPC, but your own address is for HTTP`
      : `environment variable ${variable} names a protocol other than http/protobuf, http/json and grpc, the only ones that are supported`;
  const warnings = [
    ...[...ignored].map((variable) => `${start(variable)}; it is ignored, together with its address`),
    ...[...stopping].map(
      ([variable, signals]) =>
        `${start(variable)}; ${wordList(signals)} are not exported. Set an address for HTTP, usually with port 4318: ` +
        suggest("config set otlp.endpoint URL"),
    ),
  ];
  return { stopped, warnings };
}

function stoppedByErrors(effective: Effective, layers: Layers, signals: readonly OtlpSignal[]): readonly OtlpSignal[] {
  if (layers.file.unreadable || layers.machine.unreadable) return signals;
  const order = highestFirst(layers);
  const broken = SETTINGS.filter((setting) => decidesDestination(setting) && isBroken(order, setting));
  return signals.filter((signal) =>
    broken.some(({ key, kind, path }) => {
      if (path[0] !== "otlp" || path[1] === signal) return true;
      // A general setting does not matter to a signal with its own
      return path.length === 2 && (kind === "map" || !effective.has(`otlp.${signal}.${key.slice("otlp.".length)}`));
    }),
  );
}

/** A broken value matters unless a higher place overrides it; for maps, every entry matters. */
function isBroken(order: readonly Layer[], { key, kind }: Setting): boolean {
  const place = order.findIndex((layer) => layer.broken.has(key));
  return place !== -1 && (kind === "map" || !order.slice(0, place).some((layer) => layer.values.has(key)));
}

// 4. Headers

/** Adds the headers that may go to each signal's destination. @returns a warning for each place whose headers may not */
function bindHeaders(
  effective: Effective,
  layers: Layers,
  otelAsGiven: OtelLayer,
  signals: readonly OtlpSignal[],
): readonly string[] {
  const warnings = new Set<string>();
  const order = highestFirst(layers);
  const isWanted = (signal: OtlpSignal): boolean => signals.includes(signal);
  const general = OTLP_SIGNALS.map((signal) => {
    const [own, shared] = keysFor(signal, "endpoint").map((key) => effective.get(key)?.value);
    const destination = own ?? shared;
    const allowed = order.filter((layer) => {
      const named = originNamed(layer === layers.otel ? otelAsGiven : layer, signal);
      if (destination === undefined || named === undefined || named === originOf(destination)) return true;
      const [refused] = [`otlp.${signal}`, "otlp"].flatMap((group) => [...headersIn([layer], group).values()]);
      if (refused !== undefined && isWanted(signal))
        warnings.add(refusal(refused.source, named, originOf(destination)));
      return false;
    });
    return { signal, shared: headersIn(allowed, "otlp"), allowed };
  });
  for (const { signal, shared, allowed } of general) {
    for (const [key, value] of isWanted(signal) ? shared : []) {
      const forAll = general.every((other) => !isWanted(other.signal) || other.shared.get(key)?.value === value.value);
      effective.set(forAll ? key : key.replace(/^otlp\./, `otlp.${signal}.`), value);
    }
    for (const [key, value] of headersIn(allowed, `otlp.${signal}`)) effective.set(key, value);
  }
  return [...warnings];
}

/** A header, or a command or file that provides some: it is as secret, and may only be used where the headers may go. */
const isHeaders = (key: string): boolean => /^otlp\.(?:\w+\.)?headers(?:\.|Command$|File$|$)/.test(key);

/** @param group `otlp`, or that of a signal */
const headersIn = (order: readonly Layer[], group: string): ReadonlyMap<string, Given> =>
  entriesOf(order, (key) => isHeaders(key) && key.startsWith(`${group}.headers`));

/** Scheme, host and port to which a place itself sends a signal; `undefined` if it names none. */
function originNamed(layer: Layer | OtelLayer, signal: OtlpSignal): string | undefined {
  for (const [i, key] of keysFor(signal, "endpoint").entries()) {
    const value = layer.values.get(key)?.value;
    if (value !== undefined) return originOf(value);
    if ("unusableEndpoints" in layer && layer.unusableEndpoints.has(i === 0 ? signal : "")) return "another address";
  }
  return undefined;
}

const originOf = (endpoint: Given["value"]): string => new URL(String(endpoint)).origin;

const refusal = (source: Source, named: string, destination: string): string =>
  `${describeSource(source)}: its headers are for ${named} and are not sent to ${destination}; ` +
  "give the headers in the same place as the address";

// 5. Result

/** Each value was checked when its place was read. */
function toConfig(effective: Effective): Config {
  const config = structuredClone(DEFAULTS);
  for (const setting of SETTINGS) {
    const value = setting.kind === "map" ? mapOf(effective, setting) : effective.get(setting.key)?.value;
    if (value === undefined) continue;
    let section: object = config;
    for (const name of setting.path.slice(0, -1)) section = Reflect.get(section, name);
    Reflect.set(section, setting.path.at(-1) ?? "", value);
  }
  return config;
}

const mapOf = (effective: Effective, { key }: Setting): Readonly<Record<string, Given["value"]>> =>
  Object.fromEntries(
    [...effective]
      .filter(([name]) => name.startsWith(`${key}.`))
      .map(([name, { value }]) => [name.slice(key.length + 1), value]),
  );

function sourcesOf(effective: Effective): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  for (const setting of SETTINGS) {
    const entries =
      setting.kind === "map" ? [...effective.keys()].filter((key) => key.startsWith(`${setting.key}.`)) : [];
    for (const key of entries.length > 0 ? entries : [setting.key]) {
      sources.set(key, effective.get(key)?.source ?? { kind: "default" });
    }
  }
  return sources;
}
