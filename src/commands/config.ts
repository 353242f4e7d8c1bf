import { basename, dirname, join } from "node:path";
import { findNodeAtLocation } from "jsonc-parser";
import { parseDocument } from "../config/document.lazy.ts";
import { DocumentError, setIn, unsetIn } from "../config/edit.ts";
import { FileError, readFileIfAny, writeFileAtomic } from "../config/files.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import { keyOf, newLayer, putText, sourceInWords } from "../config/layer.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { hint } from "../config/nearest.ts";
import { shownValue } from "../config/redact.ts";
import type { Setting } from "../config/setting.ts";
import { SECTIONS, SETTINGS, type Target, targetOf } from "../config/settings.ts";
import { type Context, UserError } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { refuseSudo } from "../registration/sudo.ts";

export type ConfigAction =
  | { readonly kind: "show"; readonly json: boolean }
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "set"; readonly key: string; readonly value: string }
  | { readonly kind: "unset"; readonly key: string }
  | { readonly kind: "path" };

/**
 * Shows and changes the user's settings. Header values and secrets in addresses are never shown.
 *
 * @returns 0; of `show` and `get`: 2 when something in the configuration could not be used; of `get`: 1 when the setting
 *   has no value
 * @throws UserError for an unknown key or a value that does not fit (2), and where the file cannot be read or written (1)
 */
export async function config(action: ConfigAction, context: Context): Promise<number> {
  try {
    return await run(action, context);
  } catch (error) {
    if (error instanceof FileError) throw new UserError(error.code, error.message, 1, { cause: error });
    throw error;
  }
}

// --- internal ---

function run(action: ConfigAction, context: Context): number | Promise<number> {
  switch (action.kind) {
    case "show":
      return show(action.json, context);
    case "get":
      return get(action.key, context);
    case "set":
      return set(action.key, action.value, context);
    case "unset":
      return unset(action.key, context);
    case "path":
      context.stdout.write(`${context.places.configPath}\n`);
      return 0;
  }
}

// Show and get

interface Row {
  readonly key: string;
  readonly setting: Setting;
  /** As it may be shown; absent when there is none. */
  readonly value?: string | number | boolean;
  readonly source: string;
}

async function show(json: boolean, context: Context): Promise<number> {
  const loaded = await loadConfig(context);
  const rows = rowsOf(loaded);
  const exists = (await readFileIfAny(context.places.configPath).catch(() => Buffer.alloc(0))) !== undefined;
  if (json) {
    const settings = rows.map(({ key, setting, value }) => ({
      key,
      value: value ?? null,
      source: loaded.sources.get(key),
      variable: setting.variable,
      ...(setting.unit !== undefined && { unit: setting.unit }),
    }));
    const { warnings, errors } = loaded;
    const all = { file: context.places.configPath, exists, settings, warnings, errors };
    context.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  } else {
    context.stdout.write(`file: ${printable(context.places.configPath)}${exists ? "" : " (none yet)"}\n\n`);
    const cells = rows.map(({ key, setting, value, source }) => [key, shown(setting, value), source]);
    for (const line of table([["SETTING", "VALUE", "FROM"], ...cells])) context.stdout.write(`${line}\n`);
    complain(loaded, context);
  }
  return loaded.errors.length > 0 ? 2 : 0;
}

async function get(key: string, context: Context): Promise<number> {
  const target = knownTarget(key);
  const loaded = await loadConfig(context);
  for (const error of loaded.errors) context.stderr.write(`error: ${printable(error)}\n`);
  const wanted = keyOf(target);
  const isWholeMap = target.setting.kind === "map" && target.entry === undefined;
  const rows = rowsOf(loaded).filter(({ key: name }) => (isWholeMap ? name.startsWith(`${wanted}.`) : name === wanted));
  const values = rows.flatMap(({ key: name, value }) => (value === undefined ? [] : [[name, value] as const]));
  if (isWholeMap) {
    const entries = values.map(([name, value]) => [name.slice(wanted.length + 1), value]);
    context.stdout.write(`${JSON.stringify(Object.fromEntries(entries))}\n`);
  } else {
    for (const [, value] of values) context.stdout.write(`${printable(String(value))}\n`);
  }
  if (loaded.errors.length > 0) return 2;
  return values.length > 0 || isWholeMap ? 0 : 1;
}

function rowsOf(loaded: LoadedConfig): readonly Row[] {
  return [...loaded.sources].flatMap(([key, source]) => {
    const target = targetOf(key);
    if (target === undefined) return [];
    const { setting, entry } = target;
    const held = valueAt(loaded.config, setting.path);
    const value = setting.kind === "map" ? valueAt(held, entry === undefined ? [""] : [entry]) : held;
    const row = { key, setting, source: sourceInWords(source) };
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return [isPlain && source.kind !== "unknown" ? { ...row, value: shownValue(setting, value) } : row];
  });
}

function valueAt(from: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return from;
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, name)) return undefined;
  return valueAt(Object.entries(from).find(([key]) => key === name)?.[1], rest);
}

