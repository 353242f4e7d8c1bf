// Slow: only `npm run test:all` runs it. Sums by windows of settled and imported sessions; report/windows.test.ts has the
// rules, commands/report.test.ts the tables.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { RateLimit } from "#core/model/rate-limit.ts";
import { blocksOf } from "#show/report/blocks/blocks.ts";
import { usage } from "#show/report/usage.ts";
import { addFigures, type CallFigures } from "#show/report/usage-facts.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { importInto } from "../import/run.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";
import { runs } from "../support/whole.ts";
import { filledStore } from "./filled.ts";

const at = (text: string): number => Date.parse(`2026-11-21T${text}Z`);
const agents = await allAgents();

describe("sums of a store with settled, running and imported sessions", () => {
  let of: Replay;
  let db: Database;
  let exact: Database;
  let imported: Replay;
  beforeAll(async () => {
    ({ of } = await filledStore());
    imported = new Replay("codex", "subagent");
    imported.writeTranscripts();
    await importInto(imported, "codex");
    [db, exact] = [openDatabase(of.places.storePath), openDatabase(imported.places.storePath)];
  });
  afterAll(() => {
    for (const one of [db, exact]) one.close();
    for (const one of [of, imported]) one.remove();
  });

  const ALWAYS = { sinceMs: 0, untilMs: Number.POSITIVE_INFINITY };
  const tablesOf = (store: Database, resets: readonly number[], question = {}) => {
    const limits = resets.flatMap((resetsAtMs): RateLimit[] => [
      { window: "five_hour", percent: 3, resetsAtMs },
      { window: "seven_day", percent: 4, resetsAtMs: resetsAtMs + 86_400_000 },
    ]);
    const reported = new Map(agents.map(({ source }) => [source, limits] as const));
    return blocksOf(store, agents, reported, { ...ALWAYS, ...question });
  };
  const sum = (all: readonly CallFigures[]): CallFigures | undefined =>
    all.reduce<CallFigures | undefined>((a, b) => (a === undefined ? b : addFigures(a, b)), undefined);
  /** Without undefined members and figures that no call has. */
  const plain = (figures: unknown) => JSON.parse(JSON.stringify(figures)) as unknown;
  const callsIn = (store: Database, agent?: string) =>
    plain(usage(store, { agents }, { by: [], ...(agent !== undefined && { agent }) })[0]?.calls);
  const someTimes = fc.array(fc.integer({ min: at("04:00"), max: at("12:00") }), { maxLength: 4 });

  test("equal those of the report, whatever windows were reported", () => {
    fc.assert(
      fc.property(someTimes, (resets) => {
        for (const store of [db, exact]) {
          const { tables, undivided } = tablesOf(store, resets);
          expect(undivided).toBe(0);
          for (const { blocks, total } of tables) {
            expect(plain(sum(blocks.map(({ calls }) => calls)))).toEqual(callsIn(store));
            expect(plain(total?.calls)).toEqual(callsIn(store));
            for (const agent of new Set(blocks.map((block) => block.agent))) {
              const own = blocks.filter((block) => block.agent === agent);
              expect(plain(sum(own.map(({ calls }) => calls)))).toEqual(callsIn(store, agent));
            }
          }
        }
      }),
      { numRuns: runs(20) },
    );
  });

  test("a boundary divides imported calls to the millisecond", () => {
    const [packed, rows] = ["packed", "model_calls"].map(
      (table) => exact.prepare(`SELECT 1 FROM ${table}`).all().length,
    );
    expect([packed ?? 0, rows]).toEqual([expect.any(Number), 0]);
    expect(packed).toBeGreaterThan(0);
    const range = exact.prepare("SELECT min(first_ms) AS first, max(last_ms) AS last FROM sessions").get();
    const divided = new Set<number>();
    for (let ms = Math.floor(Number(range?.["first"])); ms < Number(range?.["last"]) + 500; ms += 500) {
      const [{ blocks } = { blocks: [] }] = tablesOf(exact, [ms]).tables;
      divided.add(blocks.find(({ endMs }) => endMs === ms)?.calls.modelCalls ?? 0);
    }
    const all = usage(exact, { agents }, { by: [] })[0]?.calls?.modelCalls ?? 0;
    expect(divided.size, "the calls of a quarter end one by one").toBeGreaterThan(2);
    expect(Math.max(...divided)).toBe(all);
  });

  test("windows that overlap the time are included whole, the newest are shown", () => {
    const [all, weeks] = tablesOf(db, [at("06:00")]).tables;
    const since = at("05:30");
    const [some] = tablesOf(db, [at("06:00")], { sinceMs: since }).tables;
    expect(some?.blocks).toEqual(all?.blocks.filter(({ endMs }) => endMs > since));
    const [newest] = tablesOf(db, [at("06:00")], { limit: 1 }).tables;
    expect(newest?.blocks).toEqual(all?.blocks.slice(-1));
    expect(newest?.leftOut).toBe((all?.blocks.length ?? 0) - 1);
    expect(newest?.total).toEqual(all?.total);
    expect(weeks?.window).toBe("seven_day");
    expect(tablesOf(db, [], { agent: "codex" }).tables[0]?.blocks.map(({ agent }) => agent)).toEqual(
      expect.not.arrayContaining(["claude-code"]),
    );
  });
});
