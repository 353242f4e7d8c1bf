// Slow: only `npm run test:all` runs it. CI jobs, no network, and pid namespaces that end, with the built program;
// e2e/run.test.ts has `run`.
//
// CI jobs and containers: no network, and processes that all end with the first one.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { hookCall } from "../support/hook-call.ts";
import { ensureBuilt, Machine, PROGRAM, until } from "../support/program.ts";

const canUnshare = spawnSync("unshare", ["--net", "--pid", "--fork", "--kill-child", "true"]).status === 0;
if (!canUnshare) console.warn("NOT RUN: tests of containers, because this user cannot make namespaces (unshare)");

let machine: Machine;
let receiver: Receiver;
let agent = "";
beforeAll(async () => {
  await ensureBuilt();
  [machine, receiver] = [new Machine(), await startReceiver()];
  agent = await installAgent(machine, receiver.url);
});
afterAll(async () => {
  await machine.remove();
  await receiver.close();
});

describe("run in a CI job", () => {
  const job = { GITHUB_ACTIONS: "true", GITHUB_WORKFLOW: "Review", GITHUB_RUN_ID: "4711" };
  const isOf = (session: string) => (span: Receiver["spans"][number]) =>
    span.attributes["gen_ai.conversation.id"] === session;

  test("spans name the job, even if a later step sends them", async () => {
    const other = new Machine();
    try {
      const script = await installAgent(other);
      expect((await other.run(["run", "--", "sh", script, "step-1"], { env: job })).code).toBe(7);
      expect(receiver.spans.filter(isOf("step-1"))).toEqual([]);
      await other.drain(["--end-idle"], { ...job, OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
      const [span] = receiver.spans.filter(isOf("step-1"));
      expect(span?.resource).toMatchObject({ "cicd.pipeline.name": "Review", "cicd.pipeline.run.id": "4711" });
    } finally {
      await other.remove();
    }
  });

  test("spans name the job, even if a drain of a hook delivers them", async () => {
    const { code } = await machine.run(["run", "--", "sh", agent, "job-1"], { env: job });
    expect(code).toBe(7);
    await machine.quiet();
    const spans = receiver.spans.filter(isOf("job-1"));
    expect(spans.length).toBeGreaterThan(0);
    for (const { resource } of spans) {
      expect(resource).toMatchObject({ "cicd.pipeline.name": "Review", "cicd.pipeline.run.id": "4711" });
    }
  });

  test("a repository cannot name another job", async () => {
    const theirs = JSON.stringify({ "cicd.pipeline.name": "theirs" });
    const folder = join(machine.home, "theirs");
    mkdirSync(folder);
    writeFileSync(join(folder, ".env"), `OPENHOOK_OTEL_PIPELINE=${theirs}`);
    const set = `OPENHOOK_OTEL_PIPELINE='${theirs}' exec sh '${agent}' job-2`;
    await machine.run(["run", "--", "sh", "-c", set], { env: job, cwd: folder });
    await machine.quiet();
    const spans = receiver.spans.filter(isOf("job-2"));
    expect(spans.length).toBeGreaterThan(0);
    expect(spans.map(({ resource }) => resource["cicd.pipeline.name"])).not.toContain("theirs");
  });
});

describe.runIf(canUnshare)("in a container", () => {
  test("without a network run keeps the events, exits soon and with the agent's code", async () => {
    const other = new Machine();
    try {
      const script = await installAgent(other, "https://otel.example.com:4318");
      const run = `exec unshare --net '${process.execPath}' '${PROGRAM}' run -- sh '${script}' alone`;
      const { code, tookMs } = await other.shell(run);
      expect(code).toBe(7);
      // A limit for a busy machine; it does not wait for anything
      expect(tookMs).toBeLessThan(20_000);
      await other.quiet();
      await other.ok(["config", "set", "otlp.endpoint", receiver.url]);
      expect(await other.drain()).toMatchObject({ waiting: 0, problems: [] });
      expect(namesOf("alone")).toEqual(["invoke_agent claude-code"]);
    } finally {
      await other.remove();
    }
  });

  test.each(["SIGTERM", "SIGINT"] as const)("run as the first process passes %s on to the agent", async (signal) => {
    const session = `first-${signal.toLowerCase()}`;
    const loop = `while :; do sleep 0.1; done`;
    const container = await startContainer(
      `trap 'exit 5' ${signal.slice(3)}; sh '${agent}' ${session}; ${STARTED}; ${loop}`,
    );
    process.kill(container.firstPid, signal);
    expect(await container.exitCode).toBe(5);
    expect(namesOf(session)).toEqual(["invoke_agent claude-code"]);
  });

  test("the next drain delivers the events of a container that was killed", async () => {
    const container = await startContainer(`OPENHOOK_OTEL_DRAIN=off sh '${agent}' killed; ${STARTED}; exec sleep 100`);
    process.kill(container.firstPid, "SIGKILL");
    await container.exitCode;
    expect(namesOf("killed")).toEqual([]);
    await machine.drain();
    expect(namesOf("killed")).toEqual(["invoke_agent claude-code"]);
    expect(await machine.drain()).toMatchObject({ spans: 0, waiting: 0, problems: [] });
  });
});

// --- internal ---

/** Registers the hooks, and writes a program that runs two of them as an agent does: `sh <program> <session id>`. */
async function installAgent(on: Machine, endpoint?: string): Promise<string> {
  const registered = await on.enable();
  if (endpoint !== undefined) await on.ok(["config", "set", "otlp.endpoint", endpoint]);
  const call = (event: string): string => hookCall(registered, event, on.home, '"$1"');
  const path = join(on.home, "agent.sh");
  writeFileSync(path, `${call("SessionStart")}\n${call("SessionEnd")}\nexit 7\n`);
  return path;
}

const STARTED = "touch started";

/**
 * Runs a script by `run`, which is the first process of a pid namespace: all others end with it. Returns when the script has run
 * `STARTED`. Without a terminal, and the first process gets its signals from outside, as in a container.
 */
async function startContainer(script: string): Promise<{ firstPid: number; exitCode: Promise<number | null> }> {
  const started = join(machine.home, "started");
  rmSync(started, { force: true });
  const first = ["--pid", "--fork", "--kill-child", process.execPath, PROGRAM, "run", "--", "sh", "-c", script];
  const options = { cwd: machine.home, env: machine.env, stdio: "ignore", detached: true } as const;
  const child = spawn("unshare", first, options);
  const exitCode = new Promise<number | null>((done) => child.on("exit", done));
  await until("the agent runs", () => existsSync(started));
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
  return { firstPid: Number(children), exitCode };
}

const namesOf = (session: string): readonly string[] =>
  receiver.spans.filter((span) => span.attributes["gen_ai.conversation.id"] === session).map(({ name }) => name);
