// Slow: only `npm run test:all` runs it. The program as npx and npm install it, with the built program; registration/installed-
// copy.test.ts has the rules.
//
// The program that hooks use is a copy: it outlives npm's cache and other versions, and is replaced while drains run.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as semconv from "#core/telemetry/semconv.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { installPackage } from "../support/installed-package.ts";
import { ensureBuilt, Machine, RecordedAgent, ROOT, registeredIn, sleep, until } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

const { version: OLD }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const NEW = "999.0.0";
const HOUR_MS = 3_600_000;

let folder: string;
let old: string;
let next: string;
let machine: Machine;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "openhook-copy-"));
  old = installPackage(join(folder, "old"));
  next = installPackage(join(folder, "next"), NEW);
});
afterAll(() => removeFolder(folder));
beforeEach(async ({ onTestFinished }) => {
  const fresh = new Machine();
  machine = fresh;
  onTestFinished(() => fresh.remove());
});

const copies = (): string => join(machine.home, ".local", "share", "openhook-otel");
const copyOf = (version: string): string => join(copies(), version);
const programIn = (version: string): string => join(copyOf(version), "dist", "openhook-otel.cjs");
const confProgram = (): string =>
  /^program='(.*)'$/m.exec(readFileSync(join(copies(), "hook.conf"), "utf8"))?.[1] ?? "";
const env = () => ({ ...machine.env, OPENHOOK_OTEL_DRAIN: "off" });

function run(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: env(),
    cwd: machine.home,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}
const enable = (program: string) => expect(run(program, "enable", "claude-code")).toMatchObject({ status: 0 });
const age = (path: string, ms: number): void => utimesSync(path, (Date.now() - ms) / 1000, (Date.now() - ms) / 1000);
const doctor = (program: string): string => run(program, "doctor").stdout;

test("npx leaves hooks that collect after npm's cache and the package are deleted", async () => {
  const receiver = await startReceiver();
  try {
    const packed = join(machine.home, "packed");
    mkdirSync(packed);
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], { cwd: ROOT });
    const cache = join(machine.home, "npm-cache");
    const npx = (...args: readonly string[]): string =>
      execFileSync("npx", ["--yes", "--package", join(packed, `openhook-otel-${OLD}.tgz`), "openhook-otel", ...args], {
        env: { ...machine.env, npm_config_cache: cache, npm_config_update_notifier: "false" },
        cwd: machine.home,
        encoding: "utf8",
      });
    const output = npx("enable", "claude-code", "--yes");
    expect(output).toContain(`Hooks use a copy of this program in ${copyOf(OLD)}`);
    npx("config", "set", "otlp.endpoint", receiver.url);
    rmSync(cache, { recursive: true });
    rmSync(packed, { recursive: true });

    const registered = registeredIn(readFileSync(join(machine.home, ".claude", "settings.json"), "utf8"));
    await new RecordedAgent(machine, "basic").work(registered);
    await machine.quiet();
    const kinds = receiver.spans.map((span) => span.attributes[semconv.OPENHOOK_SPAN_KIND]);
    expect(kinds).toEqual(expect.arrayContaining(["session", "turn", "model_call", "tool_call"]));
  } finally {
    await receiver.close();
  }
});

