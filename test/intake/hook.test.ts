import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import {
  BRIDGE_CONSENT,
  BRIDGE_LIVE,
  BRIDGE_VARIABLE,
  FIRST_BYTE_TIMEOUT_MS,
  GONE_AFTER_MS,
  GONE_MARK,
  LOST_COUNT,
  MAX_FILE_BYTES,
  processStart,
  READ_TIMEOUT_MS,
} from "#collect/intake/inbox-file.ts";
import { placesOf } from "#config/places.ts";
import { computed } from "../../scripts/esbuild-plugins.mjs";
import { killGroup } from "../support/kill-group.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { firstOf, IS_WHOLE } from "../support/whole.ts";
import {
  hasEnded,
  intakes,
  makeSandbox,
  onlyEvent,
  readInbox,
  run,
  type Sandbox,
  shellIntakes,
  sleepMs,
  until,
} from "./intakes.ts";

const PAYLOAD = JSON.stringify({ session_id: "s-1", hook_event_name: "PreToolUse", prompt: "Grüße, \u2028 \n ok" });
const MIB = 1024 * 1024;
const TWIN = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  plugins: [computed],
} satisfies BuildOptions;
const QUIET = { code: 0, signal: null, stdout: "", stderr: "", stdinErrors: [] };

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = makeSandbox();
});
afterEach(() => sandbox.remove());

const startedAt = (pid: number) => processStart(readFileSync(`/proc/${pid}/stat`, "latin1"));

const limitHere = spawnSync("sh", ["-c", "ulimit -f"], { encoding: "utf8" }).stdout.trim();

const canLimitProcesses =
  process.getuid?.() === 0 && ["prlimit", "setpriv"].every((name) => spawnSync(name, ["--version"]).status === 0);
/** bash retries a fork itself, for up to 15 s. */
const isBash = (title: string): boolean => {
  const [program = "", ...flags] = title.replace(/^hook\.sh (?:under|read by) /, "").split(" ");
  return spawnSync(program, [...flags, "-c", 'test -n "$BASH_VERSION"']).status === 0;
};
/** As macOS can have it as /bin/sh. */
const isZsh = (title: string): boolean => title.includes("zsh");

const drained = (dir = sandbox.drainedDir) =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")));

