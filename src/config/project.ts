import { constants, lstatSync, realpathSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { getNodeValue, type Node } from "jsonc-parser";
import { CAPTURE_LEVELS, type CaptureLevel } from "#core/model/capture.ts";
import { stricter } from "#core/rules/capture.ts";
import { parseDocument } from "./document.lazy.ts";

/**
 * What a repository requests for its own sessions, in `.openhook-otel.json`. It can only restrict: write access to a repository must not
 * decide which data leaves the machines of people who clone it, or where it is sent.
 */
export interface ProjectSettings {
  /** Its sessions are not collected. */
  readonly disabled: boolean;
  /** The highest capture level for its sessions. Absent: the user's level applies. */
  readonly capture?: CaptureLevel;
  /** No ids of commits, pull requests, issues, tickets and branches are kept of its sessions. */
  readonly withoutChanges: boolean;
  /** Added to the spans of its sessions, unless something else sets them. */
  readonly attributes: Readonly<Record<string, string>>;
  /** One line each: place, requested setting, and its effect. */
  readonly warnings: readonly string[];
}

export const NO_PROJECT_SETTINGS: ProjectSettings = {
  disabled: false,
  withoutChanges: false,
  attributes: {},
  warnings: [],
};

/** Limits for a repository's attributes. */
export const MAX_ATTRIBUTES = 16;
export const MAX_VALUE_CHARACTERS = 256;

/**
 * Reads the files that apply to a folder: its own, and those of the folders above it up to the root of its repository. Each one
 * restricts; of two attributes with one name the nearer one wins. Files are read at each call.
 *
 * A file that cannot be parsed may have requested a lower level, so only figures are kept then.
 *
 * @param folder a session's working directory
 * @throws never
 */
export async function readProjectSettings(folder: string): Promise<ProjectSettings> {
  const files = await projectFilesAbove(folder);
  return files.map(projectSettingsIn).reduceRight(combine, NO_PROJECT_SETTINGS);
}

/** The settings in one file. */
export function projectSettingsIn(file: ProjectFile): ProjectSettings {
  if ("problem" in file) return unreadable(`${file.path}: ${file.problem}`);
  const text = file.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return NO_PROJECT_SETTINGS;
  const parsed = parse(text);
  if ("problem" in parsed) return unreadable(`${file.path}:${parsed.line}: ${parsed.problem}`);
  const own: FileSettings = { disabled: false, withoutChanges: false, attributes: {}, warnings: [], path: file.path };
  for (const { name, value } of members(parsed.root)) addMember(own, name, value);
  const { path: _, ...settings } = own;
  return settings;
}

export const PROJECT_FILE = ".openhook-otel.json";

/** A project's file. */
type ProjectFile = { readonly path: string } & ({ readonly text: string } | { readonly problem: string });

/**
 * The files that apply to a folder, nearest first: its own, and those of the folders above it up to the root of its repository (a folder
 * with `.git`, also of a worktree or submodule). Outside a repository only the folder's own.
 *
 * @returns nothing if the folder is gone or not absolute
 * @throws never
 */
const projectFilesAbove = async (folder: string): Promise<readonly ProjectFile[]> => readAll(foldersUpToRoot(folder));

/**
 * A folder, and those above it up to the root of its repository, nearest first, with links resolved. Outside a repository only the
 * folder itself.
 *
 * @returns nothing if the path is not absolute
 * @throws never
 */
export function foldersUpToRoot(folder: string): readonly string[] {
  if (!isAbsolute(folder)) return [];
  // A link to a folder in a repository is in that repository
  const start = realOf(folder);
  const folders: string[] = [];
  for (let at = start; folders.length < MAX_PARENTS; at = dirname(at)) {
    folders.push(at);
    if (isThere(join(at, ".git"))) return folders;
    if (dirname(at) === at) break;
  }
  return [start];
}

// --- internal ---

interface FileSettings {
  disabled: boolean;
  withoutChanges: boolean;
  capture?: CaptureLevel;
  attributes: Record<string, string>;
  warnings: string[];
  readonly path: string;
}

/** Deeper than any settings file, and less than the stack allows. */
const MAX_DEPTH = 32;

function parse(text: string): ReturnType<typeof parseDocument> {
  let depth = 0;
  for (const character of text) {
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    if (depth > MAX_DEPTH) return { problem: "nested too deeply", line: 1 };
  }
  return parseDocument(text);
}

function unreadable(what: string): ProjectSettings {
  return {
    ...NO_PROJECT_SETTINGS,
    capture: "none",
    warnings: [`${what}; until it is fixed, sessions here keep only numbers (capture none)`],
  };
}

function addMember(own: FileSettings, name: string, value: Node): void {
  switch (name) {
    case "$schema":
      return;
    case "disabled":
      if (value.type === "boolean") own.disabled ||= value.value === true;
      else restrictToNone(own, `disabled must be true or false`);
      return;
    case "changes":
      if (value.type === "boolean") own.withoutChanges ||= value.value === false;
      else restrictToNone(own, `changes must be true or false`);
      return;
    case "capture": {
      const level = CAPTURE_LEVELS.find((one) => one === value.value);
      if (level === undefined) restrictToNone(own, `capture must be one of ${CAPTURE_LEVELS.join(", ")}`);
      else own.capture = stricter(level, own.capture ?? level);
      return;
    }
    case "attributes":
      addAttributes(own, name, value);
      return;
    case "resource":
      if (value.type !== "object") warnIgnored(own, name);
      else
        for (const inner of members(value)) {
          if (inner.name === "attributes") addAttributes(own, "resource.attributes", inner.value);
          else warnIgnored(own, `resource.${inner.name}`);
        }
      return;
    default:
      warnIgnored(own, name);
  }
}

function addAttributes(own: FileSettings, key: string, node: Node): void {
  if (node.type !== "object") {
    warnIgnored(own, key, "it must be an object of names and strings");
    return;
  }
  for (const { name, value } of members(node)) {
    const text: unknown = value.type === "string" ? getNodeValue(value) : undefined;
    const why =
      typeof text !== "string"
        ? "its value must be a string"
        : text.length > MAX_VALUE_CHARACTERS
          ? `its value is longer than ${MAX_VALUE_CHARACTERS} characters`
          : !NAME.test(name)
            ? "names have up to 64 lower-case letters, digits, dots, dashes and underscores"
            : RESERVED.test(name)
              ? "the name is reserved for collected data"
              : Object.keys(own.attributes).length >= MAX_ATTRIBUTES && !Object.hasOwn(own.attributes, name)
                ? `there are more than ${MAX_ATTRIBUTES}`
                : undefined;
    if (why !== undefined || typeof text !== "string") warnIgnored(own, `${key}.${shown(name)}`, why);
    else own.attributes[name] = text;
  }
}

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
/** Attributes by which backends distinguish sessions, users, machines and programs. */
const RESERVED =
  /^(?:service|openhook|gen_ai|telemetry|otel|user|enduser|session|vcs|os|host|process|mcp|error|http|server|client|url|code|container|k8s|cloud)(?:[._]|$)/;

function restrictToNone(own: FileSettings, why: string): void {
  own.capture = "none";
  own.warnings.push(`${own.path}: ${why}; until it is fixed, sessions here keep only numbers (capture none)`);
}

function warnIgnored(
  own: FileSettings,
  key: string,
  why = "a project file can only set disabled, capture, changes and attributes",
): void {
  // The number of warnings is limited
  if (own.warnings.length < MAX_WARNINGS) own.warnings.push(`${own.path}: ${shown(key)} is ignored: ${why}`);
}

const MAX_WARNINGS = 20;
const MAX_SHOWN = 80;

/** Names from a repository are untrusted: shortened, without control characters. */
const shown = (name: string): string =>
  name.slice(0, MAX_SHOWN).replace(/[^\x20-\x7e]/g, "?") + (name.length > MAX_SHOWN ? "…" : "");

function members(node: Node): readonly { readonly name: string; readonly value: Node }[] {
  return (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    name === undefined || value === undefined ? [] : [{ name: String(name.value), value }],
  );
}

function combine(outer: ProjectSettings, inner: ProjectSettings): ProjectSettings {
  const levels = [outer.capture, inner.capture].filter((level) => level !== undefined);
  const [first, second = first] = levels;
  const attributes = Object.entries({ ...outer.attributes, ...inner.attributes }).slice(0, MAX_ATTRIBUTES);
  return {
    disabled: outer.disabled || inner.disabled,
    withoutChanges: outer.withoutChanges || inner.withoutChanges,
    attributes: Object.fromEntries(attributes),
    warnings: [...outer.warnings, ...inner.warnings],
    ...(first !== undefined && second !== undefined && { capture: stricter(first, second) }),
  };
}

const MAX_PARENTS = 64;
const MAX_BYTES = 64 * 1024;

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

const realOf = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
};

async function readAll(folders: readonly string[]): Promise<readonly ProjectFile[]> {
  const files = await Promise.all(folders.map((folder) => readOne(join(folder, PROJECT_FILE))));
  return files.filter((file) => file !== undefined);
}

async function readOne(path: string): Promise<ProjectFile | undefined> {
  try {
    const kind = await lstat(path);
    if (!kind.isFile())
      return { path, problem: `not a regular file (${kind.isSymbolicLink() ? "a link" : "no file"})` };
    if (kind.size > MAX_BYTES) return { path, problem: `larger than ${MAX_BYTES} bytes` };
    // It may have been replaced since it was checked
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
      if (bytesRead > MAX_BYTES) return { path, problem: `larger than ${MAX_BYTES} bytes` };
      return { path, text: buffer.toString("utf8", 0, bytesRead) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { path, problem: `cannot be read (${code})` };
  }
}
