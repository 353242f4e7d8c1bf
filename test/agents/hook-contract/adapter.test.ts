import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import card from "#agents/hook-contract/index.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { compareLines, type DocumentedCall, intakeOf, linesOf, mapped, truthOf } from "../../support/documented.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const load = (name: string) => ({
  calls: linesOf<DocumentedCall>(join(HERE, name, "calls.jsonl")),
  lines: truthOf(join(HERE, name)).lines,
});

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "hook-contract",
  timeMs: Date.UTC(2026, 8, 14, 9),
  env: {},
  parentPid: 77,
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const firstEvent = (payload: unknown, rest: Partial<IntakeFacts> = {}) => card.toEvents(payload, intake(rest))[0];

test("maps single-envelope payloads line by line", async () => {
  const { calls, lines } = load("000-tool-name-envelope");
  const got = await mapped(calls);
  // The end does not repeat the path of an earlier call; the store has it for the session
  compareLines(
    got,
    lines.map(({ data, ...line }) => (line.type === "session.end" ? line : { ...line, ...(data && { data }) })),
  );
  const processes = got.flatMap(({ events }) => events.map((event) => extrasOf(event).process));
  expect(new Set(processes)).toEqual(new Set(["4242"]));
  const stop = got[14]?.events[0];
  expect(stop === undefined ? {} : extrasOf(stop)).toMatchObject({
    session_id_origin: "transcript",
    transcript_path: expect.stringMatching(/sess-acme-0001\.jsonl$/),
  });
});

test("maps lifecycle payloads with bare fields line by line", async () => {
  const { calls, lines } = load("001-minimal-lifecycle");
  const got = await mapped(calls);
  compareLines(got, lines);
  const [inline, path] = [got[4]?.events[0], got[5]?.events[0]];
  expect(inline === undefined ? {} : extrasOf(inline)).not.toHaveProperty("transcript_path");
  expect(path === undefined ? {} : extrasOf(path)).toMatchObject({
    transcript_path: "/home/dev/.claude/projects/-home-dev-acme-shop/11111111-2222-4333-8444-555555550001.jsonl",
  });
  expect(JSON.stringify(got.map(({ events }) => events))).not.toMatch(/assistant|Looks fine|Review the change|Fix/);
});

test("maps schemas like Claude Code's under our own name line by line", () => {
  const { calls, lines } = load("003-claude-like-schemas");
  const events = calls.map((call, at) => ({
    card,
    events: card.toEvents(call.stdin, { ...intakeOf(call, at + 1, { env: { CODEX_HOME: "/home/dev/.codex" } }) }),
  }));
  // Sessions pair calls without an id; this test covers only the adapter
  compareLines(
    events,
    lines.map((line) => ({ ...line, tool_call_id: null })),
  );
  const end = events[19]?.events[0];
  expect(end).toMatchObject({
    data: { transcript_path: "/home/dev/.codex/projects/-home-dev-acme-shop/session.jsonl", reason: "user_exit" },
  });
});

test("maps the same schemas under the flag of their original agent", async () => {
  const { calls, lines } = load("003-claude-like-schemas");
  const got = await mapped(calls);
  expect(new Set(got.map((one) => one.card?.source))).toEqual(new Set(["codex"]));
  compareLines(got, lines);
});

test.each(["claude-code", "gemini-cli", "cursor", "opencode"])(
  "maps payloads with one tool each line by line: %s",
  async (source) => {
    const { calls, lines } = load("002-tool-reference");
    const of = lines.filter(({ line }) => calls[line - 1]?.argv.includes(source));
    expect(of.length).toBeGreaterThan(1);
    compareLines(await mapped(calls), of);
  },
);

describe("ambiguous payloads", () => {
  it("a tool event without a phase is an end that is never paired", async () => {
    const pre = { argv: ["hook", "--source", "hook-contract", "--event", "preToolUse"] };
    const stdin = { tool_name: "Shell", tool_input: { command: "ls" } };
    const got = await mapped([
      { ...pre, stdin },
      { argv: ["hook", "--source", "hook-contract"], stdin },
    ]);
    const [start, instant] = got.map(({ events }) => events[0]);
    expect(instant).toMatchObject({ type: "tool.end", data: { tool_name: "Shell" } });
    expect(instant).not.toHaveProperty("data.status");
    const ids = [start, instant].map((event) =>
      event?.type === "tool.start" || event?.type === "tool.end" ? event.data?.tool_call_id : undefined,
    );
    expect(ids[0]).not.toBe(ids[1]);
  });
  it("an empty object needs an event name from the command line", () => {
    expect(firstEvent({})).toBeUndefined();
    expect(firstEvent({}, { event: "SessionStart" })?.type).toBe("session.start");
    expect(firstEvent({}, { event: "sessionEnd" })?.type).toBe("session.end");
    expect(firstEvent({}, { event: "whatever" })).toBeUndefined();
  });
  it("a relative transcript, or one with an unknown variable, is no path", () => {
    for (const transcript of ["notes.txt", "$NOWHERE/x.jsonl", "~/x.jsonl", "/a\n/b", 7]) {
      const event = firstEvent({ transcript, tool_outputs: [] }, { event: "Stop" });
      expect(event?.type).toBe("turn.end");
      expect(event === undefined ? {} : extrasOf(event)).not.toHaveProperty("transcript_path");
    }
    const home = firstEvent(
      { transcript: "~/x.jsonl", tool_outputs: [] },
      { event: "Stop", env: { HOME: "/home/dev" } },
    );
    expect(home === undefined ? {} : extrasOf(home)).toMatchObject({ transcript_path: "/home/dev/x.jsonl" });
  });
});

test("recognition needs the flag or exactly the fields", () => {
  const recognition = (payload: unknown, source?: string) => {
    const { source: _, ...facts } = intake();
    return card.recognises(payload, source === undefined ? facts : { ...facts, source });
  };
  expect(recognition({ tool_name: "Shell", tool_input: {} })).toBe("likely");
  expect(recognition({ tool_name: "Shell", tool_input: {}, cwd: "/w" })).toBe("no");
  expect(recognition({ tool_name: "Shell", tool_input: {}, cwd: "/w" }, "hook-contract")).toBe("possible");
  expect(recognition({ tool_name: "Shell", tool_input: {}, cursor_version: "1" }, "hook-contract")).toBe("no");
  expect(recognition({ agent: "a", task: "t" })).toBe("likely");
  expect(recognition({ agent: "a" })).toBe("no");
  expect(recognition({})).toBe("no");
  expect(recognition([], "hook-contract")).toBe("no");
});
