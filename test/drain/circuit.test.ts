import { describe, expect, test } from "vitest";
import { circuitOf, recordDelivery } from "#collect/drain/circuit.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import type { DeliverySummary } from "#send/otlp/deliver.ts";
import type { Database } from "#store/database.ts";
import { temporaryStores } from "../store/temporary.ts";

const stores = temporaryStores();
const BEGAN_MS = 1_760_000_000_000;
const HOUR_MS = 3_600_000;
const SETTINGS: OtlpSignalSettings = {
  url: "http://collector.example:4318/v1/traces",
  protocol: "http/protobuf",
  headers: { authorization: "Bearer s3cret" },
  compression: "gzip",
  timeoutMs: 1000,
};
const NOTHING: DeliverySummary = { sent: 0, rejected: 0, oversized: 0, kept: 0 };
const FAILED: DeliverySummary = { ...NOTHING, kept: 5, reason: "away", stopped: "backend", halvings: 1 };
const ACCEPTED: DeliverySummary = { ...NOTHING, sent: 5 };

const stateAt = (db: Database, nowMs: number, isEager = false, settings = SETTINGS) =>
  circuitOf(db, "traces", settings, nowMs, isEager);
const note = (db: Database, summary: DeliverySummary, nowMs: number): void =>
  recordDelivery(db, "traces", SETTINGS, summary, stateAt(db, nowMs), nowMs);

/** Seconds after `fromMs` until a hook's drain tries again. */
function waitMs(db: Database, fromMs: number): number {
  for (let ms = 0; ms <= 2 * HOUR_MS; ms += 1000) if (stateAt(db, fromMs + ms).isDue) return ms;
  return Number.POSITIVE_INFINITY;
}

describe("a backend that fails", () => {
  test("is skipped longer after each failure, at most half an hour, until a success", () => {
    const db = stores.open();
    expect(stateAt(db, BEGAN_MS)).toEqual({ isDue: true, failures: 0, halvings: 0 });
    const waits: number[] = [];
    let nowMs = BEGAN_MS;
    for (let n = 0; n < 12; n++) {
      note(db, FAILED, nowMs);
      waits.push(waitMs(db, nowMs));
      nowMs += waits.at(-1) ?? 0;
    }
    for (const [n, ms] of waits.entries()) {
      const fullMs = Math.min(15_000 * 2 ** n, HOUR_MS / 2);
      expect(ms).toBeGreaterThanOrEqual(fullMs / 2);
      expect(ms).toBeLessThanOrEqual(fullMs + 1000);
    }
    note(db, ACCEPTED, nowMs);
    expect(stateAt(db, nowMs)).toEqual({ isDue: true, failures: 0, halvings: 0 });
  });

  test("machines do not retry at the same time", () => {
    const db = stores.open();
    const waits = new Set<number>();
    for (let machine = 0; machine < 60; machine++) {
      for (let failures = 0; failures < 3; failures++) note(db, FAILED, BEGAN_MS);
      waits.add(waitMs(db, BEGAN_MS));
      note(db, ACCEPTED, BEGAN_MS);
    }
    // About thirty delays are possible, of which sixty random choices practically never give so few
    expect(waits.size).toBeGreaterThan(4);
  });

  test("is tried immediately by a user's drain, and if it is another destination", () => {
    const db = stores.open();
    note(db, FAILED, BEGAN_MS);
    expect(stateAt(db, BEGAN_MS + 1).isDue).toBe(false);
    expect(stateAt(db, BEGAN_MS + 1, true)).toMatchObject({ isDue: true, failures: 1, halvings: 1 });
    const otherDestination = { ...SETTINGS, headers: { authorization: "Bearer other" } };
    expect(stateAt(db, BEGAN_MS + 1, false, otherDestination)).toEqual({ isDue: true, failures: 0, halvings: 0 });
  });

  test("is retried soon if it had accepted some", () => {
    const db = stores.open();
    for (let n = 0; n < 8; n++) note(db, FAILED, BEGAN_MS);
    note(db, { ...FAILED, sent: 4, halvings: 5 }, BEGAN_MS);
    expect(waitMs(db, BEGAN_MS)).toBeLessThanOrEqual(15_000);
    expect(stateAt(db, BEGAN_MS)).toMatchObject({ failures: 1, halvings: 5 });
  });
});

