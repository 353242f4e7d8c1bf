// Slow: only `npm run test:all` runs it. Figures of a comparison against the report's; method.test.ts compares them.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { sessionFigures } from "#show/report/compare/session-figures.ts";
import { summarise } from "#show/report/session-summary.ts";
import { usage } from "#show/report/usage.ts";
import { addFigures, NO_TOOLS, NO_TURNS, NOTHING } from "#show/report/usage-facts.ts";
import { setRepository } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { putOutcomes } from "#store/outcomes.ts";
import { readStore } from "#store/read-only.ts";
import { sessionById } from "#store/sessions.ts";
import { filledStore } from "../filled.ts";
import { MODELS, PlantedSessions } from "./planted.ts";

const agents = await allAgents();
const made: { remove(): void }[] = [];
afterEach(() => {
  for (const one of made.splice(0)) one.remove();
});

/** The figures of each session are those of its row in `report session`, and its time at work is that of `sessions`. */
function expectAsReported(db: Database): number {
  const figures = sessionFigures(db, agents, {});
  const rows = new Map(usage(db, { agents }, { by: ["session"] }).map((row) => [row.key.session, row]));
  for (const [number, { calls, tools, turns, byModel, workMs, isUsageUnknown }] of figures) {
    const stored = sessionById(db, number);
    const row = rows.get(`${stored.source}/${stored.sessionId}`);
    expect(calls).toEqual(row?.calls);
    expect(tools).toEqual(row?.tools ?? NO_TOOLS);
    expect(turns).toEqual(row?.turns ?? NO_TURNS);
    expect([...byModel.values()].reduce(addFigures, NOTHING)).toEqual(calls);
    expect(isUsageUnknown).toBe((row?.sessionsWithoutUsage ?? 0) > 0);
    expect(workMs ?? 0).toBeCloseTo(summarise(db, stored, { agents }).workMs, 3);
  }
  expect(figures.size).toBe(rows.size);
  return figures.size;
}

test("figures of sessions that hooks reported, settled and running, are those of the report", async () => {
  const { of } = await filledStore();
  made.push(of);
  expect(readStore(of.places.storePath, expectAsReported)).toBeGreaterThan(10);
});

test("figures of imported sessions are those of the report; a resumed one and its last version are known", async () => {
  const of = new PlantedSessions()
    .add(4)
    .add(2, { models: [MODELS.a, MODELS.b] })
    .add(1, { usage: false });
  made.push(await of.add(1, { version: "2.1.1", resumedBy: "2.1.2" }).imported());
  readStore(of.replay.places.storePath, (db) => {
    expect(expectAsReported(db)).toBe(8);
    const versions = [...sessionFigures(db, agents, {}).values()].map(({ version, isResumed }) => [version, isResumed]);
    expect(versions.filter(([, isResumed]) => isResumed)).toEqual([["2.1.2", true]]);
    expect(versions).toContainEqual(["2.1.1", false]);
  });
});

test("sessions count by their beginning, as a whole", async () => {
  const of = new PlantedSessions().add(5);
  made.push(await of.imported());
  const sinceMs = PlantedSessions.startMs + 2 * 3_600_000;
  const found = readStore(of.replay.places.storePath, (db) => [
    ...sessionFigures(db, agents, { sinceMs, untilMs: sinceMs + 2 * 3_600_000 }).values(),
  ]);
  expect(found?.map(({ turns }) => turns.turns).sort()).toEqual([1, 3]);
});

test("merged branches and kept lines belong to the sessions that made them, in parts if there are several", async () => {
  const of = new PlantedSessions().add(4);
  made.push(await of.imported());
  const db = openDatabase(of.replay.places.storePath);
  const sessions = [...sessionFigures(db, agents, {}).keys()];
  const commits = [
    { by: 0, branch: "fix/a", fate: "merged", lines: { written: 40, after: { 7: 30 } } },
    { by: 1, branch: "fix/a", fate: "merged", lines: { written: 10, after: { 1: 10 } } },
    { by: 1, branch: "fix/b", fate: "gone" },
    { by: 2, branch: "fix/c", fate: "open" },
    { by: 2, branch: "fix/d", fate: "merged" },
  ] as const;
  for (const [at, { by, branch }] of commits.entries()) {
    const session = sessionById(db, sessions[by] ?? -1);
    setRepository(db, session.id, { name: "shop", url: "https://host/acme/shop" }, undefined);
    const commit = `${at}abcdef`;
    const fact = { commit, branch, certainty: "observed", how: "printed" } as const;
    addEntries(db, session, [{ kind: "commit", key: `commit:${commit}`, timeMs: session.lastMs, ...fact }]);
  }
  const outcome = { repository: 1, checkedMs: 1, attested: [] };
  putOutcomes(
    db,
    commits.map(({ by, branch, ...one }, at) => ({
      ...outcome,
      ...one,
      commit: `${at}abcdef`,
      id: `${at}abcdef`.padEnd(40, "0"),
    })),
  );
  const found = [...sessionFigures(db, agents, {}).values()].map(({ merged, kept }) => [merged, kept]);
  db.close();
  expect(found).toEqual([
    [0.5, { written: 40, kept: 30 }],
    [0.5, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});
