// A job or a container that ends with its first process: the events are delivered before that.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { hookCall } from "../support/hook-call.ts";
import { ensureBuilt, Machine } from "../support/program.ts";

let machine: Machine;
let receiver: Receiver;
let agent = "";
beforeAll(async () => {
  await ensureBuilt();
  [machine, receiver] = [new Machine(), await startReceiver()];
  const registered = await machine.enable();
  await machine.ok(["config", "set", "otlp.endpoint", receiver.url]);
  agent = join(machine.home, "agent.sh");
  const call = (event: string): string => hookCall(registered, event, machine.home, "j1");
  mkdirSync(join(machine.home, "logs"));
  writeFileSync(
    agent,
    `export OPENHOOK_OTEL_DRAIN=off\n${call("SessionStart")}\n${call("SessionEnd")}\necho "said $*"\nkill -s "\${2:-0}" $$ 2>/dev/null\nexit "$1"\n`,
  );
});
afterAll(async () => {
  await machine.remove();
  await receiver.close();
});

test("delivers before it exits, with the agent's output and exit code", async () => {
  const { code, stdout } = await machine.run(["run", "--", "sh", agent, "7"]);
  expect(code).toBe(7);
  expect(stdout).toBe("said 7\n");
  expect(receiver.spans.length).toBeGreaterThan(0);
});

test("reports a signal that ended the agent as shells do", async () => {
  expect((await machine.run(["run", "--", "sh", agent, "0", "TERM"])).code).toBe(128 + 15);
});

test("exits with the agent's code if the backend is away, and with 127 if there is no such program", async () => {
  const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  expect((await machine.run(["run", "--", "sh", agent, "3"], { env })).code).toBe(3);
  const { code, stderr } = await machine.run(["run", "--", "no-such-agent"]);
  expect(code).toBe(127);
  expect(stderr).toMatch(/^openhook-otel: cannot start "no-such-agent"/);
});
