import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/**
 * Edits of JSON with comments that change only their target.
 *
 * Parsing and scanning use jsonc-parser. Its `modify` is not used: with formatting it reflows neighbours, without it puts our
 * property before the neighbour's comment, and removing the last element of `[1,2]` gives `[12]` (3.3.1, tried 2026-11-21).
 */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}
type Path = readonly (string | number)[];

/** Why a text is no JSON (comments and trailing commas allowed). Line and column count from 1. */
export class JsoncError extends Error {
  readonly line: number;
  readonly column: number;
  constructor(message: string, text: string, offset: number) {
    super(message);
    this.name = "JsoncError";
    const before = text.slice(0, offset).split(/\r\n|\n|\r/);
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }
}

/**
 * @param text without byte order mark
 * @returns the document's root node, offsets in UTF-16 units
 * @throws JsoncError for anything that a tolerant parser would have to guess
 */
export function parseDocument(text: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false });
  } catch (error) {
    // The parser is recursive; no real settings file is nested that deeply
    if (error instanceof RangeError) throw new JsoncError("it is nested too deeply", text, 0);
    throw error;
  }
  const first = errors[0];
  if (first !== undefined) throw new JsoncError(parseErrorText(first), text, first.offset);
  if (root === undefined) throw new JsoncError("it is empty", text, 0);
  return root;
}

/** The plain value of a node. The last of duplicate keys counts, as in `JSON.parse`; `__proto__` is a key. */
export function plainOf(node: Node): Json {
  const children = node.children ?? [];
  if (node.type === "array") return children.map(plainOf);
  if (node.type !== "object") return node.value as Json; // a literal
  const object: Record<string, Json> = {};
  for (const property of children) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    Object.defineProperty(object, String(key.value), {
      value: plainOf(value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

/** All properties of an object node, in order, duplicates included. Empty for another type. */
export function propertiesOf(node: Node | undefined): readonly { readonly key: string; readonly value: Node }[] {
  if (node?.type !== "object") return [];
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key === undefined || value === undefined ? [] : [{ key: String(key.value), value }];
  });
}

/** The node at a path, or `undefined`. The last of duplicate keys, as in `JSON.parse`. */
export function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const segment of path) {
    node =
      typeof segment === "number"
        ? node?.type === "array"
          ? node.children?.[segment]
          : undefined
        : propertiesOf(node).findLast((property) => property.key === segment)?.value;
  }
  return node;
}

/** Whether a node contains a comment. */
export function containsComment(text: string, node: Node): boolean {
  return tokensOf(text).some((token) => token.comment && token.start >= node.offset && token.end <= endOf(node));
}

/**
 * Appends a value to an object (with `key`) or an array (without), in the existing style: on separate lines if the container has
 * several, on the same line if it has one. If the file has a trailing comma, one is added; a comment after the last value stays
 * after that value.
 *
 * @throws Error if there is no such container; callers check it first
 */
export function appendTo(text: string, path: Path, key: string | undefined, value: Json): string {
  const root = parseDocument(text);
  const container = nodeAt(root, path);
  if (container === undefined || (container.type !== "object" && container.type !== "array")) {
    throw new Error(`no container at ${JSON.stringify(path)}`);
  }
  const style = styleOf(text, root);
  const children = container.children ?? [];
  const last = children.at(-1);
  const inner = tokensOf(text).filter((token) => token.start > container.offset && token.end < endOf(container));
  const inline = last === undefined ? isInline(text, containerOf(container)) : isInline(text, container);
  const outerIndent = lineIndent(text, container.offset);
  const childIndent =
    last !== undefined && startsLine(text, last.offset) ? lineIndent(text, last.offset) : outerIndent + style.unit;
  const label = key === undefined ? "" : `${JSON.stringify(key)}:${inline && !style.spaced ? "" : " "}`;
  const item = label + write(value, inline, style, childIndent);

  if (last === undefined) {
    const lastInner = inner.at(-1);
    if (lastInner === undefined) {
      const content = inline ? item : style.eol + childIndent + item + style.eol + outerIndent;
      return splice(text, container.offset + 1, endOf(container) - 1, content);
    }
    const closesOnOwnLine = hasLineBreak(text.slice(lastInner.end, endOf(container)));
    const tail = closesOnOwnLine || inline ? "" : style.eol + outerIndent;
    return splice(text, lastInner.end, lastInner.end, (inline ? " " : style.eol + childIndent) + item + tail);
  }

  const after = inner.filter((token) => token.start >= endOf(last));
  const comma = after.find((token) => !token.comment);
  let point = comma?.end ?? endOf(last);
  for (const token of after) {
    if (token.start >= point && !hasLineBreak(text.slice(point, token.start))) point = token.end;
  }
  const lead = inline ? (style.spaced ? " " : "") : style.eol + childIndent;
  const grown = splice(text, point, point, lead + item + (comma === undefined ? "" : ","));
  return comma === undefined ? splice(grown, endOf(last), endOf(last), ",") : grown;
}

