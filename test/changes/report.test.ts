// Sums over commits and changes are the sums over sessions: to the nano-dollar, with subagents, open turns and several sessions

import { afterAll, beforeAll, expect, test } from "vitest";
import type { EntryOf } from "#core/model/transcript.ts";
import { changeKey, commitKey, NO_BRANCH } from "#core/rules/change-facts.ts";
import { Attribution, identityOf, nameOfChange } from "#show/report/attribution.ts";
import type { Dimension } from "#show/report/query.ts";
import { usage } from "#show/report/usage.ts";
import { csvLines, rowJson } from "#show/report/usage-data.ts";
import type { UsageRow } from "#show/report/usage-rows.ts";
import { storedChanges, storedCommits } from "#store/changes.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { ensureSession } from "#store/sessions.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { ACME, Work } from "./work.ts";

const work = new Work();
let db: Database;
const agents = [ACME];
const figures = (by: readonly Dimension[]) => usage(db, { agents }, { by });
const heads: string[] = [];

beforeAll(async () => {
  const shop = work.repository();
  work.turn("one", shop, ["git switch -q -c fix/SHOP-7", "git commit --allow-empty -m a"]);
  heads.push(work.head(shop));
  await work.drain();
  work.turn("one", shop, ["ls", "git commit --allow-empty -m b"], "helper");
  heads.push(work.head(shop));
  work.turn("two", shop, ["ls"]);
  await work.drain();
  work.turn("three", work.repository("other", "https://github.com/acme/other"), ["ls"]);
  // An open turn
  work.put(work.event("one", "prompt.submit", shop, { prompt_length: 1 }), work.modelCall("one"));
  await work.drain();
  db = openDatabase(work.inbox.places.storePath);
});
afterAll(() => {
  db.close();
  work.remove();
});

const sumOf = (rows: ReturnType<typeof figures>) => ({
  cost: rows.reduce((sum, { calls }) => sum + (calls?.costNanoUsd ?? 0), 0),
  calls: rows.reduce((sum, { calls }) => sum + (calls?.modelCalls ?? 0), 0),
  tools: rows.reduce((sum, { tools }) => sum + (tools?.calls ?? 0), 0),
  turns: rows.reduce((sum, { turns }) => sum + (turns?.turns ?? 0), 0),
});

test("a commit has the model calls of its session up to it, and each call has one commit or none", () => {
  const rows = figures(["commit"]);
  expect(rows.map(({ key, certainty, calls }) => [key.commit, certainty, calls?.modelCalls])).toEqual(
    [
      [heads[0], "observed", 2],
      [heads[1], "observed", 3],
      [null, undefined, 6],
    ].sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : String(a) < String(b) ? -1 : 1)),
  );
  expect(sumOf(rows)).toEqual(sumOf(figures([])));
  expect(sumOf(rows).cost).toBeGreaterThan(0);
  expect(rowJson(rows.at(-1) as UsageRow)).toMatchObject({ commit: null, certainty: null });
  expect([...csvLines({ by: ["commit"] }, rows)].slice(0, 2)).toEqual([
    expect.stringMatching(/^commit,certainty,sessions,/),
    expect.stringMatching(/^[0-9a-f]{40},observed,1,/),
  ]);
});

test("a branch, its ticket and its change have the calls of both sessions on the branch", () => {
  const names = (by: Dimension) =>
    figures([by]).map(({ key, calls, sessions }) => [key[by], sessions, calls?.modelCalls]);
  expect(names("branch")).toEqual([
    ["fix/SHOP-7", 2, 9],
    [null, 1, 2],
  ]);
  expect(names("ticket")).toEqual([
    ["SHOP-7", 2, 9],
    [null, 1, 2],
  ]);
  expect(names("change")).toEqual(names("ticket"));
});

