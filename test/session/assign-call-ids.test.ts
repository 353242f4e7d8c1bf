import { describe, expect, test } from "vitest";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { SettledCall } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { assignCallIds, withoutGivenId } from "#core/session/assign-call-ids.ts";
import { type PairedTool, pairTools } from "#core/session/pair.ts";
import fc from "../support/properties.ts";
import {
  batch,
  NOON_MS,
  namelessEnd,
  namelessStart,
  prompted,
  resulted,
  started,
  toolEnded,
  toolStarted,
  used,
} from "./events.ts";

const idOf = (event: Event): string | undefined =>
  event.type === "tool.start" || event.type === "tool.end" ? event.data?.tool_call_id : undefined;
const idsOf = (events: readonly Event[]) => assignCallIds(events.map(withoutGivenId)).map(idOf);

describe("assignCallIds", () => {
  test("an end takes the id of the oldest open start with the same tool and input", () => {
    const events = [
      namelessStart("s1", 0, "shell", "npm-test"),
      namelessStart("s2", 10, "shell", "npm-test"),
      namelessStart("s3", 20, "shell", "ls"),
      namelessEnd("e3", 30, "shell", "ls"),
      namelessEnd("e1", 40, "shell", "npm-test"),
      namelessEnd("e2", 50, "shell", "npm-test"),
    ];
    expect(idsOf(events)).toEqual(["minted:s1", "minted:s2", "minted:s3", "minted:s3", "minted:s1", "minted:s2"]);
  });

  test("an end without input ends the oldest open call of its tool; one with another input ends none", () => {
    const starts = [namelessStart("s1", 0, "shell", "a"), namelessStart("s2", 1, "read", "b")];
    expect(idsOf([...starts, namelessEnd("e", 9, "read")])).toEqual(["minted:s1", "minted:s2", "minted:s2"]);
    expect(idsOf([...starts, namelessEnd("e", 9, "shell", "other")])[2]).toBe("minted:e");
    expect(idsOf([...starts, namelessEnd("e", 9, "write")])[2]).toBe("minted:e");
  });

  test("an end recorded before its start, at the same moment, belongs to it", () => {
    expect(idsOf([namelessEnd("e", 5, "shell", "a"), namelessStart("s", 5, "shell", "a")])).toEqual([
      "minted:s",
      "minted:s",
    ]);
  });

  test("a call that was denied in an earlier turn does not take the end of an identical one", () => {
    const refused = namelessStart("s1", 1_000, "shell", "push");
    const end = namelessEnd("e2", 9_700, "shell", "push");
    const again = namelessStart("s2", 9_500, "shell", "push");
    expect(idsOf([prompted("p1", 0), refused, prompted("p2", 9_000), again, end]).at(-1)).toBe("minted:s2");
    // A call that outlives its turn still gets its end
    expect(idsOf([refused, prompted("p2", 9_000), end]).at(-1)).toBe("minted:s1");
  });

  test("a process that starts ends no call of the one before; a start that is reported late does not matter", () => {
    const [start, end] = [namelessStart("s", 0, "shell", "a"), namelessEnd("e", 9_000, "shell", "a")];
    expect(idsOf([start, started("again", 5_000), end])[2]).toBe("minted:e");
    expect(idsOf([start, started("own", 200), end])[2]).toBe("minted:s");
    expect(idsOf([start, started("compact", 5_000, { continues: "compaction" }), end])[2]).toBe("minted:s");
    expect(idsOf([start, started("sub", 5_000, { agent_id: "a1" }), end])[2]).toBe("minted:s");
    expect(assignCallIds([start, end], [NOON_MS + 5_000]).map(idOf)).toEqual(["minted:s", "minted:e"]);
  });

  test("the end of a call that ran again after a kill belongs to its second run, also if the first one is settled", () => {
    const [start, end] = [namelessStart("s", 10, "shell", "a"), namelessEnd("e", 9_000, "shell", "a")];
    const lines = [used("t1", 5, "shell", "a"), used("t1#2", 6_000, "shell", "a")];
    const calls = pairTools([start, started("again", 5_000), end], lines);
    expect(calls.map(({ callId, status }) => [callId, status])).toEqual([
      ["t1", "open"],
      ["t1#2", "success"],
    ]);
    const settled: SettledCall = {
      callId: "minted:s",
      name: "shell",
      inputDigest: "a",
      startMs: NOON_MS + 10,
      endMs: NOON_MS + 10,
      hooks: "start",
      status: "unfinished",
    };
    expect(pairTools([end], [], [settled], undefined, [NOON_MS + 5_000])).toMatchObject([{ callId: "minted:e" }]);
    expect(pairTools([end], [], [settled])).toMatchObject([{ callId: "minted:s" }]);
  });

  test("sessions and subagents do not mix", () => {
    const [start, end] = [namelessStart("s", 0, "shell", "a"), namelessEnd("e", 9, "shell", "a")];
    expect(idsOf([start, { ...end, session_id: "session-2" }])[1]).toBe("minted:e");
    expect(idsOf([start, { ...end, extensions: { ...end.extensions, agent_id: "a1" } }])[1]).toBe("minted:e");
  });

  test("only the main agent's turns separate calls", () => {
    const between = [
      batch("b", 5, ["t1"]),
      { ...prompted("p2", 6), extensions: { agent_id: "a1" } },
      { ...prompted("p3", 7), session_id: "session-2" },
    ];
    const [first, again] = [namelessStart("s1", 0, "shell", "a"), namelessStart("s2", 9, "shell", "a")];
    expect(idsOf([prompted("p1", -1), first, ...between, again, namelessEnd("e", 20, "shell", "a")]).at(-1)).toBe(
      "minted:s1",
    );
  });

  test("calls that have an id, and other events, stay unchanged", () => {
    const events = [prompted("p", 0), toolStarted("s", 1, "t1"), toolEnded("e", 2, "t1")];
    expect(assignCallIds(events)).toBe(events);
  });

  test("neither order nor duplicates matter; each start has its own id, and no id has two ends", () => {
    const offsetMs = fc.integer({ min: 0, max: 100 });
    const tool = fc.constantFrom("shell", "read");
    const digest = fc.constantFrom("a", "b", undefined);
    const event = fc.oneof(
      fc.tuple(fc.uuid(), offsetMs, tool, digest).map(([id, ms, name, d]) => namelessStart(id, ms, name, d)),
      fc.tuple(fc.uuid(), offsetMs, tool, digest).map(([id, ms, name, d]) => namelessEnd(id, ms, name, d)),
    );
    fc.assert(
      fc.property(fc.uniqueArray(event, { selector: (e) => e.id, maxLength: 20 }), fc.nat(), (events, seed) => {
        const plain = new Map(assignCallIds(events).map((e) => [e.id, idOf(e)]));
        const at = events.length === 0 ? 0 : seed % events.length;
        const turned = [...events.slice(at), ...events, ...events.slice(0, at)];
        for (const e of assignCallIds(turned)) expect(idOf(e)).toBe(plain.get(e.id));
        const kind = (type: string) => events.filter((e) => e.type === type).map((e) => plain.get(e.id));
        expect(new Set(kind("tool.start")).size).toBe(kind("tool.start").length);
        expect(new Set(kind("tool.end")).size).toBe(kind("tool.end").length);
      }),
    );
  });
});

