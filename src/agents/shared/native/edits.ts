import { isDeepStrictEqual } from "node:util";
import { appendTo, type Json, newDocument, nodeAt, plainOf, removeAt, replaceAt } from "../settings/jsonc.ts";
import { removeIfEmpty, rootOf, stripBom, wrong } from "../settings/settings.ts";

/** A setting by its path in a document. */
export type Entry = readonly [path: readonly string[], value: Json];

/** How single settings of one kind of document are read and written, all else unchanged. @throws SettingsError */
export interface Editor {
  get(text: string, path: readonly string[]): Json | undefined;
  set(text: string, path: readonly string[], value: Json): string;
  /**
   * Removes a setting that is there, and what is then empty around it, unless `original` has that.
   */
  unset(text: string, path: readonly string[], original: string): string;
  /** Whether nothing is in it. */
  isEmpty(text: string): boolean;
  /** A document without settings. */
  readonly empty: string;
}

/** The document with these entries. */
export function withEntries(editor: Editor, text: string | undefined, entries: readonly Entry[]): string {
  let edited = text ?? editor.empty;
  for (const [path, value] of entries) {
    if (!isDeepStrictEqual(editor.get(edited, path), value)) edited = editor.set(edited, path, value);
  }
  return edited;
}

/**
 * The document without those entries that still have our values; what they replaced is there again.
 *
 * @param ours some values of ours: ports and tokens in them do not matter
 */
export function withoutEntries(
  editor: Editor,
  text: string,
  original: string | undefined,
  ours: readonly Entry[],
): string | undefined {
  let edited = text;
  for (const [path, value] of ours.toReversed()) {
    const current = editor.get(edited, path);
    if (current === undefined || !isSameEntry(current, value)) continue;
    const before = original === undefined ? undefined : editor.get(original, path);
    if (before === undefined) edited = editor.unset(edited, path, original ?? editor.empty);
    else if (!isDeepStrictEqual(before, current)) edited = editor.set(edited, path, before);
  }
  return edited !== text && editor.isEmpty(edited) ? undefined : edited;
}

/** JSON with comments. Objects on the way are made, and removed with their last setting. */
export const JSON_EDITOR: Editor = {
  get(text, path) {
    const { body } = stripBom(text);
    if (body.trim() === "") return undefined;
    const node = nodeAt(rootOf(body), path);
    return node === undefined ? undefined : plainOf(node);
  },
  set(text, path, value) {
    const { bom, body } = stripBom(text);
    if (body.trim() === "") return bom + newDocument(nested(path, value));
    const root = rootOf(body);
    if (nodeAt(root, path) !== undefined) return bom + replaceAt(body, path, value);
    let depth = path.length - 1;
    while (depth > 0 && nodeAt(root, path.slice(0, depth)) === undefined) depth--;
    const parent = nodeAt(root, path.slice(0, depth)) ?? root;
    if (parent.type !== "object") throw wrong(body, parent, `"${path.slice(0, depth).join(".")}" is not an object`);
    return bom + appendTo(body, path.slice(0, depth), path[depth], nested(path.slice(depth + 1), value));
  },
  unset(text, path, original) {
    const { bom, body } = stripBom(text);
    let edited = removeAt(body, path);
    for (let depth = path.length - 1; depth > 0; depth--) {
      const above = path.slice(0, depth);
      if (JSON_EDITOR.get(original, above) === undefined) edited = removeIfEmpty(edited, above);
    }
    return bom + edited;
  },
  isEmpty: (text) => /^\s*\{\s*\}\s*$/.test(stripBom(text).body),
  empty: "",
};

// --- internal ---

const nested = (path: readonly string[], value: Json): Json =>
  path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);

const isSameEntry = (a: Json, b: Json): boolean => withoutSecrets(a) === withoutSecrets(b);

const withoutSecrets = (value: Json): string =>
  JSON.stringify(value)
    .replaceAll(/127\.0\.0\.1:\d+/g, "receiver")
    .replaceAll(/(?<=Bearer |\/[a-z0-9-]+\/)[\w-]{43}/g, "token")
    // The folder of the state can have been moved
    .replaceAll(/"[^"]*[/\\]native[/\\]+files[/\\]+[a-z-]+\.out"/g, "file");
