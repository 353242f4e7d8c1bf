import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { variableFiles } from "#agents/registry.ts";
import { commandEnvironment, ownVariables } from "#collect/bridge/environment.ts";
import { type CommandRun, runCommand } from "#collect/bridge/run-command.ts";
import { placesOf } from "#config/places.ts";
import { sleep, until } from "../support/program.ts";

const isWindows = process.platform === "win32";
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openhook-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, more: Partial<CommandRun> = {}): Promise<string | undefined> =>
  runCommand({
    command,
    folder,
    env: { PATH: process.env["PATH"] ?? "" },
    input: '{"id":"1"}',
    timeoutMs: 20_000,
    platform: process.platform,
    ...more,
  });
const text = (name: string): string => readFileSync(join(folder, name), "utf8");

test("a command gets one line on stdin and runs in the file's folder", async () => {
  expect(await run("cat > got; pwd > where")).toBeUndefined();
  expect(text("got")).toBe('{"id":"1"}\n');
  expect(text("where")).toMatch(/openhook-run-/);
});

test("a command of two lines is one script", async () => {
  expect(await run("read -r line\nprintf '%s' \"$line\" > got")).toBeUndefined();
  expect(text("got")).toBe('{"id":"1"}');
});

test("the reason says how a command failed", async () => {
  expect(await run("exit 2")).toBe("exit code 2");
  expect(await run("kill -9 $$")).toBe("it was ended by SIGKILL");
  expect(await run("no-such-program-here")).toBe("exit code 127");
  expect(await run("true", { folder: "/nowhere/at/all" })).toMatch(/could not be started/);
});

test("a command that does not read its input does not fail", async () => {
  expect(await run("exec 0<&-; true", { input: "x".repeat(1 << 20) })).toBeUndefined();
});

test("a command that hangs is killed with everything it started", async () => {
  const startMs = performance.now();
  expect(await run("sleep 60 & echo $! > pid; trap '' TERM; sleep 60", { timeoutMs: 300 })).toBe(
    "it took longer than 300 ms",
  );
  expect(performance.now() - startMs).toBeLessThan(30_000);
  await until("the child is gone", () => !existsSync(`/proc/${text("pid").trim()}`) || isZombie(text("pid").trim()));
});

test("what a command leaves in the background ends with it", async () => {
  expect(await run("(sleep 0.5; touch late) & echo $! > pid")).toBeUndefined();
  await sleep(800);
  expect(existsSync(join(folder, "late"))).toBe(false);
});

test("output is discarded, however much it is", async () => {
  const before = process.memoryUsage().rss;
  expect(await run("head -c 1000000000 /dev/zero; head -c 1000000 /dev/zero >&2")).toBeUndefined();
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test("`bridge test` shows the beginning of the output, and discards the rest", async () => {
  let shown = "";
  const onOutput = (piece: string): void => {
    shown += piece;
  };
  expect(await run("echo hello; head -c 10000000 /dev/zero", { onOutput })).toBeUndefined();
  expect(shown).toMatch(/^hello/);
  expect(shown.length).toBeLessThan(200_000);
});

test("the environment has what programs need, and nothing else", () => {
  const env = {
    PATH: ["/usr/bin", "relative", join("/work", "shop", "node_modules", ".bin"), "/work/tools", ""].join(delimiter),
    HOME: "/repository/home",
    LANG: "de_DE.UTF-8",
    AWS_SECRET_ACCESS_KEY: "s3cret",
    NODE_OPTIONS: "--require ./evil.js",
    LD_PRELOAD: "./evil.so",
    BASH_ENV: "./evil.sh",
    ENV: "./evil.sh",
    OPENHOOK_OTEL_OTLP_HEADERS: "authorization=s3cret",
  };
  const at = { projects: ["/work/shop"], home: "/home/dev" };
  const made = commandEnvironment(env, at);
  expect(made).toMatchObject({
    PATH: ["/usr/bin", "/work/tools"].join(delimiter),
    LANG: "de_DE.UTF-8",
    OPENHOOK_BRIDGE: "openhook-otel",
    ...(isWindows ? { NoDefaultCurrentDirectoryInExePath: "1" } : { HOME: "/home/dev", USER: userInfo().username }),
  });
  const ofSystem = ["USER", "LOGNAME", "SHELL", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  const known = ["PATH", "LANG", "OPENHOOK_BRIDGE", "HOME", "NoDefaultCurrentDirectoryInExePath", ...ofSystem];
  expect(Object.keys(made).filter((name) => !known.includes(name))).toEqual([]);
  expect(commandEnvironment({ PATH: [".", "bin"].join(delimiter) }, at)["PATH"]).toBe(
    isWindows ? "C:\\Windows\\System32" : "/usr/local/bin:/usr/bin:/bin",
  );
});

test("variables that a repository names are not recorded, whoever starts `bridge allow`", async () => {
  const repository = join(folder, "shop");
  mkdirSync(join(repository, ".git"), { recursive: true });
  mkdirSync(join(repository, ".claude"));
  writeFileSync(join(repository, ".claude", "settings.json"), JSON.stringify({ env: { TMPDIR: "/tmp/evil" } }));
  const env = { PATH: "/usr/bin", TMPDIR: "/tmp/evil", LANG: "C.UTF-8", AWS_SECRET_ACCESS_KEY: "s3cret" };
  const places = placesOf({ env: {}, home: "/home/dev", platform: "linux" });
  const own = await ownVariables({ folder: repository }, await variableFiles(), { cwd: "/", env, places });
  expect(own).toEqual({ PATH: "/usr/bin", LANG: "C.UTF-8" });
});

test("no repository adds programs: not with a folder above the file, nor with npm's folders", () => {
  const repository = join(folder, "shop");
  const below = join(repository, "packages", "web");
  for (const one of [join(repository, ".git"), join(repository, "tools"), below]) mkdirSync(one, { recursive: true });
  const own = join(folder, "bin");
  const PATH = [join(repository, "tools"), "/home/dev/node_modules/.bin", own].join(delimiter);
  expect(commandEnvironment({ PATH }, { projects: [below], home: "/home/dev" })["PATH"]).toBe(own);
  // A home that is a repository contains the user's own programs
  mkdirSync(join(folder, ".git"));
  rmSync(join(repository, ".git"), { recursive: true });
  expect(commandEnvironment({ PATH: own }, { projects: [below], home: folder })["PATH"]).toBe(own);
});

test("no repository adds programs through a link from elsewhere", () => {
  const tools = join(folder, "shop", "tools");
  for (const one of [join(folder, "shop", ".git"), tools]) mkdirSync(one, { recursive: true });
  symlinkSync(tools, join(folder, "linked"));
  const own = join(folder, "bin");
  const PATH = [join(folder, "linked"), own].join(delimiter);
  const at = { projects: [join(folder, "shop")], home: "/home/dev" };
  expect(commandEnvironment({ PATH }, at)["PATH"]).toBe(own);
});

test("`bridge test` ends although a process outside the command's group keeps its output open", async () => {
  const startMs = performance.now();
  let shown = "";
  const onOutput = (piece: string): void => {
    shown += piece;
  };
  expect(await run("setsid sleep 60 & echo $! > pid; sleep 0.2; echo hello", { onOutput })).toBeUndefined();
  process.kill(Number(text("pid")), "SIGKILL");
  expect(shown).toBe("hello\n");
  expect(performance.now() - startMs).toBeLessThan(20_000);
});

// --- internal ---

/** The process has ended, and its new parent has not noticed yet. */
const isZombie = (pid: string): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
