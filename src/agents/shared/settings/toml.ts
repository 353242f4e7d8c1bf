/**
 * The parts of TOML that edits need: the position of each header and pair, with the values of strings, booleans, lists and
 * inline tables. Edits replace only what they change, so every other byte is preserved.
 */
export type TomlValue = string | boolean | null | readonly TomlValue[] | { readonly [name: string]: TomlValue };

/** One part of a dotted key, with its position. */
export interface Key {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** `[a.b]` or `[[a.b]]`. `start` and `end` are those of its line, including the line break. */
export interface Header {
  readonly kind: "header";
  readonly isArray: boolean;
  readonly path: readonly Key[];
  readonly start: number;
  readonly end: number;
}

/** `a.b = value`, on one line or several. */
export interface Pair {
  readonly kind: "pair";
  /** The header above it; absent at the top level. */
  readonly header?: Header;
  readonly path: readonly Key[];
  readonly value: TomlValue;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly start: number;
  readonly end: number;
}

export type Statement = Header | Pair;

/** A syntax error. Line and column count from 1. */
export class TomlError extends Error {
  readonly line: number;
  readonly column: number;
  constructor(message: string, text: string, offset: number) {
    super(message);
    this.name = "TomlError";
    const before = text.slice(0, offset).split("\n");
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }
}

/** The pairs of a table: all between its header and the next one. */
export function pairsBelow(statements: readonly Statement[], at: number): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const statement of statements.slice(at + 1)) {
    if (statement.kind === "header") break;
    pairs.push(statement);
  }
  return pairs;
}

/** The full path of a pair: the names of its header and its own. */
export const fullPath = ({ header, path }: Pair): readonly string[] =>
  [...(header?.path ?? []), ...path].map(({ name }) => name);

/** The value at a path; `undefined` inside lists of tables. */
export function valueAt(statements: readonly Statement[], wanted: readonly string[]): TomlValue | undefined {
  for (const statement of statements) {
    if (statement.kind !== "pair" || statement.header?.isArray === true) continue;
    const path = fullPath(statement);
    if (path.length > wanted.length || path.some((name, index) => name !== wanted[index])) continue;
    let value: TomlValue | undefined = statement.value;
    for (const name of wanted.slice(path.length)) value = isTable(value) ? value[name] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A basic string. JSON's escapes are valid in TOML; TOML escapes one more character. */
export const tomlString = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007F");

/** True for an inline table. */
export const isTable = (value: TomlValue | undefined): value is { readonly [name: string]: TomlValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
