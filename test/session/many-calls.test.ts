import { expect, test } from "vitest";
import { NOTHING_SETTLED } from "../../src/model/session.ts";
import { buildSession } from "../../src/session/build.ts";
import { ended, NOON_MS, prompted, toolStarted } from "./events.ts";

test("a turn may have more calls than a function takes arguments", () => {
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
