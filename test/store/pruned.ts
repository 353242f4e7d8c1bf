import { expect } from "vitest";
import { counterValues } from "#store/counters.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { prunableSessions, pruneSession } from "#store/prune.ts";
import { clockAt } from "../support/clock.ts";
import fc from "../support/properties.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";

export const ALL = Number.MAX_SAFE_INTEGER;

/**
 * The property of pruning: a recorded case that is pruned after any of its calls and again at the end, with its files read from the
 * beginning and its hooks reported twice, counts the same as undisturbed, and has the same spans, each once.
 *
 * @returns how many payloads were read, over all runs
 */
export async function prunedAnywhere(source: string, name: string, runs: number): Promise<number> {
  const expected = await undisturbed(source, name);
  let eventsIn = 0;
  const property = fc.asyncProperty(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.boolean(),
    fc.boolean(),
    async (share, isForgotten, isDoubled) => {
      const at = new Replay(source, name);
      try {
        const middle = Math.floor(share * at.calls.length);
        const ids = new Set<string>();
        const spans: string[] = [];
        let nowMs = 0;
        const take = (found: readonly Span[]): void => {
          for (const { id, text } of found) {
            expect(ids.has(id), `span ${text} twice`).toBe(false);
            ids.add(id);
            spans.push(text);
          }
        };
        const step = async (calls: readonly RecordedCall[], endIdle: boolean): Promise<void> => {
          for (const call of calls) at.put(call);
          eventsIn += calls.length;
          nowMs = Math.max(nowMs, calls.length === 0 ? 0 : endOf(calls));
          await at.drain({ endIdle }, clockAt(nowMs));
          take(pruneAll(at, nowMs));
          if (isForgotten) forgetPositions(at);
        };
        await step(at.calls.slice(0, middle), false);
        await step(isDoubled ? at.calls : at.calls.slice(middle), true);
        // Again from the start: hooks, files, drain
        await step(at.calls, true);
        take(inStore(at, spansOf));
        expect(inStore(at, sumsOf)).toEqual(expected.sums);
        expect(spans.sort()).toEqual(expected.spans);
      } finally {
        at.remove();
      }
    },
  );
  await fc.assert(property, { numRuns: runs, seed: 7, endOnFailure: true, examples: [[0.5, true, true]] });
  return eventsIn;
}

/** Opens the store of a replay. */
export function inStore<T>(of: Replay, query: (db: Database) => T): T {
  const db = openDatabase(of.places.storePath);
  try {
    return query(db);
  } finally {
    db.close();
  }
}

/** Time after the last of these calls, and after its late lines. */
export const endOf = (calls: readonly RecordedCall[]): number =>
  Math.max(...calls.map((call) => Date.parse(call.received_at))) + 60_000;

/** Prunes everything settled, of any age. @returns the spans that were in the store */
export function pruneAll(of: Replay, nowMs: number): readonly Span[] {
  return inStore(of, (db) => {
    const spans = spansOf(db);
    db.prepare("DELETE FROM outbox").run();
    const sessions = prunableSessions(db, ALL, ALL);
    for (const session of sessions) pruneSession(db, session, nowMs);
    // Spans of sessions that stay are seen again
    const kept = new Set(spansOf(db).map(({ id }) => id));
    return spans.filter(({ id }) => !kept.has(id));
  });
}

// --- internal ---

interface Span {
  readonly id: string;
  /** Ids made from a path differ between home folders, and times between drains with and without the hooks. */
  readonly text: string;
}

interface Totals {
  readonly sums: readonly string[];
  readonly spans: readonly string[];
}

/** The result of all calls, without pruning. */
async function undisturbed(source: string, name: string): Promise<Totals> {
  const whole = new Replay(source, name);
  try {
    for (const call of whole.calls) whole.put(call);
    await whole.drain({ endIdle: true }, clockAt(endOf(whole.calls)));
    return inStore(whole, (db) => ({
      sums: sumsOf(db),
      spans: spansOf(db)
        .map(({ text }) => text)
        .sort(),
    }));
  } finally {
    whole.remove();
  }
}

const sumsOf = (db: Database): readonly string[] =>
  counterValues(db)
    .filter(({ metric }) => !metric.startsWith("openhook.collector."))
    .map(({ metric, attributes, resource, value }) => JSON.stringify([metric, resource, attributes, value]))
    .sort();

const spansOf = (db: Database): readonly Span[] =>
  db
    .prepare("SELECT record FROM spans")
    .all()
    .map((row) => {
      const { spanId, name } = JSON.parse(String(row["record"]));
      return { id: String(spanId), text: String(name) };
    });

/** Makes the files new to the store: they are read from the beginning again. */
const forgetPositions = (of: Replay): void => inStore(of, (db) => void db.prepare("DELETE FROM positions").run());