/** Replaces the value at `path`; indentation follows its line. */
export function replaceAt(text: string, path: Path, value: Json): string {
  const root = parseDocument(text);
  const node = nodeAt(root, path);
  if (node === undefined) throw new Error(`nothing at ${JSON.stringify(path)}`);
  const inline = isInline(text, node) && isInline(text, containerOf(node));
  return splice(
    text,
    node.offset,
    endOf(node),
    write(value, inline, styleOf(text, root), lineIndent(text, node.offset)),
  );
}

/**
 * Removes the property or element at `path` with its comma and line: the exact inverse of `appendTo`. Comments before and after it
 * stay.
 */
export function removeAt(text: string, path: Path): string {
  const root = parseDocument(text);
  const value = nodeAt(root, path);
  const item = value?.parent?.type === "property" ? value.parent : value;
  const container = item?.parent;
  if (item === undefined || container === undefined) throw new Error(`nothing to remove at ${JSON.stringify(path)}`);
  const start = item.offset;
  const end = endOf(item);
  const tokens = tokensOf(text).filter((token) => token.start >= container.offset && token.end <= endOf(container));
  const inner = tokens.slice(1, -1).filter((token) => token.end <= start || token.start >= end);
  if (container.children?.length === 1 && !inner.some((token) => token.comment)) {
    return splice(text, container.offset + 1, endOf(container) - 1, "");
  }

  const before = tokens.filter((token) => token.end <= start);
  const behind = tokens.filter((token) => token.start >= end);
  const previous = before.at(-1);
  const next = behind[0];
  if (previous === undefined || next === undefined) throw new Error("a value stands outside its container");
  const comma = behind.find((token) => !token.comment);
  const hasComma = comma !== undefined && text.charAt(comma.start) === ",";
  // In a one-line list a line comment must keep the line break that ends it
  const rest = hasComma ? (behind.find((token) => token.start >= comma.end) ?? next) : next;
  const from = previous.line && !hasLineBreak(text.slice(end, rest.start)) ? start : previous.end;

  if (hasComma) {
    const follower = behind.find((token) => token.start >= comma.end);
    const hasSibling = (container.children ?? []).some((child) => child.offset >= comma.end);
    const sameLine = follower !== undefined && !hasLineBreak(text.slice(comma.end, follower.start));
    const fromComma = splice(text, comma.start, comma.end, "");
    if (sameLine && hasSibling && follower !== undefined && next === comma) {
      return splice(text, start, follower.start, "");
    }
    return splice(fromComma, from, end, "");
  }
  const without = splice(text, from, end, "");
  const commaBefore = before.findLast((token) => !token.comment);
  if (commaBefore === undefined || text.charAt(commaBefore.start) !== ",") return without;
  return splice(without, commaBefore.start, commaBefore.end, "");
}

/** A new document: two spaces, line feed at the end. */
export const newDocument = (value: Json): string => `${JSON.stringify(value, null, 2)}\n`;

// --- internal ---

interface Token {
  readonly start: number;
  readonly end: number;
  readonly comment: boolean;
  /** A comment that runs to the end of its line. */
  readonly line: boolean;
}

