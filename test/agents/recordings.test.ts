import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import type { EventType } from "../../src/model/event.ts";
import { clockAt } from "../support/clock.ts";
import { ensureBuilt } from "../support/program.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { booksOf, by, type Expected, type ExpectedSession, summaryOf } from "../support/summary.ts";

const agents = await allAgents();
const cases = agents.flatMap((agent) => {
  const folder = join(CASES, agent.source);
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(folder, name, "expected.json")))
        .map((name) => ({ agent, source: agent.source, name }))
    : [];
});

beforeAll(ensureBuilt, 60_000);
let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(cases)("$source $name", ({ agent, source, name }) => {
  const expected = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;

  test("every hook by hook.sh, one drain of the built program", () => {
    replay = new Replay(source, name);
    // OpenCode's plugin runs in OpenCode itself and writes the file without a program
    for (const call of replay.calls) source === "opencode" ? replay.put(call) : replay.hook(call);
    replay.drainBuilt();
    compare(replay, expected);
  });

  test("session ends alone: the transcript tells all", async () => {
    replay = new Replay(source, name);
    const ends = replay.calls.filter((call) => tells(call, ["session.end"]).length > 0);
    for (const call of ends) replay.put(call);
    const told = new Set(ends.flatMap((call) => tells(call, ["session.end"])));
    // Agents without an end of their own: somebody else's word has to do
    const clean = told.size > 0 || !replay.hasTranscripts ? [] : expected.sessions.filter(isClean);
    const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
    for (const { session_id } of clean) {
      replay.sessionEnd(session_id, lastMs);
      told.add(session_id);
    }
    await replay.drain({ endIdle: true }, clockAt(lastMs));
    if (!replay.hasTranscripts) return;
    const sessions = expected.sessions.filter((s) => told.has(s.session_id));
    compare(replay, { sessions: sessions.map((s) => (isWrittenWhole(replay, s) ? s : finishedOf(s))) });
  });

  test("every hook twice, shuffled, a drain in the middle", async () => {
    replay = new Replay(source, name);
    const calls = shuffled([...replay.calls, ...replay.calls], name);
    for (const [index, call] of calls.entries()) {
      replay.put(call);
      if (index === Math.floor(calls.length / 2)) await replay.drain({}, clockAt(Date.parse(call.received_at)));
    }
    await replay.drain({ endIdle: true });
    compare(replay, expected);
  });

  test("every hook twice, shuffled, arrival times instead of event times", async () => {
    replay = new Replay(source, name);
    for (const call of shuffled([...replay.calls, ...replay.calls], `${name} now`))
      replay.put(call, { keepTime: false });
    await replay.drain({ endIdle: true }, clockAt(Date.now()));
    compare(replay, expected);
  });

  test("as it happened: a drain at each turn's end, the transcript as long as it was", async () => {
    replay = new Replay(source, name, { withTranscripts: false });
    for (const call of replay.calls) {
      const ms = Date.parse(call.received_at);
      const path = call.stdin?.["transcript_path"];
      const ends = tells(call, ["turn.end", "turn.error", "session.end"]).length > 0;
      if (typeof call.transcript_lines === "number" && typeof path === "string") {
        replay.writeTranscripts({ path, lines: call.transcript_lines });
        if (call.event === "SubagentStop") replay.writeTranscripts({ subagents: true });
        if (call.event === "SessionEnd") replay.writeTranscripts();
      } else if (ends) replay.writeTranscripts({ untilMs: ms });
      replay.put(call);
      if (ends) await replay.drain({}, clockAt(ms));
    }
    replay.writeTranscripts();
    await replay.drain({ endIdle: true });
    compare(replay, expected);
  });

  /** Ids of the sessions of which a call tells one of these. */
  function tells(call: RecordedCall, types: readonly EventType[]): readonly string[] {
    if (call.stdin === undefined) return [];
    const env = { HOME: "/home/dev", ...call.env };
    const facts = { source, event: call.event, timeMs: 0, env, payloadBytes: 0, truncated: false };
    const events = agent.toEvents(call.stdin, facts);
    return events.filter((event) => types.includes(event.type)).map((event) => event.session_id);
  }
});

