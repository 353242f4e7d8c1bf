// Slow: only `npm run test:all` runs it. Odd machines and terminals, with the built program; commands/*.test.ts run each in
// process.
//
// The program in a shell: help, invalid input, an empty machine, a home that cannot be written, pipes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ensureBuilt, HOOK_ALONE, Machine, PROGRAM, RecordedAgent } from "../support/program.ts";

let machine: Machine;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

/** Names of the commands that a help text lists. */
const listed = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name ?? "");

// These force colours on a terminal; a pipe must have none in any case
const COLOURFUL = { TERM: "xterm-256color", FORCE_COLOR: "1" };
const hasColour = (text: string): boolean => text.includes("\u001b");

describe("help", () => {
  test("prints help for the program and every command it lists", async () => {
    const help = await machine.ok(["--help"]);
    const names = listed(help);
    expect(names).toEqual(expect.arrayContaining(["enable", "disable", "status", "show", "sessions", "drain", "demo"]));
    expect(help).toContain("Exit codes:");
    const configs = listed(await machine.ok(["config", "--help"])).map((name) => ["config", name]);
    expect(configs.length).toBeGreaterThan(3);
    const all = [...names.map((name) => [name]), ...configs];
    const helps = await Promise.all(
      all.map(async (command) => [command, await machine.ok([...command, "--help"])] as const),
    );
    for (const [command, text] of helps) {
      expect(text, command.join(" ")).toContain(`Usage: openhook-otel ${command.join(" ")}`);
      expect(text, command.join(" ")).toContain("-h, --help");
    }
    expect(readdirSync(machine.home)).toEqual([]);
  });

  test("each command is in a group, and each group has an example", async () => {
    const help = await machine.ok(["--help"]);
    expect(help).not.toContain("Commands:");
    const groups = [...help.matchAll(/^([A-Z][a-z ]+), e\.g\. .*openhook-otel\S* (\S+)/gm)];
    expect(groups.map(([, group]) => group)).toEqual(["See", "Set up", "Send", "Maintain"]);
    expect(listed(help)).toEqual(expect.arrayContaining(groups.map(([, , command]) => command)));
  });

  test("without a command: says what to do first, and creates nothing", async () => {
    const { code, stdout, stderr } = await machine.run([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^no sessions yet: run .* start /);
    expect(readdirSync(machine.home)).toEqual([]);
  });

  test("help is a word too, and other programs' words lead to commands", async () => {
    expect(await machine.ok(["help"])).toBe(await machine.ok(["--help"]));
    expect(await machine.ok(["help", "report"])).toBe(await machine.ok(["report", "--help"]));
    const unknown = await machine.run(["help", "fnord"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("unknown command 'fnord'")]);
    const { code, stderr } = await machine.run(["ls"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/unknown command 'ls'[\s\S]* sessions does that\)$/m)]);
  });

  test("the version is the package's", async () => {
    const { version }: { version: string } = (await import("../../package.json")).default;
    expect(await machine.ok(["--version"])).toBe(`${version}\n`);
  });
});

describe("choosing a scope", () => {
  test("an agent enabled only in the project is disabled there without a scope option", async () => {
    const cwd = join(machine.home, "shop");
    mkdirSync(cwd);
    const theirs = '{ "openhook": "0.1", "hooks": [{ "command": "theirs", "events": ["*"] }] }\n';
    writeFileSync(join(cwd, ".openhook.json"), theirs);
    await machine.ok(["enable", "openhook"], { cwd });
    const { hooks } = JSON.parse(readFileSync(join(cwd, ".openhook.json"), "utf8"));
    expect(hooks.map((hook: { command: string; async?: boolean }) => [hook.command === "theirs", hook.async])).toEqual([
      [true, undefined],
      [false, true],
      [false, true],
    ]);
    await machine.ok(["disable", "openhook"], { cwd });
    expect(readFileSync(join(cwd, ".openhook.json"), "utf8")).toBe(theirs);
  });

  test("if it is enabled in both scopes, the option is required", async () => {
    const { code, stderr } = await machine.run(["enable", "openhook", "claude-code"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("use --scope project") });
  });
});

