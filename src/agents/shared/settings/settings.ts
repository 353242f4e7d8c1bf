import { isDeepStrictEqual } from "node:util";
import type { Node } from "jsonc-parser";
import type { HookCommand } from "#core/model/agent.ts";
import type { Hook } from "../payload/hooks.ts";
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
} from "./jsonc.ts";

/**
 * A settings file that its agent could not read either, so we do not change it. `message` has the error, its position and the
 * remedy; the caller adds the file's name.
 */
export class SettingsError extends Error {
  readonly code = "E_SETTINGS";
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  constructor(what: string, todo: string, line: number, column: number, options?: ErrorOptions) {
    super(`line ${line}, column ${column}: ${what}; ${todo}`, options);
    this.name = "SettingsError";
    this.line = line;
    this.column = column;
  }
}

/** One hook in Claude Code's format: `hooks.<event>[] = { matcher?, hooks: [entry] }`. */
export interface Registration {
  readonly event: string;
  /** Absent for events without matchers. */
  readonly matcher?: string;
  readonly entry: JsonObject & { readonly type: "command"; readonly command: string };
}

/**
 * Replaces our registrations in a settings text by these. Equal ones are kept, different ones are replaced in place; every other
 * byte is preserved.
 *
 * @param text the file; `undefined` or blank if there is none
 * @param notEvents members of `hooks` that may be something other than an array
 * @returns the same string if nothing had to change
 * @throws SettingsError for invalid JSON, a top level or `hooks` that is no object, an event that is no array
 */
export function addRegistrations(
  text: string | undefined,
  wanted: readonly Registration[],
  notEvents: readonly string[] = [],
): string {
  if (text === undefined || stripBom(text).body.trim() === "") return newDocument({ hooks: hooksOf(wanted) });
  const { bom, body } = stripBom(text);
  const before = readSettings(body, notEvents);
  let edited = removeUnwanted(body, wanted);
  for (const registration of wanted) edited = addOne(edited, registration);
  verify(before, edited, wanted, notEvents);
  return bom + edited;
}

/**
 * Removes every registration of ours, and containers that became empty unless they contain a comment.
 *
 * @returns the same string if there is none of ours; `undefined` if only an empty object would be left
 * @throws SettingsError for a text that cannot be read
 */
export function removeRegistrations(text: string, notEvents: readonly string[] = []): string | undefined {
  const { bom, body } = stripBom(text);
  if (body.trim() === "") return text;
  const before = readSettings(body, notEvents);
  const edited = removeUnwanted(body, []);
  if (edited === body) return text;
  verify(before, edited, [], notEvents);
  return /^\s*\{\s*\}\s*$/.test(edited) ? undefined : bom + edited;
}

/** Events for which the text has our hooks, in its order. Empty if it cannot be read. */
export function registeredEvents(text: string): readonly string[] {
  try {
    const hooks = nodeAt(parseDocument(stripBom(text).body), ["hooks"]);
    return propertiesOf(hooks).flatMap(({ key, value }) => (oursIn(plainOf(value)).length > 0 ? [key] : []));
  } catch (error) {
    if (error instanceof JsoncError) return [];
    throw error;
  }
}

/**
 * True for a command line that `enable` wrote, in this version or another one: it starts the hook program in a folder with our
 * name, or contains the marker that `enable` adds if the folder has another name.
 */
export function isOurCommand(command: string): boolean {
  return /openhook-otel[/\\]hook(\.cjs)?(?![\w./\\-])|#openhook-otel(?:\s*$|& exit 0$)|[/\\]hook\.cjs["'] --source [a-z0-9-]+ --drain /.test(
    command,
  );
}

/**
 * One registration per hook, in the given order.
 *
 * @param entryOf the entry with the hook's command line, in the agent's form
 */
export const registrationsOf = (
  { source, hooks }: { readonly source: string; readonly hooks: readonly Hook[] },
  command: HookCommand,
  entryOf: (line: string, hook: Hook) => Registration["entry"],
): readonly Registration[] =>
  hooks.map((hook) => ({
    event: hook.event,
    ...(hook.matcher !== undefined && { matcher: hook.matcher }),
    entry: entryOf(command({ source, drain: hook.drain }), hook),
  }));

// Steps of all editors of settings; a `body` is a text without a byte order mark