describe("update and downgrade", () => {
  test("hooks use the version whose enable ran last; the other one goes after an hour, with the next drain", () => {
    enable(old);
    expect(confProgram()).toBe(programIn(OLD));
    expect(doctor(old)).toContain(`${OLD}, hooks use it in ${copyOf(OLD)}`);
    expect(doctor(next)).toContain(`hooks use ${OLD} (${copyOf(OLD)}), and this is ${NEW}`);
    enable(next);
    expect(confProgram()).toBe(programIn(NEW));

    // Drains of the old version may still run
    expect(run(programIn(NEW), "drain", "--quiet").status).toBe(0);
    expect(existsSync(programIn(OLD))).toBe(true);
    age(copyOf(OLD), 2 * HOUR_MS);
    run(programIn(NEW), "drain", "--quiet");
    expect(existsSync(programIn(OLD))).toBe(true);

    // Back to the old version, for more than an hour
    enable(old);
    expect(confProgram()).toBe(programIn(OLD));
    for (const version of [OLD, NEW]) age(copyOf(version), 2 * HOUR_MS);
    expect(doctor(old)).toContain(`hooks do not use ${copyOf(NEW)}`);
    run(programIn(OLD), "drain", "--quiet");
    expect(readdirSync(copies()).sort()).toEqual([OLD, "hook", "hook.conf", "hook.sh"]);
    expect(doctor(old)).not.toContain("hooks do not use");
  });

  test("a copy that a process runs stays", async () => {
    enable(old);
    enable(next);
    for (const version of [OLD, NEW]) age(copyOf(version), 2 * HOUR_MS);
    const viewing = spawn(process.execPath, [programIn(OLD), "view", "--print-url"], { env: env(), stdio: "pipe" });
    const ended = new Promise((done) => viewing.once("exit", done));
    await new Promise((done) => viewing.stdout.once("data", done));
    run(programIn(NEW), "drain", "--quiet");
    expect(existsSync(programIn(OLD))).toBe(true);
    viewing.kill("SIGKILL");
    await ended;
    run(programIn(NEW), "drain", "--quiet");
    expect(existsSync(copyOf(OLD))).toBe(false);
  });

  test("uninstall waits for a process that runs the copy and ends soon", async () => {
    enable(old);
    const viewing = spawn(process.execPath, [programIn(OLD), "view", "--print-url"], { env: env(), stdio: "pipe" });
    const ended = new Promise((done) => viewing.once("exit", done));
    await new Promise((done) => viewing.stdout.once("data", done));
    const uninstalling = spawn(process.execPath, [old, "uninstall", "--yes"], { env: env(), stdio: "ignore" });
    const code = new Promise((done) => uninstalling.once("exit", done));
    await until("the hook is removed", () => !existsSync(machine.places.hookPath));
    await sleep(500);
    expect(existsSync(copyOf(OLD))).toBe(true);
    viewing.kill("SIGKILL");
    await ended;
    expect(await code).toBe(0);
    expect(existsSync(copyOf(OLD))).toBe(false);
  });

  test("a newer version that changes the store makes hooks use it first; an older one does not", () => {
    enable(old);
    const { status, stderr } = run(next, "drain");
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `openhook-otel: hooks used version ${OLD}; now they use ${NEW}, as this command does\n`,
    });
    expect(confProgram()).toBe(programIn(NEW));
    expect(run(old, "drain")).toMatchObject({ status: 0, stderr: "" });
    expect(confProgram()).toBe(programIn(NEW));
  });

  test("other content of the same version gets another folder, and a damaged copy is replaced", () => {
    enable(old);
    writeFileSync(join(copyOf(OLD), "dist", "cli.cjs"), "damaged");
    expect(doctor(old)).toContain(`hooks use another build of ${OLD}`);
    expect(run(old, "doctor", "--fix").stdout).toContain("reinstalled the hook program");
    expect(confProgram()).toMatch(new RegExp(`/${OLD}-[0-9a-f]{8}/dist/openhook-otel.cjs$`));
    expect(run(confProgram(), "drain")).toMatchObject({ status: 0, stderr: "" });
    enable(old);
    expect(doctor(old)).toContain(`${OLD}, hooks use it in`);
  });

  test("the native part for another system is added to the copy that both use", () => {
    enable(old);
    rmSync(join(copyOf(OLD), "node_modules", "@libsql"), { recursive: true });
    enable(old);
    expect(run(programIn(OLD), "drain")).toMatchObject({ status: 0, stderr: "" });
  });

  test("a process killed at any time leaves a version that runs, and its rest is removed", async () => {
    enable(old);
    const unfinished = () => readdirSync(copies()).filter((name) => name.startsWith(".openhook-otel-"));
    for (const [index, afterMs] of [0, 30, 100].entries()) {
      const updating = spawn(process.execPath, [next, "enable", "claude-code"], { env: env(), cwd: machine.home });
      const ended = new Promise((done) => updating.once("exit", done));
      await until("the copy is begun", () => unfinished().length > index);
      await sleep(afterMs);
      updating.kill("SIGKILL");
      await ended;
      expect(run(confProgram(), "drain")).toMatchObject({ status: 0, stderr: "" });
      rmSync(copyOf(NEW), { recursive: true, force: true });
      enable(old);
    }
    expect(doctor(old)).toContain("hooks do not use");
    for (const name of readdirSync(copies())) age(join(copies(), name), 2 * HOUR_MS);
    run(programIn(OLD), "drain", "--quiet");
    expect(readdirSync(copies()).sort()).toEqual([OLD, "hook", "hook.conf", "hook.sh"]);
  });
});

test("XDG_DATA_HOME moves the copies, not the hook that settings name", () => {
  const data = join(machine.home, "data");
  const result = spawnSync(process.execPath, [old, "enable", "claude-code"], {
    env: { ...env(), XDG_DATA_HOME: data },
    cwd: machine.home,
    encoding: "utf8",
  });
  expect(result).toMatchObject({ status: 0, stderr: "" });
  expect(confProgram()).toBe(join(data, "openhook-otel", OLD, "dist", "openhook-otel.cjs"));
  // A terminal without the variable finds it by what enable recorded
  expect(run(old, "uninstall", "--yes")).toMatchObject({ status: 0, stderr: "" });
  expect(existsSync(join(data, "openhook-otel"))).toBe(false);
});

test("a home that cannot be written: one line with the folder, and no agent is changed", () => {
  const home = join(machine.home, "other");
  mkdirSync(join(home, ".claude"), { recursive: true });
  chmodSync(home, 0o555);
  const user = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  for (const path of [machine.home, folder]) chmodSync(path, 0o755);
  const { status, stderr } = spawnSync(process.execPath, [old, "enable", "claude-code"], {
    ...user,
    env: { ...env(), HOME: home },
    cwd: "/",
    encoding: "utf8",
  });
  // Otherwise only root can remove it
  chmodSync(home, 0o755);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^openhook-otel: cannot .*other\/\.local.*\n$/);
  expect(readdirSync(home)).toEqual([".claude"]);
  expect(readdirSync(join(home, ".claude"))).toEqual([]);
});

test("hooks use a clone of the repository without a copy, so that a new build takes effect immediately", async () => {
  await machine.enable();
  expect(confProgram()).toBe(join(ROOT, "dist", "openhook-otel.cjs"));
  expect(await machine.run(["doctor"])).toMatchObject({ stdout: expect.stringContaining(`hooks use it in ${ROOT}`) });
  // npm link leads there
  const linked = join(machine.home, "lib", "openhook-otel");
  mkdirSync(dirname(linked));
  execFileSync("ln", ["-s", ROOT, linked]);
  enable(join(linked, "dist", "openhook-otel.cjs"));
  expect(confProgram()).toBe(join(ROOT, "dist", "openhook-otel.cjs"));
});
