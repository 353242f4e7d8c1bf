import { isDeepStrictEqual } from "node:util";
import type { Node } from "jsonc-parser";
import {
  appendTo,
  containsComment,
  type Json,
  type JsonObject,
  newDocument,
  nodeAt,
  plainOf,
  propertiesOf,
  removeAt,
  replaceAt,
} from "./jsonc.ts";
import { isObject, rootOf, SettingsError, stripBom, wrong } from "./settings.ts";

/** A list in a settings file, and the entries of ours that it must contain. */
export interface OwnEntries {
  /** Names of objects down to the list, e.g. `["hooks", "stop"]`. */
  readonly path: readonly string[];
  readonly entries: readonly JsonObject[];
}

/** The form of a file with hooks. */
export interface EntryFile {
  /** Contents of a new file without its lists. */
  readonly emptyDocument: JsonObject;
  /** Lists of the file that can contain our entries, wanted or not. */
  readonly lists: (root: Node) => readonly (readonly string[])[];
  readonly isOurs: (entry: JsonObject) => boolean;
  /** Whether a list or object that is empty without ours is removed too. */
  readonly removesEmpty: boolean;
  /** Whether the file is only for hooks, so that it is removed when it has none left. */
  readonly hooksOnly: boolean;
}

/**
 * Replaces our entries in a file's lists by these. Equal entries are kept, different ones are replaced in place; every other byte
 * is preserved.
 *
 * @returns the same string if nothing had to change
 * @throws SettingsError for invalid JSON, or an object or list of another type
 */
export function putEntries(text: string | undefined, wanted: readonly OwnEntries[], file: EntryFile): string {
  const { bom, body: given } = stripBom(text ?? "");
  if (given.trim() === "") return newDocument(newFile(wanted, file.emptyDocument));
  let body = given;
  const before = foreignOf(read(body), file);
  for (const path of file.lists(read(body))) {
    if (!wanted.some((one) => isDeepStrictEqual(one.path, path))) body = removeFromList(body, path, 0, file);
  }
  for (const one of wanted) body = putIn(body, one, file);
  if (!isDeepStrictEqual(foreignOf(read(body), file), before)) {
    throw new SettingsError("the edit would have changed more than our own entries", "please report this file", 1, 1);
  }
  return bom + body;
}

/**
 * Removes every entry of ours.
 *
 * @returns the same string if there is none; `undefined` if only the empty document is left
 * @throws SettingsError for a text that cannot be read
 */
export function removeEntries(text: string, file: EntryFile): string | undefined {
  const { bom, body: given } = stripBom(text);
  if (given.trim() === "") return text;
  let body = given;
  for (const path of file.lists(read(given))) body = removeFromList(body, path, 0, file);
  if (body === given) return text;
  const root = read(body);
  const isFrame = propertiesOf(root).every(
    ({ key, value }) => isDeepStrictEqual(plainOf(value), file.emptyDocument[key]) || value.children?.length === 0,
  );
  return file.hooksOnly && isFrame && !containsComment(body, root) ? undefined : bom + body;
}

/** Lists that contain our entries, in the file's order. Empty if the file cannot be read. Never throws. */
export function listsOfOurs(text: string, file: EntryFile): readonly (readonly string[])[] {
  try {
    const root = read(stripBom(text).body);
    return file.lists(root).filter((path) => oursIn(root, path, file).length > 0);
  } catch {
    return [];
  }
}

/** Our entries as they are in the file. Empty if it cannot be read. Never throws. */
export function entriesOfOurs(text: string, file: EntryFile): readonly JsonObject[] {
  try {
    const root = read(stripBom(text).body);
    return file.lists(root).flatMap((path) => oursIn(root, path, file).map(({ entry }) => entry));
  } catch {
    return [];
  }
}

// --- internal ---

/** Parses; without an object at the top there can be no hooks. */
function read(body: string): Node {
  const root = rootOf(body);
  if (root.type !== "object") throw wrong(body, root, "the top level is not an object");
  return root;
}

