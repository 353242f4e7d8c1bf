import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { EventType } from "#core/model/event-schema.ts";
import { clockAt } from "../support/clock.ts";
import { compareRecorded, finishedOf, hasUnfinishedCalls, isClean } from "../support/expected.ts";
import { ensureBuilt } from "../support/program.ts";
import { CASES, hasPlugin, type RecordedCall, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { chosenRecordings, firstOf, firstRecordings } from "../support/whole.ts";

const agents = await allAgents();
const cases = agents.flatMap((agent) => {
  const folder = join(CASES, agent.source);
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(folder, name, "expected.json")))
        .map((name) => ({ agent, source: agent.source, name }))
    : [];
});

/** Cases in which only `PROVENANCE.md` says what will be recorded: `npm run new-agent` makes one. */
const unrecorded = agents.flatMap(({ source }) => {
  const folder = join(CASES, source);
  const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return names
    .filter((entry) => entry.isDirectory() && readdirSync(join(folder, entry.name)).join() === "PROVENANCE.md")
    .map(({ name }) => `test/agents/${source}/${name}`);
});

beforeAll(ensureBuilt);
let replay: Replay | undefined;
afterEach(() => replay?.remove());

const titleOf = ({ source, name }: { source: string; name: string }): string => `${source} ${name}`;
/** In `npm test`, recordings of five agents also arrive in other orders. */
const reordered = new Set(firstOf(firstRecordings(cases), 5).map(titleOf));
/** In `npm test`, recordings of three agents go through hook.sh and the built program; the others in process. */
const throughShell = new Set(firstOf(firstRecordings(cases), 3).map(titleOf));

test("every case has a recording", () => {
  const needed = "record a session there: hooks.jsonl, transcripts/ and expected.json (CONTRIBUTING.md, Add a case)";
  expect(unrecorded, needed).toEqual([]);
});

describe.each(chosenRecordings(cases))("$source $name", ({ agent, source, name }) => {
  const hasTranscripts = existsSync(join(CASES, source, name, "transcripts"));
  const expected = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;

  if (throughShell.has(titleOf({ source, name }))) {
    test("every hook through hook.sh, then one drain of the built program", () => {
      replay = new Replay(source, name);
      for (const call of replay.calls) hasPlugin(source) ? replay.put(call) : replay.hook(call);
      replay.drainBuilt();
      compareRecorded(replay.places.storePath, expected);
    });
  }

  if (hasTranscripts) {
    test("only session.end hooks: the transcript supplies everything else", async () => {
      replay = new Replay(source, name);
      const ends = replay.calls.filter((call) => sessionsOf(call, ["session.end"]).length > 0);
      for (const call of ends) replay.put(call);
      const sessionIds = new Set(ends.flatMap((call) => sessionsOf(call, ["session.end"])));
      // Agents without an end event: an OpenHook envelope ends the session
      const clean = sessionIds.size > 0 ? [] : expected.sessions.filter(isClean);
      const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
      for (const { session_id } of clean) {
        replay.sessionEnd(session_id, lastMs);
        sessionIds.add(session_id);
      }
      await replay.drain({ endIdle: true }, clockAt(lastMs));
      const sessions = expected.sessions.filter((s) => sessionIds.has(s.session_id));
      const { storePath } = replay.places;
      compareRecorded(storePath, {
        sessions: sessions.map((s) => (hasUnfinishedCalls(storePath, s) ? s : finishedOf(s))),
      });
    });
  }

  if (!reordered.has(titleOf({ source, name }))) return;
  test("the result is the same with every hook twice, shuffled, and a drain in the middle", async () => {
    replay = new Replay(source, name);
    const calls = shuffled([...replay.calls, ...replay.calls], name);
    for (const [index, call] of calls.entries()) {
      replay.put(call);
      if (index === Math.floor(calls.length / 2)) await replay.drain({}, clockAt(Date.parse(call.received_at)));
    }
    await replay.drain({ endIdle: true });
    compareRecorded(replay.places.storePath, expected);
  });

  test("the result is the same with every hook twice, shuffled, at the times of arrival", async () => {
    replay = new Replay(source, name);
    // Without call ids, an end that arrives before its start is another call, so all arrive at the same time
    const apartMs = replay.calls.some(isNameless) ? 0 : 1;
    let nowMs = Date.now();
    for (const call of shuffled([...replay.calls, ...replay.calls], `${name} now`)) {
      nowMs += apartMs;
      replay.put(call, nowMs);
    }
    expect((await replay.drain({ endIdle: true }, clockAt(nowMs))).problems).toEqual([]);
    compareRecorded(replay.places.storePath, expected);
  });

  test("the result is the same in real order: a drain at each turn's end, with the transcript as written by then", async () => {
    replay = new Replay(source, name, { withTranscripts: false });
    for (const call of replay.calls) {
      const ms = Date.parse(call.received_at);
      const path = call.stdin?.["transcript_path"];
      const ends = sessionsOf(call, ["turn.end", "turn.error", "session.end"]).length > 0;
      if (typeof call.transcript_lines === "number" && typeof path === "string") {
        replay.writeTranscripts({ path, lines: call.transcript_lines });
        if (call.event === "SubagentStop") replay.writeTranscripts({ subagents: true });
        if (call.event === "SessionEnd") replay.writeTranscripts();
      } else if (ends) replay.writeTranscripts({ untilMs: ms });
      replay.put(call);
      if (ends) await replay.drain({}, clockAt(ms));
    }
    replay.writeTranscripts();
    // Drains read lines that were written after the last hook for a while
    const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
    await replay.drain({ endIdle: true }, clockAt(lastMs + 1_000));
    compareRecorded(replay.places.storePath, expected);
  });

  /** Session ids of the call's events of these types. */
  function sessionsOf(call: RecordedCall, types: readonly EventType[]): readonly string[] {
    return eventsOf(call)
      .filter((event) => types.includes(event.type))
      .map((event) => event.session_id);
  }

  function isNameless(call: RecordedCall): boolean {
    return eventsOf(call).some(
      (event) => (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined,
    );
  }

  function eventsOf(call: RecordedCall) {
    if (call.stdin === undefined) return [];
    const env = { HOME: "/home/dev", ...call.env };
    const facts = { source, event: call.event, timeMs: 0, env, payloadBytes: 0, truncated: false };
    return agent.toEvents(call.stdin, facts);
  }
});

/** A fixed shuffle, so failures can be reproduced. */
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
