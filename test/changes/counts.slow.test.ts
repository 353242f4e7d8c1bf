// Slow: only `npm run test:all` runs it. Commits and changes in the counters; changes/drain.test.ts counts commits,
// store/counters.test.ts has the rules.
//
// Commits, their fates and changes in the counters: each once, however often drains and outcomes run, and however many
// sessions report it
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EntryOf } from "#core/model/transcript.ts";
import { changeKey, commitKey } from "#core/rules/change-facts.ts";
import type { DrainOptions } from "#pipeline.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import type { StoredOutcome } from "#store/outcomes.ts";
import { pruneSession } from "#store/prune.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { removeFolder } from "../support/remove.ts";

let inbox: InboxFixture;
let shop: string;
let events = 0;
beforeEach(() => {
  inbox = new InboxFixture();
  shop = mkdtempSync(join(tmpdir(), "openhook-shop-"));
  mkdirSync(join(shop, ".git"));
  writeFileSync(join(shop, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(shop, ".git", "config"), '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n');
});
afterEach(() => {
  inbox.remove();
  removeFolder(shop);
});

const DAY_MS = 86_400_000;
const idOf = (word: string): string => Buffer.from(word.padEnd(20, "-")).toString("hex");

/** A session reports commits or changes. */
function put(session: string, ...entries: readonly object[]): void {
  const id = `${session}-${++events}`;
  const time = new Date(events * 1_000).toISOString();
  const event = { openhook: "0.1", id, source: "acme", type: "prompt.submit", time, session_id: session, cwd: shop };
  inbox.put({ events: [{ ...event, data: {} }], entries: entries.map((one) => ({ timeMs: events * 1_000, ...one })) });
}

const commit = (word: string, more: Partial<EntryOf<"commit">> = {}) =>
  ({
    kind: "commit",
    key: commitKey(idOf(word)),
    commit: idOf(word),
    certainty: "observed",
    how: "printed",
    ...more,
  }) as const;

const change = (fact: Pick<EntryOf<"change">, "changeKind" | "change" | "url">, more: object = {}) =>
  ({ kind: "change", key: changeKey(fact), ...fact, certainty: "observed", how: "printed", ...more }) as const;

const outcome = (word: string, more: Partial<StoredOutcome> = {}): StoredOutcome => ({
  commit: idOf(word),
  id: idOf(word),
  repository: 1,
  checkedMs: 1,
  fate: "open",
  attested: [],
  ...more,
});

/** The sums of a metric, as `attribute values: sum`, after a drain, and after another one that stores outcomes. */
async function counted(
  metric: string,
  { outcomes, ...options }: Omit<DrainOptions, "outcomes"> & { readonly outcomes?: readonly StoredOutcome[] } = {},
): Promise<Record<string, number>> {
  expect((await inbox.drain(options)).problems).toEqual([]);
  if (outcomes !== undefined) expect((await inbox.drain({ outcomes: { outcomes, edited: [] } })).problems).toEqual([]);
  const db = openDatabase(inbox.places.storePath);
  try {
    const sums = counterValues(db)
      .filter((one) => one.metric === `openhook.${metric}`)
      .map(({ attributes, value, owed }) => [
        Object.entries(attributes)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([, one]) => one)
          .join(" "),
        value - owed,
      ]);
    return Object.fromEntries(sums);
  } finally {
    db.close();
  }
}

test("a commit counts once: in every drain, under a short and a full id, in two sessions", async () => {
  put("one", commit("tax", { commit: idOf("tax").slice(0, 8) }));
  put(
    "two",
    commit("tax", { certainty: "inferred", how: "reflog" }),
    commit("vat", { certainty: "inferred", how: "reflog" }),
  );
  const sums = { "observed shop": 1, "inferred shop": 1 };
  expect(await counted("commit.count")).toEqual(sums);
  put("one", commit("tax"));
  put("two", commit("tax", { certainty: "inferred", how: "reflog" }));
  put("three", commit("vat", { certainty: "inferred", how: "reflog" }));
  expect(await counted("commit.count")).toEqual(sums);
});

test("a commit that becomes observed after it was counted is no inferred one any more", async () => {
  put("one", commit("tax", { certainty: "inferred", how: "reflog" }), commit("vat", { certainty: "inferred" }));
  expect(await counted("commit.count")).toEqual({ "inferred shop": 2 });
  put("two", commit("tax"));
  put("one", commit("vat"));
  expect(await counted("commit.count")).toEqual({ "observed shop": 2, "inferred shop": 0 });
  expect(await counted("commit.count")).toEqual({ "observed shop": 2, "inferred shop": 0 });
});

test("each fate of a commit counts once, and stays when another one follows", async () => {
  put("one", commit("tax"), commit("vat"), commit("toll"));
  const merged = { fate: "merged", landedMs: 0, lines: { written: 10, after: { 1: 10 } } } as const;
  const first = [outcome("tax", merged), outcome("vat"), outcome("toll", { fate: "unknown" })];
  expect(await counted("commit.fate.count", { outcomes: first })).toEqual({ "observed merged shop": 1 });
  expect(await counted("commit.fate.count", { outcomes: first })).toEqual({ "observed merged shop": 1 });
  const reverted = { fate: "reverted", landedMs: 0, revertedMs: 5 * DAY_MS } as const;
  const lines = { written: 10, after: { 1: 10, 7: 0 } } as const;
  const second = [outcome("tax", { ...reverted, lines }), outcome("vat", { fate: "gone" }), outcome("toll", reverted)];
  const fates = { "observed merged shop": 2, "observed reverted shop": 2, "observed gone shop": 1 };
  expect(await counted("commit.fate.count", { outcomes: second })).toEqual(fates);
  // The revert is reverted
  expect(await counted("commit.fate.count", { outcomes: first })).toEqual(fates);
  expect(await counted("commit.lines")).toEqual({ "1 kept observed shop": 10, "7 reverted observed shop": 10 });
});

