// The changes view's data, with commits and changes that are not sent by hooks but stored directly

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EntryOf } from "#core/model/transcript.ts";
import { changeKey, commitKey } from "#core/rules/change-facts.ts";
import { CHANGE_DIMENSIONS } from "#show/report/query.ts";
import type { ChangesDocument, ExplanationDocument } from "#show/view/wire/documents.ts";
import { setRepository } from "#store/changes.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { putOutcomes } from "#store/outcomes.ts";
import { ensureSession } from "#store/sessions.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { ensureBuilt } from "../support/program.ts";
import { Served } from "./served.ts";

const START_MS = Date.UTC(2026, 10, 20, 9);
const MERGED = "a".repeat(40);
const REVERTED = "b".repeat(40);
const UNCHECKED = "c".repeat(40);
const own = new InboxFixture();
let db: Database;
let served: Served;

beforeAll(async () => {
  await ensureBuilt();
  // Four calls each: two before the first commit, one before the second, one after it
  for (const session of ["one", "two", "three"]) {
    own.put({ events: [event(session, "session.end", 9)], entries: [1, 2, 3, 6].map((n) => modelCall(session, n)) });
  }
  await own.drain({ endIdle: true });
  db = openDatabase(own.places.storePath);
  for (const session of ["one", "two"]) {
    setRepository(db, stored(session).id, { name: "shop", url: "https://github.com/acme/shop" }, undefined);
  }
  add(
    "one",
    commit(MERGED, 2.5),
    commit(REVERTED, 4),
    branch("fix/x", 5),
    pull("7", "https://github.com/acme/shop/pull/7"),
  );
  add("two", { ...commit(UNCHECKED, 2.5), certainty: "inferred" }, branch("fix/x", 5));
  const { branch: _, ...withoutBranch } = pull("9", "javascript:alert(1)//pull/9");
  add("three", withoutBranch);
  const repository = Number(
    db.prepare("SELECT repository_id AS id FROM sessions WHERE session_id = 'one'").get()?.["id"],
  );
  const common = { repository, checkedMs: START_MS, attested: [] };
  putOutcomes(db, [
    {
      ...common,
      commit: MERGED,
      id: MERGED,
      fate: "merged",
      rewritten: { by: "d".repeat(40), how: "squash" },
      lines: { written: 40, now: 20, after: { 1: 40, 7: 30 } },
    },
    { ...common, commit: REVERTED, id: REVERTED, fate: "reverted", revertedBy: "e".repeat(40) },
  ]);
  served = await Served.at(own.places, () => START_MS + 10 * MINUTE_MS);
});
afterAll(async () => {
  await served.close();
  db.close();
  own.remove();
});

const changes = async (query: string): Promise<ChangesDocument> =>
  (await served.json(`api/changes?${query}`)) as unknown as ChangesDocument;

test("a repository that is named by its folder can be chosen, and filters the list", async () => {
  const list = async (query: string) =>
    (await served.json(`api/sessions?${query}`)) as {
      matchCount: number;
      choices: { repositories: readonly string[] };
    };
  expect((await list("")).choices.repositories).toEqual(["shop"]);
  expect((await list("repository=shop")).matchCount).toBe(3);
  expect((await list("repository=other")).matchCount).toBe(0);
});

