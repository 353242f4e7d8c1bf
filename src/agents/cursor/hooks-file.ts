import { isDeepStrictEqual } from "node:util";
import { readFlatHooks } from "../shared/settings/flat-hooks.ts";
import {
  appendTo,
  containsComment,
  type Json,
  JsoncError,
  type JsonObject,
  newDocument,
  nodeAt,
  parseDocument,
  plainOf,
  propertiesOf,
  removeAt,
  replaceAt,
} from "../shared/settings/jsonc.ts";
import { isList, isObject, isOurCommand, removeIfEmpty, SettingsError, stripBom } from "../shared/settings/settings.ts";

/** One hook in Cursor's file: `hooks.<event>[] = entry`, without groups. */
export interface Hook {
  readonly event: string;
  readonly entry: JsonObject & { readonly command: string };
}

/**
 * Replaces our hooks in a text by these, one per event. Equal entries are kept; every other byte is preserved.
 *
 * @param text the file; `undefined` or blank if there is none
 * @returns the same string if nothing had to change
 * @throws SettingsError for invalid JSON, a top level or `hooks` that is no object, an event that is no array
 */
export function addHooks(text: string | undefined, wanted: readonly Hook[]): string {
  const { bom, body } = stripBom(text ?? "");
  if (body.trim() === "") return newDocument(documentOf(wanted));
  const before = readFile(body);
  let edited = removeUnwanted(body, wanted);
  for (const hook of wanted) edited = addOne(edited, hook);
  // Cursor rejects a file without a version; if the file already has hooks, adding one is the user's decision
  if (isObject(before) && before["version"] === undefined && before["hooks"] === undefined) {
    edited = appendTo(edited, [], "version", VERSION);
  }
  verify(before, edited, wanted);
  return bom + edited;
}

/**
 * Removes every hook of ours, and containers that became empty unless they contain a comment.
 *
 * @returns the same string if there is none of ours; `undefined` if only the version would be left
 * @throws SettingsError for a text that cannot be read
 */
export function removeHooks(text: string): string | undefined {
  const { bom, body } = stripBom(text);
  if (body.trim() === "") return text;
  const before = readFile(body);
  const withoutHooks = removeUnwanted(body, []);
  if (withoutHooks === body) return text;
  const isOrphan = isOurVersion(body) && nodeAt(parseDocument(withoutHooks), ["hooks"]) === undefined;
  const edited = isOrphan ? removeAt(withoutHooks, ["version"]) : withoutHooks;
  verify(before, edited, []);
  const root = parseDocument(edited);
  const isBare = propertiesOf(root).every(({ key }) => key === "version") && !containsComment(edited, root);
  return isBare && edited.trim().length === root.length ? undefined : bom + edited;
}

/** Events for which the text has our hooks, in its order. Empty if it cannot be read. */
export function hookedEvents(text: string): readonly string[] {
  try {
    const hooks = nodeAt(parseDocument(stripBom(text).body), ["hooks"]);
    return propertiesOf(hooks).flatMap(({ key, value }) => (oursIn(plainOf(value)).length > 0 ? [key] : []));
  } catch (error) {
    if (error instanceof JsoncError) return [];
    throw error;
  }
}

/** Other programs' hooks in a file, to find those that make Cursor reject it. `undefined` if the file cannot be read. */
export function foreignHooks(text: string): readonly { event: string; command: string | undefined }[] | undefined {
  try {
    const hooks = plainOf(parseDocument(stripBom(text).body));
    const lists = isObject(hooks) && isObject(hooks["hooks"]) ? Object.entries(hooks["hooks"]) : [];
    return lists.flatMap(([event, list]) =>
      (isList(list) && list.length > 0 ? list : [undefined])
        .filter((entry) => entry === undefined || !isOurs(entry))
        .map((entry) => ({ event, command: entry === undefined ? undefined : commandOf(entry) })),
    );
  } catch (error) {
    if (error instanceof JsoncError) return undefined;
    throw error;
  }
}

// --- internal ---

