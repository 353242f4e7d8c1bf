// Slow: only `npm run test:all` runs it. Sessions that end with real processes; session/endings.test.ts has the rules.
//
// Agents that report no end: a session is over when the agent's process is gone. Real processes run the real hook.
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { formatEnd, formatHead, parseInboxFile, processStart } from "#collect/intake/inbox-file.ts";
import type { Agent } from "#core/model/agent.ts";
import { openDatabase } from "#store/database.ts";
import { hostHere } from "../support/host.ts";
import { ACME, InboxFixture } from "../support/inbox-fixture.ts";
import { killGroup } from "../support/kill-group.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { IS_WHOLE } from "../support/whole.ts";

const HOOK = join(ROOT, "src", "collect", "intake", "hook.sh");
/** Runs the hook for every message, as agents do: in a shell that waits for it. */
const AGENT_PROGRAM = `
const { spawnSync } = require("node:child_process");
process.on("message", ({ command, input }) => {
  spawnSync("sh", ["-c", command], { input });
  process.send("done");
});
process.on("disconnect", () => process.exit());
`;

const AGENT: Agent = {
  ...ACME,
  emits: ["prompt.submit", "tool.start", "tool.end", "turn.end"],
  tokens: "none",
  hooksRunIn: "agent",
};

let inbox: InboxFixture;
let agents: ChildProcess[] = [];
let now = 0;
beforeEach(() => {
  inbox = new InboxFixture();
  now = Date.now() - 60_000;
});
afterEach(() => {
  for (const agent of agents) agent.kill("SIGKILL");
  agents = [];
  inbox.remove();
});

function startAgent(): ChildProcess {
  const path = join(inbox.places.home, "agent.cjs");
  writeFileSync(path, AGENT_PROGRAM);
  const agent = fork(path);
  agents.push(agent);
  return agent;
}
async function kill(agent: ChildProcess): Promise<void> {
  agent.kill("SIGKILL");
  await once(agent, "exit");
}
async function run(agent: ChildProcess, command: string, input: unknown): Promise<void> {
  agent.send({ command, input: JSON.stringify(input) });
  await once(agent, "message");
}

function signal(type: string, more: Record<string, unknown> = {}) {
  now += 40;
  return {
    ...(type === "turn.end" ? {} : { openhook: "0.1" }),
    id: `event-${now}`,
    source: "acme",
    type,
    time: new Date(now).toISOString(),
    session_id: "s-1",
    extensions: { native_event: type },
    ...more,
  };
}
/** @param command ends with another one, so that the shell stays while the hook runs */
const hook = (agent: ChildProcess, event: object) =>
  run(agent, `OPENHOOK_OTEL_HOME='${inbox.places.stateDir}' OPENHOOK_OTEL_DRAIN=off sh '${HOOK}' acme; true`, {
    events: [event],
  });
async function turn(agent: ChildProcess): Promise<void> {
  await hook(agent, signal("prompt.submit"));
  await hook(agent, signal("turn.end"));
}
const drain = (agent: Agent = AGENT) => inbox.drain({}, [agent]);

function segments() {
  const db = openDatabase(inbox.places.storePath);
  try {
    return db
      .prepare("SELECT reason, native_reason, end_ms FROM segments ORDER BY ordinal")
      .all()
      .map((row) => (row["end_ms"] === null ? "open" : `${row["reason"]} ${row["native_reason"]}`));
  } finally {
    db.close();
  }
}
function count(sql: string): number {
  const db = openDatabase(inbox.places.storePath);
  try {
    return Number(db.prepare(sql).get()?.["n"]);
  } finally {
    db.close();
  }
}

const onLinux = describe.skipIf(process.platform !== "linux");

