// Subagents with their own session id: in whatever order facts come, all of them belong to the session they work for.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { countersAndRows, summaryOf } from "../support/summary.ts";

// Recent times: the first drain would end anything older than the idle timeout
const START_MS = Date.now() - 20_000;
let inbox: InboxFixture;
beforeEach(() => {
  inbox = new InboxFixture();
});
afterEach(() => inbox.remove());

const signal = (session: string, type: string, at: number, extensions: Record<string, unknown> = {}) => ({
  id: `${session}-${type}-${at}`,
  source: "acme",
  type,
  time: new Date(START_MS + at * 1000).toISOString(),
  session_id: session,
  extensions,
});
const envelope = (
  session: string,
  type: string,
  at: number,
  data: Record<string, unknown> = {},
  extensions: Record<string, unknown> = {},
) => ({ openhook: "0.1", ...signal(session, type, at, extensions), data });

const tool = (session: string, call: string, at: number) => [
  envelope(session, "tool.start", at, { tool_name: "read", tool_call_id: call }),
  envelope(session, "tool.end", at + 1, { tool_name: "read", tool_call_id: call, status: "success" }),
];
const usage = (key: string, at: number) => ({
  kind: "model_call",
  key,
  timeMs: START_MS + at * 1000,
  endMs: START_MS + at * 1000,
  model: "acme-1",
  usage: { input: 100, output: 10 },
  complete: true,
});

/** A session whose subagent has its own session. */
const STORY = [
  { events: [envelope("root", "session.start", 0)] },
  { events: [envelope("root", "prompt.submit", 1, { prompt_length: 5 })] },
  { events: [envelope("root", "tool.start", 2, { tool_name: "task", tool_call_id: "t1" })] },
  { events: [envelope("child", "session.start", 3, {}, { parent_session_id: "root" })] },
  { events: [envelope("child", "prompt.submit", 4, { prompt_length: 9 })] },
  { events: tool("child", "c1", 5) },
  { events: [signal("child", "model.end", 7)], entries: [usage("u1", 7)] },
  { events: [signal("child", "turn.end", 8)] },
  { events: [envelope("root", "tool.end", 9, { tool_name: "task", tool_call_id: "t1", status: "success" })] },
  { events: [signal("root", "turn.end", 10)], entries: [usage("u2", 10)] },
  { events: [envelope("root", "session.end", 11, { reason: "completed" })] },
];

/** The result, the same for every order. */
function expectWhole(): void {
  const got = summaryOf(inbox.places.storePath, "root");
  expect(got).toMatchObject({ prompts: 1, unsettled: 0, segments: [{ reason: "completed", ended: true }] });
  expect(got?.tools).toEqual([
    { id: "c1", name: "read", status: "success", subagent: true },
    { id: "t1", name: "task", status: "success", subagent: false },
  ]);
  expect(got?.modelCalls.map(({ input, subagent }) => [input, subagent])).toEqual([
    [100, true],
    [100, false],
  ]);
  expect(summaryOf(inbox.places.storePath, "child")).toBeUndefined();
  const sums = countersAndRows(inbox.places.storePath);
  expect(sums.counters).toEqual(sums.rows);
  expect(sums.counters).toMatchObject({ calls: 2, input: 200, tools: { success: 2 } });
}

