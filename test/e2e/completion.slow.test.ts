// Slow: only `npm run test:all` runs it. Bash, zsh and fish in a terminal, with the built program; commands/completion.test.ts
// has what is completed.
//
// The scripts of `completion` in the real shells: keys are typed in a terminal, and completions are read from it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuilt, Machine, PROGRAM, until } from "../support/program.ts";
import { hasShell } from "../support/shells.ts";

const SESSION = "0f1e2d3c-aaaa-4bbb-8ccc-123456789abc";
const HOSTILE = "0f1e$(touch pwned)";

let machine: Machine;
beforeAll(async () => {
  await ensureBuilt();
  machine = new Machine();
  const registered = await machine.enable();
  const bin = join(machine.home, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(PROGRAM, join(bin, "openhook-otel"));
  for (const session of [SESSION, HOSTILE]) {
    const input = JSON.stringify({ session_id: session, hook_event_name: "SessionStart", cwd: machine.home });
    await machine.shell(registered.get("SessionStart")?.[0] ?? "", { input, env: { OPENHOOK_OTEL_DRAIN: "off" } });
  }
  await machine.drain();
});
afterAll(() => machine.remove());

const SHELLS = [
  { shell: "bash", start: "bash --norc -i", init: "source <(openhook-otel completion bash)" },
  {
    shell: "zsh",
    start: "zsh -f -i",
    init: "autoload -U compinit; compinit -u; source <(openhook-otel completion zsh)",
  },
  { shell: "fish", start: "fish --no-config -i", init: "openhook-otel completion fish | source" },
] as const;

describe.each(SHELLS)("$shell", ({ shell, start, init }) => {
  const isHere = [shell, "script"].every((name) => hasShell(name, `completion in ${shell}`));

  test.runIf(isHere).each([
    ["a command", "openhook-otel outc\t", "openhook-otel outcomes"],
    ["a command of a group", "openhook-otel config uns\t", "openhook-otel config unset"],
    ["an option", "openhook-otel sessions --repos\t", "openhook-otel sessions --repository"],
    ["an agent", "openhook-otel enable claude\t", "openhook-otel enable claude-code"],
    ["the agent of an option", "openhook-otel report --agent=claude\t", "openhook-otel report --agent=claude-code"],
    ["a second dimension of a report", "openhook-otel report day repo\t", "openhook-otel report day repository"],
    ["a setting", "openhook-otel config set selfT\t", "openhook-otel config set selfTelemetry"],
    ["a session, without ids that a shell could run", "openhook-otel show 0f1e\t", `openhook-otel show ${SESSION}`],
  ])("completes %s", async (_, keys, expected) => {
    expect(await typed(start, init, keys, expected)).toContain(expected);
  });

  test.runIf(isHere)("runs nothing that was typed", async () => {
    const keys = "openhook-otel report '$(touch pwned)' $(touch pwned) mo\t\t";
    expect(await typed(start, init, keys, "model")).toContain("model");
    expect(existsSync(join(machine.home, "pwned"))).toBe(false);
  });
});

test("other commands, hooks and drains do not load the completion", async () => {
  const loaded = join(machine.home, "loaded");
  const preload = join(machine.home, "preload.cjs");
  const write = `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(loaded)}, Object.keys(require.cache).join("\\n")))`;
  writeFileSync(preload, write);
  const partsOf = async (...args: readonly string[]): Promise<string> => {
    await machine.run(args, { env: { NODE_OPTIONS: `--require=${preload}` } });
    return readFileSync(loaded, "utf8");
  };
  expect(await partsOf("complete", "--", "")).toContain("completion");
  for (const args of [["--version"], ["--help"], ["drain"], ["import"], ["status"], ["hook", "claude-code"]])
    expect(await partsOf(...args), args[0]).not.toContain("completion");
});

test("PowerShell gets a script; a store that cannot be read completes the rest", async () => {
  const { stdout } = await machine.run(["completion", "powershell"]);
  expect(stdout).toContain("Register-ArgumentCompleter");
  const other = new Machine();
  mkdirSync(other.places.stateDir, { recursive: true });
  writeFileSync(other.places.storePath, "no store");
  expect(await other.ok(["complete", "--", "show", ""])).toBe(":4\n");
  await other.remove();
});

// --- internal ---

/** What a terminal shows after keys are typed into a shell; waits until it contains the text. */
async function typed(start: string, init: string, keys: string, text: string): Promise<string> {
  const log = join(machine.home, "terminal");
  writeFileSync(log, "");
  const env = { ...machine.env, TERM: "dumb", PS1: "$ ", INPUTRC: "/dev/null" };
  const child = spawn("script", ["-qfec", start, log], { cwd: machine.home, env, stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise((done) => child.on("exit", done));
  const screen = (): string => readFileSync(log, "utf8");
  try {
    child.stdin.write(`${init}; echo rea""dy\n`);
    await until("the shell is ready", () => screen().includes("ready"));
    child.stdin.write(keys);
    await until(`the shell completes ${keys}: ${screen()}`, () => screen().includes(text), 10_000).catch(() => {});
    return screen();
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}