interface Style {
  readonly eol: string;
  readonly unit: string;
  /** Whether one-line JSON has spaces after `:` and `,`. */
  readonly spaced: boolean;
}

// SyntaxKind is a const enum, which isolated modules cannot read; numbers of jsonc-parser 3.3.1
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const TRIVIA = 15;
const EOF = 17;

function tokensOf(text: string): readonly Token[] {
  const scanner = createScanner(text, false);
  const tokens: Token[] = [];
  for (let kind: number = scanner.scan(); kind !== EOF; kind = scanner.scan()) {
    if (kind === LINE_BREAK || kind === TRIVIA) continue;
    const start = scanner.getTokenOffset();
    const line = kind === LINE_COMMENT;
    tokens.push({ start, end: start + scanner.getTokenLength(), comment: line || kind === BLOCK_COMMENT, line });
  }
  return tokens;
}

function styleOf(text: string, root: Node): Style {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  const colon = root.children?.find((child) => child.type === "property")?.colonOffset;
  return { eol, unit: indentUnit(text, root), spaced: colon !== undefined && text.charAt(colon + 1) === " " };
}

/** One level of indentation, from the first child on a separate line below its parent. */
function indentUnit(text: string, root: Node): string {
  const waiting: Node[] = [root];
  for (let node = waiting.shift(); node !== undefined; node = waiting.shift()) {
    for (const child of node.children ?? []) {
      const indent = lineIndent(text, child.offset);
      const outer = lineIndent(text, node.offset);
      if (node.type !== "property" && startsLine(text, child.offset) && indent.startsWith(outer) && indent !== outer) {
        return indent.slice(outer.length);
      }
      waiting.push(child);
    }
  }
  return "  ";
}

function write(value: Json, inline: boolean, style: Style, indent: string): string {
  if (inline) return writeInline(value, style.spaced ? " " : "");
  // Tabs, which cannot be in a JSON string, are replaced by the unit, because `stringify` limits units to 10 characters
  const lines = JSON.stringify(value, null, "\t").split("\n");
  return lines.map((line) => line.replace(/^\t+/, (tabs) => style.unit.repeat(tabs.length))).join(style.eol + indent);
}

function writeInline(value: Json, space: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => writeInline(item, space)).join(`,${space}`)}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}:${space}${writeInline(item, space)}`,
  );
  return `{${fields.join(`,${space}`)}}`;
}

/** True for a non-empty container on one line: additions go on that line too. */
const isInline = (text: string, node: Node | undefined): boolean =>
  node !== undefined && !hasLineBreak(text.slice(node.offset, endOf(node)));

/** The object or array around a node; properties are skipped. */
const containerOf = (node: Node): Node | undefined =>
  node.parent?.type === "property" ? node.parent.parent : node.parent;

const endOf = (node: Node): number => node.offset + node.length;

const hasLineBreak = (text: string): boolean => /[\r\n]/.test(text);

const splice = (text: string, start: number, end: number, content: string): string =>
  text.slice(0, start) + content + text.slice(end);

const lineStart = (text: string, offset: number): number => {
  let at = offset;
  while (at > 0 && !hasLineBreak(text.charAt(at - 1))) at--;
  return at;
};

const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";

const startsLine = (text: string, offset: number): boolean =>
  /^[ \t]*$/.test(text.slice(lineStart(text, offset), offset));

const PARSE_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not a JSON value",
  InvalidNumberFormat: "this is not a JSON number",
  PropertyNameExpected: "a property name in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is text after the end of the document",
  InvalidCommentToken: "this is not a comment",
  UnexpectedEndOfComment: "a comment is not closed",
  UnexpectedEndOfString: "a string is not closed",
  UnexpectedEndOfNumber: "a number is cut off",
  InvalidUnicode: "this is not a \\u escape",
  InvalidEscapeCharacter: "this is not an escape",
  InvalidCharacter: "a control character must be escaped",
};

const parseErrorText = (error: ParseError): string => {
  const code = printParseErrorCode(error.error);
  return PARSE_ERRORS[code] ?? code;
};