describe.each(intakes())("$title", (intake) => {
  const hook = (args: Partial<Parameters<typeof intake.command>[1]> = {}) =>
    intake.command(sandbox, { source: "claude-code", drain: "no", ...args });
  const env = () => ({ HOME: sandbox.home });

  test("writes the payload and the facts of the process to one private file and prints nothing", async () => {
    const secrets = { ANTHROPIC_API_KEY: "sk-planted", USER_PROMPT: "planted prompt", CLAUDE_PID: "3131", CRUSH: "1" };
    const before = Date.now();
    const outcome = await run(hook({ event: "PreToolUse" }), {
      input: PAYLOAD,
      env: { ...env(), ...secrets },
      cwd: sandbox.home,
    });
    expect(outcome).toMatchObject(QUIET);

    const { facts, payload, end } = onlyEvent(sandbox);
    expect(payload.toString()).toBe(PAYLOAD);
    expect(end).toBe("whole");
    expect(facts).toMatchObject({
      source: "claude-code",
      event: "PreToolUse",
      cwd: sandbox.home,
      parentPid: process.pid,
      ...(process.platform === "linux" && {
        parentStart: startedAt(process.pid),
        agentProcess: { pid: process.pid, start: startedAt(process.pid) },
        host: expect.stringMatching(/^\d+\.[0-9a-f-]{36}$/),
      }),
      hookPid: expect.any(Number),
      env: { HOME: sandbox.home, CLAUDE_PID: "3131", CRUSH: "1" },
      payloadBytes: Buffer.byteLength(PAYLOAD),
      truncated: false,
    });
    const path = join(sandbox.inboxDir, readdirSync(sandbox.inboxDir)[0] ?? "");
    expect(readFileSync(path, "utf8")).not.toContain("planted");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(sandbox.inboxDir).mode & 0o777).toBe(0o700);
    expect(statSync(sandbox.stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(path).mtimeMs).toBeGreaterThan(before - 2000);
  });

  test("prints the reply unchanged, with a newline", async () => {
    const reply = '{"decision":"allow","note":"50% \\n of $HOME"}';
    expect(await run(hook({ reply }), { input: PAYLOAD, env: env() })).toMatchObject({
      ...QUIET,
      stdout: `${reply}\n`,
    });
    expect(onlyEvent(sandbox).facts).not.toHaveProperty("event");
  });

  test("records every declared variable, without values that contain a newline", async () => {
    const kept = Object.fromEntries(RECORDED_VARIABLES.map((name) => [name, `value of ${name}`]));
    const cwd = join(sandbox.root, "two\nlines");
    mkdirSync(cwd);
    // A relative home leads nowhere; hook.conf is used
    await run(hook(), { env: { ...kept, CRUSH: "a\nsource=evil" }, cwd });
    const { CRUSH: _, ...rest } = kept;
    expect(onlyEvent(sandbox).facts.env).toEqual(rest);
    expect(onlyEvent(sandbox).facts).not.toHaveProperty("cwd");
    expect(onlyEvent(sandbox).facts.source).toBe("claude-code");
  });

  test("records 50 MB completely, binary data unchanged, and an empty stdin as an event", async () => {
    for (const input of [Buffer.alloc(50_000_000, "x"), randomBytes(300_000), Buffer.alloc(0)]) {
      expect(await run(hook(), { input, env: env() })).toMatchObject(QUIET);
      const event = onlyEvent(sandbox);
      expect(event.end).toBe("whole");
      expect(event.payload.equals(input)).toBe(true);
      rmSync(sandbox.inboxDir, { recursive: true });
    }
  });

  test("cuts 100 MB at the limit, marks it, and reads the rest so that no pipe breaks", async () => {
    const input = Buffer.alloc(100 * MIB, "0123456789abcdef");
    expect(await run(hook(), { input, env: env() })).toMatchObject(QUIET);
    const { facts, payload, end } = onlyEvent(sandbox);
    expect({ end, truncated: facts.truncated }).toEqual({ end: "cut", truncated: true });
    expect(payload.length).toBeGreaterThan(MAX_FILE_BYTES - 4096);
    expect(payload.length).toBeLessThanOrEqual(MAX_FILE_BYTES);
    expect(payload.equals(input.subarray(0, payload.length))).toBe(true);
  });

  test("is not disturbed by a state directory that cannot be one", async () => {
    writeFileSync(sandbox.stateDir, "a file in its place");
    const input = Buffer.alloc(2 * MIB, "x");
    const outcome = await run(hook({ reply: "{}", drain: "no" }), { input, env: env() });
    expect(outcome).toMatchObject({ ...QUIET, stdout: "{}\n" });
    expect(readFileSync(sandbox.stateDir, "utf8")).toBe("a file in its place");
  });

  test.runIf(process.platform === "linux")("names the agent above the shells that ran it", async () => {
    const nested = ["sh", "-c", 'bash -c \'"$@"; true\' bash "$@"; true', "sh", ...hook()] as const;
    expect(await run(nested, { input: PAYLOAD, env: env() })).toMatchObject(QUIET);
    const { facts } = onlyEvent(sandbox);
    expect(facts.agentProcess).toEqual({ pid: process.pid, start: startedAt(process.pid) });
    expect(facts.parentPid).not.toBe(process.pid);
  });

  test("uses another name if its own is taken", async () => {
    mkdirSync(sandbox.inboxDir, { recursive: true });
    const take = 'for n in 0 1 2; do echo "earlier $n" >"$INBOX/$PPID-$$-$n.evt"; done; exec "$@"';
    await run(["sh", "-c", take, "sh", ...hook()], { input: PAYLOAD, env: { ...env(), INBOX: sandbox.inboxDir } });
    const files = readInbox(sandbox);
    expect(files.map(({ name }) => name.replace(/^.*-/, ""))).toEqual(["0.evt", "1.evt", "2.evt", "3.evt"]);
    expect(files.filter((file) => file.ok).map((file) => file.payload.toString())).toEqual([PAYLOAD]);
    for (const { name } of files.slice(0, 3)) {
      expect(readFileSync(join(sandbox.inboxDir, name), "utf8")).toMatch(/^earlier \d\n$/);
    }
  });

  test("leaves an empty file if the disk is full, also beside one of the same name", async () => {
    const full = join(sandbox.root, "full.evt");
    const inboxDir = join(full, "inbox");
    mkdirSync(inboxDir, { recursive: true });
    writeFileSync(sandbox.confPath, "");
    // A file size limit of zero: every write fails as on a full disk, also for root
    const noRoom = 'ulimit -f 0; : >"$INBOX/$PPID-$$-0.lost"; exec "$@"';
    const outcome = await run(["sh", "-c", noRoom, "sh", ...hook({ event: "Stop" })], {
      input: PAYLOAD,
      env: { ...env(), OPENHOOK_OTEL_HOME: full, INBOX: inboxDir },
    });
    expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(readdirSync(inboxDir).sort()).toEqual([
      expect.stringMatching(/^\d+-\d+-0-\.lost$/),
      expect.stringMatching(/^\d+-\d+-0\.lost$/),
    ]);
    for (const name of readdirSync(inboxDir)) expect(statSync(join(inboxDir, name)).size).toBe(0);
  });

  test("loses and mixes nothing if many run at the same time", async () => {
    // 200, because bash once wrote the reply into one event in 150: a signal came between its fork and its exec
    const count = /under (sh|bash)$/.test(intake.title) && IS_WHOLE ? 200 : 25;
    const payloads = Array.from({ length: count }, (_, n) => JSON.stringify({ n, text: String(n).repeat(3000) }));
    const outcomes = await Promise.all(payloads.map((input) => run(hook({ reply: "{}" }), { input, env: env() })));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ ...QUIET, stdout: "{}\n" });
    const found = readInbox(sandbox).map((file) => (file.ok ? file.payload.toString() : "damaged"));
    expect(found.sort()).toEqual([...payloads].sort());
  });

  test("starts a drain that outlives it, in its own session, without the agent's pipes", async () => {
    const slow = makeSandbox({ drainMs: 4_000 });
    try {
      const outcome = await run(intake.command(slow, { source: "claude-code", event: "Stop", drain: "yes" }), {
        input: PAYLOAD,
        env: { HOME: slow.home, NODE_OPTIONS: "--max-semi-space-size=8", OPENSSL_CONF: "/x.cnf" },
        cwd: slow.home,
      });
      expect(outcome).toMatchObject(QUIET);
      const [drain] = await until(() => (drained(slow.drainedDir).length > 0 ? drained(slow.drainedDir) : undefined));
      expect(drain.argv).toEqual(["drain", "--quiet"]);
      // Also if only `enable` had the folder
      expect(drain.state).toBe(slow.stateDir);
      // Nothing that a repository can set acts on a drain before it has checked the variables
      expect(drain.options.map((text: string) => text.trim())).toEqual(["", "--max-semi-space-size=8"]);
      expect(drain.openssl).toBe("none");
      expect(drain.limit).toBe(limitHere);
      expect(drain.cwd).not.toBe(slow.home);
      if (process.platform === "linux") expect(drain.fds).toEqual(["/dev/null", "/dev/null", "/dev/null"]);
      // The drain is alive, and all pipes are closed
      expect(() => process.kill(drain.pid, 0)).not.toThrow();
      expect(spawnSync("ps", ["-o", "pgid=", "-p", String(drain.pid)], { encoding: "utf8" }).stdout.trim()).toBe(
        String(drain.pid),
      );
      process.kill(drain.pid);
    } finally {
      slow.remove();
    }
  });

  test("starts no drain if that is turned off, not requested, or nothing else is queued", async () => {
    await run(hook({ drain: "if-waiting" }), { input: PAYLOAD, env: env() });
    await run(hook({ drain: "no" }), { input: PAYLOAD, env: env() });
    await run(hook({ drain: "yes" }), { input: PAYLOAD, env: { ...env(), OPENHOOK_OTEL_DRAIN: "off" } });
    await sleepMs(250);
    expect(drained()).toEqual([]);
    await run(hook({ drain: "if-waiting" }), { input: PAYLOAD, env: env() });
    await until(() => (drained().length === 1 ? true : undefined));
    expect(readInbox(sandbox)).toHaveLength(4);
  });

  test("with the bridge on, every event starts a drain for events, unless one is running", async () => {
    const own = makeSandbox({ drainMs: 5_000 });
    const at = (drain: "yes" | "no", more = {}) =>
      run(intake.command(own, { source: "claude-code", drain }), { input: PAYLOAD, env: { HOME: own.home, ...more } });
    const live = join(own.stateDir, BRIDGE_LIVE);
    const started = (n: number) =>
      until(() => (drained(own.drainedDir).length === n ? drained(own.drainedDir) : undefined));
    try {
      await at("no");
      writeFileSync(join(own.stateDir, BRIDGE_CONSENT), "{}");
      await at("no", { [BRIDGE_VARIABLE]: "openhook-otel" });
      await sleepMs(250);
      expect(drained(own.drainedDir), "not allowed; run by a command of the bridge").toEqual([]);
      expect(await at("no")).toMatchObject(QUIET);
      const [first] = await started(1);
      expect(first.argv).toEqual(["drain", "--quiet", "--events"]);
      expect(readFileSync(live, "utf8")).toBe(`${first.pid}\n`);
      await at("no");
      await sleepMs(250);
      expect(drained(own.drainedDir), "the first one reads it").toHaveLength(1);
      process.kill(first.pid, "SIGKILL");
      // On a busy machine it dies later than that; in a container without init it stays, as a zombie
      await until(() => hasEnded(first.pid) || undefined);
      await at("no");
      const [second] = (await started(2)).filter(({ pid }) => pid !== first.pid);
      await at("yes");
      const third = (await started(3)).find(({ pid }) => pid !== first.pid && pid !== second.pid);
      expect(third?.argv).toEqual(["drain", "--quiet"]);
      expect(readFileSync(live, "utf8")).toBe(`${third?.pid}\n`);
      for (const { pid } of [second, third]) process.kill(pid, "SIGKILL");
    } finally {
      own.remove();
    }
  });

  test.skipIf(process.platform === "win32")(
    "a pipe in place of a file of the state directory blocks nothing",
    async () => {
      const own = makeSandbox({ drainMs: 5_000 });
      const paths = [BRIDGE_LIVE, LOST_COUNT].map((name) => join(own.stateDir, name));
      try {
        mkdirSync(own.stateDir, { recursive: true });
        writeFileSync(join(own.stateDir, BRIDGE_CONSENT), "{}");
        expect(spawnSync("mkfifo", paths).status).toBe(0);
        const call = intake.command(own, { source: "claude-code", drain: "no" });
        expect(await run(call, { input: PAYLOAD, env: { HOME: own.home } })).toMatchObject(QUIET);
        const [first] = await until(() => (drained(own.drainedDir).length > 0 ? drained(own.drainedDir) : undefined));
        expect(first.argv).toEqual(["drain", "--quiet", "--events"]);
        process.kill(first.pid, "SIGKILL");
        expect(readInbox(own)).toHaveLength(1);
      } finally {
        own.remove();
      }
    },
  );

  test("without its program records events for a week, then writes nothing more", async () => {
    const mark = join(sandbox.stateDir, GONE_MARK);
    rmSync(sandbox.programPath);
    const runOnce = () => run(hook({ drain: "yes", reply: "{}" }), { input: PAYLOAD, env: env() });
    const silentReply = { ...QUIET, stdout: "{}\n" };
    expect(await runOnce()).toMatchObject(silentReply);
    expect(await runOnce()).toMatchObject(silentReply);
    expect(readInbox(sandbox)).toHaveLength(2);
    const ago = (ms: number): void => utimesSync(mark, new Date(), new Date(Date.now() - ms));
    ago(GONE_AFTER_MS - 60_000);
    expect(await runOnce()).toMatchObject(silentReply);
    expect(readInbox(sandbox)).toHaveLength(3);
    ago(GONE_AFTER_MS + 60_000);
    expect(await runOnce()).toMatchObject(silentReply);
    expect(readInbox(sandbox)).toHaveLength(3);
    writeFileSync(sandbox.programPath, "");
    expect(await runOnce()).toMatchObject(silentReply);
    expect(readInbox(sandbox)).toHaveLength(4);
  });

  test("reads the payload from its last argument, and does not touch stdin", async () => {
    const argument = '{"type":"agent-turn-complete","text":"-d --source=x \\n %s $(id) Grüße\n"}';
    const startMs = performance.now();
    const outcomes = [
      await run(hook({ payload: { argument } }), { keepOpen: true, env: env() }),
      await run(hook({ payload: { argument }, event: "notify" }), { keepOpen: true, env: env() }),
      await run(hook({ payload: { argument }, event: "notify", reply: "{}" }), { keepOpen: true, env: env() }),
    ];
    expect(performance.now() - startMs).toBeLessThan(READ_TIMEOUT_MS);
    expect(outcomes.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, "", ""],
      [0, "", ""],
      [0, "{}\n", ""],
    ]);
    const files = readInbox(sandbox).flatMap((file) => (file.ok ? [file] : []));
    expect(files.map(({ payload, end }) => [payload.toString(), end])).toEqual(Array(3).fill([argument, "whole"]));
    expect(files.map(({ facts }) => facts.source)).toEqual(Array(3).fill("claude-code"));
    expect(new Set(files.map(({ facts }) => facts.event))).toEqual(new Set([undefined, "notify"]));
  });

  test("reads the payload from USER_PROMPT on request, without touching stdin", async () => {
    const prompt = '{"toolName":"fs_write","toolArgs":{},"text":"\\n %s $HOME"}';
    // Without a wait the end is known: "whole"
    for (const USER_PROMPT of [prompt, ""]) {
      const options = { keepOpen: true, env: { ...env(), USER_PROMPT } };
      const outcome = await run(hook({ payload: "variable", event: "preToolUse" }), options);
      expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
      expect(onlyEvent(sandbox)).toMatchObject({ end: "whole", facts: { event: "preToolUse" } });
      expect(onlyEvent(sandbox).payload.toString()).toBe(USER_PROMPT);
      rmSync(sandbox.inboxDir, { recursive: true });
    }
  });

  test("uses USER_PROMPT if stdin stays silent, otherwise stdin", async () => {
    const USER_PROMPT = '{"toolName":"fs_write"}';
    const silent = await run(hook(), { keepOpen: true, env: { ...env(), USER_PROMPT } });
    expect(silent).toMatchObject(QUIET);
    expect(silent.durationMs).toBeLessThan(FIRST_BYTE_TIMEOUT_MS.json + 1_500);
    expect(onlyEvent(sandbox)).toMatchObject({ end: "whole" });
    expect(onlyEvent(sandbox).payload.toString()).toBe(USER_PROMPT);
    rmSync(sandbox.inboxDir, { recursive: true });

    await run(hook(), { input: "", env: { ...env(), USER_PROMPT } });
    expect(onlyEvent(sandbox).payload.toString()).toBe(USER_PROMPT);
    rmSync(sandbox.inboxDir, { recursive: true });

    // A large one, and one that starts immediately and continues after the waiting time for the first byte
    const large = Buffer.alloc(5 * MIB, "x");
    expect(await run(hook(), { input: large, env: { ...env(), USER_PROMPT } })).toMatchObject(QUIET);
    expect(onlyEvent(sandbox).payload.equals(large)).toBe(true);
    rmSync(sandbox.inboxDir, { recursive: true });
    const [first, rest] = [PAYLOAD.slice(0, 9), PAYLOAD.slice(9)];
    const slow = await run(hook(), {
      input: first,
      keepOpen: true,
      env: { ...env(), USER_PROMPT },
      onSpawn: (child) => setTimeout(() => child.stdin?.end(rest), FIRST_BYTE_TIMEOUT_MS.json + 500),
    });
    expect(slow).toMatchObject(QUIET);
    expect(onlyEvent(sandbox)).toMatchObject({ end: "whole" });
    expect(onlyEvent(sandbox).payload.toString()).toBe(PAYLOAD);
  });

  test("writes to the folder in OPENHOOK_OTEL_HOME if none was recorded", async () => {
    const moved = join(sandbox.root, "moved");
    writeFileSync(sandbox.confPath, "");
    await run(hook(), { input: PAYLOAD, env: { ...env(), OPENHOOK_OTEL_HOME: moved } });
    expect(onlyEvent({ inboxDir: join(moved, "inbox") }).payload.toString()).toBe(PAYLOAD);
    expect(readInbox(sandbox)).toEqual([]);
  });
});

