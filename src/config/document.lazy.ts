import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { hint } from "#kit/nearest.ts";
import { decidesDestination, type Layer, newLayer, put } from "./layer.ts";
import type { Setting } from "./setting.ts";
import { SECTIONS, SETTINGS, targetOf } from "./settings.ts";

/** The user's file. */
export interface FileLayer extends Layer {
  /** The file exists but could not be read as a whole: it may have switched export off. */
  readonly unreadable: boolean;
}

/** The administrator's file. */
export interface MachineLayer extends FileLayer {
  /** For messages; empty where there can be none. */
  readonly path: string;
  /** Settings, groups and entries of maps that only this file sets. */
  readonly locked: readonly string[];
}

/**
 * The administrator's file: settings as in the user's, and `locked`, a list of settings or groups of them. An unknown name in it makes
 * the file unreadable, because something that should be locked would not be.
 */
export function readMachineDocument(text: string, path: string): MachineLayer {
  const parsed = parseDocument(text.replace(/^\uFEFF/, ""));
  const value: unknown = "root" in parsed ? getNodeValue(parsed.root)?.locked : undefined;
  const layer = readDocument(text, path, "machine");
  const locked = value === undefined ? [] : Array.isArray(value) ? value.map(String) : [];
  const unknown = locked.filter((key) => !SECTIONS.includes(key) && targetOf(key) === undefined);
  const problem =
    value !== undefined && !Array.isArray(value)
      ? '"locked" must be a list of settings'
      : unknown.length > 0
        ? `"locked" names ${unknown.map((key) => JSON.stringify(key)).join(", ")}, which is no setting`
        : undefined;
  if (problem === undefined) return { ...layer, path, locked };
  return { ...unreadableDocument(path, `not used: ${problem}`), path, locked };
}

/**
 * @param text the file's content; JSON, comments and trailing commas allowed; empty means no settings
 * @param path for messages and sources only
 */
export function readDocument(text: string, path: string, kind: "file" | "machine" = "file"): FileLayer {
  const layer = newLayer();
  const plain = text.replace(/^\uFEFF/, "");
  if (plain.trim() === "") return { ...layer, unreadable: false };
  const parsed = parseDocument(plain);
  if ("problem" in parsed) {
    layer.errors.push(
      `${path}:${parsed.line}: ${parsed.problem}; none of its settings are used, and export is off until this is fixed`,
    );
    return { ...layer, unreadable: true };
  }
  readSection(layer, parsed.root, [], { text: plain, path, kind });
  return { ...layer, unreadable: false };
}

/** The root object of a settings file, or the problem and its line. */
export function parseDocument(
  text: string,
): { readonly root: Node } | { readonly problem: string; readonly line: number } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first !== undefined) {
    return {
      problem: `not valid JSON (${readable(printParseErrorCode(first.error))})`,
      line: lineAt(text, first.offset),
    };
  }
  if (root?.type !== "object") return { problem: "not a JSON object", line: 1 };
  return { root };
}

/** The line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length;
}

/** A file that is not used. `problem`: what is wrong with it, after its name. */
export function unreadableDocument(path: string, problem: string): FileLayer {
  const error = `${path}: ${problem}; export is off until this is fixed`;
  return { ...newLayer(), errors: [error], unreadable: true };
}

// --- internal ---

interface Document {
  readonly text: string;
  readonly path: string;
  readonly kind: "file" | "machine";
}

function readSection(layer: Layer, section: Node, path: readonly string[], document: Document): void {
  const seen = new Set<string>();
  for (const property of section.children ?? []) {
    const [nameNode, valueNode] = property.children ?? [];
    if (nameNode === undefined || valueNode === undefined) continue;
    const here = [...path, String(nameNode.value)];
    const key = here.join(".");
    if (seen.has(key)) {
      const place = `${document.path}:${lineAt(document.text, property.offset)}`;
      layer.warnings.push(`${place}: ${JSON.stringify(key)} is repeated here; keep one`);
    }
    seen.add(key);
    readProperty(layer, here, valueNode, document);
  }
}

function readProperty(layer: Layer, path: readonly string[], node: Node, document: Document): void {
  const key = path.join(".");
  if (key === "$schema" || (key === "locked" && document.kind === "machine")) return;
  const place = `${document.path}:${lineAt(document.text, node.offset)}`;
  const origin = { source: { kind: document.kind, path: document.path }, place } as const;
  const setting = SETTINGS.find((candidate) => samePath(candidate.path, path));
  if (setting !== undefined) {
    put(layer, { setting }, getNodeValue(node), origin);
  } else if (!SECTIONS.some((section) => samePath(section.split("."), path))) {
    layer.warnings.push(`${place}: unknown setting ${JSON.stringify(key)} is ignored.${advice(path)}`);
  } else if (node.type === "object") {
    readSection(layer, node, path, document);
  } else {
    const message = `${place}: ${key} must be an object, not ${aKind(node)}; ${consequence(path)}`;
    for (const below of settingsBelow(path)) {
      layer.refused.set(below.key, message);
      if (decidesDestination(below)) layer.broken.add(below.key);
    }
    layer.errors.push(message);
  }
}

function advice(path: readonly string[]): string {
  const key = path.join(".");
  const dotted = path.some((name) => name.includes(".")) ? targetOf(key) : undefined;
  return dotted === undefined ? hint(key, [...KEYS, ...SECTIONS]) : ` Write it nested: ${nested(dotted.setting)}.`;
}

const KEYS = SETTINGS.map(({ key }) => key);

const samePath = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i]);

const settingsBelow = (path: readonly string[]): readonly Setting[] =>
  SETTINGS.filter((setting) => samePath(setting.path.slice(0, path.length), path));

const consequence = (path: readonly string[]): string =>
  path[0] === "otlp" || path[0] === "redaction" ? "export is off until this is fixed" : "it is ignored";

const aKind = (node: Node): string =>
  node.type === "array" ? "a list" : node.type === "null" ? "null" : `a ${node.type}`;

const nested = ({ path }: Setting): string =>
  `${path.map((name) => `{ ${JSON.stringify(name)}: `).join("")}…${" }".repeat(path.length)}`;

/** `CommaExpected` → `comma expected`. */
const readable = (code: string): string => code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
