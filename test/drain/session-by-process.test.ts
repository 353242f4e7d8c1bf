// Payloads without a session id: they belong to the open session of the same agent process, in any order.
import { afterEach, beforeEach, expect, test } from "vitest";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { summaryOf } from "../support/summary.ts";

const START_MS = Date.now() - 20_000;
let inbox: InboxFixture;
beforeEach(() => {
  inbox = new InboxFixture();
});
afterEach(() => inbox.remove());

let number = 0;
const event = (session: string, process: string, type: string, at: number, data: Record<string, unknown> = {}) => ({
  events: [
    {
      openhook: "0.1",
      id: `${type}-${++number}`,
      source: "acme",
      type,
      time: new Date(START_MS + at * 1000).toISOString(),
      session_id: session,
      extensions: { process, ...(session.startsWith("minted") && { session_id_origin: "minted" }) },
      data,
    },
  ],
});
const tool = (process: string, call: string, at: number) => [
  event(`minted-${process}`, process, "tool.start", at, { tool_name: "read", tool_call_id: call }),
  event(`minted-${process}`, process, "tool.end", at + 1, { tool_name: "read", tool_call_id: call, status: "success" }),
];
const toolsOf = (session: string) => summaryOf(inbox.places.storePath, session)?.tools.map(({ id }) => id);

const story = () => [
  event("s1", "7", "session.start", 0),
  event("s1", "7", "prompt.submit", 1, { prompt_length: 3 }),
  ...tool("7", "t1", 2),
  event("s1", "7", "session.end", 9, { reason: "completed" }),
];

test.each([
  ["in order", (s: ReturnType<typeof story>) => s],
  ["backwards", (s: ReturnType<typeof story>) => [...s].reverse()],
])("reported %s", async (_, order) => {
  for (const payload of order(story())) inbox.put(payload);
  await inbox.drain();
  expect(toolsOf("s1")).toEqual(["t1"]);
  expect(summaryOf(inbox.places.storePath, "s1")).toMatchObject({ prompts: 1, unsettled: 0 });
});

test("the tools first, the session in a later drain", async () => {
  const [start, prompt, ...rest] = story();
  for (const payload of rest.slice(0, 2)) inbox.put(payload);
  await inbox.drain();
  for (const payload of [start, prompt, rest[2]]) if (payload !== undefined) inbox.put(payload);
  await inbox.drain();
  expect(toolsOf("s1")).toEqual(["t1"]);
});

test("another process, and events after the session's end, stay separate", async () => {
  for (const payload of [...story(), ...tool("8", "t2", 3), ...tool("7", "t3", 15)]) inbox.put(payload);
  await inbox.drain({ endIdle: true });
  expect(toolsOf("s1")).toEqual(["t1"]);
  expect(toolsOf("minted-8")).toEqual(["t2"]);
  expect(toolsOf("minted-7")).toEqual(["t3"]);
});

test("with two open sessions in one process, none is chosen", async () => {
  const two = [event("s1", "7", "session.start", 0), event("s2", "7", "session.start", 0), ...tool("7", "t1", 2)];
  for (const payload of two) inbox.put(payload);
  await inbox.drain({ endIdle: true });
  expect(toolsOf("minted-7")).toEqual(["t1"]);
});
