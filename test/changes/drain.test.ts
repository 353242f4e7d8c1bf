// Real repositories, real git, the real drain: what it knows of the commits of agents
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { storedChanges, storedCommits, storedRepositories } from "#store/changes.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { Work } from "./work.ts";

let work: Work;
beforeEach(() => {
  work = new Work();
});
afterEach(() => work.remove());

async function drained<T>(read: (db: ReturnType<typeof openDatabase>) => T): Promise<T> {
  const { problems, quarantined } = await work.drain();
  expect({ problems, quarantined }).toEqual({ problems: [], quarantined: 0 });
  const db = openDatabase(work.inbox.places.storePath);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const commits = () => drained((db) => storedCommits(db).map((one) => `${one.commit} ${one.certainty} ${one.how}`));

test("a printed commit has its whole id, kind, branch and repository", async () => {
  const shop = work.repository();
  work.turn("one", shop, ["git switch -q -c fix/SHOP-12-UTF-8", "git commit --allow-empty -m 'a secret subject'"]);
  const head = work.head(shop);
  const found = await drained((db) => ({
    commits: storedCommits(db),
    changes: storedChanges(db).map(({ changeKind, change, certainty }) => `${changeKind} ${change} ${certainty}`),
    repositories: storedRepositories(db).map(({ url }) => url),
    counted: counterValues(db).flatMap(({ metric, value }) => (/commit|change/.test(metric) ? [[metric, value]] : [])),
    all: JSON.stringify(["events", "entries", "spans", "commits"].map((t) => db.prepare(`SELECT * FROM ${t}`).all())),
  }));
  expect(found.commits).toMatchObject([
    {
      commit: head,
      certainty: "observed",
      how: "printed",
      commitKind: "commit",
      branch: "fix/SHOP-12-UTF-8",
      repository: 1,
    },
  ]);
  expect(found.changes).toEqual(["branch fix/SHOP-12-UTF-8 observed", "ticket SHOP-12 observed"]);
  expect(found.counted).toEqual([
    ["openhook.change.count", 1],
    ["openhook.change.count", 1],
    ["openhook.commit.count", 1],
  ]);
  expect(found.repositories).toEqual(["https://github.com/acme/shop.git"]);
  expect(found.all).not.toContain("secret subject");
});

test("quiet commits are observed in the log of HEAD, if the call made as many as there are", async () => {
  const shop = work.repository();
  work.turn("one", shop, ["git commit -q --allow-empty -m a && git commit -q --allow-empty -m b"]);
  expect(await commits()).toEqual([
    `${work.run("git rev-parse HEAD~1", shop).output.trim()} observed reflog`,
    `${work.head(shop)} observed reflog`,
  ]);
});

test("other commits that appear in the log of HEAD while a call runs are inferred", async () => {
  const shop = work.repository();
  writeFileSync(join(shop, "release.sh"), "git commit -q --allow-empty -m release");
  work.turn("one", shop, ["sh release.sh"]);
  expect(await commits()).toEqual([`${work.head(shop)} inferred reflog`]);
});

test("checkouts, resets, fast-forwards and failed commits are no commits", async () => {
  const shop = work.repository();
  work.run("git switch -q -c other && git commit -q --allow-empty -m theirs && git switch -q main", shop);
  work.turn("one", shop, [
    "git merge other",
    "git commit -m nothing",
    "git reset --hard HEAD~1",
    "git switch -q other",
    "git commit --dry-run",
  ]);
  const found = await commits();
  // The fixture's own commit can have the same second as the first call, so inferred ones are allowed
  expect(found.filter((one) => one.includes("observed"))).toEqual([]);
});

test("an amended commit replaces the one before; the same payload again changes nothing", async () => {
  const shop = work.repository();
  work.turn("one", shop, ["git commit --allow-empty -m a"]);
  const first = work.head(shop);
  await work.drain();
  work.turn("one", shop, ["git commit --amend --allow-empty -m b"]);
  const found = await drained((db) => storedCommits(db));
  expect(found).toMatchObject([
    { commit: first, certainty: "observed" },
    { commit: work.head(shop), certainty: "observed", commitKind: "amend", replaces: first },
  ]);
  expect(await drained((db) => storedCommits(db))).toEqual(found);
});

test("a pull request belongs to the branch that it was created from", async () => {
  const shop = work.repository();
  const bin = work.folder("bin");
  writeFileSync(join(bin, "gh"), "#!/bin/sh\necho https://github.com/acme/shop/pull/12\n", { mode: 0o755 });
  work.turn("one", shop, ["git switch -q -c fix/x && git commit --allow-empty -m a", "gh pr create --fill"]);
  expect(
    await drained((db) => storedChanges(db).filter(({ changeKind }) => changeKind === "pull_request")),
  ).toMatchObject([
    {
      change: "12",
      url: "https://github.com/acme/shop/pull/12",
      branch: "fix/x",
      isCreated: true,
      certainty: "observed",
    },
  ]);
});

test("the span of a turn names its last observed commit and the pull request that it created; not those of others", async () => {
  const shop = work.repository();
  const bin = work.folder("bin");
  writeFileSync(join(bin, "gh"), "#!/bin/sh\necho https://github.com/acme/shop/pull/12\n", { mode: 0o755 });
  work.turn("one", shop, ["git switch -q -c fix/x && git commit --allow-empty -m a", "gh pr create --fill"]);
  const head = work.head(shop);
  work.turn("two", shop, ["ls"]);
  const turns = await drained((db) =>
    db
      .prepare("SELECT record FROM spans ORDER BY seq")
      .all()
      .map((row) => (JSON.parse(String(row["record"])) as SpanRecord).attributes)
      .filter((attributes) => attributes["openhook.span.kind"] === "turn"),
  );
  expect(turns.map((one) => [one["vcs.ref.head.revision"], one["vcs.change.id"]])).toEqual([
    [head, "12"],
    [expect.any(String), undefined],
  ]);
});

test("the span of a session names the only pull request that was created in it, and none of two", async () => {
  const shop = work.repository();
  const bin = work.folder("bin");
  writeFileSync(join(bin, "gh"), '#!/bin/sh\necho "https://github.com/acme/shop/pull/$4"\n', { mode: 0o755 });
  const commands = {
    one: ["gh pr create --title 12"],
    two: ["gh pr create --title 13", "gh pr create --title 14"],
    none: ["ls"],
  };
  for (const [session, lines] of Object.entries(commands)) {
    work.turn(session, shop, lines);
    work.put(work.event(session, "session.end", shop));
  }
  const spans = await drained((db) =>
    db
      .prepare("SELECT record FROM spans ORDER BY seq")
      .all()
      .map((row) => (JSON.parse(String(row["record"])) as SpanRecord).attributes)
      .filter((attributes) => attributes["openhook.span.kind"] === "session"),
  );
  expect(spans.map((one) => [one["session.id"], one["vcs.change.id"], one["vcs.repository.name"]]).sort()).toEqual([
    ["none", undefined, "shop"],
    ["one", "12", "shop"],
    ["two", undefined, "shop"],
  ]);
});

test("at capture none only ids are kept; a project can forbid even these, also for what is stored", async () => {
  const shop = work.repository();
  work.inbox.env = { OPENHOOK_OTEL_CAPTURE: "none" };
  work.turn("one", shop, ["git switch -q -c secret-branch", "git commit --allow-empty -m a"]);
  const kept = await drained((db) => ({ commits: storedCommits(db), changes: storedChanges(db) }));
  expect(kept.commits).toMatchObject([{ certainty: "observed", how: "printed" }]);
  expect(JSON.stringify(kept)).not.toContain("secret-branch");

  work.inbox.env = {};
  work.turn("two", shop, ["git commit --allow-empty -m b"]);
  expect(await commits()).toHaveLength(2);
  writeFileSync(join(shop, ".openhook-otel.json"), `{ "changes": false }`);
  work.turn("two", shop, ["git commit --allow-empty -m c"]);
  expect(await commits()).toEqual(kept.commits.map(({ commit }) => `${commit} observed printed`));
});
