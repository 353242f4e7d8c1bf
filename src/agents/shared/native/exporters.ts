import type { NativeExporter, NativeSignal, ReadText } from "#core/model/native-export.ts";
import { readSettingsText } from "#kit/open.ts";
import { redactUrl } from "#kit/redact-url.ts";
import { asObject } from "../payload/json.ts";
import { parseDocument, plainOf } from "../settings/jsonc.ts";

/** A value, and where it was found. */
export interface Found {
  readonly value: string;
  readonly where: string;
}

/** Finds a variable or setting by name. */
export type Lookup = (name: string) => Found | undefined;

/** One of the settings files that apply together. */
export interface Layer {
  readonly path: string;
  readonly settings: unknown;
}

/** The default way to read a file. */
export const readText: ReadText = (path) => readSettingsText(path).catch(() => undefined);

/** The readable JSON files among some paths, in their order. */
export async function jsonLayers(paths: readonly string[], read: ReadText): Promise<readonly Layer[]> {
  const texts = await Promise.all([...new Set(paths)].map(async (path) => ({ path, text: await read(path) })));
  return texts.flatMap(({ path, text }) => {
    const settings = text === undefined ? undefined : parsedSettings(text);
    return settings === undefined ? [] : [{ path, settings }];
  });
}

export const inEnvironment =
  (env: Readonly<Record<string, string | undefined>>): Lookup =>
  (name) => {
    const value = env[name];
    return value === undefined || value === "" ? undefined : { value, where: `environment variable ${name}` };
  };

/** Members below `path` in the file with the highest precedence that has one. @param layers in ascending precedence */
export const inLayers =
  (layers: readonly Layer[], ...path: readonly string[]): Lookup =>
  (name) => {
    const keys = [...path, ...name.split(".")];
    return layers.toReversed().flatMap(({ path: file, settings }) => {
      const value = keys.reduce<unknown>((inner, key) => asObject(inner)?.[key], settings);
      const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isPlain ? [{ value: String(value), where: `${keys.join(".")} in ${file}` }] : [];
    })[0];
  };

/** The variables of the first `.env` file among some paths. */
export async function inEnvFiles(paths: readonly string[], read: ReadText): Promise<Lookup> {
  for (const path of paths) {
    const text = await read(path);
    if (text === undefined) continue;
    return (name) => {
      const line = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=[ \\t]*(.*)$`, "m").exec(text);
      const value = line?.[1]?.trim().replace(/^(["'])(.*)\1$/, "$2");
      return value === undefined || value === "" ? undefined : { value, where: `${name} in ${path}` };
    };
  }
  return () => undefined;
}

/** The first that finds something. */
export const firstOf =
  (...lookups: readonly Lookup[]): Lookup =>
  (name) => {
    for (const lookup of lookups) {
      const found = lookup(name);
      if (found !== undefined) return found;
    }
    return undefined;
  };

export const isOn = (found: Found | undefined): boolean => /^(?:true|1|yes|on)$/i.test(found?.value.trim() ?? "");

/** Where OpenTelemetry's variables send a signal. */
export const otlpEndpoint = (lookup: Lookup, signal: NativeSignal): Found | undefined =>
  lookup(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`) ?? lookup("OTEL_EXPORTER_OTLP_ENDPOINT");

/**
 * Signals by destination, in the order of the signals.
 *
 * @param of the destination of a signal; `undefined`: it is not exported
 */
export function exporters(
  signals: readonly NativeSignal[],
  hasContent: boolean,
  of: (signal: NativeSignal) => Found | undefined,
): readonly NativeExporter[] {
  const found = new Map<string, { where: string; signals: NativeSignal[] }>();
  for (const signal of signals) {
    const place = of(signal);
    if (place === undefined) continue;
    const endpoint = shownAddress(place.value.replace(new RegExp(`/v1/${signal}/?$`), ""));
    const known = found.get(endpoint);
    if (known === undefined) found.set(endpoint, { where: place.where, signals: [signal] });
    else known.signals.push(signal);
  }
  return [...found].map(([endpoint, { where, signals: own }]) => ({ signals: own, endpoint, where, hasContent }));
}

/** The pairs of OpenTelemetry's variables for headers, as written: not every agent decodes percent signs. */
export const headersIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()]];
    }),
  );

// --- internal ---

function parsedSettings(text: string): unknown {
  try {
    return plainOf(parseDocument(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}

/** The receiver's token can be in the path, for agents without a setting for headers. */
const shownAddress = (text: string): string =>
  redactUrl(text)
    .replace(/^(http:\/\/127\.0\.0\.1:\d+\/[a-z0-9-]+)\/[\w-]{43}(?=\/|$)/, "$1")
    .replace(/\/$/, "");
