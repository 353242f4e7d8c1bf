// Slow: only `npm run test:all` runs it. Everything removed, with the built program; commands/enable.test.ts has disable.
//
// `uninstall` removes everything that `enable` and `wrap` made, and names what it leaves.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { installPackage } from "../support/installed-package.ts";
import { ensureBuilt, type Finished, Machine, RecordedAgent, registeredIn } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

let folder: string;
let program: string;
let machine: Machine;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "openhook-uninstall-"));
  program = installPackage(folder);
});
afterAll(() => removeFolder(folder));
beforeEach(({ onTestFinished }) => {
  const fresh = new Machine();
  machine = fresh;
  onTestFinished(() => fresh.remove());
});

/** Runs the installed package. */
const run = (args: string, cwd = machine.home, env = {}): Promise<Finished> =>
  machine.shell(`exec '${process.execPath}' '${program}' ${args}`, { cwd, env });

/** Every path below the home, without folders that are empty. */
const filesLeft = (): readonly string[] =>
  readdirSync(machine.home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(machine.home.length + 1))
    .sort();

test("takes away the hooks of all agents and projects, wrappers and copies; with --purge also data and settings", async () => {
  const settings = join(machine.home, ".claude", "settings.json");
  const original = '{ "model": "opus",\n\n"x": 1 }\n';
  mkdirSync(dirname(settings));
  writeFileSync(settings, original);
  const projects = ["one", "two"].map((name) => join(machine.home, name));
  for (const path of projects) mkdirSync(path);
  const gh = join(machine.home, "bin", "gh");
  mkdirSync(dirname(gh));
  writeFileSync(gh, "#!/bin/sh\n");
  chmodSync(gh, 0o755);
  const before = filesLeft();

  for (const agent of ["claude-code", "codex", "copilot"])
    expect(await run(`enable ${agent}`)).toMatchObject({ code: 0 });
  for (const path of projects) expect(await run("enable claude-code --scope project", path)).toMatchObject({ code: 0 });
  expect(await run("wrap gh")).toMatchObject({ code: 0 });
  expect(await run("config set otlp.endpoint http://127.0.0.1:9")).toMatchObject({ code: 0 });
  await new RecordedAgent(machine, "basic").work(registeredIn(readFileSync(settings, "utf8")));
  await machine.quiet();
  expect(existsSync(machine.places.storePath)).toBe(true);

  const dry = await run("uninstall --dry-run");
  for (const name of ["Claude Code", "Codex", "Copilot", ...projects, "gh", "the copy of this program in"]) {
    expect(dry.stdout).toContain(name);
  }
  const asked = await run("uninstall");
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  expect(readFileSync(settings, "utf8")).toContain("openhook-otel");

  const done = await run("uninstall --yes");
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain(`Collected data stays in ${machine.places.stateDir}`);
  expect(done.stdout).toContain("npm uninstall --global openhook-otel");
  expect(readFileSync(settings, "utf8")).toBe(original);
  expect(existsSync(dirname(machine.places.hookPath))).toBe(false);
  expect(existsSync(machine.places.storePath)).toBe(true);

  expect((await run("uninstall --yes")).stdout).toMatch(/^There is nothing to uninstall\.\nCollected data stays in /);
  expect(await run("uninstall --purge --yes")).toMatchObject({ code: 0, stderr: "" });
  const transcripts = filesLeft().filter((path) => path.startsWith(".claude/projects/"));
  expect(filesLeft()).toEqual([...before, ...transcripts].sort());
  expect((await run("uninstall --purge --yes")).stdout).toMatch(/^There is nothing to uninstall\.\n/);
});

test("a folder that OPENHOOK_OTEL_HOME names loses only what is ours", async () => {
  const home = join(machine.home, "moved");
  const env = { OPENHOOK_OTEL_HOME: home };
  expect(await run("enable claude-code", machine.home, env)).toMatchObject({ code: 0 });
  await run("drain", machine.home, env);
  writeFileSync(join(home, "notes.txt"), "mine");
  const done = await run("uninstall --purge --yes", machine.home, env);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(`what is not ours stays in ${home}`) });
  expect(readdirSync(home)).toEqual(["notes.txt"]);
});

test("settings that cannot be edited keep the program, with the reason", async () => {
  await run("enable claude-code codex");
  const broken = join(machine.home, ".claude", "settings.json");
  const text = readFileSync(broken, "utf8");
  writeFileSync(broken, `${text.trimEnd().slice(0, -1)} "torn`);
  const first = await run("uninstall --purge --yes");
  expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining(broken) });
  expect(first.stdout).toContain("The hook program and collected data stay: claude-code");
  expect(existsSync(machine.places.hookPath)).toBe(true);
  writeFileSync(broken, text);
  expect(await run("uninstall --purge --yes")).toMatchObject({ code: 0, stderr: "" });
  expect(filesLeft()).toEqual([]);
});

test("doctor and uninstall find a copy without a hook", async () => {
  await run("enable claude-code");
  await run("disable claude-code");
  const copy = join(machine.home, ".local", "share", "openhook-otel", "0.0.1");
  mkdirSync(join(copy, "dist"), { recursive: true });
  expect((await run("doctor")).stdout).toContain(`hooks do not use ${copy}`);
  expect(await run("uninstall --yes")).toMatchObject({ code: 0, stdout: expect.stringContaining(copy) });
  expect(existsSync(copy)).toBe(false);
});
