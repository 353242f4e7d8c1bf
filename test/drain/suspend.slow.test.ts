// Slow: only `npm run test:all` runs it. A machine that sleeps: hooks and drains are suspended in the middle, and continue hours later.
// drain/idle.test.ts and intake/hook.test.ts have the same hooks without a pause.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { killGroup } from "../support/kill-group.ts";
import { ensureBuilt, Machine, ROOT, until } from "../support/program.ts";
import { Replay } from "../support/replay.ts";

beforeAll(ensureBuilt);
let machine: Machine;
let receiver: Receiver;
beforeEach(async () => {
  machine = new Machine();
  receiver = await startReceiver();
});
afterEach(async () => {
  await machine.remove();
  await receiver.close();
});

const filesIn = (dir: string): number =>
  existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".evt")).length : 0;

test.skipIf(process.platform !== "linux")(
  "a hook that was suspended for hours: its event is claimed when it is complete, not before",
  async () => {
    const replay = new Replay("claude-code", "basic", { withTranscripts: false });
    let started: ChildProcess | undefined;
    try {
      const call = replay.calls.find(({ event }) => event === "UserPromptSubmit");
      const payload = JSON.stringify(call?.stdin);
      const child = spawn("/bin/sh", [join(ROOT, "dist", "hook.sh"), "claude-code", "UserPromptSubmit"], {
        env: { PATH: process.env["PATH"], HOME: replay.home },
        detached: true,
      });
      started = child;
      const gone = new Promise((done) => child.on("exit", done));
      child.stdin.write(payload.slice(0, 40));
      await until("the hook has begun", () => filesIn(replay.places.inboxDir) === 1);
      killGroup(child, "SIGSTOP");
      const hoursLater = { now: () => Date.now() + 9 * 3_600_000, sleep: async () => {} };
      expect(await replay.drain({}, hoursLater)).toMatchObject({ files: 0, quarantined: 0 });
      killGroup(child, "SIGCONT");
      child.stdin.end(payload.slice(40));
      expect(await gone).toBe(0);
      expect(await replay.drain({}, hoursLater)).toMatchObject({ files: 1, events: 1, quarantined: 0 });
      expect(filesIn(replay.places.quarantineDir)).toBe(0);
    } finally {
      if (started?.exitCode === null) killGroup(started, "SIGKILL");
      replay.remove();
    }
  },
);

test("a suspended drain: hooks continue, other drains return, and all work is done when it resumes", async () => {
  const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "2000" };
  const hook = async (n: number): Promise<void> => {
    const payload = { session_id: "s", hook_event_name: "UserPromptSubmit", prompt: "x".repeat(n), prompt_id: `p${n}` };
    const command = `exec /bin/sh '${join(ROOT, "dist", "hook.sh")}' claude-code UserPromptSubmit`;
    expect(await machine.shell(command, { input: JSON.stringify(payload) })).toMatchObject({ code: 0, stdout: "" });
  };
  await hook(1);
  await machine.drain(["--end-idle"]);
  // It is suspended while it holds the lock: the backend has the request and does not answer
  receiver.setBehaviour(() => ({ hang: true }));
  const sleeper = machine.start(["drain"], { env });
  const gone = new Promise((done) => sleeper.on("exit", done));
  await until("it sends", () => receiver.requests.length > 0);
  sleeper.kill("SIGSTOP");
  onTestFinished(() => void sleeper.kill("SIGKILL"));
  await hook(2);
  const startMs = performance.now();
  expect(await machine.run(["drain", "--quiet"], { env })).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(performance.now() - startMs).toBeLessThan(10_000);
  expect(filesIn(machine.places.inboxDir)).toBe(1);
  receiver.setBehaviour(undefined);
  sleeper.kill("SIGCONT");
  expect(await gone).toBe(0);
  expect(filesIn(machine.places.inboxDir)).toBe(0);
  const prompts = readStore(machine.places.storePath, (db) =>
    db.prepare("SELECT count(*) AS n FROM events WHERE type = 'prompt.submit'").get(),
  );
  expect(prompts?.["n"]).toBe(2);
});
