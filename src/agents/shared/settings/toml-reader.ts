import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { type Header, type Key, type Pair, type Statement, TomlError, type TomlValue } from "./toml.ts";

/**
 * Reads a TOML text for edits.
 *
 * @returns all headers and pairs, in order, with their places in the text
 * @throws TomlError with the position of a syntax error
 */
export function readToml(text: string): readonly Statement[] {
  // A byte order mark is not valid TOML, but Codex accepts it; offsets must include it
  const bomLength = text.startsWith("\uFEFF") ? 1 : 0;
  const program = parsed(bomLength === 0 ? text : ` ${text.slice(1)}`, text);
  const lineOf = ({ range: [start, end] }: AST.TOMLNode) => {
    const breakAt = text.indexOf("\n", end);
    return {
      start: Math.max(bomLength, text.lastIndexOf("\n", start - 1) + 1),
      end: breakAt === -1 ? text.length : breakAt + 1,
    };
  };
  const pairOf = (node: AST.TOMLKeyValue, header?: Header): Pair => ({
    kind: "pair",
    ...(header !== undefined && { header }),
    path: keysOf(node.key),
    value: plainOf(node.value),
    valueStart: node.value.range[0],
    valueEnd: node.value.range[1],
    ...lineOf(node),
  });
  return program.body[0].body.flatMap((node): readonly Statement[] => {
    if (node.type === "TOMLKeyValue") return [pairOf(node)];
    const header: Header = {
      kind: "header",
      isArray: node.kind === "array",
      path: keysOf(node.key),
      ...lineOf({ ...node, range: [node.range[0], node.key.range[1]] }),
    };
    return [header, ...node.body.map((pair) => pairOf(pair, header))];
  });
}

// --- internal ---

function parsed(toml: string, text: string): AST.TOMLProgram {
  try {
    return parseTOML(toml, { tomlVersion: "1.1.0" });
  } catch (error) {
    if (error instanceof ParseError) throw new TomlError(error.message.replace(/\.$/, ""), text, error.index);
    throw error;
  }
}

const keysOf = ({ keys }: AST.TOMLKey): readonly Key[] =>
  keys.map((key) => ({
    name: key.type === "TOMLBare" ? key.name : key.value,
    start: key.range[0],
    end: key.range[1],
  }));

/** A value in plain form. Numbers and times become null, because edits do not need them. */
function plainOf(node: AST.TOMLContentNode): TomlValue {
  if (node.type === "TOMLArray") return node.elements.map(plainOf);
  if (node.type === "TOMLValue") return node.kind === "string" || node.kind === "boolean" ? node.value : null;
  const table: Record<string, TomlValue> = Object.create(null);
  for (const { key, value } of node.body) {
    const path = keysOf(key).map(({ name }) => name);
    put(table, path, plainOf(value));
  }
  return table;
}

function put(table: Record<string, TomlValue>, path: readonly string[], value: TomlValue): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) {
    table[name] = value;
    return;
  }
  const held = table[name];
  const inner: Record<string, TomlValue> = Object.assign(
    Object.create(null),
    typeof held === "object" && held !== null && !Array.isArray(held) ? held : {},
  );
  table[name] = inner;
  put(inner, rest, value);
}