describe("invalid input", () => {
  test.each([
    [["bogus"], 2, /unknown command 'bogus'/],
    [["status", "--bogus"], 2, /unknown option '--bogus'/],
    [["drain", "extra"], 2, /too many arguments for 'drain': 'extra'/],
    [["prune", "dry-run", "now"], 2, /too many arguments for 'prune': 'dry-run' 'now'/],
    [["bridge", "bogus"], 2, /unknown command 'bridge bogus': its commands are status, allow, revoke, test/],
    [["bridge", "alow"], 2, /unknown command 'bridge alow': did you mean 'bridge allow'\?/],
    [["bridge", "status", "extra"], 2, /too many arguments for 'status': 'extra'/],
    [["config", "bogus"], 2, /unknown command 'config bogus': its commands are show, get, set, unset, path/],
    [["config", "shwo", "--json"], 2, /unknown command 'config shwo': did you mean 'config show'\?/],
    [["config", "get", "otlp.endpoint", "extra"], 2, /too many arguments for 'get': 'extra'/],
    [["enable", "fnord", "--yes"], 2, /unknown agent "fnord"; known are: .*claude-code/],
    [["disable", "fnord", "--yes"], 2, /unknown agent "fnord"/],
    [["enable", "claude-code", "--scope", "galaxy"], 2, /galaxy.*user, project/],
    [["enable"], 2, /no agent was found on this machine/],
    [["sessions", "--limit", "none"], 2, /--limit takes a whole number.*"none"/],
    [["sessions", "--limit", "1e3"], 2, /--limit takes a whole number.*"1e3"/],
    [["report", "--limit", "0x10"], 2, /--limit takes a whole number.*"0x10"/],
    [["sessions", "--limit", " 5"], 2, /--limit takes a whole number.*" 5"/],
    [["view", "--port", "8e1"], 2, /--port takes a number.*"8e1"/],
    [["report", "--since", "999999w"], 2, /--since "999999w" is before the year 1000/],
    [["report", "--since", "0001-01-01"], 2, /--since "0001-01-01" is before the year 1000/],
    [["show", "--json", "--envelopes"], 2, /--json and --envelopes/],
    [["config", "set", "otlp.endpiont", "http://127.0.0.1:4318"], 2, /otlp\.endpoint/],
    [["config", "set", "otlp.endpoint", "127.0.0.1:4318"], 2, /must begin with http/],
    [["config", "set", "otlp.endpoint"], 2, /missing required argument 'value'/],
    [["config", "get", "otlp"], 2, /group/],
  ] as const)("%j", async (args, exitCode, message) => {
    const { code, stdout, stderr } = await machine.run(args);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
    expect(readdirSync(machine.home)).toEqual([]);
  });
});

