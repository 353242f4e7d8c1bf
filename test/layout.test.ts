import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { cruise, type Import, ROOT, RULES } from "./support/cruise.ts";

const ROOMS = [
  "agents",
  "commands",
  ...RULES.flatMap(({ name }) => /^(\w+)-imports-only-rooms-below$/.exec(name)?.slice(1) ?? []),
];

/** A command that needs more lines holds logic that belongs to another room. */
const MAX_COMMAND_LINES = 120;

/** A file is one thought. */
const MAX_LINES = 400;
const MAX_MEDIAN_LINES = 90;
const MAX_P90_LINES = 250;
/** Written by scripts/wasm.mjs. */
const GENERATED: ReadonlySet<string> = new Set(["src/agents/shared/transcript/shorten/module.ts"]);

describe("who may import whom", () => {
  test("src breaks no rule, and all of it was looked at", () => {
    const { violations, sources, imports } = cruise(ROOT);
    expect(violations).toEqual([]);
    expect(inCircles(imports, 1)).toEqual([]);
    expect(inCircles(imports, 2)).toEqual([]);
    const rooms = new Set(
      sources.map((file) => file.split("/")).flatMap(([, room = "", file]) => (file ? [room] : [])),
    );
    expect([...rooms].sort()).toEqual([...ROOMS].sort());
    // Files that are copied into other programs' folders are not modules of the program
    const modules = sources.filter((file) => !file.endsWith(".sh"));
    // With an unknown version of TypeScript the tool checks no file and reports success
    expect(modules).toEqual(filesBelow(join(ROOT, "src")).filter((file) => /\.(tsx?|cjs|js)$/.test(file)));
  });

  test("rooms that import each other through a third one are found, and so are rooms inside a room", () => {
    const imports = [
      ["src/store/a.ts", "src/show/a.ts"],
      ["src/show/b.ts", "src/send/otlp/a.ts"],
      ["src/send/otlp/b.ts", "src/store/b.ts"],
      ["src/kit/text/a.ts", "src/kit/a.ts"],
      ["src/kit/b.ts", "src/kit/text/b.ts"],
      ["src/core/model/a.ts", "src/kit/a.ts"],
    ] as const;
    expect(inCircles(imports, 1)).toEqual(["send", "show", "store"]);
    expect(inCircles(imports.slice(3), 2)).toEqual(["kit", "kit/text"]);
  });
});

