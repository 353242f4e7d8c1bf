import { describe, expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { pairTools } from "#core/session/pair.ts";
import fc from "../support/properties.ts";
import { batch, NOON_MS, resulted, toolEnded, toolStarted, used } from "./events.ts";

describe("pairTools, one call", () => {
  const only = (events: readonly Event[], entries: readonly TranscriptEntry[] = []) => {
    const [call, ...others] = pairTools(events, entries);
    expect(others).toEqual([]);
    return call;
  };

  test("a start and an end make one call with the times of both", () => {
    expect(only([toolStarted("s", 0, "t1"), toolEnded("e", 40, "t1")])).toMatchObject({
      callId: "t1",
      name: "Bash",
      status: "success",
      startMs: NOON_MS,
      endMs: NOON_MS + 40,
    });
  });

  test("a call with only a start is open and has no duration", () => {
    expect(only([toolStarted("s", 0, "t1")])).toMatchObject({ status: "open", startMs: NOON_MS, endMs: NOON_MS });
  });

  test("a call with only an end starts its reported duration before that end; without one it has no duration", () => {
    const reported = toolEnded("e", 100, "t1", { status: "error", duration_ms: 30 });
    expect(only([reported])).toMatchObject({ status: "error", startMs: NOON_MS + 70, endMs: NOON_MS + 100 });
    expect(only([toolEnded("e", 100, "t1")])).toMatchObject({ startMs: NOON_MS + 100, endMs: NOON_MS + 100 });
  });

  test("an end that is reported late has the transcript's time, if that is between the call's start and the report", () => {
    const late = toolEnded("e", 900, "t1", { status: "success" }, { reported_late: true });
    const endMs = (resultMs: number, end = late) =>
      (only([toolStarted("s", 0, "t1"), end], [used("t1", 0), resulted("t1", resultMs)])?.endMs ?? 0) - NOON_MS;
    expect(endMs(300)).toBe(300);
    expect(endMs(1_000)).toBe(900);
    expect(endMs(-3_600_000)).toBe(900);
    expect(endMs(300, toolEnded("e", 900, "t1"))).toBe(900);
  });

  test("an end before its start gives no negative duration", () => {
    const call = only([toolStarted("s", 50, "t1"), toolEnded("e", 40, "t1")]);
    expect(call).toMatchObject({ startMs: NOON_MS + 40, endMs: NOON_MS + 40, status: "success" });
  });

  test("a call without hooks is read from the transcript alone", () => {
    expect(only([], [used("t1", 5), resulted("t1", 65, "denied")])).toMatchObject({
      status: "denied",
      startMs: NOON_MS + 5,
      endMs: NOON_MS + 65,
    });
  });

  test("a fork's line about a copied call is not a call; a line about its own call is", () => {
    expect(pairTools([], [resulted("t1", 65, "unfinished")])).toEqual([]);
    expect(only([], [resulted("t1", 65, "error")])).toMatchObject({ status: "error" });
    expect(only([], [used("t1", 5), resulted("t1", 65, "unfinished")])).toMatchObject({ status: "unfinished" });
    expect(only([toolStarted("s", 10, "t1")], [resulted("t1", 65, "unfinished")])).toMatchObject({
      startMs: NOON_MS + 10,
    });
  });

  test("the result that the next process writes for a call that was left open is not its end", () => {
    const [leftOpen, hours] = ["unfinished" as const, 14 * 3_600_000];
    expect(only([], [used("t1", 5), resulted("t1", hours, leftOpen)])).toMatchObject({
      status: leftOpen,
      startMs: NOON_MS + 5,
      endMs: NOON_MS + 5,
    });
    expect(only([toolStarted("s", 10, "t1")], [used("t1", 5), resulted("t1", hours, leftOpen)])).toMatchObject({
      status: leftOpen,
      startMs: NOON_MS + 10,
      endMs: NOON_MS + 10,
    });
  });

  test("times and statuses from hooks take precedence over the transcript's", () => {
    const call = only(
      [toolStarted("s", 10, "t1"), toolEnded("e", 30, "t1", { status: "error" })],
      [used("t1", 0), resulted("t1", 90, "success")],
    );
    expect(call).toMatchObject({ startMs: NOON_MS + 10, endMs: NOON_MS + 30, status: "error" });
  });

  test("values from hooks take precedence over the transcript's, which fill the gaps", () => {
    const written = { ...resulted("t1", 90), durationMs: 70, linesAdded: 3, linesRemoved: 2, exitCode: 1 };
    const start = toolStarted("s", 10, "t1");
    const reported = { lines_added: 5, lines_removed: 4, exit_code: 0 };
    const end = toolEnded("e", 30, "t1", { status: "success", duration_ms: 15 }, reported);
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

  test("a call that a hook starts ends with the transcript's line", () => {
    const call = only([toolStarted("s", 10, "t1")], [used("t1", 0), resulted("t1", 90, "error")]);
    expect(call).toMatchObject({ startMs: NOON_MS + 10, endMs: NOON_MS + 90, status: "error" });
  });

  test("a call that ends only in its batch never ran", () => {
    const call = only([toolStarted("s", 10, "t1"), batch("b", 30, ["t1", "t2"])]);
    expect(call).toMatchObject({ status: "denied", errorType: "denied", endMs: NOON_MS + 30 });
  });

  test("if two hooks report one call, the earlier start, the earlier end and a failure count", () => {
    const twice = [
      toolStarted("s2", 3, "t1"),
      toolStarted("s1", 0, "t1"),
      toolEnded("e2", 45, "t1", { status: "error" }),
      toolEnded("e1", 40, "t1"),
    ];
    expect(only(twice)).toMatchObject({ startMs: NOON_MS, endMs: NOON_MS + 40, status: "error" });
  });

  test("a later call with the same id does not pass its failure to the first", () => {
    const reused = [
      toolStarted("s1", 0, "t1"),
      toolEnded("e1", 40, "t1"),
      toolStarted("s2", 60, "t1"),
      toolEnded("e2", 90, "t1", { status: "error" }),
    ];
    expect(only(reused)).toMatchObject({ startMs: NOON_MS, endMs: NOON_MS + 40, status: "success" });
  });

  test("a batch does not change the status of an ended call, and creates no call", () => {
    const ended = [toolStarted("s", 10, "t1"), toolEnded("e", 20, "t1"), batch("b", 30, ["t1"])];
    expect(only(ended)).toMatchObject({ status: "success", endMs: NOON_MS + 20 });
    expect(pairTools([batch("b", 30, ["t9"])], [])).toEqual([]);
  });

  test("an end without a call id ends no other call, and becomes a call without duration", () => {
    const { data: _, ...nameless } = toolEnded("e", 20, "t1") as Extract<Event, { type: "tool.end" }>;
    const calls = pairTools([toolStarted("s", 10, "t1"), { ...nameless, data: { tool_name: "Bash" } }], []);
    expect(calls).toMatchObject([
      { callId: "t1", status: "open" },
      { callId: "minted:e", name: "Bash", status: "success" },
    ]);
    expect(calls[1]?.endMs).toBe(calls[1]?.startMs);
  });
});

describe("pairTools, with random events and entries", () => {
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

  test("every reported call comes out exactly once, and uses only its own events and entries", () => {
    fc.assert(
      fc.property(events, entries, (some, written) => {
        const reported = new Set([
          ...some.flatMap((e) =>
            e.type === "tool.start" || e.type === "tool.end" ? (e.data?.tool_call_id ?? []) : [],
          ),
          ...written.flatMap((e) => ("callId" in e ? e.callId : [])),
        ]);
        const calls = pairTools(some, written);
        expect(calls.map((c) => c.callId).sort()).toEqual([...reported].sort());
        for (const call of calls) {
          const own = some.filter(
            (e) => (e.type === "tool.start" || e.type === "tool.end") && e.data?.tool_call_id === call.callId,
          );
          const ownEntries = written.filter((e) => "callId" in e && e.callId === call.callId);
          expect([...call.uses].sort()).toEqual([...own.map((e) => e.id), ...ownEntries.map((e) => e.key)].sort());
          // Without the other calls the result is the same
          const batches = some.filter((e) => e.type === "tool.batch");
          expect(pairTools([...own, ...batches], ownEntries)).toEqual([call]);
        }
      }),
    );
  });

  test("no call ends before it starts, and calls are sorted by start", () => {
    fc.assert(
      fc.property(events, entries, (some, written) => {
        const calls = pairTools(some, written);
        for (const call of calls) expect(call.endMs).toBeGreaterThanOrEqual(call.startMs);
        const starts = calls.map((c) => c.startMs);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
    );
  });

  test("neither order nor duplicates matter", () => {
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