const VERSION = 1;

const commandOf = (entry: Json): string | undefined =>
  isObject(entry) && typeof entry["command"] === "string" ? entry["command"] : undefined;
const isOurs = (entry: Json): boolean => isOurCommand(commandOf(entry) ?? "");

const oursIn = (list: Json): readonly number[] =>
  isList(list) ? list.flatMap((entry, at) => (isOurs(entry) ? [at] : [])) : [];

const documentOf = (wanted: readonly Hook[]): JsonObject => ({ version: VERSION, hooks: hooksOf(wanted) });
const hooksOf = (wanted: readonly Hook[]): JsonObject =>
  Object.fromEntries(wanted.map(({ event, entry }) => [event, [entry]]));

const readFile = (body: string): Json => plainOf(readFlatHooks(body).root);

/** Removes our hooks except the first of each wanted event, which the wanted hook replaces. */
function removeUnwanted(body: string, wanted: readonly Hook[]): string {
  let text = body;
  for (const { key: event, value } of propertiesOf(nodeAt(parseDocument(body), ["hooks"]))) {
    const ours = oursIn(plainOf(value));
    const isWanted = wanted.some((hook) => hook.event === event);
    for (const at of ours.slice(isWanted ? 1 : 0).reverse()) text = removeAt(text, ["hooks", event, at]);
    if (ours.length > 0 && !isWanted) text = removeIfEmpty(text, ["hooks", event]);
  }
  return text !== body && wanted.length === 0 ? removeIfEmpty(text, ["hooks"]) : text;
}

function addOne(text: string, { event, entry }: Hook): string {
  const root = parseDocument(text);
  const list = nodeAt(root, ["hooks", event]);
  if (nodeAt(root, ["hooks"]) === undefined) return appendTo(text, [], "hooks", hooksOf([{ event, entry }]));
  if (list === undefined) return appendTo(text, ["hooks"], event, [entry]);
  const entries = plainOf(list);
  const [at] = oursIn(entries);
  if (at === undefined) return appendTo(text, ["hooks", event], undefined, entry);
  const same = isList(entries) && isDeepStrictEqual(entries[at], entry);
  return same ? text : replaceAt(text, ["hooks", event, at], entry);
}

/** True if we added the version: we write it after the hooks, users before them. */
function isOurVersion(body: string): boolean {
  const root = parseDocument(body);
  const keys = propertiesOf(root).map(({ key }) => key);
  const version = nodeAt(root, ["version"]);
  return keys.at(-1) === "version" && keys.at(-2) === "hooks" && version?.value === VERSION;
}

/** Verifies an edit by parsing its result. A failure is a bug of ours; the file was not written. */
function verify(before: Json, edited: string, wanted: readonly Hook[]): void {
  const after = readFile(edited);
  const hooks = isObject(after) && isObject(after["hooks"]) ? Object.entries(after["hooks"]) : [];
  const ours = hooks.flatMap(([event, list]) =>
    oursIn(list).map((at) => ({ event, entry: isList(list) ? list[at] : undefined })),
  );
  const isComplete =
    ours.length === wanted.length && wanted.every((hook) => ours.some((one) => isDeepStrictEqual(one, hook)));
  if (isComplete && isDeepStrictEqual(withoutOurs(before), withoutOurs(after))) return;
  const todo = "please report this file's shape";
  throw new SettingsError("the edit would have changed more than our own entries", todo, 1, 1);
}

/** A file's value without our hooks, without containers that are then empty, and without a version that we may add. */
function withoutOurs(file: Json): Json {
  if (!isObject(file)) return file;
  const { hooks, version, ...others } = file;
  const lists = Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, list]): [string, Json][] => {
    if (!isList(list)) return [[event, list]];
    const left = list.filter((entry) => !isOurs(entry));
    return left.length === 0 ? [] : [[event, left]];
  });
  return {
    ...others,
    ...(lists.length > 0 && { hooks: Object.fromEntries(lists) }),
    ...(version !== undefined && version !== VERSION && { version }),
  };
}
