import * as z from "zod";
import { about, Config } from "./schema.ts";
import { PREFIX, type Setting } from "./setting.ts";

/** Every setting, in the schema's order. */
export const settingsOfSchema = (): readonly Setting[] => settingsIn(Config, []);

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
    choices: [],
    description: z.globalRegistry.get(field)?.description ?? "",
    default: field instanceof z.ZodDefault ? field.def.defaultValue : undefined,
    ...(facts?.unit !== undefined && { unit: facts.unit }),
    secret: facts?.secret ?? false,
    filesOnly: facts?.filesOnly ?? false,
    variable: PREFIX + path.map(upperSnake).join("_"),
  };
  if (schema instanceof z.ZodRecord) {
    const { format: entryFormat } = formatIn(schema.keyType);
    const names = entryFormat === undefined ? {} : { entryFormat };
    if (schema.valueType instanceof z.ZodObject) {
      return { ...base, kind: "map", ...names, isForward: true, allowed: "an object with endpoint, headers, protocol" };
    }
    if (schema.valueType instanceof z.ZodNumber) {
      return { ...base, kind: "map", ...names, ...boundsOf(schema.valueType, facts?.unit) };
    }
    return { ...base, kind: "map", ...names, ...formatIn(schema.valueType), allowed: "a string" };
  }
  if (schema instanceof z.ZodEnum) {
    const choices = schema.options.map(String);
    return { ...base, kind: "choice", choices, allowed: oneOf(choices) };
  }
  if (schema instanceof z.ZodBoolean) return { ...base, kind: "boolean", allowed: "true or false" };
  if (schema instanceof z.ZodNumber) {
    return { ...base, kind: "number", ...boundsOf(schema, facts?.unit) };
  }
  if (schema instanceof z.ZodString) {
    const least = schema.minLength ?? 0;
    return {
      ...base,
      kind: "text",
      least,
      ...formatIn(schema),
      allowed: least > 1 ? `a string of at least ${least} characters` : "a non-empty string",
    };
  }
  throw new Error(`setting ${base.key} has a type that the loader does not know`);
}

function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function boundsOf(schema: z.ZodNumber, unit: string | undefined): Pick<Setting, "least" | "most" | "allowed"> {
  const [least, most] = [schema.minValue ?? 0, schema.maxValue ?? Number.MAX_SAFE_INTEGER];
  return { least, most, allowed: range(least, most, unit) };
}

function range(least: number, most: number, unit: string | undefined): string {
  const upTo = most >= Number.MAX_SAFE_INTEGER ? " upwards" : ` to ${most}`;
  return `a whole number from ${least}${upTo}${unit === undefined ? "" : ` (${unit})`}`;
}

function formatIn(schema: z.core.$ZodType): Pick<Setting, "format"> {
  const format = about.get(schema)?.format;
  return format === undefined ? {} : { format };
}

function upperSnake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
}
