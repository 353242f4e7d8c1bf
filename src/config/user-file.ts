import { basename, dirname, join } from "node:path";
import { findNodeAtLocation } from "jsonc-parser";
import { hint } from "#kit/nearest.ts";
import { suggest } from "#kit/suggest.ts";
import { parseDocument } from "./document.lazy.ts";
import { DocumentError, setIn, unsetIn } from "./edit.ts";
import { readFileIfAny, writeFileAtomic } from "./files.ts";
import { keyOf, newLayer, putText } from "./layer.ts";
import { isLocked } from "./locks.ts";
import type { LoadedConfig } from "./resolve.ts";
import { configJsonSchema } from "./schema.ts";
import type { SettingValue } from "./setting.ts";
import { SECTIONS, SETTINGS, type Target, targetOf } from "./settings.ts";

/** A key that is not a setting, a value that does not fit, or a file that cannot be edited. */
export class SettingError extends Error {
  readonly code = "E_CONFIG";
}

type WholeValue = SettingValue | Readonly<Record<string, SettingValue>>;

/** The setting, or entry of one, that a key names. @throws SettingError for any other key, with the nearest one */
export function knownTarget(key: string): Target {
  const target = targetOf(key);
  if (target !== undefined && target.entry !== "") return target;
  const all = SETTINGS.map((setting) => setting.key);
  const below = all.filter((name) => name.startsWith(`${key}.`));
  const advice = SECTIONS.includes(key) ? ` It is a group: ${below.slice(0, 3).join(", ")} …` : hint(key, all);
  const known = advice === "" ? ` "${suggest("config")}" lists all settings.` : advice;
  throw new SettingError(`unknown setting ${JSON.stringify(key)}.${known}`);
}

/** @throws SettingError if the administrator's file locks the setting, or an entry or part of it */
export function refuseLocked(
  target: Target,
  { locked, machinePath }: Pick<LoadedConfig, "locked" | "machinePath">,
): void {
  const key = keyOf(target);
  if (!isLocked(locked, key) && !locked.some((lock) => lock.startsWith(`${key}.`))) return;
  throw new SettingError(
    `${key} is locked by this machine's administrator in ${machinePath}; nothing was changed. "${suggest("config")}" shows what is locked`,
  );
}

/**
 * The value as the file stores it; for a whole map an object.
 *
 * @throws SettingError if it does not fit the setting
 */
export function settingValue(target: Target, text: string): WholeValue {
  const layer = newLayer();
  const consequence = "nothing was changed";
  putText(layer, target, text, { source: { kind: "flag" }, place: "config set", consequence });
  const [problem] = layer.errors;
  if (problem !== undefined) throw new SettingError(problem);
  const key = keyOf(target);
  const single = layer.values.get(key);
  if (single !== undefined) return single.value;
  return Object.fromEntries([...layer.values].map(([name, { value }]) => [name.slice(key.length + 1), value]));
}

/**
 * Writes one setting to the user's configuration file and keeps its comments.
 *
 * @throws SettingError if the file cannot be edited; FileError if it cannot be read or written
 */
export async function setInFile(target: Target, value: WholeValue, path: string): Promise<void> {
  const before = await readFileIfAny(path);
  const after = edited(before, path, (document) => setIn(document, locationOf(document, target), value));
  await write(path, after, before, target.setting.secret);
}

/**
 * Removes one setting from the user's configuration file. Unknown keys can be removed too.
 *
 * @returns false if the file does not contain it
 * @throws SettingError if the file cannot be edited; FileError if it cannot be read or written
 */
export async function unsetInFile(key: string, path: string): Promise<boolean> {
  const before = await readFileIfAny(path);
  if (before === undefined) return false;
  const target = targetOf(key);
  const after = edited(before, path, (document) =>
    unsetIn(document, target === undefined ? key.split(".") : locationOf(document, target)),
  );
  if (after === before.toString("utf8")) return false;
  await write(path, after, before, false);
  return true;
}

/** The JSON Schema for editors, which the first change of the settings writes beside them. */
export const schemaPathOf = (configPath: string): string => join(dirname(configPath), SCHEMA_NAME);

// --- internal ---

/** A target's location in the file, existing or not. Header names are matched case-insensitively. */
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

function edited(before: Buffer | undefined, path: string, change: (document: string) => string): string {
  const text = before?.toString("utf8") ?? "";
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const document = text.slice(mark.length);
  try {
    return mark + change(document.trim() === "" ? EMPTY_DOCUMENT : document);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new SettingError(`cannot change ${path}:${error.line}: ${error.message}; fix it in an editor first`);
  }
}

/** Writes the file, and the schema that its `$schema` names beside it, so that editors know the settings. */
async function write(path: string, text: string, before: Buffer | undefined, secret: boolean): Promise<void> {
  await writeFileAtomic(path, text, { expect: before ?? null, forceMode: secret });
  if (!text.includes(`"./${SCHEMA_NAME}"`)) return;
  const schemaPath = schemaPathOf(path);
  const schema = Buffer.from(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  if (basename(path) !== SCHEMA_NAME && !(await readFileIfAny(schemaPath))?.equals(schema)) {
    await writeFileAtomic(schemaPath, schema);
  }
}