/** Folders that a repository's `.env` can set in OPENHOOK_OTEL_HOME. */
const diverted = (project: string): readonly string[] => [
  project,
  join(project, ".cache"),
  join(dirname(project), "elsewhere"),
  "/proc/self/cwd/.cache",
  `${project}/../${basename(project)}/.cache`,
];

describe.each([...firstOf(shellIntakes(), 1).map(({ title }) => title), "the program's own twin"])("%s", (title) => {
  test("ignores OPENHOOK_OTEL_HOME, in the repository or elsewhere, unless no folder was recorded", async () => {
    const project = join(sandbox.root, "project");
    mkdirSync(project);
    const twin = join(sandbox.root, "hook.cjs");
    await build({ entryPoints: ["src/collect/intake/hook-main.ts"], outfile: twin, ...TWIN });
    copyFileSync(sandbox.confPath, join(sandbox.root, "hook.conf"));
    const shell = shellIntakes().find((one) => one.title === title);
    const command =
      shell?.command(sandbox, { source: "claude-code" }) ??
      ([process.execPath, twin, "hook", "--source", "claude-code", "--drain", "no"] as const);
    const below = join(project, "web");
    mkdirSync(below);
    const record = async (moved: string, cwd = project) =>
      expect(
        await run(command, {
          input: PAYLOAD,
          env: { HOME: sandbox.home, OPENHOOK_OTEL_HOME: moved },
          cwd,
        }),
      ).toMatchObject(QUIET);
    for (const [n, moved] of diverted(project).entries()) {
      await record(moved);
      await record(moved, below);
      expect(readInbox(sandbox), moved).toHaveLength(2 * n + 2);
    }
    expect(readdirSync(project)).toEqual(["web"]);
    expect(existsSync(join(sandbox.root, "elsewhere"))).toBe(false);
    for (const conf of [sandbox.confPath, join(sandbox.root, "hook.conf")]) writeFileSync(conf, "");
    await record(join(project, ".cache"));
    expect(readInbox({ inboxDir: join(project, ".cache", "inbox") })).toHaveLength(1);
  });
});

