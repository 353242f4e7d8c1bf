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
import { passesOn, type Setup, setups, Wrapped } from "./wrapped.ts";

/** Says all that a program can know of itself, then does what it is told. */
const PROBE = `#!${process.execPath}
const fs = require("node:fs");
const [task, ...rest] = process.argv.slice(2);
const heard = (signal, then) => process.on(signal, () => { process.stdout.write(signal + " "); then(); });
const forever = () => setTimeout(() => {}, 20_000);
if (task === "say") process.stdout.write(JSON.stringify(process.argv.slice(2)));
if (task === "code") process.exit(Number(rest[0]));
if (task === "cat") process.stdin.pipe(process.stdout);
if (task === "both") { process.stdout.write("out"); process.stderr.write("err"); }
if (task === "die") { process.kill(process.pid, rest[0]); forever(); }
if (task === "fds") for (const fd of rest) fs.writeSync(Number(fd), "fd " + fd);
if (task === "wait") { process.stdout.write("ready "); forever(); }
if (task === "hear") { for (const s of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) heard(s, () => setTimeout(() => process.exit(7), 40));
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

/** Runs through PATH, as a shell does. */
const through = (args: readonly string[], options: Parameters<typeof run>[1] = {}) =>
  run([join(home.bin, "gh"), ...args], { ...options, env: { ...home.env, ...options.env } });

/** Starts it, sends a signal once it is ready, to the process or to its group. */
async function signalled(task: "wait" | "hear", signal: NodeJS.Signals, to: "process" | "group") {
  return through([task], {
    onSpawn: (child) => {
      child.stdout?.once("data", () => process.kill((to === "group" ? -1 : 1) * (child.pid ?? 0), signal));
    },
  });
}

describe.each(setups)("$title", (setup: Setup) => {
  beforeEach(() => home.wrap(["gh"], setup));

  test("hands arguments, streams and exit codes through as they are", async () => {
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

  test.runIf(process.platform === "linux")("the program cannot tell it from a start of its own", async () => {
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
          const { stdout } = await run(command, { env: { ...home.env, IGNORED, PWD, SHLVL }, cwd: home.home });
          const { stdin: _, session: __, groupIsOwn: ___, ...self } = JSON.parse(stdout);
          return self;
        }),
      );
      expect(wrapped).toEqual(own);
    }
  });

  test("leaves every descriptor to the program, and a closed one closed", async () => {
    const named = (fds: readonly number[]) => {
      const stdio = Array.from({ length: 10 }, (_, fd) => (fds.includes(fd) || fd < 3 ? "pipe" : "ignore") as "pipe");
      const { output, status } = spawnSync(join(home.bin, "gh"), ["fds", ...fds.map(String)], {
        env: home.env,
        stdio,
      });
      return { status, said: fds.map((fd) => output[fd]?.toString()) };
    };
    for (const fds of [[3], [9, 8], [3, 4, 5, 6, 7, 8, 9]]) {
      expect(named(fds)).toEqual({ status: 0, said: fds.map((fd) => `fd ${fd}`) });
    }
    for (const closed of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
      const command = `"$0" code 3 ${closed}`;
      expect((await run(["sh", "-c", command, join(home.bin, "gh")], { env: home.env })).code, closed).toBe(3);
    }
  });

  test("is a program's death where it had the signal too, else the shell's number for it", async () => {
    for (const [signal, code] of [
      ["SIGKILL", 137],
      ["SIGSEGV", 139],
      ["SIGTERM", 143],
      ["SIGINT", 130],
    ] as const) {
      expect(await through(["die", signal])).toMatchObject({ code, signal: null, stdout: "", stderr: "" });
    }
  });

  test("passes a signal on that is sent to it alone, once", async () => {
    for (const signal of ["SIGTERM", "SIGHUP", ...(passesOn(setup) ? (["SIGINT", "SIGQUIT"] as const) : [])] as const) {
      expect(await signalled("hear", signal, "process")).toMatchObject({
        code: 7,
        stdout: `ready ${signal} `,
        stderr: "",
      });
      // some shells never die of QUIT themselves
      const isDeaf = signal === "SIGQUIT" && !setup.interpreter.endsWith("dash");
      const death = isDeaf ? { code: 131, signal: null } : { code: null, signal };
      expect(await signalled("wait", signal, "process")).toMatchObject({ ...death, stderr: "" });
    }
    // where nothing can make a program hear it, it ends at least
    if (!passesOn(setup)) {
      expect(await signalled("wait", "SIGINT", "process")).toMatchObject({ code: 143, stderr: "" });
    }
  });

  test("does not repeat what the whole group has had", async () => {
    for (const signal of ["SIGTERM", "SIGHUP", ...(passesOn(setup) ? (["SIGINT"] as const) : [])] as const) {
      expect(await signalled("hear", signal, "group")).toMatchObject({ code: 7, stdout: `ready ${signal} ` });
      expect(await signalled("wait", signal, "group")).toMatchObject({ code: null, signal, stderr: "" });
    }
  });

  test("tells both phases with the sub-command alone", async () => {
    await through(["pr", "create", "--title", "planted title", "planted-operand"], {
      env: { CLAUDE_CODE_SESSION_ID: "s-1", GH_TOKEN: "planted" },
    });
    const [pre, post] = await home.told(2);
    expect(pre).toMatchObject({ cli: "gh", args: ["pr", "create"], phase: "pre", source: "cli-wrapper" });
    expect(post).toMatchObject({ cli: "gh", args: ["pr", "create"], phase: "post", exit_code: 0 });
    expect(pre?.call).toBe(post?.call);
    expect(pre?.shell).toBe(post?.shell);
    expect(pre?.env).toMatchObject({ CLAUDE_CODE_SESSION_ID: "s-1" });
    expect(JSON.stringify([pre, post])).not.toContain("planted");
    expect(pre).not.toHaveProperty("exit_code");

    await through(["code", "3"]);
    const all = await home.told(4);
    expect(all.filter(({ exit_code }) => exit_code === 3)).toHaveLength(1);
    expect(new Set(all.map(({ call }) => call)).size).toBe(2);
  });

  test("a program that is killed with its wrapper is left unfinished", async () => {
    const outcome = await signalled("wait", "SIGKILL", "group");
    expect(outcome).toMatchObject({ signal: "SIGKILL" });
    await sleepMs(300);
    expect((await home.told(1)).map(({ phase }) => phase)).toEqual(["pre"]);
  });
});

describe("whatever is in PATH", () => {
  beforeEach(() => home.wrap(["gh"]));
  const says = (word: string) => `#!/bin/sh\necho ${word} "$@"\n`;
  const said = async (env: Readonly<Record<string, string>> = {}) => {
    const { stdout, stderr, code } = await through(["x"], { env });
    return { stdout, stderr, code };
  };

  test("follows the program where it goes, and says what a shell says when it is gone", async () => {
    home.program("gh", says("newer"));
    expect(await said()).toEqual({ stdout: "newer x\n", stderr: "", code: 0 });
    const other = join(home.root, "opt", "gh 2", "bin");
    home.program("gh", says("moved"), other);
    rmSync(bare());
    expect(await said({ PATH: `${home.path}:${other}` })).toMatchObject({ stdout: "moved x\n" });
    expect(await said()).toEqual({ stdout: "", stderr: "gh: command not found\n", code: 127 });
    for (const path of [home.bin, "", ":", `${home.bin}:${home.bin}/:${home.bin}/../bin`]) {
      expect(await said({ PATH: path }), path).toMatchObject({ stdout: "", code: 127 });
    }
    // a directory and a file that nobody may run are no programs
    mkdirSync(bare());
    writeFileSync(join(other, "gh"), says("no"));
    chmodSync(join(other, "gh"), 0o644);
    expect(await said({ PATH: `${home.path}:${other}` })).toMatchObject({ code: 127 });
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

  test("runs without the hook, switched off, and for a shell that completes a line, and tells nothing", async () => {
    home.program("gh", says("plain"));
    expect(await said({ OPENHOOK_OTEL_WRAP: "off" })).toMatchObject({ stdout: "plain x\n" });
    expect(await through(["__complete", "pr"])).toMatchObject({ stdout: "plain __complete pr\n" });
    rmSync(home.places.hookPath);
    expect(await said()).toMatchObject({ stdout: "plain x\n", stderr: "", code: 0 });
    await sleepMs(200);
    expect(existsSync(home.places.inboxDir) ? readdirSync(home.places.inboxDir) : []).toEqual([]);
    // the wrapper gone, its link is one that leads nowhere: a shell passes it over
    rmSync(dirname(home.places.hookPath), { recursive: true });
    expect(await run(["sh", "-c", "gh x"], { env: home.env })).toMatchObject({ stdout: "plain x\n", stderr: "" });
  });

  test("a hook that fails, hangs or cannot be started does not show", async () => {
    home.program("gh", says("plain"));
    for (const hook of [
      "#!/bin/sh\necho noise; echo noise >&2; exit 2\n",
      "#!/nonexistent\n",
      "#!/bin/sh\nsleep 3\n",
    ]) {
      // A file that is just being started cannot be written to
      writeFileSync(`${home.places.hookPath}.new`, hook, { mode: 0o755 });
      renameSync(`${home.places.hookPath}.new`, home.places.hookPath);
      const outcome = await through(["x"]);
      expect(outcome).toMatchObject({ stdout: "plain x\n", stderr: "", code: 0 });
      expect(outcome.durationMs).toBeLessThan(2_000);
    }
  });

  test("a shim that becomes the next program of its name is passed over the second time, and told once", async () => {
    const shims = join(home.root, "shims");
    // as version managers do for a program that they do not manage: PATH without themselves
    home.program("gh", '#!/bin/sh\nPATH=$REST\nexec gh "$@"\n', shims);
    home.program("gh", says("real"));
    const PATH = `${home.bin}:${shims}:${home.real}:${process.env["PATH"]}`;
    const REST = `${home.bin}:${home.real}:${process.env["PATH"]}`;
    expect(await said({ PATH, REST })).toMatchObject({ stdout: "real x\n" });
    await sleepMs(200);
    expect(await home.told(2)).toHaveLength(2);

    // one that does not take itself out of PATH
    home.program("gh", '#!/bin/sh\nexec gh "$@"\n', shims);
    expect(await said({ PATH })).toMatchObject({ stdout: "real x\n" });
    // and one that waits for what it starts: it would start itself for ever
    home.program("gh", '#!/bin/sh\ngh "$@"\n', shims);
    expect(await said({ PATH })).toMatchObject({ stdout: "real x\n" });
  }, 30_000);

  test("wrappers that lead to each other end", async () => {
    rmSync(bare());
    const copies = join(home.root, "copies");
    mkdirSync(copies);
    copyFileSync(join(home.bin, "gh"), join(copies, "gh"));
    const PATH = `${home.bin}:${copies}:/usr/bin:/bin`;
    expect(await said({ PATH })).toMatchObject({ code: 127, stdout: "", stderr: "gh: command not found\n" });
    // with a program behind them it is found; each call is told once
    home.program("gh", says("real"));
    expect(await said({ PATH: `${home.bin}:${copies}:${home.real}:/usr/bin:/bin` })).toMatchObject({
      stdout: "real x\n",
    });
    await sleepMs(200);
    expect(await home.told(4)).toHaveLength(4);
    // a second link to the same wrapper is the same
    const links = join(home.root, "links");
    mkdirSync(links);
    symlinkSync(join(home.bin, "gh"), join(links, "gh"));
    expect(await said({ PATH: `${links}:${home.path}` })).toMatchObject({ stdout: "real x\n" });
  });

  test("a program that starts itself again is found again, also when it does so in its own process", async () => {
    const twice = (start: string) => `#!/bin/sh\n[ "$1" = x ] || { echo "second $1"; exit 4; }\n${start} y\n`;
    for (const start of ["exec gh", "gh"]) {
      home.program("gh", twice(start));
      expect(await said()).toMatchObject({ stdout: "second y\n", code: 4 });
    }
    await home.told(6);
  });

  test("a name that JSON could not hold is run and not told", async () => {
    const name = 'g"h';
    home.program(name, says("odd"));
    symlinkSync(join(dirname(home.places.hookPath), "wrapper"), join(home.bin, name));
    expect(await run([join(home.bin, name), "x"], { env: home.env })).toMatchObject({ stdout: "odd x\n", code: 0 });
    await sleepMs(200);
    expect(existsSync(home.places.inboxDir) ? readdirSync(home.places.inboxDir) : []).toEqual([]);
  });
});