describe("a session within a session is a subagent of it", () => {
  test("if its payloads are reported in order", async () => {
    for (const payload of STORY) inbox.put(payload);
    await inbox.drain();
    expectWhole();
  });

  test("if its payloads are reported backwards, and twice", async () => {
    for (const payload of [...STORY, ...STORY].reverse()) inbox.put(payload);
    await inbox.drain();
    expectWhole();
  });

  test("if the child is reported first, and its parent only in a later drain", async () => {
    const [start, ...rest] = STORY.slice(3, 8);
    for (const payload of rest.filter((p) => p !== STORY[7])) inbox.put(payload);
    await inbox.drain();
    expect(summaryOf(inbox.places.storePath, "child")).toBeDefined();
    for (const payload of [start, STORY[7], ...STORY.slice(0, 3), ...STORY.slice(8)]) {
      if (payload !== undefined) inbox.put(payload);
    }
    await inbox.drain();
    expectWhole();
  });

  test("if a drain follows every payload", async () => {
    for (const payload of STORY) {
      inbox.put(payload);
      await inbox.drain();
    }
    expectWhole();
  });

  test("a child of a child belongs to the same session", async () => {
    for (const payload of STORY.slice(0, 8)) inbox.put(payload);
    inbox.put({ events: [envelope("grandchild", "session.start", 5, {}, { parent_session_id: "child" })] });
    inbox.put({ events: tool("grandchild", "g1", 6) });
    for (const payload of STORY.slice(8)) inbox.put(payload);
    await inbox.drain();
    const tools = summaryOf(inbox.places.storePath, "root")?.tools.map(({ id, subagent }) => [id, subagent]);
    expect(tools).toEqual([
      ["c1", true],
      ["g1", true],
      ["t1", false],
    ]);
  });

  test("sessions that name each other, or themselves, as parent make no cycle", async () => {
    inbox.put({ events: [envelope("a", "session.start", 0, {}, { parent_session_id: "b" })] });
    inbox.put({ events: [envelope("b", "session.start", 1, {}, { parent_session_id: "a" })] });
    inbox.put({ events: [envelope("c", "session.start", 1, {}, { parent_session_id: "c" })] });
    await inbox.drain({ endIdle: true });
    const db = openDatabase(inbox.places.storePath);
    const rows = db.prepare("SELECT session_id, parent IS NULL AS root FROM sessions ORDER BY session_id").all();
    expect(rows.map((row) => [row["session_id"], row["root"]])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 1],
    ]);
    db.close();
  });
});

describe("usage that payloads report", () => {
  const turn = (usages: readonly unknown[]) => [
    { events: [envelope("s", "prompt.submit", 1)] },
    { events: [signal("s", "turn.end", 5)], entries: usages },
    { events: [envelope("s", "session.end", 9, { reason: "completed" })] },
  ];
  const totals = () => countersAndRows(inbox.places.storePath).counters;

  test("usage of a whole turn counts as tokens and cost, not as a call", async () => {
    for (const payload of turn([{ ...usage("turn-1", 5), covers: "turn" }])) inbox.put(payload);
    await inbox.drain();
    expect(totals()).toMatchObject({ calls: 0, input: 100, output: 10 });
    expect(countersAndRows(inbox.places.storePath).rows).toEqual(totals());
  });

  test("a more complete report after it was counted adds the difference", async () => {
    for (const payload of turn([{ ...usage("turn-1", 5), covers: "turn" }])) inbox.put(payload);
    await inbox.drain();
    const fuller = { ...usage("turn-1", 5), covers: "turn", usage: { input: 150, output: 30 } };
    inbox.put({ events: [signal("s", "notice", 6)], entries: [fuller] });
    await inbox.drain();
    expect(totals()).toMatchObject({ calls: 0, input: 150, output: 30 });
  });

  test("usage of a whole session replaces calls that were not reported, and adds nothing to reported ones", async () => {
    const sum = { ...usage("sum", 9), covers: "session", usage: { input: 900, output: 90 } };
    for (const payload of turn([sum])) inbox.put(payload);
    await inbox.drain();
    expect(totals()).toMatchObject({ calls: 0, input: 900 });

    for (const payload of turn([sum, usage("u1", 4)])) {
      inbox.put(JSON.parse(JSON.stringify(payload).replaceAll('"s"', '"s2"').replaceAll('"s-', '"s2-')));
    }
    await inbox.drain();
    expect(totals()).toMatchObject({ calls: 1, input: 1000 });
  });
});
