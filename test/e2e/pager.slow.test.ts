// Slow: only `npm run test:all` runs it. A pager on a pseudo terminal, for each command that has one; pager.test.ts has the
// choice.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Replay, ROOT } from "../support/replay.ts";

const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0;
const program = join(ROOT, "dist", "openhook-otel.cjs");

let of: Replay;
let bin: string;
let repository: string;
beforeAll(async () => {
  of = new Replay("claude-code", "multi-turn");
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true });
  bin = join(of.home, "pagers");
  repository = join(of.home, "repository");
  for (const folder of [bin, repository]) mkdirSync(folder);
  const pager = (name: string, lines: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  pager("less", `echo "less $* LESS=$LESS"; cat`);
  pager("own", `echo "own $*"; cat`);
  pager("closing", 'read -r line; echo "closed after $line"; exec 0<&-; exit 3');
});
beforeEach(() => rmSync(join(repository, ".env"), { force: true }));
afterAll(() => of.remove());

/** What a pseudo terminal shows, and the exit code. */
async function onTerminal(
  args: string,
  env: Readonly<Record<string, string>> = {},
  size = "rows 5 columns 100",
): Promise<{ readonly screen: string; readonly code: number | null }> {
  const log = join(of.home, "screen");
  const command = `stty ${size}; exec '${process.execPath}' '${program}' ${args}`;
  const child = spawn("script", ["-qec", command, log], {
    cwd: repository,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: of.home, TERM: "xterm", LANG: "C.UTF-8", TZ: "UTC", ...env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const code = await new Promise<number | null>((done) => child.on("exit", done));
  const [, ...lines] = readFileSync(log, "utf8").split("\n");
  return { screen: lines.slice(0, -3).join("\n"), code };
}

describe.runIf(hasScript)("a terminal", () => {
  test.each(["show --no-refresh", "explain --no-refresh", "report --no-refresh", "config --all", "config show --all"])(
    "%s: longer than the screen, so less shows it",
    async (args) => {
      const { screen, code } = await onTerminal(args);
      expect(screen).toMatch(/^less -FRX LESS=FRX\r?\n/);
      expect(screen.split("\n").length).toBeGreaterThan(5);
      expect(code).toBe(0);
    },
  );

  test("what fits is printed, and so are data and other commands", async () => {
    for (const [args, size] of [
      ["show --no-refresh", "rows 500 columns 100"],
      ["show --no-refresh --json", undefined],
      ["show --no-refresh --no-pager", undefined],
      ["status", undefined],
    ] as const) {
      expect((await onTerminal(args, {}, size)).screen, args).not.toContain("less -FRX");
    }
  });

  test("PAGER and the setting decide; an empty PAGER or cat is none", async () => {
    expect((await onTerminal("show --no-refresh", { PAGER: "own --x" })).screen).toMatch(/^own --x\r?\n/);
    for (const env of [{ PAGER: "" }, { PAGER: "cat" }, { OPENHOOK_OTEL_DISPLAY_PAGER: "false" }, { TERM: "dumb" }]) {
      expect((await onTerminal("show --no-refresh", env)).screen, JSON.stringify(env)).not.toContain("less");
    }
    const alone = join(of.home, "without-less");
    mkdirSync(alone);
    for (const name of ["script", "stty"]) {
      const { stdout } = spawnSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
      symlinkSync(stdout.trim(), join(alone, name));
    }
    expect((await onTerminal("show --no-refresh", { PATH: alone })).screen).toContain("Claude Code");
  });

  test("a closed or missing pager is no error, and exit codes stay", async () => {
    expect(await onTerminal("show --no-refresh", { PAGER: "closing" })).toMatchObject({
      code: 0,
      screen: expect.stringContaining("closed after"),
    });
    expect(await onTerminal("show --no-refresh", { PAGER: "no-such-pager -R" })).toMatchObject({
      code: 0,
      screen: expect.stringMatching(/no-such-pager[\s\S]*Claude Code/),
    });
    expect((await onTerminal("show nothing --no-refresh", { PAGER: "own" })).code).toBe(1);
  });

  test("variables that a file of the repository names have no effect", async () => {
    writeFileSync(join(repository, ".env"), "PAGER=own\nLESS=-K\n");
    const { screen } = await onTerminal("show --no-refresh", { PAGER: "own", LESS: "-K" });
    expect(screen).toMatch(/^less -FRX LESS=FRX\r?\n/);
  });

  test("a pipe gets everything at once", () => {
    const { stdout } = spawnSync(process.execPath, [program, "show", "--no-refresh"], {
      cwd: repository,
      env: { PATH: bin, HOME: of.home, PAGER: "own" },
      encoding: "utf8",
    });
    expect(stdout).toMatch(/^Claude Code /m);
    expect(stdout).not.toContain("own");
  });
});