const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0;

describe.runIf(hasScript && process.platform === "linux").each(setups)("on a terminal: $title", (setup: Setup) => {
  beforeEach(() => home.wrap(["gh"], setup));

  /** Types into a terminal, each text once what comes before it has shown. */
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

  test("Ctrl-C is heard once, and a script sees a death by it", async () => {
    const heard = await typed("gh hear; echo after $?", [[/ready/, "\x03"]]);
    expect(heard.stdout.replaceAll("^C", "")).toMatch(/ready SIGINT .*after 7/s);
    // bash goes on after a program that answers Ctrl-C with an exit code, and ends after one that dies of it
    const loop = "bash -c 'for i in 1 2 3; do gh wait; done; echo went on'";
    expect((await typed(loop, [[/ready/, "\x03"]])).stdout).not.toContain("went on");
  });

  test.runIf(existsSync("/bin/bash"))("Ctrl-Z stops the whole job, fg goes on with it", async () => {
    const { stdout } = await typed("bash --norc --noprofile -i", [
      [/[#$] $/, "gh hear\n"],
      [/ready/, "\x1a"],
      [/Stopped[^\n]*gh hear\r\n[^\n]*[#$] $/, "fg\n"],
      [/\ngh hear\r\n/, "\x03"],
      [/SIGINT .*[#$] $/s, "echo code $?; exit\n"],
    ]);
    expect(stdout).toContain("code 7");
  });
});
