import * as z from "zod";
import { about, Config } from "./schema.ts";
import { PREFIX, type Setting } from "./setting.ts";

/** A setting with the schema of its value; for a map: of each entry's value, and of an entry's name. */
export type Checked = Setting & { readonly schema: z.core.$ZodType; readonly entryName?: z.core.$ZodType };

/** Every setting, in the schema's order. */
export const checkedSettings = (): readonly Checked[] => settingsIn(Config, []);

// --- internal ---

function settingsIn(section: z.core.$ZodType, path: readonly string[]): readonly Checked[] {
  const inner = section instanceof z.ZodPrefault ? section.unwrap() : section;
  if (!(inner instanceof z.ZodObject)) return [settingOf(section, path)];
  return Object.entries(inner.shape).flatMap(([name, field]) => settingsIn(field, [...path, name]));
}

function settingOf(field: z.core.$ZodType, path: readonly string[]): Checked {
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
    filesOnly: facts?.filesOnly ?? false,
    variable: PREFIX + path.map(upperSnake).join("_"),
  };
  if (schema instanceof z.ZodRecord) {
    return { ...base, kind: "map", schema: schema.valueType, entryName: schema.keyType, allowed: "a string" };
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
      allowed: least > 1 ? `a string of at least ${least} characters` : "a non-empty string",
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
