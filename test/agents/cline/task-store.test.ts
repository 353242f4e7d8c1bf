// Calls that a restored checkpoint removes from a task are counted once, whenever they were read
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { importInto, unpackAll } from "../../import/run.ts";
import { storedTotals } from "../../import/totals.ts";
import { clockAt } from "../../support/clock.ts";
import { Replay } from "../../support/replay.ts";
import { countersAndRows } from "../../support/summary.ts";

const ID = "1795341600000";
const T0 = Number(ID);

let replay: Replay;
beforeEach(() => {
  replay = new Replay("cline", "extension-checkpoint", { withTranscripts: false });
});
afterEach(() => replay.remove());

const model = { modelInfo: { providerId: "anthropic", modelId: "claude-sonnet-4-5", mode: "act" } };
const say = (at: number, kind: string, text: unknown) => ({
  ts: T0 + at,
  type: "say",
  say: kind,
  text: typeof text === "string" ? text : JSON.stringify(text),
  ...model,
});
const call = (at: number, tokensIn: number, tokensOut: number) => [
  say(at, "api_req_started", { tokensIn, tokensOut, cacheReads: 0, cacheWrites: 0, cost: 0.1 }),
  say(at + 1, "text", "ok"),
];
const removed = (at: number, tokensIn: number, tokensOut: number) =>
  say(at, "deleted_api_reqs", { tokensIn, tokensOut, cost: 0.1 });

const task = say(1, "task", "Add a test");
const [first, second, third, fourth] = [call(10, 100, 1), call(20, 200, 2), call(30, 400, 4), call(5010, 800, 8)];
const kept = [task, ...first];
const all = { input: 1500, output: 15 };

const TASK = join(".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks", ID, "ui_messages.json");
function write(messages: readonly unknown[], path = TASK): void {
  mkdirSync(dirname(join(replay.home, path)), { recursive: true });
  writeFileSync(join(replay.home, path), JSON.stringify(messages));
}
const hook = (event: string, at: number) =>
  replay.put({
    received_at: new Date(T0 + at).toISOString(),
    event,
    stdin: { clineVersion: "3.84.0", hookName: event, timestamp: String(T0 + at), taskId: ID, workspaceRoots: ["/w"] },
  });
const tokens = () => {
  const { input, output } = storedTotals(replay.places.storePath);
  return { input, output };
};
const importTask = () => importInto(replay, "cline");

describe("imports", () => {
  test.each([
    ["none of them was read before", [], 2],
    ["one was read before", [...kept, ...second], 3],
    ["one was read before its figures", [...kept, say(20, "api_req_started", {}), say(21, "text", "I")], 3],
    ["all were read before", [...kept, ...second, ...third], 4],
  ])("count each removed call once if %s", async (_, before, calls) => {
    if (before.length > 0) {
      write(before);
      await importTask();
    }
    write([...kept, removed(5000, 600, 6), ...fourth]);
    await importTask();
    expect(tokens()).toEqual(all);
    expect(storedTotals(replay.places.storePath).calls).toBe(calls);
    await importTask();
    await unpackAll(replay, "cline");
    expect(tokens()).toEqual(all);
  });

  test("count them once if a later checkpoint removes the sum as well", async () => {
    write([...kept, ...second]);
    await importTask();
    write([...kept, removed(5000, 600, 6), ...fourth]);
    await importTask();
    write([task, removed(9000, 1500, 15)]);
    await importTask();
    expect(tokens()).toEqual(all);
    rmSync(replay.places.stateDir, { recursive: true });
    await importTask();
    expect(tokens()).toEqual(all);
  });
});

describe("drains", () => {
  const drain = (at: number) => replay.drain({}, clockAt(T0 + at));

  test("count removed calls once, settled ones and others", async () => {
    hook("TaskStart", 5);
    write([...kept, ...second]);
    hook("TaskComplete", 25);
    await drain(26);
    expect(tokens()).toEqual({ input: 300, output: 3 });
    hook("TaskResume", 28);
    write([...kept, ...second, ...third]);
    write([...kept, removed(5000, 600, 6), ...fourth]);
    hook("TaskComplete", 5020);
    await drain(5021);
    await replay.drain({ endIdle: true });
    expect(tokens()).toEqual(all);
    const { counters, rows } = countersAndRows(replay.places.storePath);
    expect(counters).toEqual(rows);
    expect(counters.calls).toBe(3);
  });

  test("and imports count a task once that a later version continued, also if its files are gone by then", async () => {
    const session = join(".cline/data/sessions", ID, `${ID}.messages.json`);
    const message = (role: string, id: string, text: string, more: object = {}) => ({
      id,
      role,
      content: [{ type: "text", text }],
      ...more,
    });
    const continued = {
      messages: [
        message("user", "u1", "Add a test"),
        message("assistant", "a1", "ok", { metrics: { inputTokens: 300, outputTokens: 3 } }),
        message("user", "u2", "Warning: this is a legacy conversation, which means …"),
        message("user", "u3", "go on", { ts: T0 + 1000 }),
        message("assistant", "a2", "ok", { ts: T0 + 1001, metrics: { inputTokens: 400, outputTokens: 4 } }),
      ],
    };
    const both = { input: 700, output: 7 };
    write([...kept, ...second]);
    await importTask();
    mkdirSync(dirname(join(replay.home, session)), { recursive: true });
    writeFileSync(join(replay.home, session), JSON.stringify(continued));
    await importTask();
    expect(tokens()).toEqual(both);
    rmSync(join(replay.home, TASK));
    await importInto(replay, "cline", { again: true });
    expect(tokens()).toEqual(both);
    rmSync(replay.places.stateDir, { recursive: true });
    await importTask();
    expect(tokens()).toEqual(both);
  });
});

test("two copies of a task, one older, are one session with each call once", async () => {
  write([...kept, ...second], TASK.replace(".config/Code", ".config/Cursor"));
  write([...kept, ...second, ...third, ...fourth]);
  expect((await importTask()).agents.get("cline")).toMatchObject({ found: 1, imported: 1 });
  expect(tokens()).toEqual(all);
});

test("a task that cannot be read is reported, and the others are imported", async () => {
  write([...kept, ...second, ...third, ...fourth]);
  write([], TASK.replace(ID, "1795341600001"));
  writeFileSync(join(replay.home, TASK.replace(ID, "1795341600001")), "<html>");
  const report = await importTask();
  expect(report.agents.get("cline")).toMatchObject({ found: 2, imported: 1, failed: 1 });
  expect(report.problems.join()).toContain("1795341600001");
  expect(tokens()).toEqual(all);
});
