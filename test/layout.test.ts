import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const CONFIG = join(ROOT, ".dependency-cruiser.cjs");
const { forbidden: RULES } = createRequire(import.meta.url)(CONFIG) as {
  readonly forbidden: readonly { name: string }[];
};
const ROOMS = [
  "agents",
  "commands",
  ...RULES.flatMap(({ name }) => /^(\w+)-imports-only-rooms-below$/.exec(name)?.slice(1) ?? []),
];

/** One file per rule that breaks it and no other. `files` beside it are harmless by themselves. */
const PLANTED: Readonly<Record<string, { readonly file: string; readonly text: string; readonly beside?: Files }>> = {
  "no-cycles": {
    file: "src/send/otlp/planted-cycle.ts",
    text: `import { half } from "./planted-half.ts";\nexport const whole = (): number => half() * 2;\n`,
    beside: {
      "src/send/otlp/planted-half.ts": `import { whole } from "./planted-cycle.ts";\nexport const half = (): number => whole() / 2;\n`,
    },
  },
  "src-stands-alone": {
    file: "src/send/otlp/planted-dashboard.ts",
    text: `import { DAYS } from "../../../dashboards/src/planted.ts";\nexport const days = DAYS;\n`,
    beside: { "dashboards/src/planted.ts": "export const DAYS = 4;\n" },
  },
  "no-broken-imports": { file: "src/store/planted-broken.ts", text: `import "./nowhere.ts";\n` },
  "intake-is-bare": {
    file: "src/collect/intake/inbox-file.ts",
    text: `import * as z from "zod";\nexport const bare = z;\n`,
  },
  "hook-starts-nothing-else": {
    file: "src/collect/intake/hook-main.ts",
    text: `import { loadConfig } from "#config/load.ts";\nvoid loadConfig;\n`,
  },
  "intake-knows-only-the-model": {
    file: "src/collect/intake/planted.ts",
    text: `import { readMeta } from "#store/meta.ts";\nvoid readMeta;\n`,
  },
  "schemas-are-loaded-on-use": {
    file: "src/collect/drain/planted-schema.ts",
    text: `import { TranscriptEntry } from "#core/model/transcript.ts";\nvoid TranscriptEntry;\n`,
  },
  "model-imports-only-zod": { file: "src/core/model/planted.ts", text: `import { v4 } from "uuid";\nvoid v4;\n` },
  "agents-know-only-the-model": {
    file: "src/agents/claude-code/planted-up.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "agents-are-islands": {
    file: "src/agents/claude-code/planted-bridge.ts",
    text: `import card from "../openhook/index.ts";\nvoid card;\n`,
  },
  "only-the-registry-knows-agents": {
    file: "src/collect/drain/planted-agent.ts",
    text: `import card from "#agents/claude-code/index.ts";\nvoid card;\n`,
  },
  "agents-are-loaded-on-demand": {
    file: "src/agents/planted.ts",
    text: `import card from "./claude-code/index.ts";\nvoid card;\n`,
  },
  "pure-rooms": { file: "src/core/session/planted-impure.ts", text: `import { stat } from "node:fs";\nvoid stat;\n` },
  "session-before-telemetry": {
    file: "src/core/session/planted-order.ts",
    text: `import { spanIdOf } from "../telemetry/ids.ts";\nvoid spanIdOf;\n`,
  },
  "stations-know-only-the-model": {
    file: "src/store/planted-sideways.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "privacy-knows-only-the-model": {
    file: "src/core/privacy/planted-sideways.ts",
    text: `import { buildSession } from "../session/build.ts";\nvoid buildSession;\n`,
  },
  "capture-decides-alone": {
    file: "src/store/capture/planted.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "bridge-hosts-alone": {
    file: "src/collect/bridge/planted.ts",
    text: `import { createSender } from "#send/otlp/send.lazy.ts";\nvoid createSender;\n`,
  },
  "transcripts-are-found-apart": {
    file: "src/collect/transcripts/planted.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "sessions-only-read": {
    file: "src/store/sessions/planted.ts",
    text: `import { levelOf } from "#store/capture/level.ts";\nvoid levelOf;\n`,
  },
  "report-reads-sessions": {
    file: "src/show/report/planted.ts",
    text: `import { levelOf } from "#store/capture/level.ts";\nvoid levelOf;\n`,
  },
  "git-is-asked-apart": {
    file: "src/changes/git/planted.ts",
    text: `import { readMeta } from "#store/meta.ts";\nvoid readMeta;\n`,
  },
  "stations-serve-drains-and-imports": {
    file: "src/check/health/planted-drain.ts",
    text: `import { emptyReport } from "#collect/drain/context.ts";\nvoid emptyReport;\n`,
  },
  "otel-lives-in-otlp": {
    file: "src/collect/drain/planted-sdk.ts",
    text: `import { resourceFromAttributes } from "@opentelemetry/resources";\nvoid resourceFromAttributes;\n`,
  },
  "connections-open-in-network": {
    file: "src/check/reconcile/planted-fetch.ts",
    text: `import { request } from "node:https";\nvoid request;\n`,
  },
  "sqlite-lives-in-store": {
    file: "src/collect/drain/planted-sql.ts",
    text: `import Libsql from "libsql";\nvoid Libsql;\n`,
  },
  "page-runs-in-a-browser": {
    file: "src/show/view/page/planted.tsx",
    text: `import { readFileSync } from "node:fs";\nvoid readFileSync;\n`,
  },
  "page-is-built-apart": {
    file: "src/show/view/planted.ts",
    text: `import { safeText } from "./page/text/safe-text.ts";\nvoid safeText;\n`,
  },
  "programs-are-the-edge": { file: "src/commands/planted-edge.ts", text: `import "../cli.ts";\n` },
  "commands-start-the-pipeline": {
    file: "src/collect/drain/planted-pipeline.ts",
    text: `import { drain } from "#pipeline.ts";\nvoid drain;\n`,
  },
  "commands-are-loaded-on-demand": {
    file: "src/commands/definitions/planted.ts",
    text: `import { enable } from "../enable.ts";\nvoid enable;\n`,
  },
  "commands-are-built-in-groups": {
    file: "src/commands/definitions/planted-part.ts",
    text: `export const planted = () => import("../enable.ts");\n`,
  },
};