test("whatever commits and changes are known, sums over them are the sums over sessions", () => {
  const [firstMs, lastMs] = Object.values(
    db.prepare("SELECT min(end_ms), max(end_ms) FROM model_calls").get() ?? {},
  ).map(Number) as [number, number];
  const whole = sumOf(figures([]));
  const hex = fc.stringMatching(/^[0-9a-f]{40}$/);
  const timeMs = fc.double({ min: firstMs - 5, max: lastMs + 5, noNaN: true });
  const certainty = fc.constantFrom("observed" as const, "inferred" as const);
  const session = fc.constantFrom("one", "two", "three");
  // Several sessions can know one commit
  const id = fc.oneof(hex, fc.constantFrom("a".repeat(40), "b".repeat(40)));
  const how = fc.constantFrom("printed" as const, "reflog" as const, "edits" as const);
  const commit = fc.record({ session, commit: id, timeMs, certainty, how });
  const many = { maxLength: 6 };
  const trailer = fc.record({ session, timeMs, certainty, commit: id, change: fc.constantFrom("SHOP-7", "SHOP-8") });
  const change = fc.record({
    session,
    timeMs,
    certainty,
    changeKind: fc.constantFrom("pull_request" as const, "ticket" as const, "branch" as const),
    change: fc.constantFrom("1", "2", "main", "fix/x", NO_BRANCH),
    how: fc.constantFrom("printed" as const, "branch-name" as const, "transcript" as const),
    branch: fc.constantFrom(undefined, "fix/x", "fix/SHOP-7"),
    isCreated: fc.constantFrom(undefined, true as const),
  });
  fc.assert(
    fc.property(
      fc.array(commit, many),
      fc.array(change, many),
      fc.array(trailer, many),
      (commits, changes, tickets) => {
        const undo = new Error("undo");
        const check = () => {
          for (const { session, ...one } of commits)
            add(session, { kind: "commit", key: commitKey(one.commit), ...one });
          for (const { session, branch, isCreated, ...one } of changes) {
            const of = { ...(branch !== undefined && { branch }), ...(isCreated && { isCreated }) };
            add(session, { kind: "change", key: `${changeKey(one)}:${one.timeMs}`, ...one, ...of });
          }
          for (const { session, ...one } of tickets) {
            const ticket = { changeKind: "ticket" as const, ...one };
            const key = `${changeKey(ticket)}:${commitKey(one.commit)}`;
            add(session, { kind: "change", key, how: "trailer", ...ticket });
          }
          for (const by of ["commit", "change", "branch", "ticket"] as const) {
            expect(sumOf(figures([by]))).toEqual(whole);
            expect(sumOf(figures([by, "session", "day"]))).toEqual(whole);
            // What led to a change, and the sessions behind it: together with the work without one, everything
            const facts = by === "commit" ? storedCommits(db) : storedChanges(db);
            const ledTo = { dimension: by, identities: new Set(facts.map(identityOf)) };
            const behind = usage(db, { agents }, { by: ["session"], ledTo });
            expect(sumOf(behind)).toEqual(sumOf(usage(db, { agents }, { by: [], ledTo })));
            expect(sumOf([...behind, ...figures([by]).filter(({ key }) => key[by] === null)])).toEqual(whole);
          }
          throw undo;
        };
        try {
          db.transaction(check);
        } catch (error) {
          if (error !== undo) throw error;
        }
      },
    ),
    { numRuns: runs(80) },
  );
});

const add = (session: string, entry: EntryOf<"commit"> | EntryOf<"change">) =>
  addEntries(db, ensureSession(db, "acme", session, entry.timeMs), [entry]);

const commitOf = (session: number, digit: string, timeMs: number, certainty: "observed" | "inferred" = "observed") => ({
  session,
  commit: digit.repeat(40),
  timeMs,
  certainty,
  how: "printed" as const,
});

test("an inferred commit takes nothing from an observed one, and nothing at all if another session made it", () => {
  const of = new Attribution(
    [commitOf(1, "a", 10, "inferred"), commitOf(1, "b", 20), commitOf(1, "c", 30, "inferred"), commitOf(2, "c", 25)],
    [],
  );
  const at = (timeMs: number) => of.at(1, timeMs).commit?.commit[0];
  expect([5, 20, 21, 26].map(at)).toEqual(["b", "b", undefined, undefined]);
});

test("a pull request has the work on its branch, before and after it was created, in any session", () => {
  const common = { certainty: "observed", repository: 1 } as const;
  const branch = (session: number, change: string, timeMs: number) =>
    ({ session, changeKind: "branch", change, timeMs, how: "branch-name", ...common }) as const;
  const url = "https://gitlab.example.com/a/b/shop/-/merge_requests/7";
  const pull = { changeKind: "pull_request", change: "7", url, branch: "fix/x", how: "printed", ...common } as const;
  const of = new Attribution(
    [],
    [
      branch(1, "fix/x", 10),
      { session: 1, timeMs: 9, ...pull },
      branch(1, "main", 20),
      branch(2, "fix/x", 40),
      branch(3, "b", 40),
    ],
  );
  const at = (session: number, timeMs: number) => {
    const { change } = of.at(session, timeMs);
    return change === undefined ? undefined : nameOfChange(change);
  };
  expect([at(1, 5), at(1, 10), at(1, 15), at(2, 30), at(3, 30), at(4, 30)]).toEqual([
    "a/b/shop!7",
    "a/b/shop!7",
    undefined,
    "a/b/shop!7",
    "b",
    undefined,
  ]);
});
