// Slow: only `npm run test:all` runs it. Commands of every kind, with installed hooks; bridge/deliver.test.ts has the rules.
//
// Events through installed hooks to the commands of .openhook.json, without a drain that anybody types.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BRIDGE_LIVE } from "#collect/intake/inbox-file.ts";
import { Envelope } from "#core/model/envelope.ts";
import { ensureBuilt, Machine, RecordedAgent, type Registered, until } from "../support/program.ts";

const TYPES = ["session.start", "prompt.submit", "tool.start", "tool.end", "tool.start", "tool.end", "session.end"];

beforeAll(() => ensureBuilt());

let machine: Machine;
let registered: Registered;
let project = "";
beforeEach(async () => {
  machine = new Machine();
  project = join(machine.home, "acme-shop");
  mkdirSync(project);
  registered = await machine.enable();
});
afterEach(() => machine.remove());

const allowed = async (...commands: readonly string[]): Promise<void> => {
  const hooks = commands.map((command) => ({ command }));
  writeFileSync(join(project, ".openhook.json"), JSON.stringify({ openhook: "0.1", hooks }));
  await machine.ok(["bridge", "allow", "--yes"], { cwd: project });
};
const got = (): readonly Envelope[] => {
  const path = join(machine.home, "got.jsonl");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => Envelope.parse(JSON.parse(line)));
};
const APPEND = 'cat >> "$HOME/got.jsonl"';

test("every envelope of a session arrives once and in order, while the agent works", async () => {
  await allowed(APPEND);
  await new RecordedAgent(machine, "basic").work(registered);
  await until("all envelopes have arrived", () => got().length >= TYPES.length);
  await machine.quiet();
  expect(got().map(({ type }) => type)).toEqual(TYPES);
  const status = JSON.parse(await machine.ok(["status", "--json"]));
  expect(status.bridge).toMatchObject([{ state: "allowed", commands: [{ delivered: TYPES.length, queued: 0 }] }]);
  expect(status.remarks).toEqual([]);
});

test("a drain that is killed while it waits for events is replaced by the next event's", async () => {
  await allowed(APPEND);
  const [start, ...others] = new RecordedAgent(machine, "basic").calls;
  const hook = (call: (typeof others)[number] | undefined) =>
    machine.shell(registered.get(call?.event ?? "")?.[0] ?? "", { input: JSON.stringify(call?.stdin) });
  await hook(start);
  await until("the first has arrived", () => got().length === 1);
  const live = join(machine.places.stateDir, BRIDGE_LIVE);
  process.kill(Number(readFileSync(live, "utf8")), "SIGKILL");
  await until("it is gone", () => machine.running().length === 0);
  await hook(others.find(({ event }) => event === "UserPromptSubmit"));
  const arrived = (): number => new Set(got().map(({ id }) => id)).size;
  await until("the second has arrived", () => arrived() === 2);
  expect(got().at(-1)).toMatchObject({ type: "prompt.submit" });
});

describe("nothing reaches the agent from a command that", () => {
  const attacks: readonly (readonly [string, string])[] = [
    ["hangs", "sleep 600"],
    ["exits with 2 and prints", "echo no; echo no >&2; exit 2"],
    ["leaves processes behind", "for n in 1 2 3 4 5; do sleep 600 & done; exit 0"],
    ["prints a gigabyte", "head -c 1000000000 /dev/zero"],
    ["kills its parent", "kill -9 $PPID"],
    ["looks for the agent's terminal", "exec 3>/dev/tty; echo no >&3"],
  ];
  test.each(attacks)("%s", async (_, command) => {
    await allowed(command);
    await machine.ok(["config", "set", "bridge.timeoutMs", "1500"]);
    // It checks that each hook exits with 0 and prints nothing
    const tookMs = await new RecordedAgent(machine, "basic").work(registered);
    for (const ms of tookMs) expect(ms).toBeLessThan(30_000);
    await machine.quiet();
    const { code, stdout } = await machine.run(["bridge", "status", "--json"], { cwd: project });
    expect(code).toBe(0);
    const [{ commands }] = JSON.parse(stdout).files;
    const { delivered, queued, dropped } = commands[0];
    expect(delivered + queued + dropped).toBe(TYPES.length);
    // The session is collected as without the command. One that kills its drain is delayed longer each time
    await until("a drain ends", async () => (await machine.run(["drain"])).code === 0);
    const [{ model_calls: calls }] = JSON.parse(await machine.ok(["report", "--json"])).rows;
    expect(calls).toBe(3);
  });
});
