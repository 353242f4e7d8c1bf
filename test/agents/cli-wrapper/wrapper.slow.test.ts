// Slow: only `npm run test:all` runs it. The wrapper in every shell; commands/wrap.test.ts runs it once.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run, sleepMs } from "../../intake/intakes.ts";
import { hasShell } from "../../support/shells.ts";
import { passesOn, type Setup, setups, Wrapped } from "./wrapped.ts";

/** Reports a program's own state, or does what its first argument names. */
const PROBE = `#!${process.execPath}
const fs = require("node:fs");
const [task, ...rest] = process.argv.slice(2);
const on = (signal, then) => process.on(signal, () => { process.stdout.write(signal + " "); then(); });
const forever = () => setTimeout(() => {}, 20_000);
if (task === "say") process.stdout.write(JSON.stringify(process.argv.slice(2)));
if (task === "code") process.exit(Number(rest[0]));
if (task === "cat") process.stdin.pipe(process.stdout);
if (task === "both") { process.stdout.write("out"); process.stderr.write("err"); }
if (task === "die") { process.kill(process.pid, rest[0]); forever(); }
if (task === "fds") for (const fd of rest) fs.writeSync(Number(fd), "fd " + fd);
if (task === "wait") { process.stdout.write("ready "); forever(); }
if (task === "trap") { for (const s of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) on(s, () => setTimeout(() => process.exit(7), 40));
  process.stdout.write("ready "); forever(); }
if (task === "self") {
  const status = Object.fromEntries(fs.readFileSync("/proc/self/status", "utf8").split("\\n").map((line) => line.split(":\\t")));
  const stat = fs.readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
  const fds = fs.readdirSync("/proc/self/fd").flatMap((fd) => { try { const to = fs.readlinkSync("/proc/self/fd/" + fd);
    return /anon_inode|^\\/proc|\\/dev\\/null|cgroup/.test(to) && Number(fd) > 2 ? [] : [fd]; } catch { return []; } });
  const { OPENHOOK_OTEL_WRAPPED: _, _: __, ...env } = process.env;
  process.stdout.write(JSON.stringify({ ignored: status.SigIgn, blocked: status.SigBlk, umask: status.Umask, session: stat[3],
    tty: stat[4], groupIsOwn: stat[2] === String(process.pid), cwd: process.cwd(), env, stdin: fs.fstatSync(0).ino, fds: fds.filter((fd) => Number(fd) < 10) }));
}
`;

let home: Wrapped;
beforeEach(() => {
  home = new Wrapped();
  home.program("gh", PROBE);
});
afterEach(() => home.remove());

const gh = (...args: readonly string[]) => ["gh", ...args] as const;
const bare = () => join(home.real, "gh");

/** Runs the command from PATH, as a shell does. */
const through = (args: readonly string[], options: Parameters<typeof run>[1] = {}) =>
  run([join(home.bin, "gh"), ...args], { ...options, env: { ...home.env, ...options.env } });

/** Starts the program and sends a signal to its process or group once it is ready. */
async function signalled(task: "wait" | "trap", signal: NodeJS.Signals, to: "process" | "group") {
  return through([task], {
    onSpawn: (child) => {
      child.stdout?.once("data", () => process.kill((to === "group" ? -1 : 1) * (child.pid ?? 0), signal));
    },
  });
}

