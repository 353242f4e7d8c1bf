// Tickets in trailers of commits, as outcomes find them: for sessions with hooks and for imported ones, which stay packed
import { afterEach, expect, test } from "vitest";
import { checkOutcomes } from "../../src/changes/check-outcomes.ts";
import { dueCommits } from "../../src/changes/due-commits.ts";
import { changeReport } from "../../src/report/change-report.ts";
import { findChanges } from "../../src/report/find-change.ts";
import { usage } from "../../src/report/usage.ts";
import { storedChanges } from "../../src/store/changes.ts";
import { readStore } from "../../src/store/read-only.ts";
import { ACME, Work } from "./work.ts";

let work: Work | undefined;
afterEach(() => work?.remove());

async function outcomes(at: Work): Promise<void> {
  const { places } = at.inbox;
  const due = readStore(places.storePath, (db) => dueCommits(db, Date.now(), false)) ?? [];
  const around = { env: process.env, places: { ...places, home: at.home }, platform: process.platform, now: Date.now };
  const { problems, ...found } = await checkOutcomes(due, around, 60_000, "[A-Z]+-\\d+");
  expect(problems).toEqual([]);
  await at.inbox.drain({ outcomes: found }, [ACME]);
}

test("the ticket in a commit's trailer has the calls of the commit, before the ticket of the branch", async () => {
  work = new Work();
  const shop = work.repository();
  work.turn("one", shop, ["git switch -q -c fix/SHOP-7", "git commit --allow-empty -m 'a secret' -m 'Refs: SHOP-12'"]);
  const head = work.head(shop);
  await work.drain();
  work.turn("one", shop, ["git commit --allow-empty -m b"]);
  await work.drain();
  await outcomes(work);
  await outcomes(work);
  const found = readStore(work.inbox.places.storePath, (db) => {
    const [named] = findChanges(db, "shop-12");
    if (named === undefined) throw new Error("the ticket was not found");
    return {
      tickets: storedChanges(db)
        .filter(({ changeKind }) => changeKind === "ticket")
        .map(({ change, certainty, how, commit = "" }) => `${change} ${certainty} ${how} ${commit}`.trim())
        .sort(),
      calls: usage(db, { agents: [ACME] }, { by: ["ticket"] }).map(({ key, calls }) => [key.ticket, calls?.modelCalls]),
      shown: changeReport(db, [ACME], named).commits.map(({ commit }) => commit),
      all: JSON.stringify(["entries", "changes", "commit_outcomes"].map((t) => db.prepare(`SELECT * FROM ${t}`).all())),
    };
  });
  expect(found).toMatchObject({
    tickets: [`SHOP-12 observed trailer ${head}`, "SHOP-7 observed branch-name"],
    calls: [
      ["SHOP-12", 2],
      ["SHOP-7", 3],
    ],
    shown: [head],
  });
  expect(found?.all).not.toContain("a secret");
});
