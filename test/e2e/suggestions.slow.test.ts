// Slow: only `npm run test:all` runs it. Each suggested command, typed as printed; commands/*.test.ts run the commands.
//
// Every command that a message suggests can be typed as printed.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { programName } from "#config/own-program.ts";
import { ensureBuilt, Machine, PROGRAM } from "../support/program.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const SRC = join(ROOT, "src");

/** Examples for the variable parts of suggestions. */
const EXAMPLES: Readonly<Record<string, string>> = {
  "<url>": "http://127.0.0.1:9",
  "<value>": "secret",
  "<bytes>": "100000",
  "setting.key": "otlp.headersCommand",
  URL: "http://127.0.0.1:9",
  FILE: "session.html",
  KEY: "capture",
  VALUE: "none",
  agent: "claude-code",
  unknown: "claude-code",
  verb: "enable",
  source: "claude-code",
  "status.source": "claude-code",
  "first.agent.source": "claude-code",
  flag: "",
  signal: "traces",
  protocol: "http/json",
  name: "gh",
  word: "today",
  sessionId: "0123",
  example: "model claude-opus-4-1 claude-sonnet-4-5",
  "asArgument(path)": "openhook.json",
  "word(all)": "/tmp",
  "summary.by[0]": "day",
  "printable(named)": "glm-5.1",
  STACK_ENDPOINT: "http://127.0.0.1:4318",
};

interface Call {
  readonly file: string;
  readonly args: string;
}

/** The arguments of all calls of `suggest` and of the page's `command`, with examples for their variable parts. */
function suggestions(): readonly Call[] {
  const calls: Call[] = [];
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(file)) continue;
    const source = ts.createSourceFile(file, readFileSync(join(SRC, file), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const callee = ts.isCallExpression(node) ? node.expression.getText() : "";
      const isPage = file.startsWith(join("view", "page"));
      const [given] = ts.isCallExpression(node) ? node.arguments : [];
      if ((callee === "suggest" || (isPage && callee === "command")) && given !== undefined) {
        calls.push({ file, args: textOf(given, file) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return calls;
}

function textOf(node: ts.Expression, file: string): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) throw new Error(`${file}: ${node.getText()} is not a literal`);
  const parts = node.templateSpans.map(({ expression, literal }) => {
    const name = expression.getText();
    const example = ts.isConditionalExpression(expression) ? "" : EXAMPLES[name];
    if (example === undefined) throw new Error(`${file}: no example for ${name}`);
    return example + literal.text;
  });
  return node.head.text + parts.join("");
}

let machine: Machine;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

const CALLS = suggestions();

test("there are suggestions in many places", () => expect(CALLS.length).toBeGreaterThan(40));

describe("each suggestion is a command that the program knows", () => {
  test.each([...new Set(CALLS.map(({ args }) => args))])("%s", async (args) => {
    const words = args.split(" ").filter((word) => word !== "");
    const given = words.map((word) => EXAMPLES[word] ?? word);
    if (given[0] === "view") {
      await serves(given);
      return;
    }
    // For all users of the machine on which the tests run: only the options are checked
    if (given.includes("--managed")) given.push("--dry-run");
    const { code, stderr } = await machine.run(given);
    expect(stderr).not.toMatch(/unknown (?:command|option)|too many arguments|missing required argument|\(--help/);
    // Invalid input has code 2; here a command may fail, since the machine has no agents, no sessions and no terminal
    if (code === 2)
      expect(stderr).toMatch(
        /no terminal|not found|there is no|no agent|--yes|is not installed|nothing|needs an endpoint|--dry-run cannot be/i,
      );
  });

  async function serves(args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, ...args, "--no-open"], { env: machine.env, cwd: machine.home });
    try {
      const [line] = await new Promise<string[]>((done, fail) => {
        child.stdout.once("data", (data: Buffer) => done([data.toString()]));
        child.once("exit", (code) => fail(new Error(`view exited with ${code}`)));
      });
      expect(line).toContain("http://127.0.0.1");
    } finally {
      child.kill();
    }
  }
});

test("no message names a command in another way", () => {
  const known = new Set(["openhook-otel wrapper", "openhook-otel plugin", "openhook-otel settings"]);
  const found: string[] = [];
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(file) || file.startsWith("agents")) continue;
    const source = ts.createSourceFile(file, readFileSync(join(SRC, file), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
        for (const [named] of node.text.matchAll(/openhook-otel (?:[a-z-]+)/g)) {
          if (!known.has(named) && COMMANDS.test(named)) found.push(`${file}: ${named}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  expect(found).toEqual([]);
});
const COMMANDS =
  / (?:start|enable|disable|uninstall|status|doctor|sessions|show|view|report|explain|statusline|outcomes|pr-comment|export|drain|run|import|preview|reconcile|replay|prune|convert|conformance|bridge|wrap|unwrap|stack|config|demo|completion|hook)$/;

describe("the program's name", () => {
  const start = (cwd: string | undefined, path: string) => ({
    env: { PATH: path },
    platform: process.platform,
    cwd,
    nodePath: process.execPath,
    programPath: PROGRAM,
  });

  test("openhook-otel, if PATH leads to this program", () => {
    const bin = join(machine.home, "bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(PROGRAM, join(bin, "openhook-otel"));
    expect(programName(start(machine.home, bin))).toBe("openhook-otel");
  });

  test("otherwise Node with the program's path, relative below the current directory", () => {
    const path = dirname(realpathSync(process.execPath));
    expect(programName(start(ROOT, path))).toBe(`node ${relative(ROOT, PROGRAM)}`);
    expect(programName(start(machine.home, path))).toBe(`node ${PROGRAM}`);
    expect(programName(start(undefined, ""))).toBe(`${process.execPath} ${PROGRAM}`);
  });

  test("npx, if npx runs it: its folder is in PATH only until it ends", () => {
    const programPath = "/home/dev/.npm/_npx/1a2b/node_modules/openhook-otel/dist/openhook-otel.cjs";
    expect(programName({ ...start(machine.home, ""), programPath })).toBe("npx openhook-otel");
  });

  test("a path with blanks or quotes is quoted for the shell", () => {
    const odd = { ...start(machine.home, ""), nodePath: "/opt/it's node/bin/node" };
    expect(programName(odd)).toBe(`'/opt/it'\\''s node/bin/node' ${PROGRAM}`);
    const windows = { ...odd, platform: "win32" as const, nodePath: "C:\\Program Files\\node.exe" };
    expect(programName(windows)).toMatch(/^"C:\\Program Files\\node\.exe" /);
  });

  test("a message shows it as the user can type it", async () => {
    const { stdout } = await machine.run(["sessions"]);
    const [, typed = ""] = /run (.+?) to enable your agents/.exec(stdout) ?? [];
    const { code } = await machine.shell(typed);
    expect(typed).toContain("start");
    expect(code).toBe(0);
  });
});
