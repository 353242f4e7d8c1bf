import * as z from "zod";
import { about, Config } from "./schema.ts";

/** What our own variables begin with. */
export const PREFIX = "OPENHOOK_OTEL_";

/** Messages that schema.ts gives, as against zod's own. */
const OWN_MESSAGE = /^(must|holds|is not) /;

/** What one setting, or one entry of a map, may hold. */
export type SettingValue = string | number | boolean;

/** One setting. A map (headers, attributes) is one setting whose entries are addressed as `<key>.<entry name>`. */
export interface Setting {
  /** Dotted, e.g. `otlp.timeoutMs`. */
  readonly key: string;
  readonly path: readonly string[];
  /** What the value must be; of a map: each entry's value. */
  readonly schema: z.core.$ZodType;
  /** On maps alone: what an entry's name must be. */
  readonly entryName?: z.core.$ZodType;
  readonly kind: "text" | "number" | "boolean" | "choice" | "map";
  readonly choices: readonly string[];
  readonly description: string;
  /** `undefined` where nothing stands in for a missing value; `{}` for maps. */
  readonly default: unknown;
  readonly unit?: string;
  /** Values are never shown. */
  readonly secret: boolean;
  /** Our own variable for it, e.g. `OPENHOOK_OTEL_OTLP_TIMEOUT_MS`. */
  readonly variable: string;
  /** In words, for error messages. */
  readonly allowed: string;
}

/** Every setting in the order of the schema. */
export const SETTINGS: readonly Setting[] = settingsIn(Config, []);

/** Dotted names of the objects that group settings: `otlp`, `otlp.traces` … */
export const SECTIONS: readonly string[] = [
  ...new Set(SETTINGS.flatMap(({ path }) => path.slice(0, -1).map((_, i) => path.slice(0, i + 1).join(".")))),
];

/** A place a value can be given for: a setting, or one entry of a map. */
export interface Target {
  readonly setting: Setting;
  /** Set for one entry of a map. */
  readonly entry?: string;
}

/**
 * @param key dotted; what follows a map's key is the entry's name, dots included
 *   (`resource.attributes.deployment.environment.name`)
 * @returns `undefined` when there is no such setting
 */
export function targetOf(key: string): Target | undefined {
  for (const setting of SETTINGS) {
    if (setting.key === key) return { setting };
    if (setting.kind === "map" && key.startsWith(`${setting.key}.`)) {
      return { setting, entry: key.slice(setting.key.length + 1) };
    }
  }
  return undefined;
}

/**
 * @param value of a map: one entry's value
 * @returns why the value cannot be taken, as the end of a sentence that begins with the key; `undefined` when it can.
 *   Never quotes the value: it may be a secret.
 */
export function misfit(setting: Setting, value: unknown): string | undefined {
  const result = z.safeParse(setting.schema, value);
  if (result.success) return undefined;
  const own = result.error.issues.find(({ message }) => OWN_MESSAGE.test(message));
  return own?.message ?? `must be ${setting.allowed}`;
}

/** The same for the name of a map's entry. */
export function misfitName(setting: Setting, name: string): string | undefined {
  if (setting.entryName === undefined || z.safeParse(setting.entryName, name).success) return undefined;
  if (setting.secret) return "has an entry whose name HTTP does not allow for a header";
  return name === ""
    ? "has an entry without a name"
    : "has an entry whose name is not lower-case letters, digits and dashes";
}

// --- internal ---

function settingsIn(section: z.core.$ZodType, path: readonly string[]): readonly Setting[] {
  const inner = section instanceof z.ZodPrefault ? section.unwrap() : section;
  if (!(inner instanceof z.ZodObject)) return [settingOf(section, path)];
  return Object.entries(inner.shape).flatMap(([name, field]) => settingsIn(field, [...path, name]));
}

function settingOf(field: z.core.$ZodType, path: readonly string[]): Setting {
  const schema = field instanceof z.ZodDefault || field instanceof z.ZodOptional ? field.unwrap() : field;
  const facts = about.get(field);
  const base = {
    key: path.join("."),
    path,
    schema,
    choices: [],
    description: z.globalRegistry.get(field)?.description ?? "",
    default: field instanceof z.ZodDefault ? field.def.defaultValue : undefined,
    ...(facts?.unit !== undefined && { unit: facts.unit }),
    secret: facts?.secret ?? false,
    variable: PREFIX + path.map(upperSnake).join("_"),
  };
  if (schema instanceof z.ZodRecord) {
    return { ...base, kind: "map", schema: schema.valueType, entryName: schema.keyType, allowed: "a text" };
  }
  if (schema instanceof z.ZodEnum) {
    const choices = schema.options.map(String);
    return { ...base, kind: "choice", choices, allowed: oneOf(choices) };
  }
  if (schema instanceof z.ZodBoolean) return { ...base, kind: "boolean", allowed: "true or false" };
  if (schema instanceof z.ZodNumber) return { ...base, kind: "number", allowed: range(schema, facts?.unit) };
  if (schema instanceof z.ZodString) {
    const least = schema.minLength ?? 1;
    return {
      ...base,
      kind: "text",
      allowed: least > 1 ? `a text of at least ${least} characters` : "a text that is not empty",
    };
  }
  throw new Error(`setting ${base.key} has a type that the loader does not know`);
}

function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function range(schema: z.ZodNumber, unit: string | undefined): string {
  const { minValue, maxValue } = schema;
  const upTo = maxValue === null || maxValue >= Number.MAX_SAFE_INTEGER ? " upwards" : ` to ${maxValue}`;
  return `a whole number from ${minValue ?? 0}${upTo}${unit === undefined ? "" : ` (${unit})`}`;
}

function upperSnake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
}