describe("commands parse, call and print", () => {
  test(`no file in src/commands is longer than ${MAX_COMMAND_LINES} lines`, () => {
    expect(longer(join(ROOT, "src", "commands"), MAX_COMMAND_LINES)).toEqual([]);
  });

  test("the check finds a longer file", () => {
    const folder = mkdtempSync(join(tmpdir(), "openhook-layout-"));
    try {
      mkdirSync(join(folder, "below"));
      writeFileSync(join(folder, "below", "long.ts"), "\n".repeat(MAX_COMMAND_LINES + 1));
      writeFileSync(join(folder, "short.ts"), "\n".repeat(MAX_COMMAND_LINES));
      expect(longer(folder, MAX_COMMAND_LINES)).toEqual(["below/long.ts"]);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});

describe("files are short", () => {
  const paths = filesBelow(join(ROOT, "src")).filter(
    (file) => /\.(tsx?|c?js|css|sh|sql|wat)$/.test(file) && !GENERATED.has(file),
  );
  const sizes = paths.map((file) => ({ file, lines: linesOf(join(ROOT, file)) }));

  test(`no file in src has more than ${MAX_LINES} lines`, () => {
    expect(paths.length).toBeGreaterThan(500);
    expect(above(sizes, MAX_LINES)).toEqual([]);
  });

  test(`half have less than ${MAX_MEDIAN_LINES} lines, nine in ten less than ${MAX_P90_LINES}`, () => {
    expect(quantile(sizes, 0.5)).toBeLessThan(MAX_MEDIAN_LINES);
    expect(quantile(sizes, 0.9)).toBeLessThan(MAX_P90_LINES);
  });

  test("the check finds a longer file, and too many long ones", () => {
    const planted = { file: "src/collect/drain/planted.ts", lines: MAX_LINES + 1 };
    expect(above([...sizes, planted], MAX_LINES)).toContain(planted.file);
    const grown = sizes.map(({ file, lines }) => ({ file, lines: lines * 2 }));
    expect(quantile(grown, 0.5)).toBeGreaterThan(MAX_MEDIAN_LINES);
    expect(quantile(grown, 0.9)).toBeGreaterThan(MAX_P90_LINES);
  });
});

describe("no file outside its folder names an agent", () => {
  const agents = readdirSync(join(ROOT, "src", "agents"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["shared", "openhook"].includes(entry.name))
    .map((entry) => entry.name);

  test("no string in src holds an agent's name, but for the examples in the help", () => {
    const found = filesBelow(join(ROOT, "src"))
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("src/agents/"))
      .flatMap((file) => namedIn(readFileSync(join(ROOT, file), "utf8"), agents).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });

  test("the check finds an agent's name in a string, and ignores comments and examples", () => {
    expect(namedIn(`if (source === "cursor") stop();`, agents)).toEqual(["cursor"]);
    expect(namedIn(["const title = `the $", "{kind} of claude-code`; // gemini-cli"].join(""), agents)).toEqual([
      " of claude-code",
    ]);
    expect(namedIn(`const help = "a name, e.g. kiro";`, agents)).toEqual([]);
    expect(namedIn(`const cursorColumn = "CLAUDE_PID"; // codex`, agents)).toEqual([]);
  });
});

describe("connections open in src/send/network", () => {
  test("no file calls fetch, except in the page, which runs in a browser", () => {
    const found = filesBelow(join(ROOT, "src"))
      .filter((file) => /\.(tsx?|js|cjs)$/.test(file) && !/^src\/(send\/network|show\/view\/page)\//.test(file))
      .flatMap((file) => connectionsIn(readFileSync(join(ROOT, file), "utf8")).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });

  test("the check finds calls, and ignores the word in texts and comments", () => {
    expect(connectionsIn("const answer = await fetch(url);")).toEqual(["fetch"]);
    expect(connectionsIn("const get = globalThis.fetch; new WebSocket(url);")).toEqual(["fetch", "WebSocket"]);
    expect(connectionsIn('const text = "fetch(url)"; // fetch(url)\nagent.fetched(url); db.fetch();')).toEqual([]);
  });
});

describe("nouns are types and schemas", () => {
  const FUNCTION = /^export (?:async function|function|class|const \w+(?:: [^=]+)? = (?:async )?(?:\(|<|\w+ =>))/m;

  test("no file in src/core/model has a function or a class", () => {
    const found = filesBelow(join(ROOT, "src", "core", "model")).filter((file) =>
      FUNCTION.test(readFileSync(join(ROOT, file), "utf8")),
    );
    expect(found).toEqual([]);
  });

  test("the check finds functions and classes, and accepts schemas and constants", () => {
    for (const text of ["export function a() {}", "export const a = (b: string) => b;", "export class A {}"])
      expect(FUNCTION.test(text), text).toBe(true);
    for (const text of [
      "export const A = z.object({});",
      'export const LEVELS = ["a"] as const;',
      "export interface A {}",
    ])
      expect(FUNCTION.test(text), text).toBe(false);
  });
});

// Of the object `z`, the bundler keeps every member: 300 kB of translations in each program
describe("zod is imported as a namespace", () => {
  const NAMED = /^import (?:type )?\{[^}]*\} from "zod"/m;

  test("no file in src imports names from zod", () => {
    const found = filesBelow(join(ROOT, "src"))
      .filter((file) => /\.tsx?$/.test(file))
      .filter((file) => NAMED.test(readFileSync(join(ROOT, file), "utf8")));
    expect(found).toEqual([]);
  });

  test("the check finds a named import, and accepts the namespace", () => {
    expect(NAMED.test('import { z } from "zod";')).toBe(true);
    expect(NAMED.test('import * as z from "zod";')).toBe(false);
  });
});

describe("the store is the only writer of store.db", () => {
  test("no string outside src/store changes a database", () => {
    const found = filesBelow(join(ROOT, "src"))
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("src/store/"))
      .flatMap((file) => writesIn(readFileSync(join(ROOT, file), "utf8")).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });

  test("the check finds SQL that changes data, and ignores SELECT and plain words", () => {
    expect(writesIn('db.prepare("DELETE FROM meta WHERE key = ?").run(key);')).toEqual([
      "DELETE FROM meta WHERE key = ?",
    ]);
    expect(writesIn("db.prepare(`\n  INSERT OR REPLACE INTO meta VALUES (?, $" + "{value})`);")).toHaveLength(1);
    expect(writesIn('const [a, b] = ["UPDATE sessions SET id = 1", "CREATE TABLE planted (id)"];')).toHaveLength(2);
    expect(
      writesIn('const text = "update openhook-otel"; db.prepare("SELECT 1 FROM meta"); // DELETE FROM meta'),
    ).toEqual([]);
  });
});

// --- internal ---

/**
 * Rooms that import each other, directly or through others.
 *
 * @param level 1: the folders of `src`; 2: also those inside them, e.g. `core/model`
 * @returns sorted names
 */
function inCircles(imports: readonly Import[], level: number): readonly string[] {
  const roomOf = (path: string): string => path.split("/").slice(1, -1).slice(0, level).join("/");
  const next = new Map<string, Set<string>>();
  for (const [from, to] of imports.map((pair) => pair.map(roomOf))) {
    if (from && to && from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const reaches = (from: string, to: string, seen: Set<string>): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(next.get(from) ?? [])].some((room) => room === to || reaches(room, to, seen));
  };
  return [...next.keys()].filter((room) => reaches(room, room, new Set())).sort();
}

interface Size {
  readonly file: string;
  readonly lines: number;
}

const linesOf = (path: string): number => readFileSync(path, "utf8").split("\n").length - 1;

const above = (sizes: readonly Size[], maxLines: number): readonly string[] =>
  sizes.filter(({ lines }) => lines > maxLines).map(({ file }) => file);

/** Lines of the file at this share of all, the shortest first. */
function quantile(sizes: readonly Size[], share: number): number {
  const sorted = sizes.map(({ lines }) => lines).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** Files below a folder with more lines than that, as paths from the folder, with slashes. */
function longer(folder: string, maxLines: number): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && linesOf(join(folder, path)) > maxLines)
    .map((path) => path.split(sep).join("/"));
}

/** Paths from the repository's root, with slashes. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [relative(ROOT, path).split(sep).join("/")];
    })
    .sort();
}

/** String literals and pieces of templates that contain one of the names as a word, except for a help's `e.g. kiro`. */
function namedIn(text: string, names: readonly string[]): readonly string[] {
  const name = new RegExp(`(?<![\\w-])(?:${names.join("|")})(?![\\w-])`);
  if (!name.test(text)) return [];
  return stringsIn(text).filter((string) => name.test(string.replaceAll(/\be\.g\. [\w-]+/g, "")));
}

/** Uses of globals that open a connection. */
function connectionsIn(text: string): readonly string[] {
  if (![...CONNECTING].some((name) => text.includes(name))) return [];
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && CONNECTING.has(node.text)) {
      const owner =
        ts.isPropertyAccessExpression(node.parent) && node.parent.name === node ? node.parent.expression : undefined;
      if (owner === undefined || owner.getText() === "globalThis") found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("planted.ts", text, ts.ScriptTarget.ES2022, true));
  return found;
}
const CONNECTING: ReadonlySet<string> = new Set(["fetch", "WebSocket", "EventSource"]);

/** String literals and pieces of templates with an SQL statement that writes. */
const writesIn = (text: string): readonly string[] =>
  WRITING_WORDS.test(text) ? stringsIn(text).filter((string) => WRITES.test(string)) : [];
const WRITING_WORDS = /INSERT|REPLACE|DELETE|UPDATE|CREATE|DROP|ALTER/;
const WRITES =
  /\b(?:(?:INSERT|REPLACE)(?: OR \w+)? INTO|DELETE FROM|UPDATE(?: OR \w+)? \w+\s+SET|(?:CREATE|DROP|ALTER)(?: TEMP| UNIQUE)? (?:TABLE|INDEX|VIEW|TRIGGER))\b/;

/** String literals and pieces of templates in a TypeScript file. */
function stringsIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("planted.ts", text, ts.ScriptTarget.ES2022, true));
  return found;
}
