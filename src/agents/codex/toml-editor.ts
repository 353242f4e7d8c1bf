import type { Editor } from "../shared/native/edits.ts";
import type { Json } from "../shared/settings/jsonc.ts";
import { SettingsError } from "../shared/settings/settings.ts";
import {
  fullPath,
  type Header,
  isTable,
  type Pair,
  pairsBelow,
  TomlError,
  type TomlValue,
  tomlString,
  valueAt,
} from "../shared/settings/toml.ts";
import { eolOf, statementsOf } from "../shared/settings/toml-statements.ts";

/**
 * Settings in TOML, each on one line below the header of its table. A table that is not there is appended, below a comment that marks it
 * as ours.
 */
export const TOML_EDITOR: Editor = {
  get: (text, path) => valueAt(statementsOf(text), path),
  set(text, path, value) {
    const [table, key = ""] = [path.slice(0, -1), path.at(-1)];
    const statements = statementsOf(text);
    const written = `${key} = ${inToml(value)}`;
    const pairs = statements.filter((one): one is Pair => one.kind === "pair" && isBelow(fullPath(one), table));
    const known = pairs.find((pair) => fullPath(pair).join("\n") === path.join("\n"));
    if (known !== undefined) return splice(text, known.valueStart, known.valueEnd, inToml(value));
    const spread = statements.find(
      (one): one is Pair => one.kind === "pair" && (isBelow(fullPath(one), path) || isBelow(table, fullPath(one))),
    );
    if (spread !== undefined) throw cannotEdit(text, spread, path.join("."));
    const eol = eolOf(text);
    const header = headerOf(text, table);
    if (header !== undefined) {
      const isOpen = header.end === text.length && !text.endsWith("\n");
      return splice(text, header.end, header.end, isOpen ? `${eol}${written}` : `${written}${eol}`);
    }
    const dotted = pairs.find((pair) => pair.header === undefined);
    if (dotted !== undefined) return splice(text, dotted.start, dotted.start, `${named(table)}.${written}${eol}`);
    const block = [MARKS[table[0] ?? ""], `[${named(table)}]`, written].join(eol);
    if (text === "" || text === "\uFEFF") return `${text}${block}${eol}`;
    // If the text has no line break at its end, add none
    return text.endsWith("\n") ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
  },
  unset(text, path, original) {
    const table = path.slice(0, -1);
    const pair = statementsOf(text).find(
      (one): one is Pair => one.kind === "pair" && fullPath(one).join("\n") === path.join("\n"),
    );
    if (pair === undefined) return text;
    const left = withoutLines(text, pair);
    const header = headerOf(left, table);
    if (header === undefined || headerOf(original, table) !== undefined) return left;
    const statements = statementsOf(left);
    return pairsBelow(
      statements,
      statements.findIndex(({ start }) => start === header.start),
    ).length > 0
      ? left
      : withoutBlock(left, header);
  },
  isEmpty: (text) => text.replace("\uFEFF", "").trim() === "",
  empty: "",
};

// --- internal ---

/** By the first name of the table. */
const MARKS: Readonly<Record<string, string>> = {
  otel: "# openhook-otel: the agent's own telemetry, for enable --native",
  mcp_servers: "# openhook-otel: answers about cost, for enable --mcp",
};

const headerOf = (text: string, table: readonly string[]): Header | undefined =>
  statementsOf(text).find(
    (one): one is Header => one.kind === "header" && one.path.map(({ name }) => name).join("\n") === table.join("\n"),
  );

const isBelow = (path: readonly string[], above: readonly string[]): boolean =>
  above.every((name, index) => path[index] === name);

const named = (table: readonly string[]): string => table.map(bare).join(".");

function inToml(value: Json | TomlValue): string {
  if (isTable(value as TomlValue)) {
    const pairs = Object.entries(value as object).map(([name, inner]) => `${bare(name)} = ${inToml(inner)}`);
    return `{ ${pairs.join(", ")} }`;
  }
  if (Array.isArray(value)) return `[${value.map((one) => inToml(one)).join(", ")}]`;
  return typeof value === "string" ? tomlString(value) : String(value);
}

const bare = (name: string): string => (/^[\w-]+$/.test(name) ? name : tomlString(name));

const splice = (text: string, start: number, end: number, content: string): string =>
  text.slice(0, start) + content + text.slice(end);

/** Without the lines of a statement. A text without a line break at its end keeps none. */
function withoutLines(text: string, { start, end }: Pick<Pair, "start" | "end">): string {
  const isOpen = end === text.length && !text.endsWith("\n");
  const before = text.slice(0, start);
  return (isOpen ? before.replace(/\r?\n$/, "") : before) + text.slice(end);
}

/** Without an empty table of ours, its mark and the empty line before it. */
function withoutBlock(text: string, { start, end }: Header): string {
  const before = text.slice(0, start);
  if (!/(?:^|\n|\uFEFF)# openhook-otel: [^\n]*\n$/.test(before)) return text;
  const from = before.replace(/# openhook-otel: [^\n]*\n$/, "").replace(/(?<=\n)\r?\n$/, "").length;
  return withoutLines(text, { start: from, end });
}

function cannotEdit(text: string, { valueStart }: Pair, name: string): SettingsError {
  const at = new TomlError("", text, valueStart);
  const what = `${name} is written in a form that cannot be edited`;
  return new SettingsError(what, "write it on one line below its table and run the command again", at.line, at.column);
}
