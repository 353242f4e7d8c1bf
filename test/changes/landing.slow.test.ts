// Slow: only `npm run test:all` runs it. What names a pull request in a commit's message; report.test.ts and
// commands/outcomes.test.ts have merged commits.
// What the commit says that brought an agent's commit to the default branch
import { afterEach, expect, test } from "vitest";
import { checkOutcomes } from "#changes/check-outcomes.ts";
import { dueCommits } from "#changes/due-commits.ts";
import { pullIn } from "#changes/git/landing.ts";
import { changeComment } from "#show/report/change-comment.ts";
import { changeJson, changeReport } from "#show/report/change-report.ts";
import { findChanges } from "#show/report/find-change.ts";
import { changeLines } from "#show/report/text/change.ts";
import { storedChanges } from "#store/changes.ts";
import { storedOutcomes } from "#store/outcomes.ts";
import { readStore } from "#store/read-only.ts";
import { ACME, Work } from "./work.ts";

let work: Work | undefined;
afterEach(() => work?.remove());

/** What is known after an agent committed on a branch, and somebody brought it to `main` with some commands. */
async function landed(commands: string, name: string, title = "Tax") {
  const at = new Work();
  work = at;
  const shop = at.repository();
  at.run("git remote remove origin", shop);
  at.turn("one", shop, ["git switch -q -c fix", "echo 1 > tax.js && git add tax.js", `git commit -m "${title}"`]);
  await at.drain();
  const { status, output } = at.run(commands, shop);
  expect(status, output).toBe(0);
  const { places } = at.inbox;
  const due = readStore(places.storePath, (db) => dueCommits(db, Date.now(), false)) ?? [];
  const around = { env: process.env, places: { ...places, home: at.home }, platform: process.platform, now: Date.now };
  const { problems, ...outcomes } = await checkOutcomes(due, around, 60_000, "[A-Z]+-\\d+");
  expect(problems).toEqual([]);
  await at.inbox.drain({ outcomes }, [ACME]);
  return readStore(places.storePath, (db) => {
    const [named] = findChanges(db, name);
    const report = named && changeReport(db, [ACME], named);
    return {
      fates: storedOutcomes(db).map(({ fate, landingPull }) => [fate, landingPull]),
      tickets: storedChanges(db).flatMap((one) =>
        one.changeKind === "ticket" ? [`${one.change} ${one.certainty} ${one.how}`] : [],
      ),
      pulls: storedChanges(db).filter(({ changeKind }) => changeKind === "pull_request"),
      kind: named?.kind,
      certainty: report && changeJson(report).certainty,
      text: report && [...changeLines(report, { columns: 120, colour: false })].join("\n"),
      comment: report && changeComment(report, [ACME]),
    };
  });
}

test("a squash commit that names a pull request: its commits are inferred, its trailers count", async () => {
  const found = await landed(
    "git switch -q main && git merge -q --squash fix && git commit -qm 'Taxes (#12)' -m 'Refs: SHOP-7'",
    "#12",
  );
  expect(found).toMatchObject({
    fates: [["merged", "#12"]],
    tickets: ["SHOP-7 observed trailer"],
    pulls: [],
    kind: "pull_request",
    certainty: "inferred",
  });
  expect(found?.text).toContain("inferred from the messages");
  expect(found?.comment).toContain("certainty: inferred, from the messages");
});

test("a merge commit that names a pull request shows that it was merged", async () => {
  const merge = "git switch -q main && git merge -q --no-ff fix -m 'Merge pull request #34 from acme/fix' -m 'Taxes'";
  expect(await landed(merge, "#34")).toMatchObject({ fates: [["merged", "#34"]], kind: "pull_request" });
});

test("a number in the title of the agent's own commit is no pull request, because it can be anything", async () => {
  const found = await landed("git switch -q main && git merge -q --ff-only fix", "#12", "Tax (#12)");
  expect(found).toMatchObject({ fates: [["merged", undefined]], kind: undefined });
});

test.each([
  ["Taxes (#12)", "#12"],
  ['Revert "Taxes (#12)" (#15)', "#15"],
  ['Revert "Taxes (#12)"', undefined],
  ["Taxes, see #12", undefined],
  ["(#12)", undefined],
  ["Merge pull request #12 from acme/fix\n\nTaxes (#9)", "#12"],
  ["Merge branch 'fix' into 'main'\n\nTaxes\n\nSee merge request acme/shop!12", "!12"],
  ["Merged in fix/tax (pull request #12)\n\nTaxes", "#12"],
  ["Merged PR 12: Taxes", "#12"],
  ["Taxes\n\nFixes (#12)", undefined],
])("the pull request in %j", (message, expected) => {
  expect(pullIn(message)).toBe(expected);
});