/** A call that was never answered stands in some agents' transcripts, and in others' hooks alone. */
function isWrittenWhole(of: Replay | undefined, session: ExpectedSession): boolean {
  const got = of === undefined ? undefined : summaryOf(of.places.storePath, session.session_id);
  return got?.tools.some((tool) => tool.status === "unfinished") === true;
}
const finishedOf = (session: ExpectedSession): ExpectedSession => ({
  ...session,
  tool_calls: session.tool_calls.filter((tool) => tool.status !== "unfinished"),
});

function compare(of: Replay, expected: Expected): void {
  const books = booksOf(of.places.storePath);
  expect(books.counters).toEqual(books.rows);
  for (const session of expected.sessions) {
    const got = summaryOf(of.places.storePath, session.session_id);
    expect(got, `session ${session.session_id}`).toBeDefined();
    if (got === undefined) return;
    if (session.recoverable_as_reported === undefined) {
      expect(comparable(got.modelCalls, got.modelCalls)).toEqual(comparable(session.model_calls, got.modelCalls));
    }
    const sum = (key: string): number => got.modelCalls.reduce((n, call) => n + Number(call[key as "input"] ?? 0), 0);
    const found = session.recoverable_as_reported;
    expect(sum("output"), "output").toBe(found?.output_tokens ?? session.totals["output"]);
    expect(sum("input"), "input").toBe(found?.input_tokens ?? session.totals["input"]);
    expect(sum("cache_read"), "cache_read").toBe(found?.cache_read_tokens ?? session.totals["cache_read"]);
    expect(sum("cache_write"), "cache_write").toBe(session.totals["cache_write"]);
    if (found !== undefined) expect(got.incomplete).toBeGreaterThan(0);
    expect(toolsOf(got.tools, session)).toEqual(toolsOf(session.tool_calls, session));
    expect(got.prompts, "prompts").toBe(session.prompts);
    expect(got.segments.every((s) => s.ended)).toBe(true);
    expect(endOf(got, session), "end").toBe(endIn(session));
    expect(got.unsettled, "unsettled").toBe(0);
  }
}

type Call = Readonly<Record<string, unknown>>;

/** What both sides know: agents that write no ids, no cache writes or no reasoning down do not get them compared. */
function comparable(calls: readonly Call[], got: readonly Call[]): readonly Call[] {
  const told = ["response_id", "model", "subagent", "input", "output", "cache_read", "cache_write", "reasoning"].filter(
    (field) => field === "model" || got.some((call) => call[field] !== undefined),
  );
  const lifetimes = ["cache_write_5m", "cache_write_1h"];
  return calls
    .map((call) => Object.fromEntries([...told, ...lifetimes].map((field) => [field, call[field] ?? undefined])))
    .map((call) => ({ ...call, reasoning: call["reasoning"] ?? 0 }))
    .sort(byJson);
}

/** Ids only where the model server knew them. */
const toolsOf = (tools: readonly Call[], { tool_calls }: ExpectedSession): readonly Call[] =>
  tool_calls.every((tool) => tool.id !== null)
    ? [...tools].map(({ id, name, status, subagent }) => ({ id, name, status, subagent })).sort(by("id"))
    : [...tools].map(({ name, status, subagent }) => ({ name, status, subagent })).sort(byJson);

const byJson = (a: Call, b: Call): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const isClean = (session: ExpectedSession): boolean => /^clean|clean$/.test(session.ended);

const endIn = ({ ended }: ExpectedSession): string =>
  ended === "clean (api error)"
    ? "error"
    : ended === "cancelled"
      ? "interrupted"
      : (/clean$/.exec(ended)?.[0] ?? ended);

function endOf({ segments, lastTurn }: NonNullable<ReturnType<typeof summaryOf>>, session: ExpectedSession): string {
  const { ended, recoverable_as_reported: found } = session;
  const last = segments.at(-1);
  if (ended === "clear") return String(last?.native);
  if (lastTurn === "failed") return "error";
  if (lastTurn === "interrupted") return "interrupted";
  // An agent that never tells its end is ended by us
  if (last?.reason === "timeout") return lastTurn === "ended" ? "clean" : "killed";
  // An agent that tells no error, and leaves without the last word of its turn
  return lastTurn === "unfinished" && found === undefined ? "error" : "clean";
}

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
