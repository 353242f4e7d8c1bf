import { expect, test } from "vitest";
import { toEnvelope } from "#collect/convert/envelope-text.ts";
import type { Event } from "#core/model/event-schema.ts";

const base = { openhook: "0.1", source: "codex", time: "2026-11-20T10:00:00.000Z", session_id: "s1" };
const start: Event = {
  ...base,
  id: "e1",
  type: "tool.start",
  data: { tool_name: "deploy", tool_call_id: "c1" },
  cwd: "/home/dev/a b",
  extensions: { native_event: "PreToolUse", executable: "kubectl" },
};
const write: Event = {
  ...base,
  id: "e2",
  type: "file.write",
  data: { path: "/home/dev/a b/x.ts", operation: "update", tool_call_id: "c1" },
  cwd: "/home/dev/a b",
};

test("the text decides between cwd and context", () => {
  expect(toEnvelope(start, { text: "cwd", level: "metadata" })).toEqual({
    ...base,
    id: "e1",
    type: "tool.start",
    data: { tool_name: "deploy", tool_call_id: "c1" },
    cwd: "/home/dev/a b",
  });
  const newer = toEnvelope(start, { text: "context", level: "metadata" });
  expect(newer).toMatchObject({ id: "e1", context: "file:///home/dev/a%20b" });
  expect(newer).not.toHaveProperty("cwd");
});

test("a sender's own URI comes before the folder; a folder without a URI is left out", () => {
  const page = { ...start, context: "https://example.com/page" } as Event;
  expect(toEnvelope(page, { text: "context", level: "full" })).toHaveProperty("context", "https://example.com/page");
  expect(toEnvelope(page, { text: "cwd", level: "full" })).not.toHaveProperty("context");
  expect(toEnvelope({ ...start, cwd: "project" }, { text: "context", level: "full" })).not.toHaveProperty("context");
});

test("extensions are written from the level redacted on", () => {
  for (const level of ["none", "metadata"] as const) {
    expect(toEnvelope(start, { text: "cwd", level })).not.toHaveProperty("extensions");
  }
  expect(toEnvelope(start, { text: "cwd", level: "redacted" })).toHaveProperty("extensions", start.extensions);
});

test("at none there are no folders, no files and no names that users chose", () => {
  const end: Event = { ...base, id: "e3", type: "session.end", data: { transcript_path: "/x", reason: "completed" } };
  const form = { text: "context", level: "none" } as const;
  expect(toEnvelope(start, form)).toEqual({
    ...base,
    id: "e1",
    type: "tool.start",
    data: { tool_name: "other", tool_call_id: "c1" },
  });
  expect(toEnvelope(start, { ...form, own: { tools: ["deploy"], agentTypes: [] } })).toHaveProperty(
    "data.tool_name",
    "deploy",
  );
  expect(toEnvelope(end, form)).toHaveProperty("data", { reason: "completed" });
  expect(toEnvelope(write, form)).toBeUndefined();
});

test("file.write exists in the text context only, signals in none", () => {
  expect(toEnvelope(write, { text: "cwd", level: "full" })).toBeUndefined();
  expect(toEnvelope(write, { text: "context", level: "metadata" })).toHaveProperty("data", write.data);
  const { openhook: _, ...plain } = base;
  const signal: Event = { ...plain, id: "e4", type: "turn.end" };
  expect(toEnvelope(signal, { text: "context", level: "full" })).toBeUndefined();
});