function newFile(wanted: readonly OwnEntries[], emptyDocument: JsonObject): JsonObject {
  const document: Record<string, Json> = { ...emptyDocument };
  for (const { path, entries } of wanted) {
    let holder = document;
    for (const name of path.slice(0, -1)) {
      const inner: Record<string, Json> = { ...(isObject(holder[name]) ? holder[name] : {}) };
      holder[name] = inner;
      holder = inner;
    }
    holder[path.at(-1) ?? ""] = entries;
  }
  return document;
}

function oursIn(root: Node, path: readonly string[], { isOurs }: EntryFile) {
  const list = nodeAt(root, path);
  const entries = list?.type === "array" ? (list.children ?? []).map(plainOf) : [];
  return entries.flatMap((entry, index) => (isObject(entry) && isOurs(entry) ? [{ entry, index }] : []));
}

/** Removes our entries from a list, except the first `keep`. */
function removeFromList(body: string, path: readonly string[], keep: number, file: EntryFile): string {
  let text = body;
  const surplus = oursIn(read(text), path, file).slice(keep).reverse();
  for (const { index } of surplus) text = removeAt(text, [...path, index]);
  if (!file.removesEmpty || surplus.length === 0) return text;
  for (let depth = path.length; depth > 0; depth--) {
    const at = path.slice(0, depth);
    const node = nodeAt(read(text), at);
    if (node === undefined || (node.children ?? []).length > 0 || containsComment(text, node)) break;
    text = removeAt(text, at);
  }
  return text;
}

function putIn(body: string, { path, entries }: OwnEntries, file: EntryFile): string {
  let text = makeList(body, path, entries);
  const present = oursIn(read(text), path, file);
  for (const [at, entry] of entries.entries()) {
    const place = present[at];
    if (place === undefined) text = appendTo(text, path, undefined, entry);
    else if (!isDeepStrictEqual(place.entry, entry)) text = replaceAt(text, [...path, place.index], entry);
  }
  return removeFromList(text, path, entries.length, file);
}

/** The list, created with the entries in it if it does not exist. */
function makeList(body: string, path: readonly string[], entries: readonly JsonObject[]): string {
  for (let depth = 1; depth <= path.length; depth++) {
    const at = path.slice(0, depth);
    const root = read(body);
    requireUnique(body, root, at);
    const node = nodeAt(root, at);
    const isList = depth === path.length;
    if (node === undefined) {
      const rest = path.slice(depth).reduceRight<Json>((inner, name) => ({ [name]: inner }), entries);
      return appendTo(body, at.slice(0, -1), at.at(-1), rest);
    }
    if (node.type !== (isList ? "array" : "object")) {
      throw wrong(body, node, `"${at.join(".")}" is not ${isList ? "a list" : "an object"}`);
    }
  }
  return body;
}

/** Rejects duplicate keys: readers use the last one, and an edit of one could activate the other. */
function requireUnique(body: string, root: Node, path: readonly string[]): void {
  const key = path.at(-1);
  const holder = nodeAt(root, path.slice(0, -1));
  const second = propertiesOf(holder).filter((property) => property.key === key)[1];
  if (second !== undefined) throw wrong(body, second.value, `"${path.join(".")}" appears here a second time`);
}

/** The file's value without our entries, and without containers that are then empty. */
function foreignOf(root: Node, file: EntryFile): Json {
  const paths = file.lists(root).map((path) => JSON.stringify(path));
  const walk = (value: Json, path: readonly string[]): Json | undefined => {
    if (Array.isArray(value)) {
      if (!paths.includes(JSON.stringify(path))) return value;
      const left = value.filter((entry: Json) => !(isObject(entry) && file.isOurs(entry)));
      return left.length === 0 ? undefined : left;
    }
    if (!isObject(value)) return value;
    const onTheWay = path.length === 0 || paths.some((one) => one.startsWith(JSON.stringify(path).slice(0, -1)));
    if (!onTheWay) return value;
    const kept = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
      const left = walk(inner, [...path, name]);
      return left === undefined ? [] : [[name, left]];
    });
    return kept.length === 0 && path.length > 0 ? undefined : Object.fromEntries(kept);
  };
  return walk(plainOf(root), []) ?? {};
}
