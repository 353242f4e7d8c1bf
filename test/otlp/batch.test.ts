import { expect, test } from "vitest";
import { estimatedBytes, halves, intoRequests } from "#send/otlp/deliver.ts";
import fc from "../support/properties.ts";
import { spanRecord } from "./records.ts";

const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 60 });
const bounds = fc.record({ maxRecords: fc.integer({ min: 1, max: 10 }), maxBytes: fc.integer({ min: 1, max: 120 }) });

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("every row once and in order; no request over its bounds, except a single row; each as large as the bounds allow", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, bounds, async (rows, { maxRecords, maxBytes }) => {
      const requests = await collect(intoRequests(rows, { maxRecords, maxBytes }, (row) => row));
      expect(requests.flat()).toEqual(rows);
      const sum = (request: readonly number[]) => request.reduce((bytes, row) => bytes + row, 0);
      for (const [index, request] of requests.entries()) {
        expect(request.length).toBeLessThanOrEqual(maxRecords);
        if (request.length > 1) expect(sum(request)).toBeLessThanOrEqual(maxBytes);
        const next = requests[index + 1]?.[0];
        if (next !== undefined && request.length < maxRecords) expect(sum(request) + next).toBeGreaterThan(maxBytes);
      }
    }),
  );
});

test("reads at most one row beyond a request, not the whole outbox", async () => {
  let pulled = 0;
  async function* outbox() {
    for (let seq = 0; ; seq++) {
      pulled++;
      yield seq;
    }
  }
  for await (const request of intoRequests(outbox(), { maxRecords: 3, maxBytes: 100 }, () => 1)) {
    expect(request).toEqual([0, 1, 2]);
    break;
  }
  expect(pulled).toBe(4);
});

test("halves are in order, and both are smaller", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 2 }), (rows) => {
      const [first, second] = halves(rows);
      expect([...first, ...second]).toEqual(rows);
      expect(first.length - second.length).toBeGreaterThanOrEqual(0);
      expect(first.length - second.length).toBeLessThanOrEqual(1);
    }),
  );
});

test("bytes are counted, not characters", () => {
  expect(estimatedBytes(spanRecord(1, { name: "🙂" })) - estimatedBytes(spanRecord(1, { name: "" }))).toBe(4);
});
