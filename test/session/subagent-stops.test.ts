import { expect, test } from "vitest";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import { buildSession, stopsOfSubagents } from "#core/session/build.ts";
import { NOON_MS, prompted, started, subagentEnded, turnEnded } from "./events.ts";

const end = (id: string, ms: number) => subagentEnded(id, ms, { follows_stop: true });

test("the stop right before a subagent's end is the subagent's, in any order of arrival", () => {
  const events = [end("end", 3_020), turnEnded("turn", 1_000), turnEnded("stop", 3_000), turnEnded("last", 3_100)];
  expect(stopsOfSubagents(events)).toEqual(["stop"]);
  expect(stopsOfSubagents(events.toReversed())).toEqual(["stop"]);
});

test("two subagents that end together have a stop each", () => {
  const events = [turnEnded("one", 10), turnEnded("two", 20), end("a", 30), end("b", 40), turnEnded("turn", 50)];
  expect([...stopsOfSubagents(events)].sort()).toEqual(["one", "two"]);
});

test("an end without a stop takes none from an earlier turn", () => {
  expect(stopsOfSubagents([turnEnded("turn", 0), end("end", 60_000)])).toEqual([]);
});

test("other agents' ends of subagents take no stop", () => {
  expect(stopsOfSubagents([turnEnded("turn", 0), subagentEnded("end", 10, { agent_id: "a" })])).toEqual([]);
});

test("a turn does not last until the stop of its background subagent", () => {
  const events = [
    started("s", 0),
    prompted("p", 10),
    turnEnded("turn", 500),
    turnEnded("stop", 3_000),
    end("e", 3_020),
  ];
  const { turns } = buildSession({
    events,
    entries: [],
    context: NOTHING_SETTLED,
    facts: { source: "agent", sessionId: "session-1" },
    expectsTranscript: false,
  });
  expect(turns.map(({ endMs, state }) => [endMs - NOON_MS, state])).toEqual([[500, "ended"]]);
});
