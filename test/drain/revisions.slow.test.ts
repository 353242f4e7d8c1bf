// Slow: only `npm run test:all` runs it. An answer that changes at any time; drain/late-transcript.test.ts reads in parts.
//
// Answers whose last line comes after their turn is settled: counters, rows and spans agree, whatever was read in between.

import { afterEach, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { MadeSession } from "../support/made-session.ts";
import fc from "../support/properties.ts";
import { countersAndRows } from "../support/summary.ts";
import { runs } from "../support/whole.ts";

let session: MadeSession | undefined;
afterEach(() => session?.remove());

const small = fc.nat(20);
/** A turn: usage at the beginning and end of its answer, how many turns later the end came, and after which of them a drain ran. */
const turns = fc.array(
  fc.record({
    fresh: fc.integer({ min: 1, max: 5_000 }),
    placeholder: small,
    more: fc.nat(3_000),
    cacheRead: fc.option(fc.nat(90_000), { nil: undefined }),
    between: fc.option(small, { nil: undefined }),
    delay: fc.nat(3),
    drains: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

test("counters, rows and the root span are exact whenever an answer's last line is read before the session ends", async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      session = new MadeSession();
      await session.hook("SessionStart", { source: "startup" });
      const waiting: { at: number; write: () => Promise<void> }[] = [];
      for (const [n, { fresh, placeholder, more, cacheRead, between, delay, drains }] of all.entries()) {
        const one = session;
        const usage = { fresh, ...(cacheRead !== undefined && { cacheRead }) };
        await one.hook("UserPromptSubmit", { prompt_id: `p${n}`, prompt: "go on" });
        await one.user(`p${n}`);
        await one.answer({ id: `msg_${n}`, usage: { ...usage, output: placeholder }, stopReason: null });
        if (between !== undefined) {
          const output = placeholder + Math.min(between, more);
          const write = () => one.answer({ id: `msg_${n}`, usage: { ...usage, output }, stopReason: null });
          waiting.push({ at: n + Math.floor(delay / 2), write });
        }
        const write = () => one.answer({ id: `msg_${n}`, usage: { ...usage, output: placeholder + more } });
        waiting.push({ at: n + delay, write });
        for (const due of waiting.filter(({ at }) => at === n)) await due.write();
        await one.hook("Stop", { prompt_id: `p${n}` });
        if (drains) await one.drain();
      }
      for (const { write } of waiting.filter(({ at }) => at >= all.length)) await write();
      await session.hook("SessionEnd", { reason: "other" });
      await session.drain();

      const { counters, rows } = countersAndRows(session.storePath);
      expect(counters).toEqual(rows);
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      const input = sum(all.map(({ fresh, cacheRead }) => fresh + (cacheRead ?? 0)));
      const output = sum(all.map(({ placeholder, more }) => placeholder + more));
      expect(rows).toMatchObject({ calls: all.length, input, output });
      const root = rootIn(session);
      expect(root["openhook.session.input_tokens"]).toBe(input);
      expect(root["openhook.session.output_tokens"]).toBe(output);
      expect(root["openhook.session.cache_read_tokens"] ?? 0).toBe(rows.cache_read);
      expect(root["openhook.cost.usd"]).toBe(rows.cost / 1e9);
      expect(root["openhook.usage.incomplete"]).toBeUndefined();
      session.remove();
    }),
    { numRuns: runs(25) },
  );
});

/** The lines of one answer, each with the usage that it reports. */
const answerLines = fc.array(
  fc.record({
    fresh: fc.nat(500),
    output: fc.nat(50),
    cacheRead: fc.nat(500),
    isLast: fc.boolean(),
    drains: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

test("if an answer's usage changes with each line, counters minus their excess equal the rows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answerLines, { minLength: 1, maxLength: 3 }), async (answers) => {
      session?.remove();
      session = new MadeSession();
      let counted: Readonly<Record<string, number>> = {};
      for (const [n, lines] of answers.entries()) {
        await session.hook("UserPromptSubmit", { prompt_id: `p${n}`, prompt: "go on" });
        await session.user(`p${n}`);
        for (const [i, { drains, isLast, ...usage }] of lines.entries()) {
          await session.answer({ id: `msg_${n}`, usage, stopReason: isLast ? "end_turn" : null });
          if (i === 0) await session.hook("Stop", { prompt_id: `p${n}` });
          if (!drains) continue;
          await session.drain();
          const now = countersIn(session);
          for (const [stream, value] of Object.entries(counted)) expect(now[stream]).toBeGreaterThanOrEqual(value);
          counted = now;
        }
      }
      await session.hook("SessionEnd", { reason: "other" });
      await session.drain();
      const { counters, rows } = countersAndRows(session.storePath);
      expect(counters).toEqual(rows);
      const root = rootIn(session);
      expect(root["openhook.session.input_tokens"] ?? 0).toBe(rows.input);
      expect(root["openhook.session.output_tokens"] ?? 0).toBe(rows.output);
      expect(root["openhook.cost.usd"] ?? 0).toBe(rows.cost / 1e9);
      expect(root["openhook.cost.unpriced_calls"] ?? 0).toBe(rows.unpriced);
      expect(root["openhook.usage.incomplete"] ?? false).toBe(rows.incomplete > 0);
    }),
    { numRuns: runs(25) },
  );
});

// --- internal ---

function countersIn(made: MadeSession): Readonly<Record<string, number>> {
  const db = openDatabase(made.storePath);
  try {
    return Object.fromEntries(
      counterValues(db).map(({ metric, attributes, value }) => [JSON.stringify([metric, attributes]), value]),
    );
  } finally {
    db.close();
  }
}

function rootIn(made: MadeSession): SpanRecord["attributes"] {
  const root = made.spans().find(({ attributes }) => attributes["openhook.span.kind"] === "session");
  if (root === undefined) throw new Error("the session has no root span");
  return root.attributes;
}