export function stripBom(text: string): { readonly bom: string; readonly body: string } {
  return text.startsWith("\uFEFF") ? { bom: "\uFEFF", body: text.slice(1) } : { bom: "", body: text };
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** @throws SettingsError for invalid JSON */
export function rootOf(body: string): Node {
  try {
    return parseDocument(body);
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    throw new SettingsError(`not valid JSON: ${error.message}`, ADVICE, error.line, error.column, { cause: error });
  }
}

/** The error for a part of a file with another shape than its agent reads. */
export function wrong(body: string, node: Node, what: string): SettingsError {
  const at = new JsoncError(what, body, node.offset);
  return new SettingsError(what, ADVICE, at.line, at.column);
}

/** Removes an object or a list without members or comments. */
export function removeIfEmpty(text: string, path: readonly string[]): string {
  const node = nodeAt(parseDocument(text), path);
  return node === undefined || (node.children ?? []).length > 0 || containsComment(text, node)
    ? text
    : removeAt(text, path);
}

// --- internal ---

const ADVICE = "correct it by hand and run the command again";

/** A group of one event that contains an entry of ours. `foreign`: it also contains other entries. */
interface OurGroup {
  readonly index: number;
  readonly entries: readonly number[];
  readonly foreign: boolean;
}

const isOurs = (entry: Json): boolean =>
  isObject(entry) && typeof entry["command"] === "string" && isOurCommand(entry["command"]);

const entriesOf = (group: Json): readonly Json[] => {
  const entries = isObject(group) ? group["hooks"] : undefined;
  return isList(entries) ? entries : [];
};

function oursIn(groups: Json): readonly OurGroup[] {
  if (!isList(groups)) return [];
  return groups.flatMap((group, index) => {
    const all = entriesOf(group);
    const entries = all.flatMap((entry, at) => (isOurs(entry) ? [at] : []));
    return entries.length === 0 ? [] : [{ index, entries, foreign: entries.length < all.length }];
  });
}

const groupOf = ({ matcher, entry }: Registration): JsonObject =>
  matcher === undefined ? { hooks: [entry] } : { matcher, hooks: [entry] };

const hooksOf = (wanted: readonly Registration[]): JsonObject =>
  Object.fromEntries(wanted.map((registration) => [registration.event, [groupOf(registration)]]));

/** Parses a text and checks the shape on which we and the agent rely. */
function readSettings(body: string, notEvents: readonly string[]): Json {
  const root = rootOf(body);
  if (root.type !== "object") throw wrong(body, root, `the top level is ${nameOf(root)}, not an object`);
  requireUnique(body, root, "hooks", "");
  const hooks = nodeAt(root, ["hooks"]);
  if (hooks === undefined) return plainOf(root);
  if (hooks.type !== "object") throw wrong(body, hooks, `"hooks" is ${nameOf(hooks)}, not an object`);
  for (const { key, value } of propertiesOf(hooks)) {
    requireUnique(body, hooks, key, "hooks.");
    if (value.type !== "array" && !notEvents.includes(key))
      throw wrong(body, value, `"hooks.${key}" is ${nameOf(value)}, not an array`);
  }
  return plainOf(root);
}

/** Rejects duplicate keys: readers use the last one, and an edit of one could activate the other. */
function requireUnique(body: string, object: Node, key: string, prefix: string): void {
  const second = propertiesOf(object).filter((property) => property.key === key)[1];
  if (second !== undefined) throw wrong(body, second.value, `"${prefix}${key}" appears here a second time`);
}

const nameOf = (node: Node): string =>
  node.type === "null"
    ? "null"
    : node.type === "array"
      ? "an array"
      : node.type === "object"
        ? "an object"
        : `a ${node.type}`;

/** Removes our entries that are not wanted and cannot be replaced in place. */
function removeUnwanted(body: string, wanted: readonly Registration[]): string {
  let text = body;
  const hooks = nodeAt(parseDocument(body), ["hooks"]);
  for (const { key: event, value } of propertiesOf(hooks)) {
    const groups = oursIn(plainOf(value));
    // The first group that contains only our entries is kept, or replaced by the wanted one
    const kept = wanted.some((one) => one.event === event) ? groups.find((group) => !group.foreign) : undefined;
    for (const group of [...groups].reverse()) {
      if (group === kept) continue;
      if (group.foreign) {
        for (const entry of [...group.entries].reverse()) {
          text = removeAt(text, ["hooks", event, group.index, "hooks", entry]);
        }
      } else text = removeAt(text, ["hooks", event, group.index]);
    }
    if (groups.length > 0 && kept === undefined && !wanted.some((one) => one.event === event)) {
      text = removeIfEmpty(text, ["hooks", event]);
    }
  }
  return text !== body && wanted.length === 0 ? removeIfEmpty(text, ["hooks"]) : text;
}

function addOne(text: string, registration: Registration): string {
  const root = parseDocument(text);
  const event = nodeAt(root, ["hooks", registration.event]);
  const group = groupOf(registration);
  if (nodeAt(root, ["hooks"]) === undefined) return appendTo(text, [], "hooks", hooksOf([registration]));
  if (event === undefined) return appendTo(text, ["hooks"], registration.event, [group]);
  const groups = plainOf(event);
  const place = oursIn(groups)[0];
  if (place === undefined) return appendTo(text, ["hooks", registration.event], undefined, group);
  const same = isList(groups) && isDeepStrictEqual(groups[place.index], group);
  return same ? text : replaceAt(text, ["hooks", registration.event, place.index], group);
}

/**
 * Verifies an edit by parsing its result: other entries are unchanged, and ours are the wanted ones. A failure is a bug of ours;
 * the file was not written.
 */
function verify(before: Json, edited: string, wanted: readonly Registration[], notEvents: readonly string[]): void {
  const after = readSettings(edited, notEvents);
  const hooks = isObject(after) ? after["hooks"] : undefined;
  const ours = Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    isList(groups) ? oursIn(groups).map((group) => [event, groups[group.index]] as const) : [],
  );
  const complete =
    ours.length === wanted.length &&
    wanted.every((one) => ours.some(([event, group]) => event === one.event && isDeepStrictEqual(group, groupOf(one))));
  if (complete && isDeepStrictEqual(withoutOurs(before), withoutOurs(after))) return;
  throw new SettingsError(
    "the edit would have changed more than our own entries",
    "please report this file's shape",
    1,
    1,
  );
}

/** A settings value without our entries, and without containers that are then empty. */
function withoutOurs(settings: Json): Json {
  if (!isObject(settings) || !isObject(settings["hooks"])) return settings;
  const { hooks, ...others } = settings;
  const events = Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]): [string, Json][] => {
    if (!isList(groups)) return [[event, groups]];
    const left = groups.flatMap((group): Json[] => {
      const entries = entriesOf(group);
      const foreign = entries.filter((entry) => !isOurs(entry));
      if (foreign.length === entries.length) return [group];
      return foreign.length === 0 || !isObject(group) ? [] : [{ ...group, hooks: foreign }];
    });
    return left.length === 0 ? [] : [[event, left]];
  });
  return events.length === 0 ? others : { ...others, hooks: Object.fromEntries(events) };
}