onLinux("a process of the agent", () => {
  test("stays alive: the session is open; it exits: the next drain ends the session like its last turn", async () => {
    const agent = startAgent();
    await turn(agent);
    await drain();
    expect(segments()).toEqual(["open"]);
    await turn(agent);
    await drain();
    expect(segments()).toEqual(["open"]);
    await kill(agent);
    await drain();
    expect(segments()).toEqual(["completed process_gone"]);
    expect(count("SELECT count(*) AS n FROM turns")).toBe(2);
    expect((await drain()).spans).toBe(0);
  });

  test("is killed in a tool call, before any drain: the call is unfinished", async () => {
    const agent = startAgent();
    await hook(agent, signal("prompt.submit"));
    await hook(agent, signal("tool.start", { data: { tool_name: "shell", tool_call_id: "c-1" } }));
    await kill(agent);
    await drain();
    expect(segments()).toEqual(["timeout process_gone"]);
    expect(count("SELECT count(*) AS n FROM tool_calls WHERE status = 'unfinished'")).toBe(1);
  });

  test("has killed a hook that was still writing: the torn file does not keep the session open", async () => {
    const agent = startAgent();
    await turn(agent);
    const env = { PATH: process.env["PATH"], OPENHOOK_OTEL_HOME: inbox.places.stateDir };
    // Its stdin stays open, so it waits for the rest of the payload
    const torn = spawn("sh", [HOOK, "acme"], { env, detached: true, stdio: ["pipe", "ignore", "ignore"] });
    const files = () => readdirSync(inbox.places.inboxDir).filter((name) => name.includes(`-${torn.pid}-`));
    while (files().length === 0) await new Promise((done) => setTimeout(done, 20));
    killGroup(torn, "SIGKILL");
    await once(torn, "exit");
    await kill(agent);
    await drain();
    expect(files()).toHaveLength(1);
    expect(segments()).toEqual(["completed process_gone"]);
  });

  test("is a zombie: it is gone", async () => {
    const agent = startAgent();
    await turn(agent);
    // Its parent does not wait for it
    const parent = fork(
      writeScript(
        "parent.cjs",
        `const { spawn } = require("node:child_process");
         const child = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 20"], { stdio: ["ignore", "pipe", "ignore"] });
         child.stdout.once("data", (pid) => process.send(Number(pid)));
         process.on("disconnect", () => { child.kill("SIGKILL"); process.exit(); });`,
      ),
    );
    agents.push(parent);
    const [pid] = (await once(parent, "message")) as [number];
    const start = processStart(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? "";
    putFrom({ pid, start });
    await kill(agent);
    while (!readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ")) await new Promise((r) => setTimeout(r, 50));
    await drain();
    expect(segments().at(-1)).toBe("completed process_gone");
    parent.disconnect();
  });
});

onLinux("three processes of one session", () => {
  const all = ["at the end", "after each turn and process", "after each process", "after each turn"];
  test.each(IS_WHOLE ? all : all.slice(0, 2))("are three segments, with drains %s", async (drains) => {
    for (let n = 0; n < 3; n++) {
      const agent = startAgent();
      await turn(agent);
      if (drains.includes("turn")) await drain();
      await turn(agent);
      await kill(agent);
      if (drains.endsWith("process")) await drain();
    }
    await drain();
    const ended = "completed process_gone";
    const before = drains.endsWith("process") ? ended : "completed superseded";
    expect(segments()).toEqual([before, before, ended]);
    expect(count("SELECT count(*) AS n FROM turns")).toBe(6);
    expect(count("SELECT max(n) AS n FROM (SELECT count(*) AS n FROM turns GROUP BY segment)")).toBe(2);
  });

  test("that run at the same time: nothing ends as long as one of them is alive", async () => {
    const [first, second] = [startAgent(), startAgent()];
    await turn(first);
    await turn(second);
    await drain();
    await kill(second);
    await drain();
    expect(segments().at(-1)).toBe("open");
    await turn(first);
    await kill(first);
    await drain();
    expect(segments().at(-1)).toBe("completed process_gone");
    expect(count("SELECT count(*) AS n FROM turns")).toBe(3);
  });
});

onLinux("what is not known for certain leaves a session open", () => {
  const here = () => {
    const { agentProcess, host } = lastHook();
    if (agentProcess === undefined || host === undefined) throw new Error("the hook recorded no process");
    return { ...agentProcess, host };
  };

  test("the process is the agent, not the shell that ran the hook", async () => {
    const agent = startAgent();
    await hook(agent, signal("prompt.submit"));
    const { agentProcess, parentPid, parentStart } = lastHook();
    expect(agentProcess?.pid).toBe(agent.pid);
    expect(parentPid).not.toBe(agent.pid);
    expect(parentStart).not.toBe(agentProcess?.start);
  });

  test("a pid that another process has now is gone, one with the same start is not", async () => {
    const start = processStart(readFileSync(`/proc/${process.pid}/stat`, "latin1")) ?? "";
    putFrom({ pid: process.pid, start });
    await drain();
    expect(segments()).toEqual(["open"]);
    rmSync(inbox.places.stateDir, { recursive: true });
    putFrom({ pid: process.pid, start: `${Number(start) - 1}` });
    await drain();
    expect(segments()).toEqual(["completed process_gone"]);
  });

  test.each([
    ["in another container", { namespace: "4026530000" }],
    ["on another machine, or before a restart", { boot: "00000000-0000-4000-8000-000000000000" }],
  ])("a process %s", async (_, other) => {
    const agent = startAgent();
    await hook(agent, signal("prompt.submit"));
    const [namespace, boot] = here().host.split(".");
    rmSync(inbox.places.inboxDir, { recursive: true });
    const host = Object.values({ namespace, boot, ...other }).join(".");
    putFrom({ pid: 2 ** 22 - 1, start: "1" }, host);
    await drain();
    expect(segments()).toEqual(["open"]);
  });

  test("an agent whose card does not say that it runs its hooks: the session stays open after it exits", async () => {
    const { hooksRunIn: _, ...unknown } = AGENT;
    const agent = startAgent();
    await turn(agent);
    await kill(agent);
    await drain(unknown);
    expect(segments()).toEqual(["open"]);
  });

  test("likely only: a helper for each hook is not the agent; two kinds of hooks from one process are", async () => {
    const likely: Agent = { ...AGENT, hooksRunIn: "likely" };
    for (const type of ["prompt.submit", "turn.end"]) {
      const helper = startAgent();
      await hook(helper, signal(type));
      await kill(helper);
    }
    await drain(likely);
    expect(segments()).toEqual(["open"]);
    rmSync(inbox.places.stateDir, { recursive: true });
    const agent = startAgent();
    await turn(agent);
    await kill(agent);
    await drain(likely);
    expect(segments()).toEqual(["completed process_gone"]);
  });

  test("a hook that is still writing keeps the session open until it has finished", async () => {
    const agent = startAgent();
    await turn(agent);
    await kill(agent);
    const torn = join(inbox.places.inboxDir, `${process.pid}-${process.pid}-0.evt`);
    writeFileSync(torn, formatHead({ source: "acme", ppid: process.pid, pid: process.pid, cwd: "/", env: {} }));
    await drain();
    expect(segments()).toEqual(["open"]);
    rmSync(torn);
    await drain();
    expect(segments()).toEqual(["completed process_gone"]);
  });
});

onLinux("a drain that a hook started after a turn", () => {
  beforeAll(ensureBuilt);

  test("ends the session of an agent that exits a moment later, without another hook", async () => {
    const { home, stateDir } = inbox.places;
    mkdirSync(stateDir, { recursive: true });
    const conf = join(home, "hook.conf");
    writeFileSync(conf, `state='${stateDir}' node='${process.execPath}' program='${PROGRAM}'\n`);
    spawnSync("cp", [HOOK, join(home, "hook")]);
    const agent = startAgent();
    const session = { session_id: "c186a259-e55f-4572-abc7-bd3697cf0001", cwd: home };
    for (const [flag, name, more] of [
      ["", "agentSpawn", {}],
      ["", "userPromptSubmit", { prompt: "hi" }],
      ["-d", "stop", { assistant_response: "Done." }],
    ] as const) {
      const command = `HOME='${home}' sh '${join(home, "hook")}' ${flag} kiro ${name}`;
      await run(agent, command, { hook_event_name: name, ...session, ...more });
    }
    setTimeout(() => agent.kill("SIGKILL"), 700);
    const untilMs = Date.now() + 20_000;
    let found: readonly string[] = [];
    while (Date.now() < untilMs && found[0]?.includes("process_gone") !== true) {
      await new Promise((done) => setTimeout(done, 200));
      try {
        found = segments();
      } catch {
        // No store yet
      }
    }
    expect(found).toEqual(["completed process_gone"]);
  });
});

function writeScript(name: string, text: string): string {
  const path = join(inbox.places.home, name);
  writeFileSync(path, text);
  return path;
}

/** The latest file that a hook wrote. */
function lastHook() {
  const { inboxDir } = inbox.places;
  const [name = ""] = readdirSync(inboxDir).slice(-1);
  const parsed = parseInboxFile(readFileSync(join(inboxDir, name)), 0);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.facts;
}

/** The hooks of a turn, as if this process had run them. */
function putFrom(agent: { readonly pid: number; readonly start: string }, host = hostHere()): void {
  const { inboxDir } = inbox.places;
  mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
  for (const event of [signal("prompt.submit"), signal("turn.end")]) {
    now++;
    const head = formatHead({ source: "acme", ppid: agent.pid, pid: now, cwd: "/", env: {} });
    const path = join(inboxDir, `${agent.pid}-${now}-0.evt`);
    writeFileSync(path, `${head}${JSON.stringify({ events: [event] })}${formatEnd("whole", agent.start, { host })}`);
  }
}