describe.each(setups)("$title", (setup: Setup) => {
  beforeEach(() => home.wrap(["gh"], setup));

  test("passes arguments, streams and exit codes through unchanged", async () => {
    const odd = ["say", "", " two  words ", "a\nb", "*", "$HOME", "`id`", "\\", "--", "-n", "\u00fc", "'\""];
    expect(await through(odd)).toMatchObject({ code: 0, stdout: JSON.stringify(odd), stderr: "", stdinErrors: [] });
    expect(await through(["both"])).toMatchObject({ code: 0, stdout: "out", stderr: "err" });
    for (const code of [1, 2, 125, 126, 127, 128, 130, 137, 143, 255]) {
      expect(await through(["code", String(code)])).toMatchObject({ code, signal: null, stdout: "", stderr: "" });
    }
    const input = randomBytes(1_000_000).toString("base64");
    expect((await through(["cat"], { input })).stdout).toBe(input);
    expect(readdirSync(home.root).sort()).toEqual(["home", "usr bin"]);
  });

  test.runIf(process.platform === "linux")("the program sees the same environment as if started directly", async () => {
    const PWD = home.home;
    const before = "umask 027; trap '' $IGNORED; exec \"$@\"";
    for (const [IGNORED, SHLVL] of [
      ["USR2", "2"],
      ["INT", "7"],
      ["INT QUIT TERM HUP", "12"],
    ] as const) {
      const [own, wrapped] = await Promise.all(
        [bare(), join(home.bin, "gh")].map(async (program) => {
          const command = ["sh", "-c", before, "sh", program, "self"] as const;
          // Names that a script would use
          const users = {
            env: "prod",
            name: "n",
            file: "f",
            call: "c",
            status: "s",
            line: "l",
            home: "h",
            program: "p",
          };
          const env = { ...home.env, ...users, IGNORED, PWD, SHLVL };
          const { stdout } = await run(command, { env, cwd: home.home });
          const { stdin: _, session: __, groupIsOwn: ___, ...self } = JSON.parse(stdout);
          return self;
        }),
      );
      expect(wrapped).toEqual(own);
    }
  });

  test("passes every descriptor to the program, and keeps closed ones closed", async () => {
    const named = (fds: readonly number[]) => {
      const stdio = Array.from({ length: 10 }, (_, fd) => (fds.includes(fd) || fd < 3 ? "pipe" : "ignore") as "pipe");
      const { output, status } = spawnSync(join(home.bin, "gh"), ["fds", ...fds.map(String)], {
        env: home.env,
        stdio,
      });
      return { status, output: fds.map((fd) => output[fd]?.toString()) };
    };
    for (const fds of [[3], [9, 8], [3, 4, 5, 6, 7, 8, 9]]) {
      expect(named(fds)).toEqual({ status: 0, output: fds.map((fd) => `fd ${fd}`) });
    }
    for (const closed of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
      const command = `"$0" code 3 ${closed}`;
      expect((await run(["sh", "-c", command, join(home.bin, "gh")], { env: home.env })).code, closed).toBe(3);
    }
  });

  test("ends by the program's signal if it received the signal too, otherwise exits with 128 + the signal", async () => {
    for (const [signal, code] of [
      ["SIGKILL", 137],
      ["SIGSEGV", 139],
      ["SIGTERM", 143],
      ["SIGINT", 130],
    ] as const) {
      expect(await through(["die", signal])).toMatchObject({ code, signal: null, stdout: "", stderr: "" });
    }
  });

  test("forwards a signal sent only to the wrapper, once", async () => {
    for (const signal of ["SIGTERM", "SIGHUP", ...(passesOn(setup) ? (["SIGINT", "SIGQUIT"] as const) : [])] as const) {
      expect(await signalled("trap", signal, "process")).toMatchObject({
        code: 7,
        stdout: `ready ${signal} `,
        stderr: "",
      });
      // Some shells never die of QUIT
      const survivesQuit = signal === "SIGQUIT" && !setup.interpreter.endsWith("dash");
      const death = survivesQuit ? { code: 131, signal: null } : { code: null, signal };
      expect(await signalled("wait", signal, "process")).toMatchObject({ ...death, stderr: "" });
    }
    // Without a way to restore the signal, the program at least ends
    if (!passesOn(setup)) {
      expect(await signalled("wait", "SIGINT", "process")).toMatchObject({ code: 143, stderr: "" });
    }
  });

  test("does not forward a signal that the whole group received", async () => {
    for (const signal of ["SIGTERM", "SIGHUP", ...(passesOn(setup) ? (["SIGINT"] as const) : [])] as const) {
      expect(await signalled("trap", signal, "group")).toMatchObject({ code: 7, stdout: `ready ${signal} ` });
      expect(await signalled("wait", signal, "group")).toMatchObject({ code: null, signal, stderr: "" });
    }
  });

  test("reports both phases with only the sub-command", async () => {
    await through(["pr", "create", "--title", "planted title", "planted-operand"], {
      env: { CLAUDE_CODE_SESSION_ID: "s-1", GH_TOKEN: "planted" },
    });
    const [pre, post] = await home.payloads(2);
    expect(pre).toMatchObject({ cli: "gh", args: ["pr", "create"], phase: "pre", source: "cli-wrapper" });
    expect(post).toMatchObject({ cli: "gh", args: ["pr", "create"], phase: "post", exit_code: 0 });
    expect(pre?.call).toBe(post?.call);
    expect(pre?.shell).toBe(post?.shell);
    expect(pre?.env).toMatchObject({ CLAUDE_CODE_SESSION_ID: "s-1" });
    expect(JSON.stringify([pre, post])).not.toContain("planted");
    expect(pre).not.toHaveProperty("exit_code");

    await through(["code", "3"]);
    const all = await home.payloads(4);
    expect(all.filter(({ exit_code }) => exit_code === 3)).toHaveLength(1);
    expect(new Set(all.map(({ call }) => call)).size).toBe(2);
  });

  test("a program killed with its wrapper stays unfinished", async () => {
    const outcome = await signalled("wait", "SIGKILL", "group");
    expect(outcome).toMatchObject({ signal: "SIGKILL" });
    await sleepMs(300);
    expect((await home.payloads(1)).map(({ phase }) => phase)).toEqual(["pre"]);
  });
});

