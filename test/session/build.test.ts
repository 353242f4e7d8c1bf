import { describe, expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import { NOTHING_SETTLED, type Session, type SessionContext, type SessionInput } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { buildSession } from "#core/session/build.ts";
import fc from "../support/properties.ts";
import {
  batch,
  ended,
  NOON_MS,
  prompted,
  resulted,
  started,
  subagentEnded,
  subagentStarted,
  toolEnded,
  toolStarted,
  turnEnded,
  used,
} from "./events.ts";
import { inputOf, Ledger, merged, type RecordedSession, recordedSessions } from "./recorded.ts";

const sessions = await recordedSessions();
const IDLE = { endIdle: { reason: "timeout", nativeReason: "idle" } } as const;

test("there are recordings", () => {
  expect(sessions.length).toBeGreaterThan(20);
  expect(sessions.flatMap((s) => s.lines).filter((l) => l.kind === "model_call").length).toBeGreaterThan(100);
});

describe.each(sessions.map((s) => [s.name, s] as const))("%s", (_, recorded) => {
  const { events } = recorded;
  const entries = merged(recorded.lines);
  const whole = buildSession({ ...inputOf(recorded, { events, entries }), ...IDLE });

  test("every model call, tool call and error is in exactly one turn or subagent", () => {
    const calls = entries.filter((e) => e.kind === "model_call").map((e) => e.key);
    expect(modelCallsOf(whole)).toEqual(calls.sort());
    expect(toolCallsOf(whole).map(([id]) => id)).toEqual(callIdsOf(recorded));
    const errors = [...whole.turns, ...whole.subagents].flatMap((run) => run.errors);
    expect(errors.length).toBe(entries.filter((e) => e.kind === "model_error").length);
  });

  test("every event and entry is used or listed as unused, and everything that ended is closed", () => {
    const used = new Set(
      [...whole.turns, ...whole.subagents, ...whole.segments].flatMap((x) => x.uses).concat(whole.unused),
    );
    const left = [...events.map((e) => e.id), ...entries.map((e) => e.key)].filter((key) => !used.has(key));
    expect(left).toEqual([]);
    expect([...whole.turns, ...whole.subagents].filter((run) => !run.closed)).toEqual([]);
    expect(whole.segments.filter((s) => s.endMs === undefined)).toEqual([]);
    expect(whole.expectedLines).toBe(0);
  });

  test("no time runs backwards, and turns and subagents are in an existing segment", () => {
    for (const run of [...whole.turns, ...whole.subagents]) {
      expect(run.endMs).toBeGreaterThanOrEqual(run.startMs);
      for (const part of [...run.modelCalls, ...run.toolCalls]) {
        expect(part.endMs).toBeGreaterThanOrEqual(part.startMs);
        expect(part.startMs).toBeGreaterThanOrEqual(run.startMs);
      }
      expect(whole.segments.map((s) => s.ordinal)).toContain(run.segment);
    }
  });

  test("the order of events and entries does not matter", () => {
    fc.assert(
      fc.property(shuffleOf(events), shuffleOf(entries), (someEvents, someEntries) => {
        const shuffled = buildSession({ ...inputOf(recorded, { events: someEvents, entries: someEntries }), ...IDLE });
        expect(comparable(shuffled)).toEqual(comparable(whole));
      }),
      { numRuns: 12 },
    );
  });

  test("facts reported twice count once", () => {
    const twice = { events: [...events, ...events], entries: merged([...recorded.lines, ...recorded.lines]) };
    const doubled = buildSession({ ...inputOf(recorded, twice), ...IDLE });
    expect(comparable(doubled)).toEqual(comparable(whole));
  });

  test("several drains give the same result as one", () => {
    const times = [...events.map((e) => Date.parse(e.time)), ...recorded.lines.map((l) => l.timeMs)];
    const moments = fc.uniqueArray(fc.integer({ min: Math.min(...times), max: Math.max(...times) }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(moments, (drains) => {
        const ledger = new Ledger();
        for (const ms of drains.sort((a, b) => a - b)) {
          ledger.drain(
            recorded,
            events.filter((e) => Date.parse(e.time) <= ms),
            recorded.lines.filter((l) => lineMs(l) <= ms),
          );
        }
        ledger.drain(recorded, events, recorded.lines, true);
        const parts = ledger.parts;
        expect(parts.flatMap(modelCallsOf).sort()).toEqual(modelCallsOf(whole));
        expect(parts.flatMap(toolCallsOf).sort(byFirst)).toEqual(toolCallsOf(whole));
        expect(humanTurns(parts)).toEqual(humanTurns([whole]));
      }),
      { numRuns: 15 },
    );
  });

  test("in any order and at any pace, nothing is lost and nothing is duplicated", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const drains = fc.array(fc.tuple(share, share), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(shuffleOf(events), drains, (arrived, pace) => {
        const ledger = new Ledger();
        const shares = (at: 0 | 1) => pace.map((p) => p[at]).sort((a, b) => a - b);
        const [eventShares, lineShares] = [shares(0), shares(1)];
        for (const [i, eventShare] of eventShares.entries()) {
          const lineShare = lineShares[i] ?? 0;
          ledger.drain(
            recorded,
            arrived.slice(0, Math.floor(eventShare * arrived.length)),
            recorded.lines.slice(0, Math.floor(lineShare * recorded.lines.length)),
          );
        }
        ledger.drain(recorded, arrived, recorded.lines, true);
        ledger.drain(recorded, arrived, recorded.lines, true);
        const { parts } = ledger;
        expect(parts.flatMap(modelCallsOf).sort()).toEqual(modelCallsOf(whole));
        expect(
          parts
            .flatMap(toolCallsOf)
            .map(([id]) => id)
            .sort(),
        ).toEqual(toolCallsOf(whole).map(([id]) => id));
        // Hooks of old versions report no prompt id: if the line comes after the turn was settled, it is a separate turn
        if (hooksNamePrompts(recorded)) expect(humanTurns(parts)).toEqual(humanTurns([whole]));
        expect(parts.at(-1)?.turns).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

describe("buildSession", () => {
  const facts = { source: "claude-code", sessionId: "session-1" };
  const input = (events: readonly Event[], entries: readonly TranscriptEntry[] = []): SessionInput => ({
    facts,
    events,
    entries,
    context: NOTHING_SETTLED,
    expectsTranscript: true,
  });
  const answered = (ms: number, promptKey: string): TranscriptEntry => ({
    kind: "model_call",
    key: `response:${promptKey}`,
    timeMs: NOON_MS + ms,
    endMs: NOON_MS + ms,
    promptKey,
    usage: { input: 10, output: 1 },
    complete: true,
    finishReason: "end_turn",
  });

  test.each([
    ["near a hook's prompt is the same prompt", 400, 1],
    ["far from it is another prompt", 40_000, 2],
  ])("a prompt line without a length %s", (_, ms, turns) => {
    const written: TranscriptEntry = {
      kind: "prompt",
      key: "w",
      promptKey: "w",
      origin: "human",
      timeMs: NOON_MS + ms,
    };
    const session = buildSession(input([prompted("p1", 0)], [written, answered(50_000, "w")]));
    expect(session.turns.length).toBe(turns);
  });

  test("a teammate's message in a prompt's turn changes neither its origin nor its length", () => {
    const line = (key: string, ms: number, origin: "human" | "machine", length: number): TranscriptEntry => ({
      ...{ kind: "prompt", key, promptKey: "a", origin, length, timeMs: NOON_MS + ms },
    });
    const written = [line("1", 0, "human", 12), line("2", 50, "machine", 900), answered(60, "a")];
    for (const events of [[], [prompted("p1", 0, "a")]]) {
      expect(buildSession(input(events, written)).turns).toMatchObject([{ origin: "human", promptLength: 12 }]);
    }
  });

  test("a subagent is below the call that started it, even if that was settled long ago", () => {
    const events = [toolStarted("s", 20, "t2", { agent_id: "a1", prompt_id: "a" })];
    const context = { ...NOTHING_SETTLED, spawnedBy: new Map([["a1", "t1"]]) };
    expect(buildSession({ ...input(events), context }).subagents).toMatchObject([{ parentCallId: "t1", turnKey: "a" }]);
  });

  describe("a subagent is never below its own call, or a call of its descendants", () => {
    const below = (agentId: string, parentCallId: string): TranscriptEntry => ({
      kind: "subagent",
      key: `subagent:${agentId}`,
      timeMs: NOON_MS + 5,
      agentId,
      parentCallId,
    });
    const usedBy = (agentId: string, callId: string) => ({ ...used(callId, 10), agentId, promptKey: "p1" });
    /** Subagents that are their own ancestors. */
    const circlesIn = ({ subagents, turns }: Session): readonly string[] => {
      const runs = [...subagents, ...turns];
      const above = ({ parentCallId }: { readonly parentCallId?: string }) =>
        runs.find((run) => run.toolCalls.some(({ callId }) => callId === parentCallId));
      return subagents.flatMap((subagent): string[] => {
        let run: (typeof runs)[number] | undefined = above(subagent);
        for (let i = 0; run !== undefined && "agentId" in run; i++) {
          if (run === subagent || i > 100) return [subagent.agentId];
          run = above(run);
        }
        return [];
      });
    };

    test("after such a report, it is below its turn or below another call reported to have started it", () => {
      const own = [below("a1", "call_0"), usedBy("a1", "call_0")];
      const [alone] = buildSession(input([prompted("p", 0, "p1")], own)).subagents;
      expect(alone).toMatchObject({ turnKey: "p1", toolCalls: [{ callId: "call_0" }] });
      expect(alone).not.toHaveProperty("parentCallId");
      const started = { ...resulted("call_1", 11), spawnedAgentId: "a1" } as TranscriptEntry;
      const entries = [...own, { ...used("call_1", 9), promptKey: "p1" }, started];
      expect(buildSession(input([prompted("p", 0, "p1")], entries)).subagents).toMatchObject([
        { parentCallId: "call_1" },
      ]);
    });

    test("with an ambiguous call id, it is below the latest earlier call of the agent that started it", () => {
      const call = (callId: string, ms: number, agentId?: string): TranscriptEntry =>
        ({ ...used(callId, ms), promptKey: "p1", givenId: "Task:0", agentId }) as TranscriptEntry;
      const { parentCallId: _, ...reported } = below("a1", "") as Extract<TranscriptEntry, { kind: "subagent" }>;
      const entries = [call("one", 1), call("two", 3), call("three", 4, "a2"), call("four", 7), call("own", 8, "a1")];
      const parentOf = (parentAgentId?: string) =>
        buildSession(
          input(
            [prompted("p", 0, "p1")],
            [
              ...entries,
              { ...reported, parentGivenId: "Task:0", ...(parentAgentId !== undefined && { parentAgentId }) },
            ],
          ),
        ).subagents.find(({ agentId }) => agentId === "a1")?.parentCallId;
      expect([parentOf(), parentOf("a2"), parentOf("a3")]).toEqual(["two", "three", undefined]);
    });

    test("no reported parents lead to a cycle", () => {
      const agents = ["a1", "a2", "a3", "a4"];
      const parents = fc.array(fc.constantFrom(...agents, undefined), { minLength: 4, maxLength: 4 });
      fc.assert(
        fc.property(parents, (reported) => {
          const entries = agents.flatMap((agentId, n): TranscriptEntry[] => {
            const owner = reported[n];
            const call = owner === undefined ? { ...used(`call_${n}`, 9) } : usedBy(owner, `call_${n}`);
            return [below(agentId, `call_${n}`), call, { ...answered(12 + n, "p1"), agentId } as TranscriptEntry];
          });
          const session = buildSession(input([prompted("p", 0, "p1")], entries));
          expect(circlesIn(session)).toEqual([]);
          expect(toolCallsOf(session)).toHaveLength(4);
        }),
      );
    });

    test("the parent call of a settled subagent is never one of the subagent's own calls", () => {
      const settled = { segment: 0, parts: 1, turnKey: "p1", parentCallId: "call_0" };
      const context = { ...NOTHING_SETTLED, subagents: new Map([["a1", settled]]) };
      const entries = [usedBy("a1", "call_0"), usedBy("a1", "call_1")];
      const session = buildSession({ ...input([prompted("p", 0, "p1")], entries), context });
      expect(session.turns).toMatchObject([{ key: "p1", toolCalls: [{ callId: "call_0" }] }]);
      expect(session.subagents).toMatchObject([{ agentId: "a1", toolCalls: [{ callId: "call_1" }] }]);
    });
  });

  test("a subagent stays open while its session has no segment", () => {
    const agent = { agent_id: "a1" };
    const said = { ...answered(30, "p1"), agentId: "a1" } as TranscriptEntry;
    const reported = input([subagentEnded("x", 40, agent)], [said]);
    expect(buildSession(reported)).toMatchObject({ segments: [], subagents: [{ closed: false }] });
    expect(buildSession({ ...reported, ...IDLE })).toMatchObject({
      segments: [{ ordinal: 0, reason: "timeout" }],
      subagents: [{ segment: 0, closed: true }],
    });
    const begun = { ...reported, events: [...reported.events, prompted("p", 50, "p1")] };
    expect(buildSession(begun)).toMatchObject({
      segments: [{ ordinal: 0 }],
      subagents: [{ segment: 0, closed: true }],
    });
  });

  test("no events and no entries give an empty session", () => {
    const { facts: _, ...rest } = buildSession(input([]));
    expect(rest).toEqual({
      segments: [],
      turns: [],
      subagents: [],
      finishedParts: [],
      compactions: [],
      unused: [],
      expectedLines: 0,
    });
  });

  test("a session that ends by timeout ends at its last prompt if nothing follows", () => {
    const session = buildSession({ ...input([prompted("p1", 0, "a"), prompted("p2", 9_000, "b")]), ...IDLE });
    expect(session.segments.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([[NOON_MS, NOON_MS + 9_000]]);
  });

  describe("a subagent that was settled in an earlier segment", () => {
    const segment = { ordinal: 1, startMs: NOON_MS - 1_000, lastActivityMs: NOON_MS, uses: [] };
    const subagents = new Map([
      ["a1", { segment: 0, parts: 1, turnKey: "p0", parentCallId: "t0", agentType: "explore" }],
    ]);
    const context = { ...NOTHING_SETTLED, segment, subagents };
    const inAgent = { agent_id: "a1", prompt_id: "p1" };

    test("late facts belong to the open segment, as a further part: the earlier one was exported", () => {
      const call: TranscriptEntry = { ...answered(-2_000, "p0"), agentId: "a1" };
      expect(buildSession({ ...input([], [call]), context }).subagents).toMatchObject([
        { key: "a1~1", agentId: "a1", agentType: "explore", parentCallId: "t0", turnKey: "p0", segment: 1 },
      ]);
    });

    test("work for a later process is in that process's segment, under the requesting turn, and its calls stay open", () => {
      const events = [
        prompted("u", 0, "p1"),
        toolStarted("s", 5, "t1", inAgent),
        turnEnded("e", 9, { prompt_id: "p1" }),
      ];
      const session = buildSession({ ...input(events, [answered(8, "p1")]), context });
      expect(session.subagents).toMatchObject([
        {
          key: "a1~1",
          agentType: "explore",
          turnKey: "p1",
          segment: 1,
          closed: false,
          toolCalls: [{ status: "open" }],
        },
      ]);
      expect(session.subagents[0]).not.toHaveProperty("parentCallId");
    });
  });

  test("a call of a subagent that ended and was given more work is open after its turn ends", () => {
    const inAgent = { agent_id: "a1", prompt_id: "a" };
    const once: Event[] = [
      prompted("p1", 0, "a"),
      toolStarted("s1", 20, "t1", inAgent),
      toolEnded("e1", 30, "t1", { status: "success" }, inAgent),
      subagentEnded("x", 40, inAgent),
    ];
    const ended = turnEnded("e", 60, { prompt_id: "a" });
    const stateOf = (events: readonly Event[]) =>
      buildSession(input(events, [answered(55, "a")])).subagents.map((s) => [s.closed, s.toolCalls.at(-1)?.status]);
    expect(stateOf([...once, ended])).toEqual([[true, "success"]]);
    expect(stateOf([...once, toolStarted("s2", 50, "t2", inAgent), ended])).toEqual([[false, "open"]]);
  });

  test("work that the next process gives a subagent is open until that process ends, not until the first one did", () => {
    const [inFirst, inNext] = [
      { agent_id: "a1", prompt_id: "a" },
      { agent_id: "a1", prompt_id: "b" },
    ];
    const events: Event[] = [
      prompted("p1", 0, "a"),
      toolStarted("s1", 20, "t1", inFirst),
      toolEnded("e1", 30, "t1", { status: "success" }, inFirst),
      ended("end1", 40),
      started("s", 50, { continues: "same-session" }),
      prompted("p2", 60, "b"),
      toolStarted("s2", 70, "t2", inNext),
    ];
    const seen = (all: readonly Event[]) =>
      buildSession({ ...input(all), expectsTranscript: false }).subagents.map(({ closed, toolCalls }) => [
        closed,
        toolCalls.map(({ status }) => status),
      ]);
    expect(seen(events)).toEqual([[false, ["success", "open"]]]);
    expect(seen([...events, ended("end2", 90)])).toEqual([[true, ["success", "unfinished"]]]);
  });

  describe("a subagent that a resumed session continues", () => {
    const segment = { ordinal: 0, startMs: NOON_MS - 9_000, endMs: NOON_MS - 5_000, lastActivityMs: NOON_MS, uses: [] };
    const settled = { segment: 0, parts: 1, turnKey: "p0", parentCallId: "t0", agentType: "explore" };
    const context = { ...NOTHING_SETTLED, segment, subagents: new Map([["a1", settled]]) };
    const events = [
      started("s", 0, { continues: "same-session" }),
      prompted("p1", 10, "p1"),
      toolStarted("s1", 20, "t1", { prompt_id: "p1" }),
    ];
    const { promptKey: _, ...unnamed } = answered(30, "p1");

    test("is in the new segment, under the call that continued it", () => {
      const result = { ...resulted("t1", 60), spawnedAgentId: "a1" };
      const session = buildSession({ ...input(events, [{ ...unnamed, agentId: "a1" }, result]), context });
      expect(session.subagents).toMatchObject([
        { key: "a1~1", agentType: "explore", parentCallId: "t1", turnKey: "p1", segment: 1 },
      ]);
    });

    test("without a call that names it, is under the current turn or the turn that its calls name", () => {
      for (const call of [unnamed, answered(30, "p1")]) {
        const session = buildSession({ ...input(events, [{ ...call, agentId: "a1" }]), context });
        expect(session.subagents).toMatchObject([{ key: "a1~1", turnKey: "p1", segment: 1 }]);
        expect(session.subagents[0]?.parentCallId).toBeUndefined();
      }
    });
  });

  test("a subagent without a parent call belongs to the turn that its own calls name", () => {
    const named = { agent_id: "a1", prompt_id: "a" };
    const events = [prompted("p1", 0, "a"), prompted("p2", 10, "b"), toolStarted("s", 20, "t1", named)];
    expect(buildSession(input(events)).subagents.map(({ turnKey }) => turnKey)).toEqual(["a"]);
    expect(buildSession(input(events)).turns.map((turn) => turn.toolCalls.length)).toEqual([0, 0]);
  });

  test("signals alone make no turn and are listed as unused", () => {
    const session = buildSession(input([batch("b", 5, ["t1"])]));
    expect([session.turns, session.unused]).toEqual([[], ["b"]]);
  });

  test("a subagent without an end, in a session with only subagents, closes when the session ends by timeout", () => {
    const { promptKey: _, ...call } = answered(9, "p1") as Extract<TranscriptEntry, { kind: "model_call" }>;
    const alone = input([], [{ ...call, agentId: "a1" }]);
    expect(buildSession(alone).subagents).toMatchObject([{ agentId: "a1", closed: false }]);
    const over = buildSession({ ...alone, ...IDLE });
    expect(over.subagents).toMatchObject([{ segment: 0, closed: true, modelCalls: [{}] }]);
    const [{ startMs, endMs } = { startMs: 0, endMs: 0 }] = over.subagents;
    expect(over.segments).toMatchObject([{ ordinal: 0, startMs, endMs, reason: "timeout" }]);
    expect(buildSession(alone).segments).toEqual([]);
  });

  describe("a subagent after the end of its session", () => {
    const agent = { agent_id: "a1", prompt_id: "a" };
    const began = subagentStarted("b1", 10, agent);
    const seen = (events: readonly Event[], more: Partial<SessionInput> = {}, facts = {}) => {
      const from = input(events);
      return buildSession({
        ...from,
        expectsTranscript: false,
        ...more,
        facts: { ...from.facts, ...facts },
      }).subagents.map(({ closed, toolCalls }) => [closed, toolCalls.map(({ status }) => status)]);
    };
    const before = [prompted("p1", 0, "a"), began, toolStarted("s1", 20, "t1", agent), ended("end", 30)];

    test("ends with it, and its open call is unfinished", () => {
      expect(seen(before)).toEqual([[true, ["unfinished"]]]);
    });

    test("stays open for agents whose sessions end before their subagents, until it ends or times out", () => {
      const outlives = { endsBeforeSubagents: true };
      expect(seen(before, {}, outlives)).toEqual([[false, ["open"]]]);
      expect(seen(before, IDLE, outlives)).toEqual([[true, ["unfinished"]]]);
      const after = [...before, toolEnded("e1", 90_000, "t1", { status: "success" }, agent)];
      expect(seen(after, {}, outlives)).toEqual([[false, ["success"]]]);
      expect(seen([...after, subagentEnded("b2", 90_010, agent)], {}, outlives)).toEqual([[true, ["success"]]]);
    });

    test("is open as soon as it starts a call there", () => {
      const [, , , end] = before;
      const late = [prompted("p1", 0, "a"), began, end as Event, toolStarted("s2", 40, "t2", agent)];
      expect(seen(late)).toEqual([[false, ["open"]]]);
      expect(seen([...late, toolEnded("e2", 90_000, "t2", { status: "success" }, agent)])).toEqual([
        [true, ["success"]],
      ]);
      expect(seen(late, IDLE)).toEqual([[true, ["unfinished"]]]);
    });
  });

  test("a call that is open when its session ends is unfinished, and ends with the session", () => {
    const events = [prompted("p", 0, "p1"), toolStarted("s", 5, "t1", { prompt_id: "p1" }), ended("e", 900)];
    const [turn] = buildSession(input(events)).turns;
    expect(turn).toMatchObject({ closed: true, toolCalls: [{ status: "unfinished", endMs: NOON_MS + 900 }] });
  });

  test("a call in an open turn stays open", () => {
    const events = [prompted("p", 0, "p1"), toolStarted("s", 5, "t1", { prompt_id: "p1" })];
    expect(buildSession(input(events)).turns).toMatchObject([{ closed: false, toolCalls: [{ status: "open" }] }]);
  });

  test("a late part of a turn of an exported segment belongs to the open segment", () => {
    const context: SessionContext = {
      ...NOTHING_SETTLED,
      turns: new Map([
        ["p1", { segment: 0, state: "ended", startMs: NOON_MS, endMs: NOON_MS + 10, parts: 1, hasHook: true }],
      ]),
      segment: { ordinal: 1, startMs: NOON_MS + 60_000, lastActivityMs: NOON_MS + 60_000, uses: [] },
    };
    const session = buildSession({ ...input([], [answered(9, "p1")]), context });
    expect(session.turns).toMatchObject([{ key: "p1~1", origin: "continuation", segment: 1, closed: false }]);
  });

  describe("a turn that a hook reported as failed", () => {
    const { openhook: _, data: __, ...signal } = prompted("f", 20, "p1") as Extract<Event, { type: "prompt.submit" }>;
    const failed: Event = { ...signal, type: "turn.error" };
    const error = {
      kind: "model_error",
      key: "error",
      timeMs: NOON_MS + 19,
      promptKey: "p1",
      errorType: "authentication_error",
      final: true,
    } satisfies TranscriptEntry;

    test("waits for the transcript's error, and takes its type", () => {
      const events = [prompted("p", 0, "p1"), failed];
      expect(buildSession(input(events, [])).expectedLines).toBe(1);
      const session = buildSession(input(events, [error]));
      expect(session.expectedLines).toBe(0);
      expect(session.turns).toMatchObject([{ state: "failed", errorType: "authentication_error", errors: [{}] }]);
    });

    test("is interrupted, not failed, if the hook reports so, with or without a transcript", () => {
      const stopped: Event = { ...failed, extensions: { ...failed.extensions, error_type: "interrupted" } };
      const { turns } = buildSession({ ...input([prompted("p", 0, "p1"), stopped]), expectsTranscript: false });
      expect(turns).toMatchObject([{ state: "interrupted", errorType: "interrupted", closed: true }]);
    });

    test("has not failed if a later model call was answered; has failed if the error came after the last answer", () => {
      const over: Event = { ...signal, id: "z", type: "turn.end", time: new Date(NOON_MS + 90).toISOString() };
      const events = [prompted("p", 0, "p1"), failed, over];
      const after = { ...answered(40, "p1"), startMs: NOON_MS + 21 } as TranscriptEntry;
      expect(buildSession(input(events, [after])).turns).toMatchObject([{ state: "ended", closed: true }]);
      const before = { ...answered(40, "p1"), startMs: NOON_MS + 20 } as TranscriptEntry;
      expect(buildSession(input(events, [before])).turns).toMatchObject([{ state: "failed" }]);
      const sums = { ...after, covers: "turn" } as TranscriptEntry;
      expect(buildSession(input(events, [sums])).turns).toMatchObject([{ state: "failed" }]);
    });

    test("counts an error that is read after it was settled", () => {
      const context: SessionContext = {
        ...NOTHING_SETTLED,
        turns: new Map([
          ["p1", { segment: 0, state: "ended", startMs: NOON_MS, endMs: NOON_MS + 20, parts: 1, hasHook: true }],
        ]),
        segment: { ordinal: 0, startMs: NOON_MS, lastActivityMs: NOON_MS + 20, uses: [] },
      };
      const session = buildSession({ ...input([], [error]), context });
      expect(session.turns).toMatchObject([{ key: "p1~1", origin: "continuation", closed: true, errors: [{}] }]);
    });
  });

  test("an error followed by a call that ran does not end the turn", () => {
    const error = { kind: "model_error", key: "error", timeMs: NOON_MS + 19, promptKey: "p1", final: true } as const;
    const entries: TranscriptEntry[] = [used("t1", 15), { ...error, errorType: "server_error" }];
    const ran = [...entries, { ...resulted("t1", 30), promptKey: "p1" } as TranscriptEntry];
    const asked = buildSession(input([prompted("p", 0, "p1")], ran));
    expect(asked.turns).toMatchObject([{ closed: false }]);
    const answer = [...ran, { ...answered(40, "p1"), startMs: NOON_MS + 31 } as TranscriptEntry];
    expect(buildSession(input([prompted("p", 0, "p1"), turnEnded("z", 90)], answer)).turns).toMatchObject([
      { state: "ended", closed: true },
    ]);
    const gone = input([prompted("p", 0, "p1"), ended("z", 90)], ran);
    expect(buildSession(gone).turns).toMatchObject([{ state: "failed", closed: true }]);
    const first = { ...error, timeMs: NOON_MS + 31, errorType: "server_error" };
    expect(buildSession(input([prompted("p", 0, "p1")], [...ran, first])).turns).toMatchObject([{ closed: true }]);
  });

  test("a queued prompt takes no activity from the running turn", () => {
    const stop = (id: string, ms: number): Event => {
      const { openhook: _, data: __, ...signal } = prompted(id, ms) as Extract<Event, { type: "prompt.submit" }>;
      return { ...signal, type: "turn.end" };
    };
    const events = [
      prompted("one", 0),
      toolStarted("s1", 300, "t1"),
      stop("e1", 500),
      prompted("two", 600),
      toolStarted("s2", 900, "t2"),
      stop("e2", 1_500),
    ];
    const { turns } = buildSession({ ...input(events, []), expectsTranscript: false, ...IDLE });
    expect(turns.map(({ key, state, toolCalls }) => [key, state, toolCalls.map((t) => t.callId)])).toEqual([
      ["one", "ended", ["t1"]],
      ["two", "ended", ["t2"]],
    ]);
  });

  test("a running turn continues while the next prompt is queued, until that prompt is answered", () => {
    const ask = { ...answered(200, "p1"), finishReason: "tool_calls", asksForTools: true } as TranscriptEntry;
    const queued = [
      prompted("one", 0, "p1"),
      toolStarted("s1", 300, "t1", { prompt_id: "p1" }),
      prompted("two", 400, "p2"),
    ];
    const at = (events: readonly Event[], ...entries: TranscriptEntry[]) =>
      buildSession(input(events, [ask, ...entries])).turns.map(({ key, closed, toolCalls }) => [
        key,
        closed,
        toolCalls.map(({ status }) => status),
      ]);
    expect(at(queued)).toEqual([
      ["p1", false, ["open"]],
      ["p2", false, []],
    ]);
    const over = [...queued, toolEnded("e1", 900, "t1", { status: "success" }, { prompt_id: "p1" })];
    expect(at(over)[0]).toEqual(["p1", false, ["success"]]);
    expect(at(over, answered(1_200, "p2"))[0]).toEqual(["p1", true, ["success"]]);
    expect(at(queued, answered(1_200, "p2"))[0]).toEqual(["p1", true, ["unfinished"]]);
  });
});

// --- internal ---

const runsOf = (session: Session) => [...session.turns, ...session.subagents];

const modelCallsOf = (session: Session): string[] =>
  runsOf(session)
    .flatMap((run) => run.modelCalls.map((c) => c.key))
    .sort();

const humanTurns = (sessions: readonly Session[]): string[] =>
  sessions
    .flatMap((s) => s.turns)
    .filter((t) => t.origin === "human")
    .map((t) => t.key)
    .sort();

const hooksNamePrompts = ({ events }: RecordedSession): boolean =>
  events.filter((e) => e.type === "prompt.submit").every((e) => extrasOf(e).prompt_id !== undefined);

const byFirst = (a: readonly string[], b: readonly string[]): number => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1);

const toolCallsOf = (session: Session): [string, string, string][] =>
  runsOf(session)
    .flatMap((run) => run.toolCalls.map((t): [string, string, string] => [t.callId, t.name, t.status]))
    .sort(byFirst);

/** Read directly from the recording, without pairing. */
function callIdsOf({ events, lines }: RecordedSession): string[] {
  const reported = events.flatMap((e) =>
    e.type === "tool.start" || e.type === "tool.end" ? (e.data?.tool_call_id ?? []) : [],
  );
  const written = lines.flatMap((l) => (l.kind === "tool_use" || l.kind === "tool_result" ? l.callId : []));
  return [...new Set([...reported, ...written])].sort();
}

/** A model call counts as written when its last record is. */
const lineMs = (line: RecordedSession["lines"][number]): number =>
  line.kind === "model_call" ? line.endMs : line.timeMs;

const shuffleOf = <T>(list: readonly T[]) =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });

/** A session without the order of what it used. */
const comparable = (session: Session): unknown => ({
  ...session,
  unused: [...new Set(session.unused)].sort(),
  segments: session.segments.map((s) => ({ ...s, uses: [...new Set(s.uses)].sort() })),
  turns: session.turns.map((t) => ({ ...t, uses: [...new Set(t.uses)].sort() })),
  subagents: session.subagents.map((s) => ({ ...s, uses: [...new Set(s.uses)].sort() })),
});