describe.each(shellIntakes())("$title, the shell's own traps", (intake) => {
  const hook = (reply = "{}") => intake.command(sandbox, { source: "claude-code", event: "Stop", reply });
  const answered = { ...QUIET, stdout: "{}\n" };

  test("records the event if hook.conf is damaged, missing or hostile", async () => {
    const stateDir = join(sandbox.home, ".local", "state", "openhook-otel");
    const inboxDir =
      process.platform === "darwin"
        ? placesOf({ env: {}, home: sandbox.home, platform: "darwin" }).inboxDir
        : join(stateDir, "inbox");
    let expected = 0;
    for (const conf of ["state='/never closed\n", "if then fi (((\n", "return 7\n", "\0\u0001\n", undefined]) {
      if (conf === undefined) rmSync(sandbox.confPath);
      else writeFileSync(sandbox.confPath, conf);
      expect(await run(hook(), { input: PAYLOAD, env: { HOME: sandbox.home } })).toMatchObject(answered);
      expected += 1;
      expect(readInbox({ inboxDir })).toHaveLength(expected);
    }
    // After the last three zsh ends with 1, whatever its trap does; `enable` writes none of them
    const hostile = ["exit 2\n", "set -e; false\n", "set -u\n", ": >/nonexistent/x\n"];
    for (const conf of isZsh(intake.title) ? hostile.slice(0, 1) : hostile) {
      writeFileSync(sandbox.confPath, conf);
      expect(await run(hook(), { input: PAYLOAD, env: { HOME: sandbox.home } })).toMatchObject({ code: 0, stderr: "" });
    }
  });

  test("finds the same folders as the program without hook.conf", async () => {
    rmSync(sandbox.confPath);
    for (const env of [{}, { XDG_STATE_HOME: join(sandbox.root, "xdg") }, { XDG_STATE_HOME: "relative" }]) {
      await run(hook(), { input: PAYLOAD, env: { HOME: sandbox.home, ...env } });
      const { inboxDir } = placesOf({ env, home: sandbox.home, platform: process.platform });
      expect(readInbox({ inboxDir }).length).toBeGreaterThan(0);
      rmSync(inboxDir, { recursive: true });
    }
  });

  test("exits 0 without a home, without commands, on a full disk, without stdin", async () => {
    rmSync(sandbox.confPath);
    expect(await run(hook(), { input: PAYLOAD })).toMatchObject(answered);

    const [program, ...args] = hook();
    const absolute = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim();
    const nowhere = { PATH: "/nonexistent", HOME: sandbox.home };
    // Nothing reads stdin
    const unread = { code: 0, stdout: "{}\n", stderr: "" };
    expect(await run([absolute, ...args], { input: PAYLOAD, env: nowhere })).toMatchObject(unread);

    // A file size limit of zero: every write fails as on a full disk, also for root
    const full = join(sandbox.root, "full");
    const noRoom = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", ...hook()] as const;
    const env = { HOME: sandbox.home, OPENHOOK_OTEL_HOME: full };
    expect(await run(noRoom, { input: PAYLOAD, env })).toMatchObject(answered);
    expect(readdirSync(join(full, "inbox"))).toEqual([expect.stringMatching(/^\d+-\d+-0\.lost$/)]);

    const closed = ["sh", "-c", 'exec "$@" <&-', "sh", ...hook()] as const;
    const home = { HOME: sandbox.home, OPENHOOK_OTEL_HOME: join(sandbox.root, "closed") };
    expect(await run(closed, { env: home })).toMatchObject(unread);
    expect(onlyEvent({ inboxDir: join(sandbox.root, "closed", "inbox") })).toMatchObject({ end: "whole" });
  });

  // bash tries again for a while, and zsh then ends with 1
  if (intake.isShell && !isBash(intake.title) && !isZsh(intake.title)) {
    test.runIf(canLimitProcesses)("does not delay the agent if no more processes can be started", async () => {
      for (const processes of [1, 2, 3, 4]) {
        // A new user each time: processes are counted by user
        const user = String(61_230 + processes);
        const home = join(sandbox.root, user);
        mkdirSync(home);
        chmodSync(sandbox.root, 0o755);
        chownSync(home, Number(user), Number(user));
        const as = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"] as const;
        const limited = [...as, "prlimit", `--nproc=${processes}`, ...hook()] as const;
        const outcome = await run(limited, { input: PAYLOAD, env: { HOME: home, OPENHOOK_OTEL_HOME: home } });
        expect(outcome, String(processes)).toMatchObject({ code: 0, stderr: "" });
        expect(outcome.durationMs, String(processes)).toBeLessThan(3_000);
      }
    });
  }

  test("leaves no process behind", async () => {
    let group = 0;
    await run(hook(), {
      input: PAYLOAD,
      env: { HOME: sandbox.home, OPENHOOK_OTEL_DRAIN: "off" },
      onSpawn: (child) => {
        group = child.pid ?? 0;
      },
    });
    expect(group).toBeGreaterThan(1);
    expect(() => process.kill(-group, 0)).toThrow(/ESRCH/);
  });

  test("ends soon after the agent has closed stdin, also if `sleep` accepts no fractions", async () => {
    const closes = async (isTime: () => boolean) => {
      let closedMs = 0;
      const outcome = await run(hook(), {
        input: PAYLOAD,
        keepOpen: true,
        env: { HOME: sandbox.home },
        onSpawn: (child) =>
          void until(() => isTime() || undefined).then(() => {
            closedMs = performance.now();
            child.stdin?.end();
          }),
      });
      // Otherwise it waits until the time for reading is over
      expect(performance.now() - closedMs).toBeLessThan(READ_TIMEOUT_MS - 1_500);
      expect(outcome).toMatchObject(answered);
      expect(onlyEvent(sandbox)).toMatchObject({ end: "whole" });
      rmSync(sandbox.inboxDir, { recursive: true });
    };
    await closes(hasBegun);
    const bin = join(sandbox.root, "bin");
    mkdirSync(bin);
    const log = join(bin, "slept");
    writeFileSync(log, "");
    const whole = `#!/bin/sh
case $1 in *.*) exit 1 ;; esac
echo "$1" >>${quoted(log)}
exec /bin/sleep "$1"
`;
    writeFileSync(join(bin, "sleep"), whole, { mode: 0o755 });
    for (const path of [sandbox.hookPath, `${sandbox.hookPath}.sh`]) {
      const text = readFileSync(path, "utf8").replace("PATH=/usr/bin:", `PATH=${quoted(bin)}:/usr/bin:`);
      expect(text).toContain(`openhook intake`);
      writeFileSync(path, text);
    }
    await closes(() => readFileSync(log, "utf8") === "1\n");
  });

  test("survives the hang-up of a closing terminal", async () => {
    const outcome = await run(hook(), {
      input: PAYLOAD,
      keepOpen: true,
      env: { HOME: sandbox.home },
      onSpawn: (child) =>
        void until(() => hasBegun() || undefined).then(() => {
          killGroup(child, "SIGHUP");
          setTimeout(() => child.stdin?.end(), 100);
        }),
    });
    expect(outcome).toMatchObject(answered);
    expect(onlyEvent(sandbox)).toMatchObject({ end: "whole" });
  });

  /** The hook has written the event's header, and now reads its stdin. */
  const hasBegun = (): boolean =>
    existsSync(sandbox.inboxDir) &&
    readdirSync(sandbox.inboxDir).some((name) => statSync(join(sandbox.inboxDir, name)).size > 0);
});

