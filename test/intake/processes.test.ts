// The file with the processes above an agent, as hook.sh, its Node twin and our plugins write it. Only Linux has /proc.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROCESS_FOLDER, parseProcesses } from "#collect/intake/hook-process-file.ts";
import { parentOfProcess, parseInboxFile, processStart } from "#collect/intake/inbox-file.ts";
import { hostHere } from "../support/host.ts";
import { intakes, makeSandbox, run, type Sandbox, until } from "./intakes.ts";

const IS_LINUX = process.platform === "linux";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = makeSandbox();
});
afterEach(() => sandbox.remove());

const statOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, "latin1");
const nameOf = (pid: number): string => `${pid}:${processStart(statOf(pid))}`;

/** This process and those above it, without the first of the system. */
function above(pid: number): readonly string[] {
  const found: string[] = [];
  for (let at = pid; at > 1 && found.length < 13; at = parentOfProcess(statOf(at)) ?? 0) found.push(nameOf(at));
  return found;
}

const namesIn = (stateDir: string): readonly string[] =>
  existsSync(join(stateDir, PROCESS_FOLDER)) ? readdirSync(join(stateDir, PROCESS_FOLDER)) : [];

/** The only file, once it is whole: a shell writes it after the hook has ended. */
const onlyFile = (stateDir: string) =>
  until(() => {
    const [name] = namesIn(stateDir);
    return name === undefined
      ? undefined
      : parseProcesses(readFileSync(join(stateDir, PROCESS_FOLDER, name), "latin1"), Date.now());
  });

describe.runIf(IS_LINUX).each(intakes())("$title", (intake) => {
  const call = (drain: "if-waiting" | "no") =>
    run(intake.command(sandbox, { source: "acme", event: "SessionStart", drain }), {
      input: "{}",
      env: { HOME: sandbox.home },
    });

  test("writes the processes above the agent when a session starts, with the time of the command", async () => {
    const beforeMs = Date.now();
    const { code, stdout, stderr } = await call("if-waiting");
    expect([code, stdout, stderr]).toEqual([0, "", ""]);
    const found = await onlyFile(sandbox.stateDir);
    const [own, ...others] = above(process.pid);
    expect(found).toMatchObject({ host: hostHere(), process: own });
    expect(found?.ancestors.map(({ process: one }) => one)).toEqual(others);
    // The process directly below the first one above is this one
    const sinceMs = found?.ancestors[0]?.sinceMs ?? 0;
    expect(Math.abs(sinceMs - (beforeMs - process.uptime() * 1_000))).toBeLessThan(10_000);
  });

  test("writes nothing at other events, and nothing twice", async () => {
    await call("no");
    expect(namesIn(sandbox.stateDir)).toEqual([]);
    await call("if-waiting");
    await onlyFile(sandbox.stateDir);
    await call("if-waiting");
    expect(namesIn(sandbox.stateDir)).toHaveLength(1);
  });
});

test.runIf(IS_LINUX)("a name with brackets and spaces is no other process", async () => {
  const program = join(sandbox.root, "a) R 1 (b");
  symlinkSync("/bin/sh", program);
  const line = `sh ${JSON.stringify(sandbox.hookPath)} -w acme SessionStart; sleep 1`;
  spawnSync(program, ["-c", line], { input: "{}", env: { PATH: process.env["PATH"], HOME: sandbox.home } });
  const found = await onlyFile(sandbox.stateDir);
  expect(found?.ancestors[0]?.process).toBe(nameOf(process.pid));
});

test("our plugins write the same, once, and the host beside their events", () => {
  const hookDir = join(sandbox.home, ".local", "share", "openhook-otel");
  mkdirSync(hookDir, { recursive: true });
  writeFileSync(join(hookDir, "hook.conf"), `state='${join(sandbox.root, "state")}'\n`);
  const plugin = resolve("src/agents/shared/plugin/inbox.js");
  const program = `import { writeEvent } from ${JSON.stringify(plugin)};
    for (const event of ["one", "two"]) writeEvent({ source: "acme", keptEnv: [], cwd: "/", event }, {});
    console.log(process.pid);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: sandbox.home, OPENHOOK_OTEL_DRAIN: "off" },
  });
  expect(stderr).toBe("");
  const stateDir = join(sandbox.root, "state");
  const events = readdirSync(join(stateDir, "inbox")).map((name) =>
    parseInboxFile(readFileSync(join(stateDir, "inbox", name)), 0),
  );
  expect(events).toHaveLength(2);
  if (!IS_LINUX) return;
  const files = namesIn(stateDir).map((name) =>
    parseProcesses(readFileSync(join(stateDir, PROCESS_FOLDER, name), "latin1"), 0),
  );
  expect(files).toHaveLength(1);
  expect(files[0]?.ancestors.map(({ process: one }) => one)).toEqual(above(process.pid).slice(0, 12));
  for (const event of events) {
    if (!event.ok) throw new Error(event.reason);
    const { agentProcess, host } = event.facts;
    expect(host).toBe(hostHere());
    expect(agentProcess?.pid).toBe(Number(stdout));
    expect(files[0]?.process).toBe(`${agentProcess?.pid}:${agentProcess?.start}`);
  }
});

describe("a file", () => {
  const BOOT = "00000000-0000-4000-8000-000000000001";
  const parsed = (rest: string) => parseProcesses(`host=5.${BOOT} up=${rest}\n`, 100_000);

  test("tells when the process below each one was started", () => {
    expect(parsed("20.00 30.1500 20.1000 10.500")).toEqual({
      host: `5.${BOOT}`,
      process: "30:1500",
      ancestors: [
        { process: "20:1000", sinceMs: 95_000 },
        { process: "10:500", sinceMs: 90_000 },
      ],
    });
  });

  test("tells the time of a process that was started in the same hundredth of a second", () => {
    expect(parsed("17.24 30.1724 20.1000")?.ancestors).toEqual([{ process: "20:1000", sinceMs: 100_000 }]);
  });

  test("ends at a process that is younger than its child: the pid was used again", () => {
    expect(parsed("20.00 30.1500 20.1501 10.500")?.ancestors).toEqual([]);
  });

  test("tells no time if the time since boot is unknown, or a container's own", () => {
    for (const uptime of ["", "3.00"])
      expect(parsed(`${uptime} 30.1500 20.1000`)?.ancestors, uptime).toEqual([{ process: "20:1000" }]);
  });

  test.each(["", "host=5 up=1 2.3\n", `host=5.${BOOT} up=1.00 30.1500 20.10`, `host=5.${BOOT} up=1.00\n`, "{}"])(
    "that is not whole, or another one, is nothing: %j",
    (text) => {
      expect(parseProcesses(text, 0)).toBeUndefined();
    },
  );
});
