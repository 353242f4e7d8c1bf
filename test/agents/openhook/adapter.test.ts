import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import card from "#agents/openhook/index.ts";
import { unknownNamesIn } from "#collect/payload/drift.ts";
import { Envelope } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { compareLines, type DocumentedCall, linesOf, mapped, truthOf } from "../../support/documented.ts";

const CASE = join(dirname(fileURLToPath(import.meta.url)), "004-openhook");
const intake: IntakeFacts = { timeMs: Date.UTC(2026, 8, 14, 9), env: {}, payloadBytes: 2, truncated: false };

const envelope = (rest: Record<string, unknown> = {}) => ({
  openhook: "0.1",
  id: "550e8400-e29b-41d4-a716-446655440000",
  source: "acme-agent",
  type: "session.end",
  time: "2026-09-14T09:00:00.000Z",
  session_id: "s1",
  ...rest,
});
const only = (payload: unknown) => card.toEvents(payload, intake)[0];

test("each documented envelope gives the expected event, and sums only at a session's end", async () => {
  const calls = linesOf<DocumentedCall>(join(CASE, "calls.jsonl"));
  const got = await mapped(calls);
  expect(got.every((one) => one.card?.source === "openhook")).toBe(true);
  // An id that repeats is the same event: the store keeps the first
  const seen = new Set<string>();
  const first = got.map((one) => ({
    ...one,
    events: one.events.filter(({ id, type }) => type !== "notice" && !seen.has(id) && seen.add(id)),
  }));
  compareLines(first, truthOf(CASE).lines);
  for (const { events } of got) for (const event of events) expect(event.source).toBe("claude-code");

  const sums = calls.flatMap((call) => card.toEntries(call.stdin, intake));
  for (const entry of sums) expect(TranscriptEntry.parse(entry)).toEqual(entry);
  expect(sums).toMatchObject([
    {
      kind: "model_call",
      covers: "session",
      model: "claude-sonnet-4-20250514",
      usage: { input: 1200, output: 300 },
      startMs: Date.UTC(2026, 8, 14, 9),
      endMs: Date.UTC(2026, 8, 14, 9, 0, 4),
    },
  ]);
});

describe("repairs", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a time without zone is UTC", { time: "2026-09-14T11:00:00" }, { time: "2026-09-14T11:00:00.000Z" }],
    ["a time zone is converted", { time: "2026-09-14T11:00:00+02:00" }, { time: "2026-09-14T09:00:00.000Z" }],
    ["a missing time is the time of receipt", { time: undefined }, { time: "2026-09-14T09:00:00.000Z" }],
    ["a comma before the fraction", { time: "2026-09-14T11:00:00,5+02:00" }, { time: "2026-09-14T09:00:00.500Z" }],
    ["a zone with hours only", { time: "2026-09-14 11:00:00.25+02" }, { time: "2026-09-14T09:00:00.250Z" }],
    ["a zone after a space", { time: "2026-09-14 11:00:00 +0200" }, { time: "2026-09-14T09:00:00.000Z" }],
    ["a date only", { time: "2026-09-14" }, { time: "2026-09-14T00:00:00.000Z" }],
    ["a version that is a number", { openhook: 0.1 }, { openhook: "0.1" }],
    ["extensions next to an invalid folder", { cwd: null, extensions: { a: 1 } }, { extensions: { a: 1 } }],
    ["a fraction of a millisecond", { data: { duration_ms: 12.6 } }, { data: { duration_ms: 13 } }],
    ["an invalid version", { openhook: "next" }, { openhook: "0.1" }],
    ["a future version", { openhook: "1.12" }, { openhook: "1.12" }],
    ["a value outside the enumeration", { data: { reason: "bored", model: "m" } }, { data: { model: "m" } }],
    ["a negative count", { data: { input_tokens: -1 } }, { data: {} }],
    ["a folder as a URI", { context: "file://localhost/home/dev/a%20b" }, { cwd: "/home/dev/a b" }],
    ["a folder of Windows as a URI", { context: "file:///C:/Users/dev" }, { cwd: "C:\\Users\\dev" }],
    ["a shared folder as a URI", { context: "file://server/share/x" }, { cwd: "\\\\server\\share\\x" }],
    ["a path in place of a URI", { context: "/home/dev/a" }, { cwd: "/home/dev/a" }],
    ["another URI", { context: "mailto:inbox/4" }, { context: "mailto:inbox/4" }],
    [
      "another URI beside a folder",
      { cwd: "/home/dev/a", context: "https://example.com/page" },
      { cwd: "/home/dev/a", context: "https://example.com/page" },
    ],
    [
      "a cwd that differs is kept beside the context",
      { cwd: "/home/dev/a", context: "file:///home/dev/b" },
      { cwd: "/home/dev/b", extensions: { sender: { cwd: "/home/dev/a" } } },
    ],
    [
      "fields without a place are kept",
      { subject: "x", data: { mood: "fine", reason: "bored" }, extensions: { agent_id: "a", own: 1 } },
      { extensions: { own: 1, sender: { subject: "x", data: { mood: "fine", reason: "bored" }, agent_id: "a" } } },
    ],
    [
      "a written file",
      { type: "file.write", data: { path: "src/x.ts", operation: "rename", start_line: 0, end_line: 3 } },
      {
        type: "file.write",
        data: { path: "src/x.ts", end_line: 3 },
        extensions: { sender: { data: { operation: "rename", start_line: 0 } } },
      },
    ],
    ["unknown extensions", { extensions: { vendor: { x: 1 } } }, { extensions: { vendor: { x: 1 } } }],
  ])("%s", (_, given, expected) => {
    const event = only(envelope(given));
    expect(event).toMatchObject(expected);
    expect(Envelope.safeParse(event).error).toBeUndefined();
    if (expected["data"] !== undefined) expect(event).toHaveProperty("data", expected["data"]);
  });
  it("a missing id is derived from the content", () => {
    const { id: _, ...rest } = envelope();
    expect(only(rest)?.id).toBe(only({ ...rest })?.id);
    expect(only(rest)?.id).not.toBe(only({ ...rest, session_id: "s2" })?.id);
  });
  it("a numeric version is recognised", () => {
    expect(card.recognises(envelope({ openhook: 0.1 }))).toBe("certain");
  });
  it.each(["source", "type", "session_id"])("a missing %s is rejected", (name) => {
    expect(only(envelope({ [name]: undefined }))).toBeUndefined();
  });
  it.each(["doc.write", "agent.thought"])("an event of the type %s is kept, with its data", (type) => {
    const event = only(envelope({ type, data: { page: 4 }, context: "https://example.com/page", subject: "x" }));
    expect(event).toEqual({
      id: envelope().id,
      source: "acme-agent",
      type: "notice",
      time: envelope().time,
      session_id: "s1",
      extensions: {
        native_event: type,
        sender: { data: { page: 4 }, context: "https://example.com/page", subject: "x" },
      },
    });
  });
  it("a file.write without path is kept as a notice", () => {
    expect(only(envelope({ type: "file.write", data: { operation: "create" } }))).toMatchObject({
      type: "notice",
      extensions: { native_event: "file.write", sender: { data: { operation: "create" } } },
    });
  });
  it("an invalid source name is rejected", () => {
    expect(only(envelope({ source: "Acme Agent" }))).toBeUndefined();
  });
});

