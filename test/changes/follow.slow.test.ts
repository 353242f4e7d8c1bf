// Slow: only `npm run test:all` runs it. Each situation of a commit in a repository; commands/outcomes.test.ts follows merged
// and rewritten ones.
import { afterAll, describe, expect, test } from "vitest";
import { followCommits } from "#changes/git/follow.ts";
import { findGit, Git } from "#changes/git/git.ts";
import type { CommitOutcome } from "#core/model/outcomes.ts";
import { type Checkout, GitWorld, lines } from "../support/git-world.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { SITUATIONS } from "./situations.ts";

const worlds: GitWorld[] = [];
afterAll(() => {
  for (const world of worlds) world.remove();
});

function world(): GitWorld {
  const made = new GitWorld();
  worlds.push(made);
  return made;
}

/** What became of all commits with a label, by label. */
async function outcomes(repo: Checkout, folder = repo.folder): Promise<Record<string, CommitOutcome>> {
  const { world } = repo;
  const program = findGit(process.env, { projects: [folder], home: world.home }) ?? "";
  const git = new Git({ program, folder, home: world.home, env: {}, untilMs: performance.now() + 60_000 });
  const labels = [...world.commits];
  const found = await followCommits(
    git,
    labels.map(([, commit]) => ({ commit, timeMs: world.nowMs - 40 * 86_400_000 })),
    world.nowMs,
    "[A-Z]+-\\d+",
  );
  return Object.fromEntries(labels.map(([label], at) => [label, found[at] as CommitOutcome]));
}

/** In `npm test`: one of each way in which a fate is found. */
const CHOSEN: ReadonlySet<string> = new Set([
  "the agent amends its commit",
  "the user rebases a branch and merges it",
  "a branch is squashed after the user added a commit, and deleted",
  "the merge of a branch is reverted",
  "a shallow clone does not have the commit",
  "files with unusual names and contents",
]);

describe("what became of commits", () => {
  test.each(SITUATIONS.filter(({ name }) => IS_WHOLE || CHOSEN.has(name)))("$name", async ({ run, commits }) => {
    const made = world();
    const found = await outcomes(run(made));
    const labelOf = (id: string | undefined) => [...made.commits].find(([, commit]) => commit === id)?.[0];
    for (const [label, answer] of Object.entries(commits)) {
      const { fate, rewritten, lines: counted } = found[label] as CommitOutcome;
      expect({
        label,
        fate,
        ...(rewritten !== undefined && { rewritten: [labelOf(rewritten.by), rewritten.how] }),
        ...(answer.lines !== undefined && { lines: [counted?.written, counted?.now] }),
      }).toEqual({
        label,
        fate: answer.fate,
        ...(answer.rewritten !== undefined && { rewritten: answer.rewritten }),
        ...(answer.lines !== undefined && { lines: answer.lines }),
      });
    }
  });
});

test("a commit on the default branch is merged, and its lines are counted after 1, 7 and 30 days", async () => {
  const repo = world().repository();
  repo.write("src/tax.js", lines("tax", 10)).commit("tax");
  repo.world.days(2);
  repo.write("src/tax.js", lines("tax", 8)).commit("shorter");
  repo.world.days(10);
  repo.move("src/tax.js", "src/rates/tax.js").commit("moved");
  repo.world.days(30);
  repo.write("src/rates/tax.js", lines("tax", 3)).commit("shortest");
  const { tax, shortest } = await outcomes(repo);
  expect(tax).toMatchObject({ fate: "merged", lines: { written: 10, now: 3, after: { 1: 10, 7: 8, 30: 8 } } });
  expect(shortest).toMatchObject({ fate: "merged", lines: { written: 0, now: 0, after: {} } });
});

test.runIf(IS_WHOLE)(
  "many commits with files of their own: each is found where it was rewritten, and each revert too",
  async () => {
    const repo = world().repository();
    const names = Array.from({ length: 70 }, (_, at) => `part-${at}`);
    repo.git("checkout", "-qb", "work");
    for (const name of names) repo.write(`src/${name}.js`, lines(name, 3)).commit(name);
    repo.world.days(1);
    repo.git("checkout", "-q", "main");
    repo.write("README.md", lines("readme", 2)).commit("readme");
    // Without the author's time, so that only the patches are equal
    repo.git("checkout", "-q", "work");
    repo.git("rebase", "-q", "--reset-author-date", "main");
    repo.git("checkout", "-q", "main");
    repo.git("merge", "-q", "--ff-only", "work");
    repo.git("branch", "-qD", "work");
    repo.world.days(1);
    for (const name of names) repo.delete(`src/${name}.js`).commit(`without ${name}`);
    repo.world.days(40);
    const found = await outcomes(repo);
    expect(names.filter((name) => found[name]?.fate !== "reverted" || found[name]?.rewritten?.how !== "patch")).toEqual(
      [],
    );
  },
);