describe("changes", () => {
  test.each(CHANGE_DIMENSIONS)(
    "by %s: rows and the work without one are the cost of all sessions, exactly",
    async (by) => {
      const { rows, without, withCost, total } = await changes(`by=${by}`);
      const nanoUsd = (usd: number | null | undefined): number => Math.round((usd ?? 0) * 1e9);
      const costOf = (all: readonly { figures: { cost_usd: number | null } }[]): number =>
        all.reduce((sum, { figures }) => sum + nanoUsd(figures.cost_usd), 0);
      expect(total).toMatchObject({ model_calls: 12, costIsLowerBound: false });
      expect(costOf(rows)).toBe(nanoUsd(withCost.cost_usd));
      expect(nanoUsd(withCost.cost_usd) + nanoUsd(without?.cost_usd)).toBe(nanoUsd(total?.cost_usd));
      for (const { figures, sessions } of rows) expect(costOf(sessions)).toBe(nanoUsd(figures.cost_usd));
    },
  );

  test("a commit: certainty, time, session and what became of it", async () => {
    const { rows, outcome } = await changes("by=commit&sort=recent");
    expect(rows.map(({ key, certainty, timeMs }) => [key, certainty, timeMs])).toEqual([
      [REVERTED, "observed", START_MS + 4 * MINUTE_MS],
      [MERGED, "observed", START_MS + 2.5 * MINUTE_MS],
      [UNCHECKED, "inferred", START_MS + 2.5 * MINUTE_MS],
    ]);
    const changeOf = (id: string) => rows.find(({ key }) => key === id);
    expect(changeOf(MERGED)).toMatchObject({
      agents: ["acme"],
      sessions: [
        {
          source: "acme",
          session_id: "one",
          prompt: null,
          lastMs: START_MS + 9 * MINUTE_MS,
          figures: { model_calls: 2 },
        },
      ],
      outcome: {
        unchecked: 0,
        fates: { merged: 1 },
        kept: { days: 7, written: 40, kept: 30 },
        note: `as ${"d".repeat(10)}`,
      },
    });
    expect(changeOf(REVERTED)?.outcome).toMatchObject({
      fates: { reverted: 1 },
      kept: null,
      note: `by ${"e".repeat(10)}`,
    });
    expect(changeOf(UNCHECKED)?.outcome).toMatchObject({ unchecked: 1, kept: null, note: null });
    expect(outcome).toMatchObject({ commits: 3, unchecked: 1, rewritten: 1 });
  });

  test("a pull request: all sessions on its branch, its address, and its commits", async () => {
    const { rows } = await changes("by=change");
    expect(rows.map(({ key, url, sessions }) => [key, url, sessions.length])).toEqual([
      ["acme/shop#7", "https://github.com/acme/shop/pull/7", 2],
      // No address that runs a script
      [expect.stringContaining("9"), null, 1],
    ]);
    expect(rows[0]?.outcome).toMatchObject({ commits: 3, fates: { merged: 1, reverted: 1 }, unchecked: 1 });
    expect(rows[1]?.outcome).toBeNull();
  });

  test("filters: one change, text, one session, a period, the number of rows", async () => {
    expect((await changes("by=change&key=acme/shop%237")).rows).toHaveLength(1);
    expect((await changes("by=commit&text=BBBBB")).rows.map(({ key }) => key)).toEqual([REVERTED]);
    const ofOne = await changes("by=commit&source=acme&id=one");
    expect([ofOne.rows.length, ofOne.total?.model_calls]).toEqual([2, 4]);
    expect((await changes(`by=commit&sinceMs=${START_MS + 86_400_000}`)).total).toBeNull();
    expect(await changes("by=commit&limit=1")).toMatchObject({ rows: [{}], rowCount: 3 });
    expect((await served.ask("api/changes?by=place")).status).toBe(400);
    expect((await served.ask("api/changes?source=acme&id=nobody")).status).toBe(404);
  });

  test("a session's explanation names what it led to, also after another session's pull request", async () => {
    const explained = async () => await served.ask("api/explain?source=acme&id=two");
    const first = await explained();
    const { changes: known } = JSON.parse(first.text) as ExplanationDocument;
    expect(known.map(({ by, key, certainty }) => [by, key, certainty])).toEqual([
      ["change", "acme/shop#7", "observed"],
      ["commit", UNCHECKED, "inferred"],
    ]);
    add("one", { ...pull("8", "https://github.com/acme/shop/pull/8"), timeMs: START_MS + 4.5 * MINUTE_MS });
    const tag = String(first.headers["etag"]);
    expect((await served.ask("api/explain?source=acme&id=two", { headers: { "if-none-match": tag } })).status).toBe(
      200,
    );
  });
});

// --- internal ---

const MINUTE_MS = 60_000;

const event = (session: string, type: string, minute: number) => ({
  openhook: "0.1",
  id: `${session}-${type}`,
  source: "acme",
  type,
  time: new Date(START_MS + minute * MINUTE_MS).toISOString(),
  session_id: session,
  cwd: "/home/dev/shop",
  data: {},
  extensions: {},
});

function modelCall(session: string, minute: number) {
  const timeMs = START_MS + minute * MINUTE_MS;
  const usage = { input: 1000 + minute, output: 100 };
  const model = "claude-sonnet-4-5";
  return {
    kind: "model_call",
    key: `response:${session}-${minute}:`,
    timeMs,
    endMs: timeMs + 1000,
    model,
    usage,
    complete: true,
  };
}

const stored = (session: string) => ensureSession(db, "acme", session, START_MS);

const add = (session: string, ...entries: readonly (EntryOf<"commit"> | EntryOf<"change">)[]) =>
  addEntries(db, stored(session), entries);

const commit = (id: string, minute: number): EntryOf<"commit"> => ({
  kind: "commit",
  key: commitKey(id),
  commit: id,
  timeMs: START_MS + minute * MINUTE_MS,
  certainty: "observed",
  how: "printed",
});

const branch = (name: string, minute: number): EntryOf<"change"> =>
  change({ changeKind: "branch", change: name, how: "branch-name", timeMs: START_MS + minute * MINUTE_MS });

const pull = (number: string, url: string): EntryOf<"change"> =>
  change({
    changeKind: "pull_request",
    change: number,
    url,
    branch: "fix/x",
    isCreated: true,
    how: "printed",
    timeMs: START_MS + 5 * MINUTE_MS,
  });

const change = (of: Omit<EntryOf<"change">, "kind" | "key" | "certainty">): EntryOf<"change"> => ({
  kind: "change",
  key: changeKey(of),
  certainty: "observed",
  ...of,
});
