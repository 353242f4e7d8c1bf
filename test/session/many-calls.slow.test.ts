// Slow: only `npm run test:all` runs it. 130,000 calls, 500 nested subagents; session/build.test.ts has all shapes.
import { expect, test } from "vitest";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { buildSession } from "#core/session/build.ts";
import { ended, NOON_MS, prompted, resulted, subagentStarted, toolStarted } from "./events.ts";

test("a turn may have more calls than a function accepts arguments", () => {
  const ids = Array.from({ length: 130_000 }, (_, n) => `call-${n}`);
  const events = [
    prompted("p", 0, "p1"),
    ...ids.map((id, n) => toolStarted(`s-${id}`, 10 + n, id)),
    ended("e", 200_000),
  ];
  const facts = { source: "claude-code", sessionId: "session-1" };
  const { turns } = buildSession({ facts, events, entries: [], context: NOTHING_SETTLED, expectsTranscript: true });
  expect(turns.map(({ toolCalls }) => toolCalls.length)).toEqual([ids.length]);
  expect(turns[0]).toMatchObject({ startMs: NOON_MS, endMs: NOON_MS + 200_000 });
});

test("500 subagents, each started by the one before: all belong to the turn, each below its call", () => {
  const count = 500;
  const events = [prompted("p", 0, "p1"), toolStarted("s0", 1, "call-0")];
  const entries: TranscriptEntry[] = [];
  for (let n = 0; n < count; n++) {
    const extras = { agent_id: `agent-${n}`, parent_call_id: `call-${n}` };
    events.push(subagentStarted(`b${n}`, 10 + n * 10, extras));
    if (n + 1 < count) events.push(toolStarted(`s${n + 1}`, 15 + n * 10, `call-${n + 1}`, { agent_id: `agent-${n}` }));
    entries.push({ ...resulted(`call-${n}`, 20_000 - n * 10), spawnedAgentId: `agent-${n}` } as TranscriptEntry);
  }
  events.push(ended("e", 30_000));
  const facts = { source: "claude-code", sessionId: "session-1" };
  const session = buildSession({ facts, events, entries, context: NOTHING_SETTLED, expectsTranscript: true });
  expect(session.subagents).toHaveLength(count);
  const [turn] = session.turns;
  for (const { agentId, parentCallId, turnKey } of session.subagents) {
    expect(parentCallId).toBe(agentId.replace("agent", "call"));
    expect(turnKey).toBe(turn?.key);
  }
});
