import { expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import { NOTHING_SETTLED, type PartLimits, type Session, type SessionContext } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { buildSession } from "#core/session/build.ts";
import { batch, NOON_MS, prompted, resulted, subagentStarted, toolEnded, toolStarted } from "./events.ts";

const LIMITS: PartLimits = { openCalls: 10, keptCalls: 3, lateFactsMs: 2_000 };

/** An open turn with calls 0 to `calls` − 1, each a second after the one before and 0.5 s long. */
const turnOf = (calls: number): Event[] => [
  prompted("p", 0, "p1"),
  ...Array.from({ length: calls }, (_, n) => [
    toolStarted(`s${n}`, 1_000 * (n + 1), `toolu_x${n}`),
    toolEnded(`e${n}`, 1_000 * (n + 1) + 500, `toolu_x${n}`),
  ]).flat(),
];

const build = (
  events: readonly Event[],
  more: { readonly entries?: readonly TranscriptEntry[]; readonly context?: SessionContext } = {},
): Session =>
  buildSession({
    facts: { source: "claude-code", sessionId: "session-1" },
    events,
    entries: more.entries ?? [],
    context: more.context ?? NOTHING_SETTLED,
    expectsTranscript: true,
    partLimits: LIMITS,
  });

const callsOf = ({ finishedParts }: Session): readonly string[] =>
  finishedParts.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId));

test("nothing of an ordinary open turn is settled", () => {
  expect(build(turnOf(9)).finishedParts).toEqual([]);
});

test("the older calls of a large open turn are settled with their facts, and the newest stay", () => {
  const session = build(turnOf(12));
  expect(callsOf(session)).toEqual([
    "toolu_x0",
    "toolu_x1",
    "toolu_x2",
    "toolu_x3",
    "toolu_x4",
    "toolu_x5",
    "toolu_x6",
    "toolu_x7",
    "toolu_x8",
  ]);
  const [part] = session.finishedParts;
  expect(part?.uses).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => [`s${n}`, `e${n}`]));
  // The turn itself has all of them, until they are settled
  expect(session.turns[0]?.toolCalls).toHaveLength(12);
});

test("a call that has no end, started a subagent, or shares a batch with an open call is not settled", () => {
  const events = turnOf(14).filter(({ id }) => id !== "e1");
  const entries = [{ ...resulted("toolu_x2", 4_000), spawnedAgentId: "helper" } as TranscriptEntry];
  const session = build(
    [...events, batch("b1", 3_600, ["toolu_x0", "toolu_x2"]), batch("b2", 5_600, ["toolu_x3", "toolu_x4"])],
    {
      entries,
    },
  );
  expect(callsOf(session).slice(0, 3)).toEqual(["toolu_x0", "toolu_x3", "toolu_x4"]);
  const uses = session.finishedParts.flatMap((part) => part.uses);
  expect(uses).toContain("b2");
  expect(uses).not.toContain("b1");
});

test("a turn that only hooks reported is not settled in parts, because the transcript gives it another key", () => {
  const events = [prompted("p", 0), ...turnOf(20).slice(1)];
  expect(build(events).finishedParts).toEqual([]);
});

test("a closed turn is settled as a whole", () => {
  const end: Event = { ...prompted("end", 60_000), type: "session.end", data: { reason: "completed" } } as Event;
  const session = build([...turnOf(20), end]);
  expect(session.turns[0]?.closed).toBe(true);
  expect(session.finishedParts).toEqual([]);
});

test("the turn's duration includes parts that were settled before", () => {
  const settled = {
    startMs: NOON_MS - 5_000,
    endMs: NOON_MS + 90_000,
    toolCalls: 40,
    models: ["m"],
    sums: { modelCalls: 3, aggregateRecords: 0, callsWithoutUsage: 0, incompleteCalls: 0, unpricedCalls: 0, input: 7 },
  };
  const context = { ...NOTHING_SETTLED, openWork: new Map([["turn:p1", settled]]) };
  const [turn] = build(turnOf(2), { context }).turns;
  expect(turn).toMatchObject({ startMs: settled.startMs, endMs: settled.endMs, settled });
});

test("many small subagents count together: the calls of each are settled, except its last ones", () => {
  const helpers = Array.from({ length: 6 }, (_, n) => `helper-${n}`);
  const events = [
    prompted("p", 0, "p1"),
    ...helpers.flatMap((agent, n) => {
      const ms = 10_000 * (n + 1);
      const extras = { agent_id: agent, parent_call_id: `toolu_p${n}` };
      return [
        toolStarted(`ps${n}`, ms, `toolu_p${n}`),
        subagentStarted(`b${n}`, ms + 10, extras),
        ...[0, 1, 2, 3].flatMap((k) => [
          toolStarted(`s${n}${k}`, ms + 1_000 * (k + 1), `toolu_${n}${k}`, { agent_id: agent }),
          toolEnded(`e${n}${k}`, ms + 1_000 * (k + 1) + 500, `toolu_${n}${k}`, undefined, { agent_id: agent }),
        ]),
      ];
    }),
  ];
  const entries = helpers.map(
    (agent, n) => ({ ...resulted(`toolu_p${n}`, 90_000), spawnedAgentId: agent }) as TranscriptEntry,
  );
  const session = build(events, { entries });
  // Of four calls each, the newest three stay
  expect(callsOf(session)).toEqual(helpers.map((_, n) => `toolu_${n}0`));
});

test("the last model call stays, however many tools ended after it", () => {
  const call: TranscriptEntry = {
    kind: "model_call",
    key: "call:1",
    timeMs: NOON_MS + 500,
    endMs: NOON_MS + 500,
    promptKey: "p1",
    complete: true,
    asksForTools: true,
  };
  const { finishedParts } = build(turnOf(20), { entries: [call] });
  expect(finishedParts.flatMap(({ modelCalls }) => modelCalls)).toEqual([]);
  expect(finishedParts.flatMap(({ toolCalls }) => toolCalls).length).toBeGreaterThan(10);
});
