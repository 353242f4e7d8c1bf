// Slow: only `npm run test:all` runs it. The line in a repository's settings in every shell; settings.test.ts has
// how a line is found again.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { placesOf } from "#config/places.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { contextAt } from "../../../support/context.ts";
import { powershellCommands } from "../../../support/powershell-words.ts";
import { removeFolder } from "../../../support/remove.ts";
import { hasShell } from "../../../support/shells.ts";

const root = mkdtempSync(join(tmpdir(), "openhook-project-line-"));
afterAll(() => removeFolder(root));

const home = join(root, "home");
const localData = join(home, "local data");
const seen = join(root, "seen");
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

type Options = Parameters<ReturnType<typeof hookCommandOf>>[0];
const lineFor = (options: Partial<Options> = {}, env: Record<string, string> = {}) =>
  hookCommandOf(
    contextAt(placesOf({ env, home, platform: "linux" }), { env }).context,
    "project",
  )({
    source: "cursor",
    drain: "yes",
    ...options,
  });

/** The programs of both systems write their words to a file. */
function install(hook = join(home, ".local", "share", "openhook-otel", "hook")): void {
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\nfor word; do printf '<%s>' "$word"; done >${seen}; cat >>${seen}\n`, { mode: 0o755 });
}
function installForWindows(): void {
  const folder = join(localData, "openhook-otel");
  mkdirSync(folder, { recursive: true });
  const write = `require("fs").writeFileSync(${JSON.stringify(seen)}, process.argv.slice(2).join(" "))`;
  writeFileSync(join(folder, "hook.cjs"), `${write};process.exit(3)`);
}

beforeEach(() => {
  for (const path of [home, seen]) rmSync(path, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
});

// Git Bash has the rules of bash; Crush has a shell with the rules of bash inside
describe.each(["dash", "bash", "busybox", "zsh", "ksh", "fish"])("%s", (shell) => {
  const program = spawnSync("sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).stdout.trim();
  const run = (line: string, env: Record<string, string> = {}) => {
    const prefix = shell === "busybox" ? ["sh", "-c"] : shell === "bash" ? ["--norc", "-c"] : ["-c"];
    const options = { input: "{}", encoding: "utf8", cwd: root, env: { PATH, HOME: home, ...env } } as const;
    const { status, stdout, stderr } = spawnSync(program, [...prefix, line], options);
    return { status, stdout, stderr };
  };
  const QUIET = { status: 0, stdout: "", stderr: "" };

  test("starts the program with its words and stdin, and nothing if it is missing", () => {
    if (!hasShell(shell, "a project's line in it")) return expect(shell).not.toBe("dash");
    expect(run(lineFor())).toEqual(QUIET);
    installForWindows();
    expect(run(lineFor(), { LOCALAPPDATA: localData })).toEqual(QUIET);
    expect(existsSync(seen)).toBe(false);
    install();
    expect(run(lineFor({ event: "stop", reply: '{"a":"$HOME \\\\"}' }))).toEqual(QUIET);
    expect(readFileSync(seen, "utf8")).toBe('<-d><cursor><stop><{"a":"$HOME \\\\"}>{}');
  });

  test("starts Node on Windows, and ends with 0 if the program or Node is missing", () => {
    if (!hasShell(shell, "a project's line in it, as on Windows")) return expect(shell).not.toBe("dash");
    const env = { OS: "Windows_NT", LOCALAPPDATA: localData };
    expect(run(lineFor(), env)).toEqual(QUIET);
    expect(run(lineFor(), { ...env, PATH: join(root, "empty") })).toMatchObject({ status: 0, stdout: "" });
    installForWindows();
    expect(run(lineFor({ event: "stop", reply: "{}" }), env)).toEqual(QUIET);
    expect(readFileSync(seen, "utf8")).toBe("--source cursor --drain yes --event stop");
  });

  test("starts a moved program, without the home's path in the line", () => {
    if (!hasShell(shell, "a project's line with a moved program in it")) return expect(shell).not.toBe("dash");
    for (const folder of [join(home, "state"), join(root, "opt")]) {
      install(join(folder, "hook"));
      const line = lineFor({}, { OPENHOOK_OTEL_HOME: folder });
      expect(line).not.toContain(home);
      expect(run(line)).toEqual(QUIET);
      expect(readFileSync(seen, "utf8")).toBe("<-d><cursor>{}");
      rmSync(seen);
    }
  });
});

test("in PowerShell the line sets a variable, starts Node and ends with 0", async () => {
  for (const { source, replies = {} } of await allAgents()) {
    for (const reply of [undefined, ...Object.values(replies)]) {
      const line = lineFor({ source, ...(reply !== undefined && { reply }) });
      const [set, node, exit, ...rest] = powershellCommands(line);
      expect(set).toEqual(["set", "h", expect.stringMatching(/^\\=;.*: \\$/)]);
      expect(node?.filter((_, index) => index !== 2)).toEqual([
        ...["node", "-e", "--", "--source", source, "--drain", "yes"],
      ]);
      expect(node?.[2]).toContain("/openhook-otel/hook.cjs");
      expect([exit, ...rest]).toEqual([["exit", "0"]]);
    }
  }
});

test("in cmd the first command sets a variable, and two more follow", async () => {
  for (const { source, replies = {} } of await allAgents()) {
    for (const reply of [undefined, ...Object.values(replies)]) {
      const line = lineFor({ source, ...(reply !== undefined && { reply }) });
      // cmd has one kind of quotes, without an escape
      const bare = line.replaceAll(/"[^"]*"/g, '""');
      expect(bare).not.toMatch(/["%^<>!]{3}|[%^<>]|(?<!\|)\|(?!\|)/);
      const [set, node, exit, ...rest] = bare.split("&");
      expect(set?.split("||")[0]).toMatch(/^set h \\'=/);
      expect([node?.trim(), exit?.trim(), ...rest]).toEqual([`node -e "" -- --source ${source} --drain yes`, "exit 0"]);
    }
  }
});

test("the same line is written on every system, and is ours", () => {
  const windows = "C:\\Users\\Jane Doe";
  const env = { LOCALAPPDATA: `${windows}\\AppData\\Local`, OS: "Windows_NT" };
  const places = {
    ...placesOf({ env, home: windows, platform: "win32" }),
    hookPath: `${windows}\\AppData\\Local\\openhook-otel\\hook.cjs`,
  };
  const onWindows = hookCommandOf({ ...contextAt(places, { env }).context, platform: "win32" }, "project");
  expect(onWindows({ source: "cursor", drain: "yes" })).toBe(lineFor());
  expect(isOurCommand(lineFor())).toBe(true);
  expect(isOurCommand(lineFor({}, { OPENHOOK_OTEL_HOME: join(home, "state") }))).toBe(true);
});

test("a folder that not every shell can name is refused", () => {
  expect(() => lineFor({}, { OPENHOOK_OTEL_HOME: join(home, "it's here") })).toThrow(
    /set OPENHOOK_OTEL_HOME to a folder/,
  );
});
