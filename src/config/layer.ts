import { parsePairs } from "./pairs.ts";
import { HIDDEN, isAddress, redactUrl } from "./redact.ts";
import type { Setting, SettingValue } from "./setting.ts";
import { invalidNameReason, invalidReason, isNumeric, type Target } from "./settings.ts";

/** Where an effective value comes from. */
export type Source =
  | { readonly kind: "default" }
  | { readonly kind: "file"; readonly path: string }
  /** The administrator's file for all users of this machine. */
  | { readonly kind: "machine"; readonly path: string }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "flag" }
  /** The program switched it off, because a setting that decides where data goes could not be read. */
  | { readonly kind: "withheld" }
  /** The given value could not be read, and the default must not replace it. */
  | { readonly kind: "unknown" };

/** A source as text, as `config` shows it. */
export function describeSource(source: Source): string {
  switch (source.kind) {
    case "file":
      return `file ${source.path}`;
    case "machine":
      return `machine ${source.path}`;
    case "environment":
      return `environment ${source.variable}`;
    case "withheld":
      return "not sent, see the errors";
    case "unknown":
      return "unknown, see the errors; nothing is deleted until it is fixed";
    default:
      return source.kind;
  }
}

/** A value that is set somewhere. */
export interface Given {
  readonly value: SettingValue;
  readonly source: Source;
}

/** The values of one place: the file, the environment, the command line. Filled while it is read. */
export interface Layer {
  /** By dotted key; maps have one key per entry. */
  readonly values: Map<string, Given>;
  /** Keys of settings with a refused value that stops sending. */
  readonly broken: Set<string>;
  /** Why a value was refused, by the key of its setting; the next place with a value is used instead. */
  readonly refused: Map<string, string>;
  readonly warnings: string[];
  readonly errors: string[];
}

export const newLayer = (): Layer => ({
  values: new Map(),
  broken: new Set(),
  refused: new Map(),
  warnings: [],
  errors: [],
});

/** The origin of a value, for messages. */
export interface Origin {
  readonly source: Source;
  /** `~/config.json:7`, `environment variable X`. */
  readonly place: string;
  /** A variable for every OpenTelemetry program: an invalid value that is harmless is only a warning. */
  readonly foreign?: boolean;
  /** The consequence of a refused value, if it differs from that of loading a configuration. */
  readonly consequence?: string;
}

/** Accepts a value for a setting or one entry of a map; an invalid value becomes an error of the layer. */
export function put(layer: Layer, target: Target, value: unknown, origin: Origin): void {
  const { setting, entry } = target;
  if (setting.kind !== "map" || entry !== undefined) {
    putOne(layer, target, value, origin);
  } else if (typeof value !== "object" || value === null || Array.isArray(value)) {
    refuse(
      layer,
      target,
      `must be an object of names and ${isNumeric(setting) ? "numbers" : "strings"}, not ${found(setting, value)}`,
      origin,
    );
  } else {
    for (const [name, item] of Object.entries(value)) putOne(layer, { setting, entry: name }, item, origin);
  }
}

/** `put` for values given as text: a variable, a flag, an argument of `config set`. */
export function putText(layer: Layer, target: Target, text: string, origin: Origin): void {
  const { setting, entry } = target;
  if (setting.kind !== "map" || entry !== undefined) {
    putOne(layer, target, fromText(setting, text), origin);
  } else if (text.trimStart().startsWith("{")) {
    const value = fromJson(text);
    if (value === undefined) refuse(layer, target, "is not valid JSON", origin);
    else put(layer, target, value, origin);
  } else {
    const { pairs, problems } = parsePairs(text);
    for (const [name, value] of pairs) putOne(layer, { setting, entry: name }, fromText(setting, value), origin);
    for (const problem of problems) refuse(layer, target, problem, origin);
  }
}

/** Dotted key of a target. Header names are lower-cased, so that one overrides the other. */
export const keyOf = ({ setting, entry }: Target): string =>
  entry === undefined ? setting.key : `${setting.key}.${setting.secret ? entry.toLowerCase() : entry}`;

/** True for settings that decide whether, where and without what data is sent: a broken one stops sending. */
export const decidesDestination = (setting: Setting): boolean =>
  setting.key === "disabled" ||
  setting.key === "capture" ||
  setting.path[0] === "redaction" ||
  (setting.path[0] === "otlp" && DESTINATION.has(setting.path.at(-1) ?? ""));

// --- internal ---

const DESTINATION: ReadonlySet<string> = new Set([
  "enabled",
  "endpoint",
  "protocol",
  "headers",
  "headersCommand",
  "headersFile",
  "certificate",
  "clientCertificate",
  "clientKey",
]);

/**
 * Settings whose invalid value in a general OpenTelemetry variable is harmless: no program sends an unreadable header, and without a
 * general address either nothing is sent, or the user's address applies. (If one signal's address were ignored, its data
 * would go to the general address.)
 */
const HARMLESS_IF_FOREIGN: ReadonlySet<string> = new Set([
  "otlp.headers",
  "otlp.traces.headers",
  "otlp.metrics.headers",
  "otlp.endpoint",
]);

function putOne(layer: Layer, target: Target, value: unknown, origin: Origin): void {
  const { setting, entry } = target;
  const badName = entry === undefined ? undefined : invalidNameReason(setting, entry);
  const why = badName ?? invalidReason(setting, value);
  if (badName !== undefined) {
    // Do not quote the name: it may be "authorization: Bearer x"
    refuse(layer, { setting }, badName, origin);
  } else if (why !== undefined) {
    // The advice, after a colon, stays at the end
    const full = why.replace(/^must .*?(?=: |$)/, (must) => `${must}, not ${found(setting, value)}`);
    refuse(layer, target, full, origin);
  } else {
    // It was checked just now
    layer.values.set(keyOf(target), { value: value as SettingValue, source: origin.source });
  }
}

function refuse(layer: Layer, target: Target, why: string, { place, foreign, consequence }: Origin): void {
  const { setting } = target;
  const harmless = !decidesDestination(setting) || (foreign === true && HARMLESS_IF_FOREIGN.has(setting.key));
  const then = consequence ?? (harmless ? "it is ignored" : "export is off until this is fixed");
  const message = `${place}: ${keyOf(target)} ${why}; ${then}`;
  layer.refused.set(setting.key, message);
  if (!harmless) layer.broken.add(setting.key);
  if (harmless && foreign === true) layer.warnings.push(message);
  else layer.errors.push(message);
}

/** The value for a message: shortened to one line, without secrets. */
function found(setting: Setting, value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (setting.secret) return typeof value === "string" ? HIDDEN : `a ${typeof value}`;
  const text = typeof value === "string" && isAddress(setting) ? redactUrl(value) : value;
  const json = JSON.stringify(text) ?? typeof value;
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`;
}

function fromText(setting: Setting, text: string): unknown {
  if (setting.isForward === true) return fromJson(text) ?? text;
  const word = text.trim();
  if (isNumeric(setting)) return /^[+-]?\d+(\.\d+)?$/.test(word) ? Number(word) : text;
  if (setting.kind === "boolean") return /^(true|1)$/i.test(word) || (/^(false|0)$/i.test(word) ? false : text);
  return setting.kind === "choice" ? word : text;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