describe("calls that share an id", () => {
  const start = (id: string, ms: number, extras: Extras = {}) =>
    toolStarted(id, ms, "Bash:0", { given_id: "Bash:0", ...extras });
  const end = (id: string, ms: number, extras: Extras = {}) =>
    toolEnded(id, ms, "Bash:0", { status: "success" }, { given_id: "Bash:0", ...extras });
  const use = (callId: string, ms: number, agentId?: string): TranscriptEntry =>
    ({
      ...used(callId, ms, "exec_command"),
      givenId: "Bash:0",
      ...(agentId !== undefined && { agentId }),
    }) as TranscriptEntry;
  const inside = { agent_id: "a1" };

  test("are separate calls, each in its own agent", () => {
    const events = [start("s1", 0), end("e1", 10), start("s2", 20, inside), end("e2", 30, inside), start("s3", 40)];
    expect(idsOf(events)).toEqual(["minted:s1", "minted:s1", "minted:s2", "minted:s2", "minted:s3"]);
    expect(pairTools(events, []).map(({ agentId, status, givenId }) => [agentId, status, givenId])).toEqual([
      [undefined, "success", "Bash:0"],
      ["a1", "success", "Bash:0"],
      [undefined, "open", "Bash:0"],
    ]);
  });

  test("an end belongs to the latest start; an end without one belongs to a later start", () => {
    expect(idsOf([start("s1", 0), start("s2", 10), end("e2", 20)])).toEqual(["minted:s1", "minted:s2", "minted:s2"]);
    expect(idsOf([end("e1", 0), start("s1", 10), end("e2", 20)])).toEqual(["minted:e1", "minted:e1", "minted:e2"]);
  });

  test("take the transcript's ids, whatever its tool names, and never those of another agent", () => {
    const events = [start("s1", 0), end("e1", 10), start("s2", 20, inside), end("e2", 30, inside)];
    const written = [use("Bash:0#one", 5), use("Bash:0#two", 400, "a1"), use("Bash:0#three", 21, "a2")];
    expect(pairTools(events, written).map(({ callId, uses }) => [callId, uses.length])).toEqual([
      ["Bash:0#one", 3],
      ["Bash:0#two", 3],
      ["Bash:0#three", 1],
    ]);
  });

  test("thousands of calls with one id are joined one by one, in time", () => {
    const numbers = Array.from({ length: 3_000 }, (_, n) => n);
    const events = numbers.flatMap((n) => [start(`s${n}`, 100 * n + 3), end(`e${n}`, 100 * n + 50)]);
    const calls = pairTools(
      events,
      numbers.map((n) => use(`Bash:0#${n}`, 100 * n)),
    );
    expect(calls.map(({ callId, uses }) => [callId, uses[0]])).toEqual(numbers.map((n) => [`Bash:0#${n}`, `s${n}`]));
  });

  test("a batch marks the latest started call as never run", () => {
    const events = [start("s1", 0), end("e1", 10), start("s2", 20), batch("b", 30, ["Bash:0"])];
    expect(pairTools(events, []).map(({ status }) => status)).toEqual(["success", "denied"]);
  });
});