const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

describe("the two intakes", () => {
  // In parallel, because each takes its 5 s
  test("do not wait for a stdin that never closes, and keep what was read", async () => {
    const check = async (intake: ReturnType<typeof intakes>[number]) => {
      const own = makeSandbox();
      try {
        const command = intake.command(own, { source: "claude-code", reply: "{}", drain: "no" });
        const outcome = await run(command, { input: PAYLOAD, keepOpen: true, env: { HOME: own.home } });
        expect(outcome, intake.title).toMatchObject({ ...QUIET, stdout: "{}\n" });
        expect(outcome.durationMs).toBeGreaterThan(READ_TIMEOUT_MS - 100);
        expect(outcome.durationMs).toBeLessThan(PATIENCE_MS);
        expect(onlyEvent(own)).toMatchObject({ end: "late", facts: { truncated: false } });
        expect(onlyEvent(own).payload.toString()).toBe(PAYLOAD);
      } finally {
        own.remove();
      }
    };
    await Promise.all(intakes().map(check));
  });

  test("wait a moment if USER_PROMPT is empty, the full time if it is anything else", async () => {
    const check = async (intake: ReturnType<typeof intakes>[number]) => {
      const own = makeSandbox();
      try {
        const command = intake.command(own, { source: "claude-code", drain: "no" });
        const env = { HOME: own.home };
        const empty = await run(command, { keepOpen: true, env: { ...env, USER_PROMPT: "" } });
        expect(empty.durationMs, intake.title).toBeLessThan(READ_TIMEOUT_MS - 500);
        expect(onlyEvent(own)).toMatchObject({ end: "late", facts: { payloadBytes: 0 } });
        rmSync(own.inboxDir, { recursive: true });
        const other = await run(command, {
          keepOpen: true,
          env: { ...env, USER_PROMPT: "planted" },
          onSpawn: (child) => setTimeout(() => child.stdin?.end(PAYLOAD), FIRST_BYTE_TIMEOUT_MS.empty + 500),
        });
        expect(other, intake.title).toMatchObject(QUIET);
        expect(onlyEvent(own).payload.toString()).toBe(PAYLOAD);
      } finally {
        own.remove();
      }
    };
    await Promise.all(intakes().map(check));
  });

  test("hook.sh finds Node after an update has moved it, also with a desktop's PATH", async () => {
    const check = async (intake: ReturnType<typeof intakes>[number]) => {
      const own = makeSandbox();
      try {
        writeFileSync(own.confPath, readFileSync(own.confPath, "utf8").replace(/^node=.*$/m, "node='/gone/bin/node'"));
        const bin = join(own.root, "bin");
        mkdirSync(bin);
        for (const name of ["sh", "setsid", "perl", "nohup"]) {
          const found = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((path) => existsSync(path));
          if (found !== undefined) symlinkSync(found, join(bin, name));
        }
        mkdirSync(join(own.home, ".volta", "bin"), { recursive: true });
        symlinkSync(process.execPath, join(own.home, ".volta", "bin", "node"));
        const [program, ...words] = intake.command(own, { source: "claude-code", event: "Stop", drain: "yes" });
        const found = spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).stdout.trim();
        const outcome = await run([found, ...words], { input: PAYLOAD, env: { HOME: own.home, PATH: bin } });
        expect(outcome, intake.title).toMatchObject(QUIET);
        await until(() => (drained(own.drainedDir).length === 1 ? true : undefined));
      } finally {
        own.remove();
      }
    };
    await Promise.all(shellIntakes().map(check));
  });

  test("write the same header", async () => {
    const env = { HOME: sandbox.home, CLAUDE_CODE_SESSION_ID: "s-1", CODEX_HOME: "/home/dev/.codex" };
    for (const intake of intakes()) {
      const command = intake.command(sandbox, { source: "codex", event: "Stop", drain: "no" });
      await run(command, { input: PAYLOAD, env, cwd: sandbox.home });
    }
    const texts = readdirSync(sandbox.inboxDir).map((name) =>
      readFileSync(join(sandbox.inboxDir, name), "utf8").replace(/^pid=\d+$/m, "pid=1"),
    );
    expect(texts.length).toBe(intakes().length);
    expect(new Set(texts).size).toBe(1);
  });

  test("have the same limits and variables", () => {
    const text = readFileSync("src/collect/intake/hook.sh", "utf8");
    expect(text).toContain(`max_bytes=${MAX_FILE_BYTES} `);
    expect(text).toContain(`read_ms=${READ_TIMEOUT_MS} `);
    expect(text).toContain(`stdin-'{'*) begin_ms=${FIRST_BYTE_TIMEOUT_MS.json} `);
    expect(text).toContain(`stdin-) begin_ms=${FIRST_BYTE_TIMEOUT_MS.empty} `);
    expect(
      [...text.matchAll(/head_line env\.(\w+) "\$\{(\w+)-\}"(?:; |$)/gm)].map(([, name, from]) => [name, from]),
    ).toEqual(RECORDED_VARIABLES.map((name) => [name, name]));
  });

  test("the Node intake replies as the agent's card defines, unless the command line has a reply", async () => {
    const twin = join(sandbox.root, "hook.cjs");
    await build({ entryPoints: ["src/collect/intake/hook-main.ts"], outfile: twin, ...TWIN });
    const check = async (args: readonly string[], stdout: string) => {
      const command = [process.execPath, twin, "hook", "--drain", "no", ...args] as const;
      const outcome = await run(command, { input: PAYLOAD, env: { HOME: sandbox.home } });
      expect(outcome, args.join(" ")).toMatchObject({ ...QUIET, stdout });
    };
    await check(["--source", "cursor", "--event", "preToolUse"], "{}\n");
    await check(["--source", "cursor"], "{}\n");
    await check(["--source", "cursor", "--reply", ""], "");
    await check(["--source", "cursor", "--reply", "[]"], "[]\n");
    await check(["--source", "kiro", "--event", "preToolUse"], "");
    await check([], "");
  });

  test("the Node intake accepts the options of a hand-written wrapper, without the program's arguments", async () => {
    const [twin] = intakes().filter(({ isShell }) => !isShell);
    const [node = "", path = ""] = twin?.command(sandbox, { source: "" }) ?? [];
    const plain = async (...words: readonly string[]) => {
      const command = [node, path, "cli-wrapper", ...words, "--", "secret", "--token", "planted"] as const;
      expect(await run(command, { keepOpen: true, env: { HOME: sandbox.home } })).toMatchObject({
        code: 0,
        stdout: "",
      });
      const { facts, payload } = onlyEvent(sandbox);
      rmSync(sandbox.inboxDir, { recursive: true });
      return { source: facts.source, event: facts.event, payload: JSON.parse(payload.toString()) };
    };
    const call = { cli: "gh", args: [] };
    expect(await plain("--phase", "pre", "--cli", "gh")).toEqual({
      source: "cli-wrapper",
      event: "pre",
      payload: { ...call, phase: "pre" },
    });
    expect(await plain("--phase=post", "--cli=gh", "--exit-code=3")).toMatchObject({
      event: "post",
      payload: { ...call, phase: "post", exit_code: 3 },
    });
    for (const code of [[], ["--exit-code", ""], ["--exit-code", "x"]]) {
      const { payload } = await plain("--phase", "post", "--cli", "gh", ...code);
      expect(payload).toEqual({ ...call, phase: "post" });
    }
  });

  test("the Node intake determines when a drain is due", async () => {
    const [twin] = intakes().filter(({ isShell }) => !isShell);
    const check = async ([event, payload, due]: readonly [string | undefined, object, boolean]) => {
      const own = makeSandbox();
      try {
        const command = twin?.command(own, { source: "openhook", ...(event === undefined ? {} : { event }) });
        if (command === undefined) throw new Error("there is no twin");
        await run(command, { input: JSON.stringify(payload), env: { HOME: own.home } });
        const count = () => drained(own.drainedDir).length;
        if (due) await until(() => (count() === 1 ? true : undefined));
        else await sleepMs(700);
        expect(count(), `${event} ${JSON.stringify(payload)}`).toBe(due ? 1 : 0);
      } finally {
        own.remove();
      }
    };
    await Promise.all(
      (
        [
          ["Stop", {}, true],
          ["SessionEnd", {}, true],
          ["SubagentStop", {}, false],
          ["PostToolUse", {}, false],
          [undefined, { hook_event_name: "Stop" }, true],
          [undefined, { type: "session.end" }, true],
          [undefined, { type: "tool.end" }, false],
          [undefined, { event: "session.idle" }, true],
          [undefined, { type: "session.start" }, false],
          ["PreToolUse", { type: "session.end" }, false],
        ] as const
      ).map(check),
    );
  });
});
