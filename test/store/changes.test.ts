import { join } from "node:path";
import { expect, test } from "vitest";
import type { EntryOf } from "#core/model/transcript.ts";
import { changeKey, commitKey } from "#core/rules/change-facts.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { setRepository, storedChanges, storedCommits, storedRepositories } from "#store/changes.ts";
import { addEntries, openFacts } from "#store/facts.ts";
import { ensureSession } from "#store/sessions.ts";
import { temporaryStores } from "./temporary.ts";

const { open, folder } = temporaryStores();

const FULL = "1234567890abcdef1234567890abcdef12345678";
const commit = (fields: Partial<EntryOf<"commit">> = {}): EntryOf<"commit"> => ({
  kind: "commit",
  key: commitKey(FULL),
  timeMs: 1_000,
  commit: FULL.slice(0, 7),
  certainty: "observed",
  how: "printed",
  callId: "toolu_1",
  ...fields,
});

const ordersOf = (seen: EntryOf<"commit">) => [
  [commit(), seen],
  [seen, commit()],
  [seen, commit(), seen, commit()],
];

test("a printed commit and the log of HEAD are one commit, with all digits of its id, in either order", () => {
  const seen = commit({ commit: FULL, how: "reflog", certainty: "inferred", timeMs: 999, commitKind: "amend" });
  expect(mergeEntries(commit(), seen)).toEqual(mergeEntries(seen, commit()));
  for (const [n, entries] of ordersOf(seen).entries()) {
    const db = open(join(folder(), `${n}.db`));
    const session = ensureSession(db, "claude-code", "one", 0);
    for (const entry of entries) addEntries(db, session, [entry]);
    expect(storedCommits(db)).toEqual([
      {
        session: session.id,
        timeMs: 1_000,
        commit: FULL,
        certainty: "observed",
        how: "printed",
        commitKind: "amend",
        callId: "toolu_1",
      },
    ]);
    expect(openFacts(db, session.id).entries).toEqual([]);
  }
});

test("a fact belongs to its session's repository, unless the call may have worked elsewhere", () => {
  const db = open();
  const session = ensureSession(db, "claude-code", "one", 0);
  const url = "https://github.com/acme/shop/pull/12";
  const change = { changeKind: "pull_request", change: "12", url } as const;
  addEntries(db, session, [
    { kind: "change", key: changeKey(change), timeMs: 2_000, ...change, certainty: "observed", how: "printed" },
    commit({ isElsewhere: true }),
  ]);
  setRepository(db, session.id, { name: "shop", url: "https://github.com/acme/shop" }, "/home/dev/shop/.git");
  const [repository] = storedRepositories(db);
  expect(repository).toMatchObject({ key: "https://github.com/acme/shop", gitDir: "/home/dev/shop/.git" });
  expect(storedChanges(db)).toMatchObject([{ ...change, repository: repository?.id }]);
  expect(storedCommits(db)[0]).not.toHaveProperty("repository");
});
