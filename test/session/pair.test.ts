import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/model/event.ts";
import type { TranscriptEntry } from "../../src/model/transcript.ts";
import { pairTools } from "../../src/session/pair.ts";
import { batch, NOON_MS, resulted, toolEnded, toolStarted, used } from "./events.ts";

describe("pairTools, one call", () => {
  const only = (events: readonly Event[], entries: readonly TranscriptEntry[] = []) => {
    const [call, ...others] = pairTools(events, entries);
    expect(others).toEqual([]);
    return call;
  };

  test("start and end", () => {
    expect(only([toolStarted("s", 0, "t1"), toolEnded("e", 40, "t1")])).toMatchObject({
      callId: "t1",
      name: "Bash",
      status: "success",
      startMs: NOON_MS,
      endMs: NOON_MS + 40,
    });
  });

  test("a start alone is open and has no length", () => {
    expect(only([toolStarted("s", 0, "t1")])).toMatchObject({ status: "open", startMs: NOON_MS, endMs: NOON_MS });
  });

  test("an end alone began as long before as the agent says, else it has no length", () => {
    const told = toolEnded("e", 100, "t1", { status: "error", duration_ms: 30 });
    expect(only([told])).toMatchObject({ status: "error", startMs: NOON_MS + 70, endMs: NOON_MS + 100 });
    expect(only([toolEnded("e", 100, "t1")])).toMatchObject({ startMs: NOON_MS + 100, endMs: NOON_MS + 100 });
  });

  test("an end before its start is no negative time", () => {
    const call = only([toolStarted("s", 50, "t1"), toolEnded("e", 40, "t1")]);
    expect(call).toMatchObject({ startMs: NOON_MS + 40, endMs: NOON_MS + 40, status: "success" });
  });

  test("the transcript alone", () => {
    expect(only([], [used("t1", 5), resulted("t1", 65, "denied")])).toMatchObject({
      status: "denied",
      startMs: NOON_MS + 5,
      endMs: NOON_MS + 65,
    });
  });

  test("what a fork writes of a call that it copied is no call; of its own it is", () => {
    expect(pairTools([], [resulted("t1", 65, "unfinished")])).toEqual([]);
    expect(only([], [resulted("t1", 65, "error")])).toMatchObject({ status: "error" });
    expect(only([], [used("t1", 5), resulted("t1", 65, "unfinished")])).toMatchObject({ status: "unfinished" });
    expect(only([toolStarted("s", 10, "t1")], [resulted("t1", 65, "unfinished")])).toMatchObject({
      startMs: NOON_MS + 10,
    });
  });

  test("hook times and a hook's status win over the transcript's", () => {
    const call = only(
      [toolStarted("s", 10, "t1"), toolEnded("e", 30, "t1", { status: "error" })],
      [used("t1", 0), resulted("t1", 90, "success")],
    );
    expect(call).toMatchObject({ startMs: NOON_MS + 10, endMs: NOON_MS + 30, status: "error" });
  });

  test("a hook's measures win over the transcript's, and these stand where it told none", () => {
    const written = { ...resulted("t1", 90), durationMs: 70, linesAdded: 3, linesRemoved: 2, exitCode: 1 };
    const start = toolStarted("s", 10, "t1");
    const told = { lines_added: 5, lines_removed: 4, exit_code: 0 };
    const end = toolEnded("e", 30, "t1", { status: "success", duration_ms: 15 }, told);
    expect(only([start, end], [written])).toMatchObject({
      executionMs: 15,
      linesAdded: 5,
      linesRemoved: 4,
      exitCode: 0,
    });
    expect(only([start, toolEnded("e", 30, "t1")], [written])).toMatchObject({
      executionMs: 70,
      linesAdded: 3,
      linesRemoved: 2,
      exitCode: 1,
    });
  });

  test("started by a hook, ended only in the transcript", () => {
    const call = only([toolStarted("s", 10, "t1")], [used("t1", 0), resulted("t1", 90, "error")]);
    expect(call).toMatchObject({ startMs: NOON_MS + 10, endMs: NOON_MS + 90, status: "error" });
  });

  test("a call that only its batch ends never ran", () => {
    const call = only([toolStarted("s", 10, "t1"), batch("b", 30, ["t1", "t2"])]);
    expect(call).toMatchObject({ status: "denied", errorType: "denied", endMs: NOON_MS + 30 });
  });

  test("of two hooks that tell of one call, the earlier start and the earlier end count, and a failure", () => {
    const twice = [
      toolStarted("s2", 3, "t1"),
      toolStarted("s1", 0, "t1"),
      toolEnded("e2", 45, "t1", { status: "error" }),
      toolEnded("e1", 40, "t1"),
    ];
    expect(only(twice)).toMatchObject({ startMs: NOON_MS, endMs: NOON_MS + 40, status: "error" });
  });

  test("the failure of a later call of the same id is not that of the first", () => {
    const reused = [
      toolStarted("s1", 0, "t1"),
      toolEnded("e1", 40, "t1"),
      toolStarted("s2", 60, "t1"),
      toolEnded("e2", 90, "t1", { status: "error" }),
    ];
    expect(only(reused)).toMatchObject({ startMs: NOON_MS, endMs: NOON_MS + 40, status: "success" });
  });

  test("a batch does not take the status of a call that ended, nor make one up", () => {
    const ended = [toolStarted("s", 10, "t1"), toolEnded("e", 20, "t1"), batch("b", 30, ["t1"])];
    expect(only(ended)).toMatchObject({ status: "success", endMs: NOON_MS + 20 });
    expect(pairTools([batch("b", 30, ["t9"])], [])).toEqual([]);
  });

  test("an end without a call id ends no other call, and is a call of no length", () => {
    const { data: _, ...nameless } = toolEnded("e", 20, "t1") as Extract<Event, { type: "tool.end" }>;
    const calls = pairTools([toolStarted("s", 10, "t1"), { ...nameless, data: { tool_name: "Bash" } }], []);
    expect(calls).toMatchObject([
      { callId: "t1", status: "open" },
      { callId: "minted:e", name: "Bash", status: "success" },
    ]);
    expect(calls[1]?.endMs).toBe(calls[1]?.startMs);
  });
});

