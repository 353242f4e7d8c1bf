import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type NativeBytes, nativeRecords } from "#collect/native/records.ts";
import type { NativeRecord } from "#core/model/native.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { type Json, RECORDINGS } from "./recorded.ts";

const inRequests = RECORDINGS.filter(({ bodies }) => bodies.every(({ encoding }) => encoding === "json"));

describe.each(inRequests)("$source $name", ({ source, bodies }) => {
  test("the same records in any order, twice, in any bodies give the same by key", async () => {
    const whole = byKey(await all(source, bodies));
    const single = bodies.flatMap(singles);
    const plan = fc.record({
      order: fc.shuffledSubarray(single, { minLength: single.length }),
      again: fc.subarray(single),
      size: fc.integer({ min: 1, max: 40 }),
      isGzip: fc.boolean(),
    });
    const arrivals = fc.asyncProperty(plan, async ({ order, again, size, isGzip }) => {
      const sent = [...order, ...again];
      const batches = Array.from({ length: Math.ceil(sent.length / size) }, (_, i) =>
        sent.slice(i * size, (i + 1) * size),
      );
      const made = batches.flatMap((batch) =>
        (["traces", "logs"] as const).flatMap((signal) => bodyOf(signal, batch, isGzip)),
      );
      expect(byKey(await all(source, made))).toEqual(whole);
    });
    await fc.assert(arrivals, { numRuns: runs(40) });
  });
});

// --- internal ---

interface Single {
  readonly signal: NativeBytes["signal"];
  readonly record: Json;
}

const all = async (source: string, bodies: readonly NativeBytes[]): Promise<readonly NativeRecord[]> =>
  (await Promise.all(bodies.map((body) => nativeRecords(source, body)))).flatMap(({ records }) => records);

const byKey = (records: readonly NativeRecord[]): ReadonlyMap<string, NativeRecord> =>
  new Map([...records].sort((a, b) => (a.key < b.key ? -1 : 1)).map((record) => [record.key, record]));

function singles({ signal, bytes }: NativeBytes): readonly Single[] {
  const request = JSON.parse(bytes.toString());
  return (request.resourceSpans ?? request.resourceLogs).flatMap((group: Json) =>
    (group.scopeSpans ?? group.scopeLogs).flatMap((scope: Json) =>
      (scope.spans ?? scope.logRecords).map((record: Json) => ({ signal, record })),
    ),
  );
}

function bodyOf(signal: "traces" | "logs", batch: readonly Single[], isGzip: boolean): readonly NativeBytes[] {
  const records = batch.filter((one) => one.signal === signal).map(({ record }) => record);
  if (records.length === 0) return [];
  const request =
    signal === "traces"
      ? { resourceSpans: [{ scopeSpans: [{ spans: records }] }] }
      : { resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] };
  const bytes = Buffer.from(JSON.stringify(request));
  return [{ signal, encoding: "json", isGzip, bytes: isGzip ? gzipSync(bytes) : bytes }];
}
