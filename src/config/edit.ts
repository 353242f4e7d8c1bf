import type { Node } from "jsonc-parser";
import { parseDocument } from "./document.lazy.ts";

/** A settings file that cannot be edited because it is not valid. */
export class DocumentError extends Error {
  readonly line: number;
  constructor(problem: string, line: number) {
    super(problem);
    this.name = "DocumentError";
    this.line = line;
  }
}

/**
 * Sets one value in a JSON document and leaves every other byte unchanged: comments stay with what they explain; indentation and
 * line ends are the file's. Of duplicate names it sets the last, which is the one that counts.
 *
 * @param path missing objects on the way are created
 * @param value plain JSON
 * @throws DocumentError if the text is no JSON object, or something on the way is no object
 */
export function setIn(text: string, path: readonly string[], value: unknown): string {
  const root = rootOf(text);
  const found = lastAt(root, path);
  if (found !== undefined)
    return splice(text, found.offset, found.length, json(text, value, indentAt(text, found.offset)));
  const [parent, depth] = deepestObject(text, root, path);
  const missing = path.slice(depth);
  const nested = missing.slice(1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return insert(text, parent, missing[0] ?? "", nested);
}

/**
 * Removes a value from a JSON document, with all its duplicates and the comment after it on the same line.
 *
 * @returns the same text if there is nothing at `path`
 * @throws DocumentError if the text is no JSON object
 */
export function unsetIn(text: string, path: readonly string[]): string {
  const without = unsetLast(text, path);
  return without === text ? text : unsetIn(without, path);
}

// --- internal ---

function unsetLast(text: string, path: readonly string[]): string {
  const value = lastAt(rootOf(text), path);
  const property = value?.parent;
  const siblings = property?.parent?.children;
  if (property === undefined || siblings === undefined) return text;
  const index = siblings.indexOf(property);
  const after = afterValue(text, endOf(property));
  const isLast = index === siblings.length - 1;
  const previous = siblings[index - 1];
  const before = text.lastIndexOf("\n", property.offset - 1) + 1;
  const aloneOnItsLine = text.slice(before, property.offset).trim() === "" && isLineEnd(text, after.lineEnd);
  const without = aloneOnItsLine
    ? splice(text, before, endOfLine(text, after.lineEnd) - before, "")
    : cutInline(text, property, after.comma ?? endOf(property));
  if (!isLast || previous === undefined || after.comma !== undefined) return without;
  // It was the last property, without a comma: remove the comma of the one before it
  const comma = afterValue(text, endOf(previous)).comma;
  return comma === undefined ? without : splice(without, comma - 1, 1, "");
}

/** The value at a path that counts: the last one. */
function lastAt(object: Node, [name, ...rest]: readonly string[]): Node | undefined {
  if (name === undefined) return object;
  const values = (object.type === "object" ? (object.children ?? []) : []).flatMap(({ children = [] }) =>
    children[0]?.value === name && children[1] !== undefined ? [children[1]] : [],
  );
  return values.flatMap((value) => lastAt(value, rest) ?? []).at(-1);
}

function rootOf(text: string): Node {
  const parsed = parseDocument(text);
  if ("problem" in parsed) throw new DocumentError(parsed.problem, parsed.line);
  return parsed.root;
}

function deepestObject(text: string, root: Node, path: readonly string[]): [object: Node, depth: number] {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const node = lastAt(root, path.slice(0, depth));
    if (node === undefined) continue;
    if (node.type === "object") return [node, depth];
    const line = text.slice(0, node.offset).split(/\r\n|\r|\n/).length;
    throw new DocumentError(`${path.slice(0, depth).join(".")} is not an object`, line);
  }
  return [root, 0];
}

function insert(text: string, object: Node, name: string, value: unknown): string {
  const last = object.children?.at(-1);
  const indent = last === undefined ? indentAt(text, object.offset) + unitOf(text) : indentAt(text, last.offset);
  const property = `${JSON.stringify(name)}: ${json(text, value, indent)}`;
  const eol = eolOf(text);
  if (last === undefined) {
    const inner = text.slice(object.offset + 1, endOf(object) - 1).trimEnd();
    const all = `{${inner}${eol}${indent}${property}${eol}${indentAt(text, object.offset)}}`;
    return splice(text, object.offset, object.length, all);
  }
  const { comma, lineEnd } = afterValue(text, endOf(last));
  const end = comma ?? endOf(last);
  const before = object.children?.at(-2);
  const startsLine = text.slice(before === undefined ? object.offset : endOf(before), last.offset).includes("\n");
  if (!startsLine) {
    const inline = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return splice(text, end, 0, comma === undefined ? `, ${inline}` : ` ${inline},`);
  }
  const line = `${eol}${indent}${property}${comma === undefined ? "" : ","}`;
  const added = splice(
    text,
    lineEnd,
    0,
    isLineEnd(text, lineEnd) ? line : `${line}${eol}${indentAt(text, object.offset)}`,
  );
  return comma === undefined ? splice(added, endOf(last), 0, ",") : added;
}

/** For a property that shares its line: removes it with the space around it. */
function cutInline(text: string, property: Node, end: number): string {
  let stop = end;
  while (text[stop] === " " || text[stop] === "\t") stop++;
  const followed = text[stop] !== "}" && text[stop] !== "]" && !isLineEnd(text, stop);
  let start = property.offset;
  if (!followed) while (text[start - 1] === " " || text[start - 1] === "\t") start--;
  return splice(text, start, (followed ? stop : end) - start, "");
}

/** After a value: the offset after its comma, if it has one, and where that line's content ends, comments included. */
function afterValue(text: string, offset: number): { readonly comma: number | undefined; readonly lineEnd: number } {
  let comma: number | undefined;
  let lineEnd = offset;
  let onLine = true;
  for (const token of text.slice(offset).matchAll(/([ \t]+)|(\r?\n)|(\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)|(,)|./g)) {
    const [all, space, newline, comment, isComma] = token;
    const end = offset + token.index + all.length;
    if (isComma !== undefined && comma === undefined) {
      comma = end;
      lineEnd = end;
      onLine = true;
    } else if (comment !== undefined) {
      onLine &&= !comment.includes("\n");
      if (onLine) lineEnd = end;
    } else if (newline !== undefined) {
      onLine = false;
    } else if (space === undefined) break;
  }
  return { comma, lineEnd };
}

const endOf = (node: Node): number => node.offset + node.length;

const splice = (text: string, offset: number, length: number, replacement: string): string =>
  text.slice(0, offset) + replacement + text.slice(offset + length);

const isLineEnd = (text: string, offset: number): boolean => /^[ \t]*(\r?\n|$)/.test(text.slice(offset));

/** The offset of the next line. */
const endOfLine = (text: string, offset: number): number => {
  const newline = text.indexOf("\n", offset);
  return newline === -1 ? text.length : newline + 1;
};

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";

/** One level of the file's indentation: that of its first indented line. */
const unitOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";

const json = (text: string, value: unknown, indent: string): string =>
  JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `${eolOf(text)}${indent}`);
