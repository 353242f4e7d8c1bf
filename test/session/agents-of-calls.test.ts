// A call is identified by the agent that made it, and its id, tool and input: agents of one session can make equal calls.

import { expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { pairTools } from "#core/session/pair.ts";
import fc from "../support/properties.ts";
import { NOON_MS, namelessEnd, namelessStart, resulted, toolEnded, toolStarted, used } from "./events.ts";

/** `undefined`: the main agent. */
type AgentId = string | undefined;
interface Made {
  readonly agent: AgentId;
  readonly ordinal: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly ended: boolean;
  readonly inHooks: boolean;
  readonly inTranscript: boolean;
}

const idOf = ({ agent, ordinal }: Made): string => `${agent ?? "main"}-${ordinal}`;
const of = <T extends Event | TranscriptEntry>(fact: T, agent: AgentId): T =>
  agent === undefined
    ? fact
    : "kind" in fact
      ? { ...fact, agentId: agent }
      : ({ ...fact, extensions: { ...fact.extensions, agent_id: agent } } as T);

/** Equal tool and input; without ids, or with an id that every agent counts for itself. */
const factsOf = (hasGivenIds: boolean) => (made: Made) => {
  const { agent, startMs, endMs, ended } = made;
  const id = idOf(made);
  const given = "call_1";
  const hooks = hasGivenIds
    ? [toolStarted(`start ${id}`, startMs, given), ...(ended ? [toolEnded(`end ${id}`, endMs, given)] : [])]
    : [
        namelessStart(`start ${id}`, startMs, "Bash", "d"),
        ...(ended ? [namelessEnd(`end ${id}`, endMs, "Bash", "d")] : []),
      ];
  const use = used(id, startMs, "Bash", "d");
  const lines = [hasGivenIds ? { ...use, givenId: given } : use, ...(ended ? [resulted(id, endMs)] : [])];
  return {
    events: made.inHooks ? hooks.map((event) => of<Event>(event, agent)) : [],
    entries: made.inTranscript ? lines.map((entry) => of<TranscriptEntry>(entry as TranscriptEntry, agent)) : [],
  };
};

const agents: readonly AgentId[] = [undefined, "a", "b"];
const made = fc
  .uniqueArray(
    fc.record({
      agent: fc.constantFrom(...agents),
      ordinal: fc.nat(2),
      // Few times, so that many are equal
      startMs: fc.constantFrom(0, 10, 20),
      endMs: fc.constantFrom(20, 30),
      ended: fc.boolean(),
      inHooks: fc.boolean(),
      inTranscript: fc.boolean(),
    }),
    { selector: idOf, maxLength: 9 },
  )
  .filter((calls) => calls.every((call) => call.inHooks || call.inTranscript));
const facts = fc.tuple(made, fc.boolean()).chain(([calls, hasGivenIds]) => {
  const all = calls.map(factsOf(hasGivenIds));
  const whole = <T>(list: readonly T[]) => fc.shuffledSubarray([...list], { minLength: list.length });
  return fc.record({
    events: whole(all.flatMap(({ events }) => events)),
    entries: whole(all.flatMap(({ entries }) => entries)),
    // How many of them the first drain has
    firstEvents: fc.nat(18),
    firstEntries: fc.nat(18),
  });
});

const agentOfUse = (use: string): string => use.replace(/^.*?(?:start |end |use:|result:)/, "").replace(/-\d+$/, "");

test("no fact of one agent is counted for another one's equal call, in any order of hooks, transcripts and drains", () => {
  fc.assert(
    fc.property(facts, ({ events, entries, firstEvents, firstEntries }) => {
      const settled = pairTools(events.slice(0, firstEvents), entries.slice(0, firstEntries), [], true);
      const later = pairTools(events.slice(firstEvents), entries.slice(firstEntries), settled, true);
      const agentOf = new Map<string, string>();
      for (const { callId, agentId = "main", uses } of [...settled, ...later]) {
        expect([callId, agentOf.get(callId) ?? agentId]).toEqual([callId, agentId]);
        agentOf.set(callId, agentId);
        expect(uses.map(agentOfUse)).toEqual(uses.map(() => agentId));
      }
    }),
    { numRuns: 500 },
  );
});

test("a call without an agent's id can be a subagent's if hooks do not say it", () => {
  const hook = namelessStart("s", 10, "Bash", "d");
  const line = of<TranscriptEntry>(used("call_1", 10, "Bash", "d"), "a");
  expect(pairTools([hook], [line]).map(({ callId }) => callId)).toEqual(["call_1"]);
  expect(pairTools([hook], [line], [], true).map(({ callId }) => callId)).toEqual(["call_1", "minted:s"]);
  expect(pairTools([hook], [line], [], "with-prompts").map(({ callId }) => callId)).toEqual(["call_1"]);
  const prompted = { ...hook, extensions: { ...extrasOf(hook), prompt_id: "p" } } as Event;
  expect(pairTools([prompted], [line], [], "with-prompts").map(({ callId }) => callId)).toEqual(["call_1", "minted:s"]);
});

test("equal calls get the starts and ends during whose hooks they arrived", () => {
  const run = (callId: string, at: "start" | "end", from: number, to: number): TranscriptEntry => ({
    kind: "hook_run",
    key: `run:${at}:${callId}`,
    timeMs: NOON_MS + from,
    endMs: NOON_MS + to,
    callId,
    at,
  });
  const events = [
    namelessStart("s1", 12, "Bash", "d"),
    namelessStart("s2", 15, "Bash", "d"),
    // The second call ends first; the first one fails, which no hook reports
    namelessEnd("e2", 130, "Bash", "d"),
  ];
  const entries = [
    used("call_1", 5, "Bash", "d"),
    used("call_2", 5, "Bash", "d"),
    run("call_1", "start", 10, 14),
    run("call_2", "start", 10, 20),
    run("call_2", "end", 120, 140),
    resulted("call_1", 200, "error"),
    resulted("call_2", 200),
  ];
  const timesOf = (some: readonly Event[], written: readonly TranscriptEntry[]) =>
    pairTools(some, written, [], true).map(({ callId, status, startMs, endMs }) => [
      callId,
      status,
      startMs - NOON_MS,
      endMs - NOON_MS,
    ]);
  const expected = [
    ["call_1", "error", 12, 200],
    ["call_2", "success", 15, 130],
  ];
  fc.assert(
    fc.property(
      fc.shuffledSubarray(events, { minLength: 3 }),
      fc.shuffledSubarray(entries, { minLength: 7 }),
      (some, written) => {
        expect(timesOf(some, written)).toEqual(expected);
      },
    ),
  );
  // A second registration of the hook reports the same calls. Which of the equal starts is whose is open
  const twice = events.map((event) => ({ ...event, id: `${event.id} again` }) as Event);
  const withoutStart = (calls: readonly (readonly unknown[])[]) => calls.map((call) => call.toSpliced(2, 1));
  expect(withoutStart(timesOf([...events, ...twice], entries))).toEqual(withoutStart(expected));
});