// An agent that the Dock, a LaunchAgent or a service started, and that knows the wrapper by its path
describe.each(["dash", "bash --norc --posix", "busybox sh", "zsh --emulate sh", "ksh"])("launchd: %s", (title) => {
  const [name = "", ...flags] = title.split(" ");

  test("with a short PATH, none, or no HOME, the program runs and both phases are reported", async () => {
    if (!hasShell(name, "wrapped commands with launchd's environment")) return expect(name).not.toBe("bash");
    await home.wrap(["gh"]);
    const shell = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).stdout.trim();
    const system = "/usr/bin:/bin:/usr/sbin:/sbin";
    const environments: readonly Record<string, string>[] = [
      {},
      { PATH: system },
      { PATH: "" },
      { HOME: home.home },
      { HOME: home.home, PATH: system, __CF_USER_TEXT_ENCODING: "0x1F5:0x0:0x0" },
    ];
    for (const [index, env] of environments.entries()) {
      const { status, stdout, stderr } = spawnSync(shell, [...flags, join(home.bin, "gh"), "say", "x"], {
        env: { ...env, OPENHOOK_OTEL_DRAIN: "off" },
        cwd: "/",
        encoding: "utf8",
      });
      expect([env, status, stdout, stderr]).toEqual([env, 0, '["say","x"]', ""]);
      expect(await home.payloads(2 * (index + 1))).toHaveLength(2 * (index + 1));
    }
  });
});