test("a branch is merged when git has all its known commits on the default branch: once, with or without a pull request", async () => {
  const on = (branch: string) => ({ branch });
  put("one", commit("tax", on("fix/tax")), commit("vat", on("fix/tax")), commit("toll", on("toll")), commit("duty"));
  put("one", change({ changeKind: "pull_request", change: "12" }, { branch: "fix/tax" }));
  put("two", commit("fee", { ...on("fee"), certainty: "inferred", how: "edits" }), commit("gift", on("gift")));
  const merged = { fate: "merged", landedMs: 0 } as const;
  const known = ["tax", "toll", "duty", "fee"].map((word) => outcome(word, merged));
  const first = [...known, outcome("vat")];
  // One commit of the pull request is open, one branch was not checked, one commit has no branch, one is only inferred
  expect(await counted("change.merged.count", { outcomes: first })).toEqual({ "branch shop": 1 });
  const second = [...known, outcome("vat", { fate: "gone" })];
  const sums = { "branch shop": 1, "pull_request shop": 1 };
  expect(await counted("change.merged.count", { outcomes: second })).toEqual(sums);
  put("one", commit("more", on("fix/tax")));
  expect(await counted("change.merged.count", { outcomes: [...second, outcome("more", merged)] })).toEqual(sums);
  expect(await counted("change.merged.count", { outcomes: [outcome("gift", { fate: "unknown" })] })).toEqual(sums);
});

test("lines that are gone before a commit is reverted count as reworked", async () => {
  put("one", commit("tax"));
  const lines = { written: 10, after: { 1: 7, 7: 0 } } as const;
  const outcomes = [outcome("tax", { fate: "reverted", landedMs: 0, revertedMs: 3 * DAY_MS, lines })];
  expect(await counted("commit.lines", { outcomes })).toEqual({
    "1 kept observed shop": 7,
    "1 reworked observed shop": 3,
    "7 reverted observed shop": 10,
  });
});

test("a change that several known commits contain counts once: for the last observed one", async () => {
  put("one", commit("first"), commit("second", { commitKind: "amend" }), commit("third", { certainty: "inferred" }));
  const lines = { written: 10, after: { 1: 9 } } as const;
  const now = { fate: "merged", landedMs: 0, lines } as const;
  const outcomes = [
    outcome("first", { ...now, rewritten: { by: idOf("second"), how: "amend" } }),
    outcome("second", { ...now, rewritten: { by: idOf("third"), how: "patch" } }),
    outcome("third", now),
  ];
  expect(await counted("commit.fate.count", { outcomes })).toEqual({ "observed merged shop": 1 });
  expect(await counted("commit.lines")).toEqual({ "1 kept observed shop": 9, "1 reworked observed shop": 1 });
});

test("a pull request, ticket or branch counts once over all sessions; main is no change", async () => {
  const url = "https://github.com/acme/shop/pull/12";
  const pull = { changeKind: "pull_request", change: "12", url } as const;
  put("one", change(pull));
  put("two", change(pull, { isCreated: true }), change({ changeKind: "ticket", change: "SHOP-1" }));
  const sums = { "true pull_request shop": 1, "false ticket shop": 1 };
  expect(await counted("change.count")).toEqual(sums);
  put("three", change(pull), change({ changeKind: "ticket", change: "SHOP-1" }));
  expect(await counted("change.count")).toEqual(sums);
  writeFileSync(join(shop, ".git", "HEAD"), "ref: refs/heads/fix/x\n");
  for (const session of ["one", "two", "one"]) {
    put(session);
    expect(await counted("change.count")).toEqual({ ...sums, "false branch shop": 1 });
  }
});

test("at capture none no repository is named; commits of a project that forbids them are not counted", async () => {
  inbox.env = { OPENHOOK_OTEL_CAPTURE: "none" };
  put("one", commit("tax"));
  expect(await counted("commit.count")).toEqual({ observed: 1 });
  writeFileSync(join(shop, ".openhook-otel.json"), '{ "changes": false }');
  put("two", commit("vat"));
  expect(await counted("commit.count")).toEqual({ observed: 1 });
});

test("outcomes of a repository that was pruned meanwhile are left out", async () => {
  const outcomes = [outcome("tax", { fate: "merged", repository: 7 })];
  put("one", commit("tax"));
  expect(await counted("commit.fate.count", { outcomes })).toEqual({});
});

test("a pruned commit that is reported again is not counted again", async () => {
  put("one", commit("tax"));
  const outcomes = [outcome("tax", { fate: "merged", landedMs: 0 })];
  expect(await counted("commit.fate.count", { outcomes, endIdle: true })).toEqual({ "observed merged shop": 1 });
  const db = openDatabase(inbox.places.storePath);
  db.prepare("DELETE FROM outbox").run();
  expect(pruneSession(db, { id: 1, source: "acme", sessionId: "one", lastMs: 0 }, 1)).toBeGreaterThan(0);
  db.close();
  put("one", commit("tax"));
  expect(await counted("commit.count")).toEqual({ "observed shop": 1 });
  put("two", commit("tax"));
  expect(await counted("commit.fate.count", { outcomes })).toEqual({ "observed merged shop": 1 });
});