describe("an empty machine", () => {
  test("show, sessions, status and config report it, and create nothing", async () => {
    expect(await machine.run(["show"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("enable"),
    });
    expect(await machine.run(["show", "abc"])).toMatchObject({ code: 1, stdout: "" });
    expect(await machine.ok(["sessions"])).toContain("enable");
    expect(JSON.parse(await machine.ok(["sessions", "--json"]))).toEqual([]);
    expect(await machine.ok(["status"])).toMatch(/sessions\s+none yet/);
    expect(await machine.ok(["config", "--all"])).toContain("otlp.endpoint");
    expect(readdirSync(machine.home)).toEqual([]);
  });

  test("a drain finds nothing to do", async () => {
    expect(await machine.drain()).toMatchObject({ files: 0, spans: 0, waiting: 0, problems: [] });
  });
});

test("a session without duration: imported and explained, without a time table", async () => {
  const id = "31111111-1111-4111-8111-111111111111";
  const message = { role: "user", content: "hi" };
  const line = { type: "user", sessionId: id, timestamp: "2026-11-20T10:00:00Z", uuid: "a", message };
  const folder = join(machine.home, ".claude", "projects", "-home-dev-acme-shop");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(line)}\n`);
  expect(await machine.ok(["import"])).toMatch(/^1 session in <?[\d.]+ m?s \(<0\.1 MB\/s\)$/m);
  const text = await machine.ok(["explain"]);
  expect(text).toContain(id);
  expect(text).not.toMatch(/\n\s*\n\s*\n|\n\n$/);
});

test.runIf(process.platform === "linux")(
  "a process with less address space than WebAssembly needs (ulimit -v): import and drain read every transcript",
  async () => {
    const limited = (args: string, env = {}) =>
      machine.shell(`ulimit -v 9000000 && exec '${process.execPath}' '${PROGRAM}' ${args}`, { env });
    const agent = new RecordedAgent(machine, "subagent");
    await agent.work(HOOK_ALONE);
    const usual = { OPENHOOK_OTEL_HOME: join(machine.home, "usual") };
    await machine.ok(["import"], { env: usual });
    const expected = JSON.parse(await machine.ok(["report", "--json"], { env: usual })).rows;
    expect(expected[0]).toMatchObject({ input: expect.any(Number) });
    const imported = { OPENHOOK_OTEL_HOME: join(machine.home, "imported") };
    const { code, stdout } = await limited("import --json", imported);
    expect({ code, problems: JSON.parse(stdout).problems }).toEqual({ code: 0, problems: [] });
    expect(JSON.parse(await machine.ok(["report", "--json"], { env: imported })).rows).toEqual(expected);
    expect(JSON.parse((await limited("drain --json")).stdout)).toMatchObject({ problems: [] });
    const [row] = JSON.parse(await machine.ok(["report", "--json"])).rows;
    expect(row).toMatchObject({ input: expected[0].input, output: expected[0].output });
  },
);

test.skipIf(process.platform === "win32")("a pipe in place of a project's settings blocks no command", async () => {
  const cwd = join(machine.home, "shop");
  mkdirSync(join(cwd, ".claude"), { recursive: true });
  const pipes = [join(cwd, ".openhook.json"), join(cwd, ".claude", "settings.json")];
  expect(spawnSync("mkfifo", pipes).status).toBe(0);
  for (const agent of ["openhook", "claude-code"]) {
    const { code, stderr } = await machine.run(["enable", agent, "--scope", "project"], { cwd });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]+: it is not a regular file\n$/),
    });
  }
  expect((await machine.run(["doctor"], { cwd })).stdout).toContain("regular file");
  expect((await machine.run(["status"], { cwd })).stdout).toContain(`${pipes[0]} cannot be read`);
});

test.skipIf(process.platform === "win32")(
  "a pipe in place of config.json blocks no command; export is off",
  async () => {
    const path = (await machine.ok(["config", "path"])).trim();
    mkdirSync(dirname(path), { recursive: true });
    expect(spawnSync("mkfifo", [path]).status).toBe(0);
    for (const command of ["status", "config", "doctor"]) {
      const { stdout, stderr } = await machine.run([command]);
      expect((stdout + stderr).replace(/\s+/g, " "), command).toContain("cannot be read (it is a pipe); export is off");
    }
    expect(await machine.ok(["drain"])).toContain("not sent until the configuration is fixed");
    await machine.ok(["import", "--dry-run"]);
    expect(await machine.run(["config", "set", "capture", "none"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]+cannot read[^\n]+: it is a pipe\n$/),
    });
  },
);

test.runIf(process.platform === "linux")(
  "a store that cannot be opened for lack of file descriptors is reported in one line",
  async () => {
    await new RecordedAgent(machine, "basic").work(HOOK_ALONE);
    await machine.ok(["drain"]);
    const errors: string[] = [];
    // Whether a file descriptor is left for the store depends on the Node version
    for (let files = 18; files <= 40; files++) {
      const sessions = `ulimit -n ${files}; exec '${process.execPath}' '${PROGRAM}' sessions`;
      errors.push((await machine.shell(sessions)).stderr);
    }
    expect(errors.filter((text) => text.includes("at new Database"))).toEqual([]);
    expect(errors).toContainEqual(
      expect.stringMatching(/^openhook-otel: cannot read "\S+": [^\n]*too many open files[^\n]*\n$/i),
    );
  },
);

const canMount = spawnSync("unshare", ["-m", "true"]).status === 0;

test.runIf(canMount)("a home mounted noexec: enable and status report it", async () => {
  const run = (command: string) =>
    machine.shell(
      `mkdir -p .local/share && unshare -m sh -c 'mount -t tmpfs -o noexec none .local/share && ${command}'`,
    );
  const program = `"${process.execPath}" "${PROGRAM}"`;
  const { code, stdout, stderr } = await run(`exec ${program} enable claude-code --yes`);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^openhook-otel: \S+hook cannot be executed: .*noexec.*set OPENHOOK_OTEL_HOME[^\n]+\n$/);
  expect(existsSync(join(machine.home, ".claude"))).toBe(false);
  await machine.enable();
  const installed = "cp -r .local/share/. shared && mount -t tmpfs -o noexec none .local/share";
  const later = await machine.shell(
    `mkdir shared && unshare -m sh -c '${installed} && cp -r shared/. .local/share && exec ${program} doctor'`,
  );
  expect(later.stdout).toMatch(/✗ \S+hook cannot be executed:\s[^✓]*noexec/);
});

test("in a deleted directory: commands that need none work, the others report it in one line", async () => {
  const inDeleted = (command: string) =>
    machine.shell(`mkdir gone && cd gone && rmdir ../gone && '${process.execPath}' '${PROGRAM}' ${command}`);
  expect(await inDeleted("sessions")).toMatchObject({ code: 0, stderr: "" });
  expect(await inDeleted("enable claude-code")).toMatchObject({
    code: 1,
    stderr: "openhook-otel: the current directory was deleted: change to another one\n",
  });
});

test("a drain and a preview that send nothing report why", async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  for (const [env, why] of [
    [{}, `no endpoint is set (node ${PROGRAM} config set otlp.endpoint <url>)`],
    [{ ...endpoint, OTEL_SDK_DISABLED: "true" }, "not sent: export is switched off (disabled)"],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/thrift" }, "not sent until the configuration is fixed"],
    [
      { ...endpoint, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" },
      "not sent: export is switched off (otlp.traces.enabled)",
    ],
  ] as const) {
    expect(await machine.ok(["drain"], { env })).toContain(`kept in the store, ${why}\n`);
    if (why.startsWith("not sent")) {
      expect(await machine.ok(["preview"], { env })).toContain(why.replace("traces", "metrics"));
    }
  }
});

test("a Node that is too old: one line, and the hook stays silent; 20.11 is enough", async () => {
  const beside = (name: string, code: string): string => {
    const path = join(machine.home, name);
    writeFileSync(path, code);
    return `'${process.execPath}' --require '${path}' '${PROGRAM}'`;
  };
  const versions = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });';
  const old = beside("18.cjs", versions);
  const { code, stdout, stderr } = await machine.shell(`${old} enable --yes`);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^openhook-otel: Node [^\n]* is too old, version 20 or later is required[^\n]*\n$/);
  const hook = await machine.shell(`${old} hook --source claude-code --event Stop`, { input: "{}" });
  expect(hook).toMatchObject({ code: 0, stdout: "", stderr: "" });
  // Node 20.12 introduced styleText
  const first = beside("20.11.cjs", 'require("node:util").styleText = undefined;');
  for (const command of ["status", "doctor", "enable claude-code"]) {
    expect(await machine.shell(`${first} ${command}`), command).toMatchObject({ code: 0, stderr: "" });
  }
});

test.runIf(process.platform === "linux")(
  "starts without a report of the process, and with one where the C library is unknown",
  async () => {
    const counting = (answer: string): string => {
      const path = join(machine.home, "counting.cjs");
      const code = `const fs = require("node:fs"), { readFileSync } = fs, { getReport } = process.report;
fs.readFileSync = (path, ...rest) => (path === "/proc/self/maps" ? ${answer} : readFileSync(path, ...rest));
process.report.getReport = () => (process.stderr.write("report"), getReport.call(process.report));`;
      writeFileSync(path, code);
      return `'${process.execPath}' --require '${path}' '${PROGRAM}' sessions --no-refresh`;
    };
    await machine.ok(["drain"]);
    expect((await machine.shell(counting("readFileSync(path, ...rest)"))).stderr).not.toContain("report");
    for (const unknown of ['"7f00-7f01 r-xp 00 00:00 1 /lib/ld-musl-x86_64.so.1\\n"', "fs.missing()"]) {
      expect(await machine.shell(counting(unknown)), unknown).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("report"),
      });
    }
  },
);

test("files of the program are ASCII, which V8 compiles faster", async () => {
  const folder = join(dirname(PROGRAM));
  const scripts = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".cjs"));
  expect(scripts.length).toBeGreaterThan(20);
  for (const path of scripts) expect(readFileSync(join(folder, path), "latin1"), path).not.toMatch(/[\x80-\xff]/);
});

test("output into a pipe has no colours, and is complete", async () => {
  await new RecordedAgent(machine, "parallel-tools").work(HOOK_ALONE);
  await machine.drain(["--end-idle"]);
  for (const command of [["show"], ["sessions"], ["status"], ["config"], ["--help"]]) {
    const output = await machine.ok(command, { env: { ...COLOURFUL, COLUMNS: "70" } });
    expect(hasColour(output), command.join(" ")).toBe(false);
    if (command[0] === "show") expect(output).toContain("└─ ");
    if (command[0] !== "config") {
      // A command to copy names the program's path, which may be long
      const lines = output.replaceAll(PROGRAM, "openhook-otel.cjs").split("\n");
      for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(100);
    }
  }
  expect(await machine.ok(["sessions", "--limit", "99999999999999999999"])).toBe(await machine.ok(["sessions"]));
  // A closed reader is not an error
  const gone = await machine.shell(`'${process.execPath}' '${PROGRAM}' show | head -c 1`);
  expect(gone).toMatchObject({ code: 0, stderr: "" });
});

test.skipIf(!existsSync("/dev/full"))(
  "output that does not fit on the disk is an error; the hook stays silent",
  async () => {
    const program = `'${process.execPath}' '${PROGRAM}'`;
    for (const command of ["report --csv", "status", "--help"]) {
      const { code, stderr } = await machine.shell(`${program} ${command} > /dev/full`);
      expect(code, command).toBe(1);
      expect(stderr, command).toMatch(/^openhook-otel: cannot write all of the output: ENOSPC[^\n]*\n$/);
    }
    const hook = await machine.shell(`${program} hook --source claude-code --event Stop > /dev/full`, { input: "{}" });
    expect(hook).toMatchObject({ code: 0, stderr: "" });
  },
);

test("closed readers of both outputs interrupt nothing, and change no exit code", async () => {
  const program = `'${process.execPath}' '${PROGRAM}'`;
  for (const folder of [".claude", ".codex", ".copilot"]) mkdirSync(join(machine.home, folder));
  const files = [".claude/settings.json", ".codex/hooks.json", ".copilot/hooks/openhook-otel.json"];
  const there = () => files.filter((file) => existsSync(join(machine.home, file)));
  await machine.shell(`${program} enable --yes | true`);
  expect(there()).toEqual(files);
  await machine.shell(`${program} disable --yes | true`);
  expect(there()).toEqual([]);
  // The first write fails, and its error message is lost
  writeFileSync(join(machine.home, ".claude", "settings.json"), "{");
  const { stdout } = await machine.shell(`(${program} enable --yes 2>&1; echo $? >code) | true; sleep 0.1; cat code`);
  expect(stdout).toBe("1\n");
  expect(there()).toEqual(files);
  expect(await machine.shell(`${program} bogus 2>&1 | true; ${program} status --bogus 2>&-`)).toMatchObject({
    code: 2,
  });
});

test("a home that cannot be written: one line each, no stack trace, and the hook stays silent", async () => {
  const { home } = machine;
  rmSync(home, { recursive: true });
  writeFileSync(home, "a file where the home should be");
  const cwd = dirname(home);
  for (const command of [
    ["drain"],
    ["enable", "claude-code", "--yes"],
    ["config", "set", "otlp.timeoutMs", "5000"],
    ["stack", "--yes"],
  ]) {
    const { code, stdout, stderr } = await machine.run(command, { cwd });
    expect({ code, stdout }, command.join(" ")).toEqual({ code: 1, stdout: "" });
    expect(stderr, command.join(" ")).toMatch(/^openhook-otel: [^\n]+\n$/);
    expect(stderr, command.join(" ")).toContain(home);
  }
  for (const command of [["status"], ["sessions"], ["show"], ["config"]]) {
    const { stderr } = await machine.run(command, { cwd });
    expect(stderr, command.join(" ")).not.toMatch(/\n\s+at /);
  }
  for (const hook of [HOOK_ALONE.get("Stop")?.[0] ?? "", `'${process.execPath}' '${PROGRAM}' hook`]) {
    const { code, stdout, stderr } = await machine.shell(hook, { input: '{"session_id":"s"}', cwd });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  }
});