/** One file per room that imports from a room above it. */
const PLANTED_UP: typeof PLANTED = Object.fromEntries(
  [
    ["kit", "planted-up", "#core/rules/names.ts"],
    ["core", "planted-up", "#agents/registry.ts"],
    ["config", "planted-up", "#send/network/request.ts"],
    ["send", "planted-up", "#store/meta.ts"],
    ["store", "planted/up", "#show/report/buckets.ts"],
    ["show", "planted-up", "#changes/git/git.ts"],
    ["changes", "planted-up", "#collect/transcripts/transcript-roots.ts"],
    ["collect", "planted-up", "#setup/stack/text.ts"],
    ["setup", "planted-up", "#check/health/coverage.ts"],
    ["check", "planted-up", "#commands/doctor.ts"],
  ].map(([room, name, above]) => [
    `${room}-imports-only-rooms-below`,
    { file: `src/${room}/${name}.ts`, text: `import "${above}";\n` },
  ]),
);

const ALL_PLANTED: typeof PLANTED = { ...PLANTED, ...PLANTED_UP };

type Files = Readonly<Record<string, string>>;

/** A command that needs more lines holds logic that belongs to another room. */
const MAX_COMMAND_LINES = 120;

/** A file is one thought. */
const MAX_LINES = 400;
const MAX_MEDIAN_LINES = 90;
const MAX_P90_LINES = 250;
/** Written by scripts/wasm.mjs. */
const GENERATED: ReadonlySet<string> = new Set(["src/agents/shared/transcript/shorten/module.ts"]);

/** A cycle of type imports, which the compiler would accept. */
const CYCLE_OF_TYPES: Files = {
  "src/send/otlp/planted-type.ts": `import type { Half } from "./planted-type-half.ts";\nexport type Whole = Half | 1;\n`,
  "src/send/otlp/planted-type-half.ts": `import type { Whole } from "./planted-type.ts";\nexport type Half = Whole[];\n`,
};

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

  describe("a planted violation is reported", () => {
    let copy = "";
    let reported: readonly Violation[] = [];
    beforeAll(() => {
      copy = mkdtempSync(join(tmpdir(), "openhook-layout-"));
      for (const name of ["src", "package.json", "tsconfig.json"]) {
        cpSync(join(ROOT, name), join(copy, name), { recursive: true });
      }
      symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "junction");
      for (const { file, text, beside = {} } of Object.values(ALL_PLANTED)) {
        for (const [path, content] of Object.entries({ ...beside, [file]: text })) {
          mkdirSync(dirname(join(copy, path)), { recursive: true });
          writeFileSync(join(copy, path), content);
        }
      }
      for (const [path, content] of Object.entries(CYCLE_OF_TYPES)) writeFileSync(join(copy, path), content);
      reported = cruise(copy).violations;
    });
    afterAll(() => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));

    test.each(Object.keys(ALL_PLANTED))("%s", (name) => {
      const planted = ALL_PLANTED[name];
      expect(new Set(reported.filter(({ from }) => from === planted?.file).map(({ rule }) => rule))).toEqual(
        new Set([name]),
      );
    });

    test("a cycle of types alone", () => {
      const found = reported.filter(({ from }) => from in CYCLE_OF_TYPES).map(({ rule }) => rule);
      expect(new Set(found)).toEqual(new Set(["no-cycles"]));
    });

    test("there is a planted violation of every rule", () => {
      expect(Object.keys(ALL_PLANTED).sort()).toEqual(RULES.map(({ name }) => name).sort());
    });
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

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: string;
}

type Import = readonly [from: string, to: string];

/** @returns `sources` and `imports` only of `src` */
function cruise(root: string): {
  readonly violations: readonly Violation[];
  readonly sources: readonly string[];
  readonly imports: readonly Import[];
} {
  const program = join(ROOT, "node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs");
  const args = [program, "src", "--config", CONFIG, "--output-type", "json"];
  const result = JSON.parse(
    execFileSync(process.execPath, args, { cwd: root, maxBuffer: 1 << 28, encoding: "utf8" }),
  ) as {
    readonly modules: readonly {
      readonly source: string;
      readonly dependencies: readonly { readonly resolved: string }[];
    }[];
    readonly summary: {
      readonly violations: readonly { readonly from: string; readonly to: string; readonly rule: { name: string } }[];
    };
  };
  return {
    violations: result.summary.violations.map(({ from, to, rule }) => ({ from, to, rule: rule.name })),
    sources: result.modules
      .map(({ source }) => source)
      .filter((source) => source.startsWith("src/"))
      .sort(),
    imports: result.modules.flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved }): Import => [source, resolved]).filter((pair) => pair.every(isOurs)),
    ),
  };
}

const isOurs = (path: string): boolean => path.startsWith("src/");

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
  return stringsIn(text).filter((string) => name.test(string.replaceAll(/\be\.g\. [\w-]+/g, "")));
}

/** Uses of globals that open a connection. */
function connectionsIn(text: string): readonly string[] {
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
const writesIn = (text: string): readonly string[] => stringsIn(text).filter((string) => WRITES.test(string));
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
