import { isDeepStrictEqual } from "node:util";
import { readFlatHooks } from "../shared/settings/flat-hooks.ts";
import {
  appendTo,
  containsComment,
  type Json,
  type JsonObject,
  newDocument,
  nodeAt,
  parseDocument,
  plainOf,
  propertiesOf,
  removeAt,
} from "../shared/settings/jsonc.ts";
import { isList, isObject, isOurCommand, removeIfEmpty, SettingsError, stripBom } from "../shared/settings/settings.ts";

/** One hook in a Copilot hook file: `hooks.<event>[] = entry`, without groups. */
export interface FlatHook {
  readonly event: string;
  readonly entry: JsonObject;
}

/**
 * Replaces our hooks in a hook file by these. Although the file is ours, every byte that users added is preserved.
 *
 * @param text the file; `undefined` or blank if there is none
 * @returns the same string if nothing had to change
 * @throws SettingsError for invalid JSON, a top level or `hooks` that is no object, an event that is no array
 */
export function addHooks(text: string | undefined, wanted: readonly FlatHook[]): string {
  if (text === undefined || text.trim() === "") return documentOf(wanted);
  const { bom, body } = stripBom(text);
  const before = readHooks(body);
  if (sameHooks(oursIn(before), wanted)) return text;
  const withoutHooks = withoutOurs(body);
  if (isEmptyFile(withoutHooks)) return documentOf(wanted);
  let edited = withoutHooks;
  for (const { event, entry } of wanted) {
    if (nodeAt(parseDocument(edited), ["hooks"]) === undefined) edited = appendTo(edited, [], "hooks", {});
    const list = nodeAt(parseDocument(edited), ["hooks", event]);
    edited =
      list === undefined
        ? appendTo(edited, ["hooks"], event, [entry])
        : appendTo(edited, ["hooks", event], undefined, entry);
  }
  return bom + edited;
}

/**
 * Removes every hook of ours, and containers that became empty unless they contain a comment.
 *
 * @returns the same string if there is none of ours; `undefined` if nothing else would be left
 * @throws SettingsError for a text that cannot be read
 */
export function removeHooks(text: string): string | undefined {
  const { bom, body } = stripBom(text);
  if (body.trim() === "") return text;
  const before = readHooks(body);
  if (oursIn(before).length === 0) return text;
  const withoutHooks = withoutOurs(body);
  return isEmptyFile(withoutHooks) ? undefined : bom + withoutHooks;
}

/** Events for which the file has our hooks, in its order. Empty if it cannot be read. */
export function hookEventsIn(text: string): readonly string[] {
  try {
    return [...new Set(oursIn(readHooks(stripBom(text).body)).map(({ event }) => event))];
  } catch (error) {
    if (error instanceof SettingsError) return [];
    throw error;
  }
}

// --- internal ---

/** The fields that can hold a command line, one per shell. */
const SHELLS = ["bash", "powershell", "command"];

const documentOf = (wanted: readonly FlatHook[]): string => {
  const events = [...new Set(wanted.map(({ event }) => event))];
  const entriesOf = (event: string): JsonObject[] =>
    wanted.flatMap((hook) => (hook.event === event ? [hook.entry] : []));
  return newDocument({ version: 1, hooks: Object.fromEntries(events.map((event) => [event, entriesOf(event)])) });
};

const readHooks = (body: string): readonly { readonly event: string; readonly list: readonly Json[] }[] =>
  readFlatHooks(body).lists.map(({ key, value }) => {
    const list = plainOf(value);
    return { event: key, list: isList(list) ? list : [] };
  });

const isOurs = (entry: Json): entry is JsonObject =>
  isObject(entry) &&
  Object.entries(entry).some(([name, line]) => SHELLS.includes(name) && typeof line === "string" && isOurLine(line));

/** For PowerShell, our command has a call operator before it and an exit code after it. */
const isOurLine = (line: string): boolean => isOurCommand(line.replace(/^& /, "").replace(/; exit 0$/, ""));

const oursIn = (hooks: ReturnType<typeof readHooks>): readonly FlatHook[] =>
  hooks.flatMap(({ event, list }) => list.flatMap((entry) => (isOurs(entry) ? [{ event, entry }] : [])));

const sameHooks = (a: readonly FlatHook[], b: readonly FlatHook[]): boolean => {
  const sorted = (hooks: readonly FlatHook[]) => [...hooks].sort((x, y) => (x.event < y.event ? -1 : 1));
  return isDeepStrictEqual(sorted(a), sorted(b));
};

function withoutOurs(body: string): string {
  let text = body;
  for (const { event, list } of readHooks(body)) {
    const ours = list.flatMap((entry, index) => (isOurs(entry) ? [index] : []));
    for (const index of ours.reverse()) text = removeAt(text, ["hooks", event, index]);
    if (ours.length > 0) text = removeIfEmpty(text, ["hooks", event]);
  }
  return text === body ? text : removeIfEmpty(text, ["hooks"]);
}

/** True if the file contains nothing except what we write around our hooks. */
function isEmptyFile(body: string): boolean {
  const root = parseDocument(body);
  return (
    !containsComment(body, root) &&
    propertiesOf(root).every(
      ({ key, value }) =>
        (key === "version" && value.value === 1) || (key === "hooks" && (value.children ?? []).length === 0),
    )
  );
}