describe("calls whose ids only the transcript has", () => {
  const reported = [namelessStart("s", 0, "shell", "a"), namelessEnd("e", 40, "shell", "a", "error")];

  test("take the transcript's id, and the hooks' times and status", () => {
    const calls = pairTools(reported, [used("call_1", 41, "shell", "a"), resulted("call_1", 42)]);
    expect(calls).toMatchObject([
      {
        callId: "call_1",
        status: "error",
        startMs: NOON_MS,
        endMs: NOON_MS + 40,
        uses: ["s", "e", "use:call_1", "result:call_1"],
      },
    ]);
  });

  test("each of several identical calls is joined once, nearest in time first", () => {
    const entries = [
      used("call_1", 5, "shell", "a"), // never ran: no hook reported it
      resulted("call_1", 5, "error"),
      used("call_2", 1_020, "shell", "a"),
      used("call_3", 2_020, "shell", "a"),
    ];
    const second = [namelessStart("s2", 1_000, "shell", "a"), namelessEnd("e2", 1_040, "shell", "a")];
    const third = [namelessStart("s3", 2_000, "shell", "a"), namelessEnd("e3", 2_040, "shell", "a")];
    expect(pairTools([...second, ...third], entries)).toMatchObject([
      { callId: "call_1", status: "error", startMs: NOON_MS + 5 },
      { callId: "call_2", status: "success", startMs: NOON_MS + 1_000 },
      { callId: "call_3", status: "success", startMs: NOON_MS + 2_000 },
    ]);
  });

  const tries = [namelessStart("s1", 0, "shell", "a"), namelessStart("s2", 9_000, "shell", "a")];
  const triedAgain = (status: "denied" | "error") => [
    used("call_1", 0, "shell", "a"),
    resulted("call_1", 5, status),
    used("call_2", 9_000, "shell", "a"),
    resulted("call_2", 9_050),
  ];

  test("denied calls that were retried in the same turn stay denied", () => {
    const reported = [...tries, namelessEnd("e2", 9_040, "shell", "a")];
    expect(pairTools(reported, triedAgain("denied"))).toMatchObject([
      { callId: "call_1", status: "denied", endMs: NOON_MS + 5 },
      { callId: "call_2", status: "success", startMs: NOON_MS + 9_000, endMs: NOON_MS + 9_050 },
    ]);
  });

  test("failed calls that no hook reported as failed, and that were retried, stay failed", () => {
    const end = namelessEnd("e2", 9_040, "shell", "a", "success");
    // Identical payloads may be stored once
    for (const starts of [tries, tries.slice(0, 1)])
      expect(pairTools([...starts, end], triedAgain("error"))).toMatchObject([
        { callId: "call_1", status: "error", endMs: NOON_MS + 5 },
        { callId: "call_2", status: "success", endMs: NOON_MS + 9_050 },
      ]);
  });

  test("calls with another input are other calls", () => {
    expect(pairTools(reported, [used("call_1", 10, "shell", "b")]).map((c) => c.callId)).toEqual([
      "minted:s",
      "call_1",
    ]);
  });

  test("settled calls keep the id they were counted by, whichever side is late", () => {
    const settled = (callId: string): SettledCall => ({
      callId,
      name: "shell",
      inputDigest: "a",
      startMs: NOON_MS,
      endMs: NOON_MS + 40,
      status: "success",
    });
    expect(pairTools(reported, [], [settled("call_1")]).map((c) => c.callId)).toEqual(["call_1"]);
    const written = [used("call_1", 41, "shell", "a"), resulted("call_1", 42)];
    expect(pairTools([], written, [settled("minted:s")]).map((c) => c.callId)).toEqual(["minted:s"]);
  });

  test("an identical call just after one with both hooks is another call", () => {
    const [first] = pairTools(reported, []);
    const again = [namelessStart("s2", 5_000, "shell", "a"), namelessEnd("e2", 5_040, "shell", "a")];
    expect(pairTools(again, [], first && [first]).map((c) => c.callId)).toEqual(["minted:s2"]);
  });

  test("a call without an end hook can still get its end later, but no second start", () => {
    const [start, end] = reported;
    const [open] = pairTools(start ? [start] : [], []);
    expect(pairTools(end ? [end] : [], [], open && [open]).map((c) => c.callId)).toEqual(["minted:s"]);
    const again = [namelessStart("s2", 5_000, "shell", "a")];
    expect(pairTools(again, [], open && [open]).map((c) => c.callId)).toEqual(["minted:s2"]);
  });

  test("an identical call an hour later is another call", () => {
    const hourLater = { startMs: NOON_MS - 3_600_000, endMs: NOON_MS - 3_600_000, name: "shell", inputDigest: "a" };
    const earlier: SettledCall = { callId: "call_1", ...hourLater, status: "success" };
    expect(pairTools(reported, [], [earlier]).map((c) => c.callId)).toEqual(["minted:s"]);
    expect(pairTools(reported.slice(1), [], [earlier]).map((c) => c.callId)).toEqual(["minted:e"]);
    // Unless the agent reports ends late: without a start, it is the end of the call that the transcript has
    const late = reported
      .slice(1)
      .map((e) => ({ ...e, extensions: { ...e.extensions, reported_late: true as const } }));
    expect(pairTools(late, [], [earlier]).map((c) => c.callId)).toEqual(["call_1"]);
  });

  describe("a call that timed out while it waited for the user", () => {
    const HOUR_MS = 3_600_000;
    const timedOut: SettledCall = {
      ...{ callId: "minted:s", name: "shell", inputDigest: "a", startMs: NOON_MS, endMs: NOON_MS, hooks: "start" },
      status: "unfinished",
    };
    const end = namelessEnd("e", HOUR_MS, "shell", "a");
    const ids = (calls: readonly PairedTool[]) => calls.map((call) => call.callId);

    test("is not duplicated when its end comes", () => {
      expect(ids(pairTools([end], [], [timedOut]))).toEqual(["minted:s"]);
      expect(ids(pairTools([end], [], [{ ...timedOut, callId: "call_1" }]))).toEqual(["call_1"]);
    });

    test("is not duplicated when its transcript line comes too", () => {
      const lines = [used("call_1", 20, "shell", "a"), resulted("call_1", HOUR_MS + 5)];
      expect(ids(pairTools([end], lines, [timedOut]))).toEqual(["minted:s"]);
      expect(ids(pairTools([], lines, [timedOut]))).toEqual(["minted:s"]);
    });

    test("does not take over an identical call with both hooks", () => {
      const whole = [namelessStart("s2", HOUR_MS - 5, "shell", "a"), end];
      expect(ids(pairTools(whole, [], [timedOut]))).toEqual(["minted:s2"]);
      const [answered] = [{ ...timedOut, status: "success" as const, hooks: "both" as const }];
      expect(ids(pairTools([end], [used("call_1", HOUR_MS - 5, "shell", "a")], [answered]))).toEqual(["call_1"]);
    });
  });
});
