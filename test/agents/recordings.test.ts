import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { clockAt } from "../support/clock.ts";
import { ensureBuilt } from "../support/program.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { booksOf, by, type Expected, type ExpectedSession, summaryOf } from "../support/summary.ts";

const cases = readdirSync(CASES).flatMap((source) =>
  existsSync(join(CASES, source)) && !source.includes(".")
    ? readdirSync(join(CASES, source))
        .filter((name) => existsSync(join(CASES, source, name, "expected.json")))
        .map((name) => [source, name] as const)
    : [],
);

beforeAll(ensureBuilt, 60_000);
let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(cases)("%s %s", (source, name) => {
  const expected = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;

  test("every hook, one drain of the built program", () => {
    replay = new Replay(source, name);
    for (const call of replay.calls) replay.hook(call);
    replay.drainBuilt();
    compare(replay, expected);
  });

  test("session ends alone: the transcript tells all", () => {
    replay = new Replay(source, name);
    const ends = replay.calls.filter((call) => call.event === "SessionEnd");
    for (const call of ends) replay.hook(call);
    replay.drainBuilt();
    const told = new Set(ends.map((call) => call.stdin?.["session_id"]));
    compare(replay, { sessions: expected.sessions.filter((s) => told.has(s.session_id)) });
  });

  test("every hook twice, shuffled, a drain in the middle", async () => {
    replay = new Replay(source, name);
    const calls = shuffled([...replay.calls, ...replay.calls], name);
    for (const [index, call] of calls.entries()) {
      replay.hook(call);
      if (index === Math.floor(calls.length / 2)) await replay.drain({}, clockAt(Date.parse(call.received_at)));
    }
    replay.drainBuilt();
    compare(replay, expected);
  });

  test("every hook twice, shuffled, arrival times instead of event times", async () => {
    replay = new Replay(source, name);
    for (const call of shuffled([...replay.calls, ...replay.calls], `${name} now`))
      replay.hook(call, { keepTime: false });
    await replay.drain({ endIdle: true });
    compare(replay, expected);
  });

  test("as it happened: a drain at each turn's end, the transcript as long as it was", async () => {
    replay = new Replay(source, name, { withTranscripts: false });
    for (const call of replay.calls) {
      const path = call.stdin?.["transcript_path"];
      if (typeof path === "string" && typeof call.transcript_lines === "number") {
        replay.writeTranscripts({ path, lines: call.transcript_lines });
      }
      if (call.event === "SubagentStop") replay.writeTranscripts({ subagents: true });
      replay.hook(call);
      if (call.event === "SessionEnd") replay.writeTranscripts();
      if (/^(Stop|StopFailure|SessionEnd)$/.test(call.event)) {
        await replay.drain({}, clockAt(Date.parse(call.received_at)));
      }
    }
    replay.writeTranscripts();
    await replay.drain({ endIdle: true });
    compare(replay, expected);
  });
});

function compare(of: Replay, expected: Expected): void {
  const books = booksOf(of.places.storePath);
  expect(books.counters).toEqual(books.rows);
  for (const session of expected.sessions) {
    const got = summaryOf(of.places.storePath, session.session_id);
    expect(got, `session ${session.session_id}`).toBeDefined();
    if (got === undefined) return;
    expect(got.modelCalls).toEqual(expectedCalls(session, got.modelCalls));
    const sum = (key: string): number => got.modelCalls.reduce((n, call) => n + Number(call[key as "input"] ?? 0), 0);
    expect(sum("output")).toBe(session.recoverable_as_reported?.output_tokens ?? session.totals["output"]);
    for (const key of ["input", "cache_read", "cache_write"]) expect(sum(key), key).toBe(session.totals[key]);
    expect(got.tools).toEqual([...session.tool_calls].sort(by("id")));
    expect(got.prompts).toBe(session.prompts);
    expect(got.segments.every((s) => s.ended)).toBe(true);
    expect(endOf(got.segments.at(-1))).toBe(session.ended.startsWith("clean") ? "clean" : session.ended);
    expect(got.unsettled).toBe(0);
  }
}

/** Where the agent lost the end of an answer, its output is what it wrote down, and it is marked incomplete. */
function expectedCalls(
  session: ExpectedSession,
  got: readonly Record<string, unknown>[],
): readonly Record<string, unknown>[] {
  return [...session.model_calls]
    .sort(by("response_id"))
    .map((call, i) => (session.recoverable_as_reported === undefined ? call : { ...call, output: got[i]?.["output"] }));
}

const endOf = (segment: { reason: unknown; native: unknown } | undefined): string =>
  segment?.reason === "timeout" ? "killed" : segment?.native === "clear" ? "clear" : "clean";

/** The same order every time: a failure can be looked at again. */
function shuffled(calls: readonly RecordedCall[], seed: string): readonly RecordedCall[] {
  let state = [...seed].reduce((n, c) => (n * 31 + c.charCodeAt(0)) >>> 0, 7);
  const random = (): number => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const list = [...calls];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] as RecordedCall, list[i] as RecordedCall];
  }
  return list;
}