describe("pairTools, any stories", () => {
  const offsetMs = fc.integer({ min: -50, max: 50 });
  const callId = fc.constantFrom("t1", "t2", "t3", "t4");
  const status = fc.constantFrom("success" as const, "error" as const);
  const eventId = fc.uuid();
  const event: fc.Arbitrary<Event> = fc.oneof(
    fc.tuple(eventId, offsetMs, callId).map(([id, ms, call]) => toolStarted(id, ms, call)),
    fc
      .tuple(eventId, offsetMs, callId, status, fc.option(fc.nat(80), { nil: undefined }))
      .map(([id, ms, call, outcome, durationMs]) =>
        toolEnded(id, ms, call, { status: outcome, ...(durationMs !== undefined && { duration_ms: durationMs }) }),
      ),
    fc.tuple(eventId, offsetMs, fc.array(callId, { maxLength: 3 })).map(([id, ms, calls]) => batch(id, ms, calls)),
  );
  const entry = fc.oneof(
    fc.tuple(callId, offsetMs).map(([call, ms]) => used(call, ms)),
    fc.tuple(callId, offsetMs, status).map(([call, ms, outcome]) => resulted(call, ms, outcome)),
  );
  const events = fc.array(event, { maxLength: 12 });
  const entries = fc.uniqueArray(entry, { selector: (e) => e.key, maxLength: 8 });

  test("every call that was told of comes out exactly once, made of its own parts alone", () => {
    fc.assert(
      fc.property(events, entries, (some, written) => {
        const told = new Set([
          ...some.flatMap((e) =>
            e.type === "tool.start" || e.type === "tool.end" ? (e.data?.tool_call_id ?? []) : [],
          ),
          ...written.flatMap((e) => ("callId" in e ? e.callId : [])),
        ]);
        const calls = pairTools(some, written);
        expect(calls.map((c) => c.callId).sort()).toEqual([...told].sort());
        for (const call of calls) {
          const own = some.filter(
            (e) => (e.type === "tool.start" || e.type === "tool.end") && e.data?.tool_call_id === call.callId,
          );
          const ownEntries = written.filter((e) => "callId" in e && e.callId === call.callId);
          expect([...call.uses].sort()).toEqual([...own.map((e) => e.id), ...ownEntries.map((e) => e.key)].sort());
          // Alone in the world it is the same call
          const batches = some.filter((e) => e.type === "tool.batch");
          expect(pairTools([...own, ...batches], ownEntries)).toEqual([call]);
        }
      }),
    );
  });

  test("ends come after starts, and all is in order of starts", () => {
    fc.assert(
      fc.property(events, entries, (some, written) => {
        const calls = pairTools(some, written);
        for (const call of calls) expect(call.endMs).toBeGreaterThanOrEqual(call.startMs);
        const starts = calls.map((c) => c.startMs);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
    );
  });

  test("neither order nor doubling has a bearing", () => {
    const shuffled = events.chain((some) =>
      fc.tuple(
        fc.constant(some),
        fc.shuffledSubarray([...some, ...some], { minLength: some.length * 2, maxLength: some.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(shuffled, entries, ([some, twice], written) => {
        const plain = (calls: ReturnType<typeof pairTools>) =>
          calls.map((c) => ({ ...c, uses: [...new Set(c.uses)].sort() }));
        expect(plain(pairTools(twice, [...written].reverse()))).toEqual(plain(pairTools(some, written)));
      }),
    );
  });
});