describe("any PATH", () => {
  beforeEach(() => home.wrap(["gh"]));
  const script = (word: string) => `#!/bin/sh\necho ${word} "$@"\n`;
  const outcome = async (env: Readonly<Record<string, string>> = {}) => {
    const { stdout, stderr, code } = await through(["x"], { env });
    return { stdout, stderr, code };
  };

  test("finds the program after it moved, and fails like a shell if it is missing", async () => {
    home.program("gh", script("newer"));
    expect(await outcome()).toEqual({ stdout: "newer x\n", stderr: "", code: 0 });
    const other = join(home.root, "opt", "gh 2", "bin");
    home.program("gh", script("moved"), other);
    rmSync(bare());
    expect(await outcome({ PATH: `${home.path}:${other}` })).toMatchObject({ stdout: "moved x\n" });
    expect(await outcome()).toEqual({ stdout: "", stderr: "gh: command not found\n", code: 127 });
    for (const path of [home.bin, "", ":", `${home.bin}:${home.bin}/:${home.bin}/../bin`]) {
      expect(await outcome({ PATH: path }), path).toMatchObject({ stdout: "", code: 127 });
    }
    // A directory and a file that is not executable are no programs
    mkdirSync(bare());
    writeFileSync(join(other, "gh"), script("no"));
    chmodSync(join(other, "gh"), 0o644);
    expect(await outcome({ PATH: `${home.path}:${other}` })).toMatchObject({ code: 127 });
  });

  test("finds programs by relative and empty entries, as a shell does", async () => {
    for (const path of [`${home.bin}:usr bin`, `${home.bin}::/nowhere`]) {
      const cwd = path.includes("usr bin") ? home.root : home.real;
      expect(
        await run(gh("say").with(0, join(home.bin, "gh")) as [string, ...string[]], {
          cwd,
          env: { ...home.env, PATH: `${path}:/usr/bin:/bin` },
        }),
      ).toMatchObject({ stdout: '["say"]' });
    }
  });

  test("runs the program without reporting if the hook is missing, wrapping is off or a shell completes a line", async () => {
    home.program("gh", script("plain"));
    expect(await outcome({ OPENHOOK_OTEL_WRAP: "off" })).toMatchObject({ stdout: "plain x\n" });
    expect(await through(["__complete", "pr"])).toMatchObject({ stdout: "plain __complete pr\n" });
    rmSync(home.places.hookPath);
    expect(await outcome()).toMatchObject({ stdout: "plain x\n", stderr: "", code: 0 });
    await sleepMs(200);
    expect(existsSync(home.places.inboxDir) ? readdirSync(home.places.inboxDir) : []).toEqual([]);
    // Without the wrapper, its link is dangling and a shell skips it
    rmSync(dirname(home.places.hookPath), { recursive: true });
    expect(await run(["sh", "-c", "gh x"], { env: home.env })).toMatchObject({ stdout: "plain x\n", stderr: "" });
  });

  test("a hook that fails, hangs or cannot be started has no visible effect", async () => {
    home.program("gh", script("plain"));
    for (const hook of [
      "#!/bin/sh\necho noise; echo noise >&2; exit 2\n",
      "#!/nonexistent\n",
      "#!/bin/sh\nsleep 60\n",
    ]) {
      // A file that is being executed cannot be written
      writeFileSync(`${home.places.hookPath}.new`, hook, { mode: 0o755 });
      renameSync(`${home.places.hookPath}.new`, home.places.hookPath);
      const outcome = await through(["x"]);
      expect(outcome).toMatchObject({ stdout: "plain x\n", stderr: "", code: 0 });
      expect(outcome.durationMs).toBeLessThan(30_000);
    }
  });

  test("skips a shim that calls the same name again, and reports the call once", async () => {
    const shims = join(home.root, "shims");
    // Version managers remove themselves from PATH for programs that they do not manage
    home.program("gh", '#!/bin/sh\nPATH=$REST\nexec gh "$@"\n', shims);
    home.program("gh", script("real"));
    const PATH = `${home.bin}:${shims}:${home.real}:${process.env["PATH"]}`;
    const REST = `${home.bin}:${home.real}:${process.env["PATH"]}`;
    expect(await outcome({ PATH, REST })).toMatchObject({ stdout: "real x\n" });
    await sleepMs(200);
    expect(await home.payloads(2)).toHaveLength(2);

    // A shim that stays in PATH
    home.program("gh", '#!/bin/sh\nexec gh "$@"\n', shims);
    expect(await outcome({ PATH })).toMatchObject({ stdout: "real x\n" });
    // A shim that waits for its child: it would start itself endlessly
    home.program("gh", '#!/bin/sh\ngh "$@"\n', shims);
    expect(await outcome({ PATH })).toMatchObject({ stdout: "real x\n" });
  });

  test("wrappers that find each other do not loop", async () => {
    rmSync(bare());
    const copies = join(home.root, "copies");
    mkdirSync(copies);
    copyFileSync(join(home.bin, "gh"), join(copies, "gh"));
    const PATH = `${home.bin}:${copies}:/usr/bin:/bin`;
    expect(await outcome({ PATH })).toMatchObject({ code: 127, stdout: "", stderr: "gh: command not found\n" });
    // A program after them is found; each call is reported once
    home.program("gh", script("real"));
    expect(await outcome({ PATH: `${home.bin}:${copies}:${home.real}:/usr/bin:/bin` })).toMatchObject({
      stdout: "real x\n",
    });
    await sleepMs(200);
    expect(await home.payloads(4)).toHaveLength(4);
    // A second link to the same wrapper behaves the same
    const links = join(home.root, "links");
    mkdirSync(links);
    symlinkSync(join(home.bin, "gh"), join(links, "gh"));
    expect(await outcome({ PATH: `${links}:${home.path}` })).toMatchObject({ stdout: "real x\n" });
  });

  test("a program that starts itself again is found again, also through exec", async () => {
    const twice = (start: string) => `#!/bin/sh\n[ "$1" = x ] || { echo "second $1"; exit 4; }\n${start} y\n`;
    for (const start of ["exec gh", "gh"]) {
      home.program("gh", twice(start));
      expect(await outcome()).toMatchObject({ stdout: "second y\n", code: 4 });
    }
    await home.payloads(6);
  });

  test("a program whose name is not valid in JSON runs without being reported", async () => {
    const name = 'g"h';
    home.program(name, script("odd"));
    symlinkSync(join(dirname(home.places.hookPath), "wrapper"), join(home.bin, name));
    expect(await run([join(home.bin, name), "x"], { env: home.env })).toMatchObject({ stdout: "odd x\n", code: 0 });
    await sleepMs(200);
    expect(existsSync(home.places.inboxDir) ? readdirSync(home.places.inboxDir) : []).toEqual([]);
  });
});