describe("the size of requests that a backend accepts", () => {
  const FOUND: DeliverySummary = { ...ACCEPTED, sizeLimit: 5000 };

  test("is remembered, doubled once a day while it is accepted, and forgotten at the largest setting", () => {
    const db = stores.open();
    note(db, FOUND, BEGAN_MS);
    note(db, ACCEPTED, BEGAN_MS + HOUR_MS);
    expect(stateAt(db, BEGAN_MS + 23 * HOUR_MS)).toMatchObject({ sizeLimit: 5000, hasGrown: false });
    expect(stateAt(db, BEGAN_MS + 24 * HOUR_MS)).toMatchObject({ sizeLimit: 10_000, hasGrown: true });
    note(db, ACCEPTED, BEGAN_MS + 24 * HOUR_MS);
    expect(stateAt(db, BEGAN_MS + 25 * HOUR_MS)).toMatchObject({ sizeLimit: 10_000, hasGrown: false });
    for (let day = 2; day < 20; day++) note(db, ACCEPTED, BEGAN_MS + day * 24 * HOUR_MS);
    expect(stateAt(db, BEGAN_MS + 30 * 24 * HOUR_MS)).not.toHaveProperty("sizeLimit");
  });

  test("stays if the backend is away, or refuses more again", () => {
    const db = stores.open();
    note(db, FOUND, BEGAN_MS);
    note(db, FAILED, BEGAN_MS + 24 * HOUR_MS);
    expect(stateAt(db, BEGAN_MS + 24 * HOUR_MS)).toMatchObject({ sizeLimit: 10_000, hasGrown: true });
    note(db, { ...ACCEPTED, sizeLimit: 6000 }, BEGAN_MS + 24 * HOUR_MS);
    expect(stateAt(db, BEGAN_MS + 25 * HOUR_MS)).toMatchObject({ sizeLimit: 6000, hasGrown: false });
  });

  test("is of one destination", () => {
    const db = stores.open();
    note(db, FOUND, BEGAN_MS);
    const other = { ...SETTINGS, url: "http://other.example:4318/v1/traces" };
    expect(stateAt(db, BEGAN_MS, false, other)).not.toHaveProperty("sizeLimit");
    recordDelivery(db, "traces", other, ACCEPTED, stateAt(db, BEGAN_MS, false, other), BEGAN_MS);
    expect(stateAt(db, BEGAN_MS, false, other)).not.toHaveProperty("sizeLimit");
  });
});

test("Retry-After holds for a user's drain as well, and is reported", () => {
  const db = stores.open();
  note(db, { ...FAILED, afterMs: 60_000 }, BEGAN_MS);
  expect(stateAt(db, BEGAN_MS + 59_000, true)).toMatchObject({ isDue: false, retryAfterUntilMs: BEGAN_MS + 60_000 });
  expect(stateAt(db, BEGAN_MS + 60_000, true)).toMatchObject({ isDue: true });
});

test("a time stored while the clock was ahead delays nothing", () => {
  const db = stores.open();
  note(db, { ...FAILED, afterMs: 60_000 }, BEGAN_MS + 365 * 24 * HOUR_MS);
  expect(stateAt(db, BEGAN_MS)).toMatchObject({ isDue: true });
});

test("some rejected content and a reached time limit are not failures", () => {
  const db = stores.open();
  note(db, { ...NOTHING, sent: 5, kept: 1, reason: "bad span", httpStatus: 400 }, BEGAN_MS);
  expect(stateAt(db, BEGAN_MS)).toMatchObject({ isDue: true, failures: 0 });
  note(db, { ...NOTHING, sent: 5, stopped: "time" }, BEGAN_MS);
  expect(stateAt(db, BEGAN_MS)).toMatchObject({ isDue: true, failures: 0 });
});