test("names that the specification does not have are counted", () => {
  const unknown = unknownNamesIn(
    card,
    envelope({ context: "file:///x", subject: 1, data: { mood: 1, reason: "error", "a text": 1 } }),
    intake,
  );
  expect([...unknown.keys()].sort()).toEqual(["field data.mood", "field subject"]);
  expect([...unknownNamesIn(card, envelope({ type: "doc.write", data: { page: 1 } }), intake).keys()]).toEqual([
    "event doc.write",
  ]);
});

describe("sums of a session", () => {
  const sum = (input_tokens: unknown, output_tokens: unknown, rest = {}) =>
    card.toEntries(envelope({ data: { input_tokens, output_tokens }, ...rest }), intake);
  it("are recorded once, however many ends report them", () => {
    const [first] = sum(100, 10, { id: "a" });
    const [second] = sum(250, 30, { id: "b", time: "2026-09-14T10:00:00Z" });
    if (first === undefined || second === undefined) throw new Error("no sums");
    expect(first.key).toBe(second.key);
    for (const merged of [mergeEntries(first, second), mergeEntries(second, first)]) {
      expect(merged).toMatchObject({ usage: { input: 250, output: 30 } });
    }
  });
  it("keep one kind if the other is missing", () => {
    expect(sum(100, undefined)).toMatchObject([{ usage: { input: 100 } }]);
    expect(sum(undefined, 5)).toMatchObject([{ usage: { output: 5 } }]);
    expect(sum("100", 5)).toMatchObject([{ usage: { output: 5 } }]);
  });

  it("need a number and an end", () => {
    expect(sum(undefined, undefined)).toEqual([]);
    expect(sum(1, 2, { type: "tool.end" })).toEqual([]);
    expect(card.toEntries(null, intake)).toEqual([]);
  });
});

describe("remarks for the log", () => {
  it.each<[Record<string, unknown>, readonly RegExp[]]>([
    [{}, []],
    [{ openhook: "0.2" }, [/OpenHook 0\.2 was read as 0\.1/]],
    [{ openhook: "secret words" }, [/version is invalid/]],
    [{ type: "agent.thought" }, [/no event type agent\.thought; the event is kept/]],
    [{ type: "file.write" }, [/file\.write envelope has no path/]],
    [{ cwd: "/home/dev/a", context: "file:///home/dev/b" }, [/cwd and context differ/]],
    [{ cwd: "/home/dev/a/", context: "file:///home/dev/a" }, []],
    [{ cwd: "c:/Users/dev", context: "file:///C:/Users/dev/" }, []],
    [{ context: "/home/dev/a" }, [/context is not a URI/]],
    [{ context: "file:project" }, [/without a usable path/]],
    [{ context: "https://example.com/page" }, []],
    [{ type: "Rm -rf /home/dev" }, [/no event type; the envelope was dropped/]],
    [{ type: "tool.end", data: { status: "cancelled" } }, [/data\.status of a tool\.end envelope/]],
    [{ id: undefined, time: "2026-09-14T11:00:00" }, [/no id/, /no zone/]],
    [{ session_id: "" }, [/no session_id; it was dropped/]],
    [{ data: { duration_ms: 0.4 } }, []],
  ])("%j", (given, expected) => {
    const remarks = card.remarks(envelope(given));
    expect(remarks).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(remarks[at]).toMatch(pattern);
    expect(remarks.join()).not.toMatch(/secret|\/home/);
  });
  it("are empty for a payload that is no envelope", () => {
    for (const payload of [null, 1, [], {}, { openhook: 1 }]) expect(card.remarks(payload)).toEqual([]);
  });
});
