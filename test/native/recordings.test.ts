import { describe, expect, test } from "vitest";
import { nativeRecords } from "#collect/native/records.ts";
import { EXPECTED } from "./expected.ts";
import { type Raw, RECORDINGS, rawRecordsOf } from "./recorded.ts";

/** Attributes that hold the session. */
const SESSION = ["conversation.id", "session.id", "gen_ai.conversation.id", "thread.id"];

const sessionOf = ({ attributes }: Raw): unknown =>
  SESSION.map((name) => attributes[name]).find((value) => typeof value === "string");

test("seven agents were recorded", () => {
  expect(new Set(RECORDINGS.map(({ source }) => source)).size).toBe(7);
});

describe.each(RECORDINGS)("$source $name", ({ source, bodies }) => {
  test("each kept fact is in the raw record, and nothing else is kept", async () => {
    for (const body of bodies) {
      const raws = rawRecordsOf(body);
      const expected = raws.flatMap((raw) => {
        const kept = EXPECTED[source]?.(raw);
        if (kept === undefined) return [];
        const ids = Object.entries(kept.ids).flatMap(([kind, id]) => (id === undefined ? [] : [{ kind, id }]));
        const { traceId, spanId } = raw;
        const span = kept.isLinked ? { span: { traceId, spanId } } : {};
        return [{ sessionId: sessionOf(raw), ids, timeMs: raw.startMs, facts: kept.facts, ...span }];
      });
      const { records, dropped } = await nativeRecords(source, body);
      expect(records.map(({ key: _, ...record }) => record)).toEqual(expected);
      const keptOfEvents = raws.filter((raw) => raw.kind === "event" && EXPECTED[source]?.(raw) !== undefined).length;
      const count = body.encoding === "proto" && body.signal === "logs" ? dropped : raws.filter(isRecord).length;
      // A span of which only events are kept is not dropped
      if (keptOfEvents === 0 && body.encoding !== "file") expect(records.length + dropped).toBe(count);
    }
  });

  test("a key is of one record", async () => {
    const all = (await Promise.all(bodies.map((body) => nativeRecords(source, body)))).flatMap(
      ({ records }) => records,
    );
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(0);
  });
});

// --- internal ---

const isRecord = ({ kind }: Raw): boolean => kind !== "event";
