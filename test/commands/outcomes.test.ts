import { mkdirSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { outcomes } from "#commands/outcomes.ts";
import { placesOf } from "#config/places.ts";
import { commitKey } from "#core/rules/change-facts.ts";
import { setRepository } from "#store/changes.ts";
import { openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { putOutcomes, storedOutcomes } from "#store/outcomes.ts";
import { ensureSession } from "#store/sessions.ts";
import { contextAt, SGR } from "../support/context.ts";
import { type Checkout, GitWorld, lines } from "../support/git-world.ts";

let world = new GitWorld();
afterEach(() => {
  world.remove();
  world = new GitWorld();
});

const DAY_MS = 86_400_000;
const places = () => placesOf({ env: {}, home: world.home, platform: "linux" });

/** A store that knows commits of a repository, each by its first digits, as git prints them. */
function storeWith(repo: Checkout, labels: Readonly<Record<string, "observed" | "inferred">>): void {
  mkdirSync(places().stateDir, { recursive: true, mode: 0o700 });
  const db = openDatabase(places().storePath);
  const session = ensureSession(db, "claude-code", "one", world.nowMs);
  setRepository(db, session.id, { name: "shop" }, `${repo.folder}/.git`);
  for (const [label, certainty] of Object.entries(labels)) {
    const commit = (world.commits.get(label) ?? "").slice(0, 7);
    const timeMs = world.nowMs - DAY_MS;
    addEntries(db, session, [{ kind: "commit", key: commitKey(commit), commit, timeMs, certainty, how: "printed" }]);
  }
  db.close();
}

async function run(options: { readonly json?: boolean; readonly quiet?: boolean } = {}) {
  const { context, out, err } = contextAt(places(), {
    env: { PATH: process.env["PATH"] ?? "" },
    columns: 120,
    now: () => world.nowMs,
  });
  const code = await outcomes({ all: false, quiet: false, json: false, ...options }, context);
  return { code, out: out(), err: err() };
}

function repository(): Checkout {
  const repo = world.repository();
  repo.write("src/tax.js", lines("tax", 10)).commit("tax");
  repo.write("src/vat.js", lines("vat", 10)).commit("vat");
  repo.git("revert", "--no-edit", "HEAD");
  return repo;
}

test("commits are counted once, however often it runs, with their certainty; nothing of the repository changes", async () => {
  const repo = repository();
  storeWith(repo, { tax: "observed", vat: "inferred" });
  world.days(2);
  const before = repo.git("for-each-ref");
  await run();
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(
    out
      .replaceAll(SGR, "")
      .split("\n")
      .slice(0, 3)
      .map((line) => line.trim().split(/ {2,}/)),
  ).toEqual([
    [
      "repository",
      "certainty",
      "commits",
      "merged",
      "reverted",
      "open",
      "gone",
      "unknown",
      "rewritten",
      "lines",
      "1d",
      "7d",
      "30d",
    ],
    ["shop", "observed", "1", "1", "0", "0", "0", "0", "0", "10", "100%", "-", "-"],
    ["shop", "inferred", "1", "0", "1", "0", "0", "0", "0", "10", "0%", "-", "-"],
  ]);
  expect(repo.git("for-each-ref")).toBe(before);
  const { out: json } = await run({ json: true });
  expect(JSON.parse(json)).toMatchObject({
    commits: [
      { commit: world.commits.get("tax"), certainty: "observed", fate: "merged", lines: { written: 10, now: 10 } },
      { commit: world.commits.get("vat"), certainty: "inferred", fate: "reverted", lines: { written: 10, now: 0 } },
    ],
    problems: [],
  });
});

test("lines of a rewritten commit count once: with the known commit that has them, otherwise with itself", async () => {
  const repo = world.repository();
  repo.write("src/tax.js", lines("tax", 10)).commit("tax");
  repo.append("src/tax.js", "more\n").git("commit", "-qa", "--amend", "-m", "Amended");
  repo.mark("amended");
  storeWith(repo, { tax: "observed" });
  expect(await linesOf()).toEqual([["observed", 10]]);
  storeWith(repo, { amended: "inferred" });
  expect(await linesOf()).toEqual([
    ["observed", 10],
    ["inferred", 0],
  ]);
  storeWith(repo, { amended: "observed" });
  expect(await linesOf()).toEqual([["observed", 11]]);
});

/** Lines of each row of the summary. */
async function linesOf(): Promise<readonly [string, number][]> {
  const { repositories } = JSON.parse((await run({ json: true })).out);
  return repositories.map((one: { certainty: string; lines: { written: number } }) => [
    one.certainty,
    one.lines.written,
  ]);
}

test("what was known stays known if the repository can no longer say it", async () => {
  const repo = repository();
  storeWith(repo, { tax: "observed" });
  await run({ quiet: true });
  const db = openDatabase(places().storePath);
  const [first] = storedOutcomes(db);
  if (first === undefined) throw new Error("nothing was stored");
  putOutcomes(db, [
    { repository: first.repository, commit: first.commit, checkedMs: 1, fate: "unknown", reason: "x", attested: [] },
  ]);
  expect(storedOutcomes(db)).toEqual([{ ...first, checkedMs: 1 }]);
  db.close();
});

test("a repository that is gone or must not be read is named, and its commits are unknown, not lost", async () => {
  const repo = repository();
  storeWith(repo, { tax: "observed" });
  repo.delete(".git");
  const { code, out } = await run({ json: true });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    commits: [{ fate: null, lines: null }],
    problems: [expect.stringContaining("is gone")],
  });
});

test("a project that switches this program off is not read", async () => {
  const repo = repository();
  storeWith(repo, { tax: "observed" });
  const db = openDatabase(places().storePath);
  db.prepare("UPDATE sessions SET cwd = ?").run(repo.folder);
  db.close();
  repo.write(".openhook-otel.json", '{ "disabled": true }');
  const { out } = await run({ json: true });
  expect(JSON.parse(out).commits.map(({ fate }: { fate: unknown }) => fate)).toEqual([null]);
});

test("without a store it says what to do", async () => {
  expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining("no sessions yet") });
});
