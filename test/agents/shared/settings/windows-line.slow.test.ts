// Slow: only `npm run test:all` runs it. The line for Windows in every shell; settings.test.ts has how a line is
// found again.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { programInLine, windowsLine } from "#agents/shared/settings/windows-line.ts";
import { optionsOf } from "#collect/intake/hook-options.ts";
import { powershellCommands } from "../../../support/powershell-words.ts";
import { removeFolder } from "../../../support/remove.ts";

const root = mkdtempSync(join(tmpdir(), "openhook-windows-line-"));
afterAll(() => removeFolder(root));

const LOCAL = "C:\\Users\\dev\\AppData\\Local";
const NODE = "C:\\Program Files\\nodejs\\node.exe";
const words = ["--source", "claude-code", "--drain", "yes"];
/** What the script in a line passes on as the program. */
const readPath = (script: string): string =>
  spawnSync(process.execPath, ["-e", `${script.replace(/;try.*$/, "")};process.stdout.write(process.argv[1])`], {
    encoding: "utf8",
  }).stdout;
const lineFor = (hookPath: string, nodePath = NODE) => windowsLine({ hookPath, nodePath }, words);

test("the program's path can have any characters, and the line has only those that no shell changes", () => {
  for (const name of ["dev", "Jane Doe", "Jürgen", "山田", "a$b`c", "it's", "50%", "a&b^c!", "(x86)"]) {
    const path = `C:\\Users\\${name}\\AppData\\Local\\openhook-otel\\hook.cjs`;
    const line = lineFor(path);
    expect(programInLine(line), line).toBe(path.replaceAll("\\", "/"));
    expect(line.slice(0, line.indexOf(" ;exit"))).toMatch(/^[\w ./:\\(),;'"{}[\]-]+$/);
    expect(isOurCommand(line)).toBe(true);
  }
  expect(isOurCommand(lineFor("D:\\state\\hook.cjs"))).toBe(true);
});

test("by PowerShell's rules it is two commands, whatever the path has in it", () => {
  for (const name of [
    "dev",
    "Jane Doe",
    "Jürgen",
    "山田",
    "a$b`c",
    "it's",
    'a"b',
    "50%",
    "a&b^c!;#",
    "(x86)",
    "{a},@b",
  ]) {
    const path = `C:\\Users\\${name}\\AppData\\Local\\openhook-otel\\hook.cjs`;
    for (const node of [NODE, "C:\\PROGRA~1\\nodejs\\node.exe"]) {
      const [start = [], exit, ...rest] = powershellCommands(lineFor(path, node));
      // Windows ignores the second backslash
      expect(start[0]).toBe(node === NODE ? "node" : "C:\\\\PROGRA~1\\\\nodejs\\\\node.exe");
      expect(start.slice(-words.length)).toEqual(words);
      expect([exit, ...rest]).toEqual([["exit", "0"]]);
      // Node itself reads the path
      const [, flag, script = ""] = start;
      const read = flag === "-e" ? readPath(script) : (flag ?? "");
      expect(read).toBe(path.replaceAll("\\", "/"));
    }
  }
});

test.each([
  '"C:\\Program Files\\nodejs\\node.exe" hook.cjs',
  "node hook.cjs & exit 0",
  'node "$HOME"',
  "node hook.cjs || exit 0",
])("PowerShell would not run %s", (line) => expect(() => powershellCommands(line)).toThrow("another meaning"));

test("Node's path is used if no shell needs quotes for it", () => {
  const path = `${LOCAL}\\openhook-otel\\hook.cjs`;
  expect(lineFor(path)).toMatch(/^node C:\/Users/);
  expect(lineFor(path, "C:\\nvm4w\\nodejs\\node.exe")).toMatch(/^C:\\\\nvm4w\\\\nodejs\\\\node\.exe C:\/Users/);
});

test("cmd.exe passes the end of the line as arguments, which the hook ignores", () => {
  expect(optionsOf([...words, ";exit", "0", "#openhook-otel"])).toEqual(optionsOf(words));
});

// The same rules as those of Git's bash, and of the shell in Crush
describe.each(["sh", "bash", "busybox", "zsh", "ksh"])("%s", (shell) => {
  // Without --norc, bash reads the user's settings if stdin is a socket
  const prefix = shell === "busybox" ? ["sh", "-c"] : shell === "bash" ? ["--norc", "-c"] : ["-c"];
  const program = spawnSync("sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).stdout.trim();
  const isMissing = program === "";
  const run = (line: string, env: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync(program, [...prefix, line], { input: "{}", encoding: "utf8", env });
    return { status, stdout, stderr };
  };
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

  test.skipIf(isMissing)("passes the words to the program, and ends with 0 whatever it does", () => {
    const folder = join(root, shell, "openhook-otel");
    mkdirSync(folder, { recursive: true });
    const program = join(folder, "hook.cjs");
    const seen = join(folder, "seen");
    const write = `require("fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.argv.slice(1)))`;
    writeFileSync(program, `${write};process.exit(3)`);
    expect(run(lineFor(program), { PATH })).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(JSON.parse(readFileSync(seen, "utf8"))).toEqual([program, ...words]);
  });

  test.skipIf(isMissing)("ends with 0 if the program or Node is missing", () => {
    const line = lineFor(join(root, "gone", "hook.cjs"));
    expect(run(line, { PATH })).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(run(line, { PATH: join(root, "empty") })).toMatchObject({ status: 0, stdout: "" });
  });
});