const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0;

describe.runIf(hasScript && process.platform === "linux").each(setups)("on a terminal: $title", (setup: Setup) => {
  beforeEach(() => home.wrap(["gh"], setup));

  /** Types into a terminal: each text once the expected output has appeared. */
  async function typed(command: string, steps: readonly (readonly [wait: RegExp, keys: string])[]) {
    let shown = "";
    let at = 0;
    const outcome = await run(["script", "-qec", command, "/dev/null"], {
      keepOpen: true,
      env: { ...home.env, TERM: "dumb", SHELL: "/bin/bash" },
      onSpawn: (child) => {
        child.stdout?.on("data", (data: Buffer) => {
          shown += data;
          for (let step = steps[at]; step?.[0].test(shown); step = steps[at]) {
            at += 1;
            shown = "";
            const keys = step[1];
            setTimeout(() => child.stdin?.write(keys), 150);
          }
        });
      },
    });
    expect(at, `waited for ${steps[at]?.[0]} and saw ${JSON.stringify(shown)}`).toBe(steps.length);
    return outcome;
  }

  test("the program has the terminal, its size and its keys", async () => {
    home.program(
      "gh",
      '#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty cols 91 rows 17 && stty size && read -r line && echo "line $line"\n',
    );
    const { stdout } = await typed("gh", [[/17 91/, "typed\n"]]);
    expect(stdout).toMatch(/17 91\r\n(typed\r\n)?line typed\r\n/);
  });

  test("Ctrl-C arrives once, and a script sees a death by signal", async () => {
    const result = await typed("gh trap; echo after $?", [[/ready/, "\x03"]]);
    expect(result.stdout.replaceAll("^C", "")).toMatch(/ready SIGINT .*after 7/s);
    // bash continues after a program that exits on Ctrl-C, and stops after one that dies of it
    const loop = "bash -c 'for i in 1 2 3; do gh wait; done; echo went on'";
    expect((await typed(loop, [[/ready/, "\x03"]])).stdout).not.toContain("went on");
  });

  test.runIf(existsSync("/bin/bash"))("Ctrl-Z stops the whole job, and fg continues it", async () => {
    const { stdout } = await typed("bash --norc --noprofile -i", [
      [/[#$] $/, "gh trap\n"],
      [/ready/, "\x1a"],
      [/Stopped[^\n]*gh trap\r\n[^\n]*[#$] $/, "fg\n"],
      [/\ngh trap\r\n/, "\x03"],
      [/SIGINT .*[#$] $/s, "echo code $?; exit\n"],
    ]);
    expect(stdout).toContain("code 7");
  });
});
