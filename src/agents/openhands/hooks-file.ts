// openhands/sdk/hooks/config.py of openhands-sdk 1.21.0, read 2026-11-26
import type { Node } from "jsonc-parser";
import { JsoncError, nodeAt, parseDocument, propertiesOf } from "../shared/settings/jsonc.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  removeRegistrations,
  SettingsError,
  stripBom,
} from "../shared/settings/settings.ts";

// OpenHands reads `{"hooks": {…}}`, and the events without `hooks` around them, which is how it writes the file itself.
// A name is `PreToolUse` or `pre_tool_use`; both at once, or any other name, is an error, and then no hook runs. If
// there is a member `hooks`, all others are ignored.

/** Adds or replaces our registrations, in the form and with the names that the file has. */
export function addHooks(text: string | undefined, wanted: readonly Registration[]): string {
  if (text === undefined) return addRegistrations(text, wanted);
  const names = namesIn(text);
  const spelled = wanted.map((one) => ({ ...one, event: names.find((name) => isSame(name, one.event)) ?? one.event }));
  return isBare(text)
    ? (inBare(text, (whole) => addRegistrations(whole, spelled)) ?? "")
    : addRegistrations(text, spelled);
}

/** @returns `undefined` if nothing else is left */
export const removeHooks = (text: string): string | undefined =>
  isBare(text) ? inBare(text, (whole) => removeRegistrations(whole)) : removeRegistrations(text);

/** Events for which the file has our hooks, by OpenHands' names. */
export const hooksIn = (text: string, events: readonly string[]): readonly string[] =>
  registeredEvents(isBare(text) ? wrapped(text) : text).flatMap(
    (name) => events.find((one) => isSame(name, one)) ?? [],
  );

/** Whether the file has hooks of others. */
export function hasOthers(text: string): boolean {
  try {
    return namesIn(removeHooks(text) ?? "").length > 0;
  } catch (error) {
    if (error instanceof SettingsError) return false;
    throw error;
  }
}

/** Names of events that make OpenHands refuse the file. */
export function refusedIn(text: string, events: readonly string[]): readonly string[] {
  const names = namesIn(text);
  return names.filter(
    (name, i) => !events.some((one) => isSame(name, one)) || names.slice(0, i).some((other) => isSame(name, other)),
  );
}

// --- internal ---

const snakeCase = (name: string): string => name.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();

const isSame = (name: string, other: string): boolean => snakeCase(name) === snakeCase(other);

const HEAD = '{"hooks":';
const TAIL = "}";

function rootOf(text: string): Node | undefined {
  try {
    return parseDocument(stripBom(text).body);
  } catch (error) {
    if (error instanceof JsoncError) return undefined;
    throw error;
  }
}

/** True for a file with events at the top level. */
function isBare(text: string): boolean {
  const root = rootOf(text);
  return root?.type === "object" && nodeAt(root, ["hooks"]) === undefined && propertiesOf(root).length > 0;
}

function namesIn(text: string): readonly string[] {
  const root = rootOf(text);
  const holder = root === undefined || isBare(text) ? root : nodeAt(root, ["hooks"]);
  return holder?.type === "object" ? propertiesOf(holder).map(({ key }) => key) : [];
}

const wrapped = (text: string): string => `${HEAD}${stripBom(text).body}${TAIL}`;

/** Edits a file with events at the top level as if they were below `hooks`. */
function inBare(text: string, edit: (whole: string) => string | undefined): string | undefined {
  const edited = edit(wrapped(text));
  if (edited === undefined) return undefined;
  return stripBom(text).bom + edited.slice(HEAD.length, edited.length - TAIL.length);
}
