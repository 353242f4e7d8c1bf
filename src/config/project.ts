import { getNodeValue, type Node } from "jsonc-parser";
import { CAPTURE_LEVELS, type CaptureLevel, stricter } from "../model/capture.ts";
import { parseDocument } from "./document.lazy.ts";
import { type ProjectFile, projectFilesAbove } from "./project-files.ts";

/**
 * What a repository requests for its own sessions, in `.openhook-otel.json`. It can only restrict: write access to a repository must not
 * decide what leaves the machines of those who clone it, nor where it goes.
 */
export interface ProjectSettings {
  /** Its sessions are not collected. */
  readonly disabled: boolean;
  /** The highest capture level for its sessions. Absent: as the user set it. */
  readonly capture?: CaptureLevel;
  /** Added to the spans of its sessions, unless something else sets them. */
  readonly attributes: Readonly<Record<string, string>>;
  /** One line each: place, request, and what happens to it. */
  readonly warnings: readonly string[];
}

export const NO_WISHES: ProjectSettings = { disabled: false, attributes: {}, warnings: [] };

/** Limits for a repository's attributes. */
export const MAX_ATTRIBUTES = 16;
export const MAX_VALUE_CHARACTERS = 256;

/**
 * Reads the files that apply to a folder: its own, and those of the folders above it up to the root of its repository. Each one
 * restricts; of two attributes with one name the nearer one wins. Read again at each call.
 *
 * A file that cannot be understood may have requested less: then only figures are kept.
 *
 * @param folder a session's working directory
 * @throws never
 */
export async function readProjectSettings(folder: string): Promise<ProjectSettings> {
  const files = await projectFilesAbove(folder);
  return files.map(wishesIn).reduceRight(joined, NO_WISHES);
}

/** The settings in one file. */
export function wishesIn(file: ProjectFile): ProjectSettings {
  if ("problem" in file) return notUnderstood(`${file.path}: ${file.problem}`);
  const text = file.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return NO_WISHES;
  const parsed = parse(text);
  if ("problem" in parsed) return notUnderstood(`${file.path}:${parsed.line}: ${parsed.problem}`);
  const own: Own = { disabled: false, attributes: {}, warnings: [], at: file.path };
  for (const { name, value } of members(parsed.root)) take(own, name, value);
  const { at: _, ...wishes } = own;
  return wishes;
}

// --- internal ---

interface Own {
  disabled: boolean;
  capture?: CaptureLevel;
  attributes: Record<string, string>;
  warnings: string[];
  readonly at: string;
}

/** Deeper than anyone writes, and less than the stack allows. */
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

function notUnderstood(what: string): ProjectSettings {
  return {
    ...NO_WISHES,
    capture: "none",
    warnings: [`${what}; until it is fixed, sessions here keep only numbers (capture none)`],
  };
}

function take(own: Own, name: string, value: Node): void {
  switch (name) {
    case "$schema":
      return;
    case "disabled":
      if (value.type === "boolean") own.disabled ||= value.value === true;
      else least(own, `disabled must be true or false`);
      return;
    case "capture": {
      const level = CAPTURE_LEVELS.find((one) => one === value.value);
      if (level === undefined) least(own, `capture must be one of ${CAPTURE_LEVELS.join(", ")}`);
      else own.capture = stricter(level, own.capture ?? level);
      return;
    }
    case "attributes":
      takeAttributes(own, name, value);
      return;
    case "resource":
      if (value.type !== "object") ignored(own, name);
      else
        for (const inner of members(value)) {
          if (inner.name === "attributes") takeAttributes(own, "resource.attributes", inner.value);
          else ignored(own, `resource.${inner.name}`);
        }
      return;
    default:
      ignored(own, name);
  }
}

function takeAttributes(own: Own, key: string, node: Node): void {
  if (node.type !== "object") {
    ignored(own, key, "it must be an object of names and strings");
    return;
  }
  for (const { name, value } of members(node)) {
    const given: unknown = value.type === "string" ? getNodeValue(value) : undefined;
    const why =
      typeof given !== "string"
        ? "its value must be a string"
        : given.length > MAX_VALUE_CHARACTERS
          ? `its value is longer than ${MAX_VALUE_CHARACTERS} characters`
          : !NAME.test(name)
            ? "names have up to 64 lower-case letters, digits, dots, dashes and underscores"
            : RESERVED.test(name)
              ? "the name is reserved for collected data"
              : Object.keys(own.attributes).length >= MAX_ATTRIBUTES && !Object.hasOwn(own.attributes, name)
                ? `there are more than ${MAX_ATTRIBUTES}`
                : undefined;
    if (why !== undefined || typeof given !== "string") ignored(own, `${key}.${shown(name)}`, why);
    else own.attributes[name] = given;
  }
}

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
/** Attributes by which backends distinguish sessions, users, machines and programs. */
const RESERVED =
  /^(?:service|openhook|gen_ai|telemetry|otel|user|enduser|session|vcs|os|host|process|mcp|error|http|server|client|url|code|container|k8s|cloud)(?:[._]|$)/;

function least(own: Own, why: string): void {
  own.capture = "none";
  own.warnings.push(`${own.at}: ${why}; until it is fixed, sessions here keep only numbers (capture none)`);
}

function ignored(own: Own, key: string, why = "a project file can only set disabled, capture and attributes"): void {
  // The number of warnings is limited
  if (own.warnings.length < MAX_WARNINGS) own.warnings.push(`${own.at}: ${shown(key)} is ignored: ${why}`);
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

function joined(outer: ProjectSettings, inner: ProjectSettings): ProjectSettings {
  const levels = [outer.capture, inner.capture].filter((level) => level !== undefined);
  const [first, second = first] = levels;
  const attributes = Object.entries({ ...outer.attributes, ...inner.attributes }).slice(0, MAX_ATTRIBUTES);
  return {
    disabled: outer.disabled || inner.disabled,
    attributes: Object.fromEntries(attributes),
    warnings: [...outer.warnings, ...inner.warnings],
    ...(first !== undefined && second !== undefined && { capture: stricter(first, second) }),
  };
}