/** A signal's missing setting says what stands in for it. */
function shown(setting: Setting, value: Row["value"]): string {
  if (value !== undefined) return `${printable(String(value))}${setting.unit === undefined ? "" : ` ${setting.unit}`}`;
  const [section, signal, name] = setting.path;
  if (section !== "otlp" || name === undefined || setting.kind === "map") return "-";
  return name === "endpoint" ? `otlp.endpoint + /v1/${signal}` : `as otlp.${name}`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function complain({ warnings, errors }: LoadedConfig, { stderr }: Context): void {
  if (warnings.length + errors.length > 0) stderr.write("\n");
  for (const warning of warnings) stderr.write(`warning: ${printable(warning)}\n`);
  for (const error of errors) stderr.write(`error: ${printable(error)}\n`);
}

// Set and unset

async function set(key: string, text: string, context: Context): Promise<number> {
  await refuseSudo(context);
  const target = knownTarget(key);
  const value = parsed(target, text);
  const path = context.places.configPath;
  const before = await readFileIfAny(path);
  const edited = edit(before, path, (document) => setIn(document, locationOf(document, target), value));
  await write(path, edited, before, target.setting.secret);
  const display = typeof value === "object" ? JSON.stringify(value) : value;
  const loaded = await loadConfig(context);
  context.stdout.write(
    `${keyOf(target)} = ${printable(String(shownValue(target.setting, display)))} in ${printable(path)}\n`,
  );
  for (const remark of overrides(target, loaded)) context.stderr.write(`note: ${printable(remark)}\n`);
  return 0;
}

async function unset(key: string, context: Context): Promise<number> {
  const path = context.places.configPath;
  const before = await readFileIfAny(path);
  const target = targetOf(key);
  const edited =
    before === undefined
      ? undefined
      : edit(before, path, (document) => {
          // what is no setting may still stand in the file: a typing error to be taken out
          return unsetIn(document, target === undefined ? key.split(".") : locationOf(document, target));
        });
  if (before === undefined || edited === undefined || edited === before.toString("utf8")) {
    if (target === undefined) knownTarget(key);
    context.stdout.write(`${printable(key)} is not set in ${printable(path)}\n`);
    return 0;
  }
  await write(path, edited, before, false);
  context.stdout.write(`${printable(key)} removed from ${printable(path)}\n`);
  return 0;
}

/** @throws UserError with the nearest key */
function knownTarget(key: string): Target {
  const target = targetOf(key);
  if (target !== undefined && target.entry !== "") return target;
  const all = SETTINGS.map((setting) => setting.key);
  const below = all.filter((name) => name.startsWith(`${key}.`));
  const advice = SECTIONS.includes(key) ? ` It is a group: ${below.slice(0, 3).join(", ")} …` : hint(key, all);
  const known = advice === "" ? ` "${suggest("config")}" lists all settings.` : advice;
  throw new UserError("E_CONFIG", `no setting ${JSON.stringify(key)}.${known}`);
}

/** The value as it goes into the file: of a whole map an object. */
function parsed(target: Target, text: string): string | number | boolean | Readonly<Record<string, string>> {
  const layer = newLayer();
  const otherwise = "nothing was changed";
  putText(layer, target, text, { source: { kind: "flag" }, place: "config set", otherwise });
  const [problem] = layer.errors;
  if (problem !== undefined) throw new UserError("E_CONFIG", problem);
  const key = keyOf(target);
  const single = layer.values.get(key);
  if (single !== undefined) return single.value;
  return Object.fromEntries([...layer.values].map(([name, { value }]) => [name.slice(key.length + 1), String(value)]));
}

/** Where a target stands in the file, or would: a header's name in the case that the file has it in. */
function locationOf(document: string, { setting, entry }: Target): readonly string[] {
  if (entry === undefined) return setting.path;
  if (!setting.secret) return [...setting.path, entry];
  const parsedDocument = parseDocument(document);
  const map = "root" in parsedDocument ? findNodeAtLocation(parsedDocument.root, [...setting.path]) : undefined;
  const names = (map?.children ?? []).map((property) => String(property.children?.[0]?.value));
  return [...setting.path, names.findLast((name) => name.toLowerCase() === entry.toLowerCase()) ?? entry.toLowerCase()];
}

const SCHEMA_NAME = "config.schema.json";
const EMPTY_DOCUMENT = `{\n  "$schema": "./${SCHEMA_NAME}"\n}\n`;

function edit(before: Buffer | undefined, path: string, change: (document: string) => string): string {
  const text = before?.toString("utf8") ?? "";
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const document = text.slice(mark.length);
  try {
    return mark + change(document.trim() === "" ? EMPTY_DOCUMENT : document);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new UserError(
      "E_CONFIG",
      `cannot change ${path}:${error.line}: ${error.message}; mend it in an editor first`,
    );
  }
}

/** Writes the file, and beside it the schema that its `$schema` names, so that an editor knows the settings. */
async function write(path: string, text: string, before: Buffer | undefined, secret: boolean): Promise<void> {
  await writeFileAtomic(path, text, { expect: before ?? null, forceMode: secret });
  if (!text.includes(`"./${SCHEMA_NAME}"`)) return;
  const schemaPath = join(dirname(path), SCHEMA_NAME);
  const schema = Buffer.from(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  if (basename(path) !== SCHEMA_NAME && !(await readFileIfAny(schemaPath))?.equals(schema)) {
    await writeFileAtomic(schemaPath, schema);
  }
}

/** Says so when the value just set is not the one that counts. */
function overrides(target: Target, loaded: LoadedConfig): readonly string[] {
  const key = keyOf(target);
  return [...loaded.sources].flatMap(([name, source]) => {
    if (name !== key && !name.startsWith(`${key}.`)) return [];
    if (source.kind === "withheld") return [`${name} is off: ${loaded.errors[0] ?? `see ${suggest("config")}`}`];
    return source.kind === "environment" ? [`environment variable ${source.variable} overrides ${name} here`] : [];
  });
}

/** One line without control characters: what is shown comes from files and variables. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const printable = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f]/g, (c) => `\\x${hex(c)}`);

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
