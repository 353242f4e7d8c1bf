// Slow: only `npm run test:all` runs it. Each way to name a change; changes/report.test.ts has the figures.
//
// `show` with a commit, a pull request, a ticket or a branch: what it cost, and the sessions behind it
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { show } from "#commands/show.ts";
import type { UserError } from "#kit/errors.ts";
import { usage } from "#show/report/usage.ts";
import { rowJson } from "#show/report/usage-data.ts";
import { storedCommits, storedRepositories } from "#store/changes.ts";
import { openDatabase } from "#store/database.ts";
import { putOutcomes } from "#store/outcomes.ts";
import { readStore } from "#store/read-only.ts";
import { Work } from "../changes/work.ts";
import { contextAt, SGR } from "../support/context.ts";

const work = new Work();
let shop = "";
let api = "";
const heads: string[] = [];
/** What became of the first commit. */
const SQUASH = "5".repeat(40);

beforeAll(async () => {
  const bin = work.folder("bin");
  const gh = (url: string) => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "gh"), `#!/bin/sh\necho ${url}\n`);
    chmodSync(join(bin, "gh"), 0o755);
  };
  shop = work.repository();
  api = work.repository("api", "https://github.com/acme/api.git");
  work.turn("one", shop, ["git switch -q -c fix/SHOP-7", "git commit --allow-empty -m a"]);
  heads.push(work.head(shop));
  await work.drain();
  gh("https://github.com/acme/shop/pull/12");
  work.turn("two", shop, ["git commit --allow-empty -m b", "gh pr create --fill"]);
  heads.push(work.head(shop));
  await work.drain();
  gh("https://github.com/acme/api/pull/12");
  work.turn("three", api, ["git switch -q -c feature/dark", "gh pr create --fill"]);
  await work.drain();
  work.turn("four", shop, ["git switch -q main", "ls"]);
  await work.drain();
  const db = openDatabase(work.inbox.places.storePath);
  const [repository] = storedRepositories(db);
  putOutcomes(db, [
    {
      repository: repository?.id ?? 0,
      commit: storedCommits(db)[0]?.commit ?? "",
      checkedMs: Date.UTC(2026, 10, 20),
      id: heads[0] ?? "",
      fate: "merged",
      rewritten: { by: SQUASH, how: "squash" },
      attested: [],
    },
  ]);
  db.close();
});
afterAll(() => work.remove());

async function shown(name: string, options: { json?: boolean; envelopes?: boolean; cwd?: string } = {}) {
  const { cwd = work.home, ...others } = options;
  const world = { cwd, columns: 120, env: { PATH: process.env["PATH"] ?? "" } };
  const { context, out } = contextAt(work.inbox.places, world);
  expect(await show(name, { json: false, envelopes: false, ...others }, context)).toBe(0);
  return out().replace(SGR, "");
}
const json = async (name: string, cwd?: string) =>
  JSON.parse(await shown(name, { json: true, ...(cwd !== undefined && { cwd }) })) as Document;
const refused = (name: string, cwd = work.home) => shown(name, { cwd }).catch((error: UserError) => error.message);

interface Document {
  readonly kind: string;
  readonly name: string;
  readonly certainty: string | null;
  readonly repository: string | null;
  readonly commits: readonly { readonly commit: string; readonly fate: string | null }[];
  readonly sessions: readonly { readonly session: string; readonly cost_usd: number }[];
  readonly total: { readonly cost_usd: number; readonly model_calls: number } | null;
}

type By = "commit" | "change" | "ticket" | "branch";
const reported = (by: By, name: string) => {
  const rows = readStore(work.inbox.places.storePath, (db) => usage(db, { agents: [] }, { by: [by] })) ?? [];
  const { [by]: _, ...figures } = rowJson(rows.find(({ key }) => key[by] === name) ?? (rows[0] as never));
  return figures;
};

describe("every name gives the same figures as its row in the report", () => {
  const names: readonly (readonly [string, () => string, By, () => string])[] = [
    ["all digits", () => heads[0] ?? "", "commit", () => heads[0] ?? ""],
    ["the first digits", () => (heads[0] ?? "").slice(0, 6), "commit", () => heads[0] ?? ""],
    ["capital letters", () => (heads[1] ?? "").toUpperCase(), "commit", () => heads[1] ?? ""],
    ["name of a pull request", () => "acme/shop#12", "change", () => "acme/shop#12"],
    ["address", () => "https://github.com/acme/shop/pull/12", "change", () => "acme/shop#12"],
    ["address of a part", () => "https://github.com/Acme/shop/pull/12/files#diff-1", "change", () => "acme/shop#12"],
    ["ticket", () => "shop-7", "ticket", () => "SHOP-7"],
    ["branch", () => "fix/SHOP-7", "branch", () => "fix/SHOP-7"],
  ];
  test.each(names)("%s", async (_, name, by, row) => {
    const { total, sessions, certainty } = await json(name());
    expect(total).toEqual(reported(by, row()));
    expect(sessions.reduce((sum, one) => sum + Math.round(one.cost_usd * 1e9), 0)).toBe(
      Math.round((total?.cost_usd ?? 0) * 1e9),
    );
    expect(certainty).toBe("observed");
  });
});

test("a pull request has the sessions on its branch, its commits, and what became of them", async () => {
  const found = await json("acme/shop#12");
  expect(found).toMatchObject({ kind: "pull_request", repository: "shop" });
  expect(found.sessions.map(({ session }) => session).sort()).toEqual(["acme/one", "acme/two"]);
  expect(found.commits.map(({ commit, fate }) => [commit, fate])).toEqual([
    [heads[0], "merged"],
    [heads[1], null],
  ]);
  const text = await shown("acme/shop#12");
  expect(text).toMatch(
    /^pull request acme\/shop#12 · https:\/\/github.com\/acme\/shop\/pull\/12 · observed\n2 commits: /,
  );
  expect(text).toContain(
    `${heads[0]?.slice(0, 10)}, merged as 5555555555 (squash); ${heads[1]?.slice(0, 10)}, not checked yet`,
  );
  expect(text).toMatch(/\nacme\/two .*\nacme\/one |\nacme\/one .*\nacme\/two /);
  expect(text).toMatch(/\ncost: list prices/);
});

test("explain says what a session led to: commits with what became of them, and changes", async () => {
  const explained = async (name: string, json: boolean) => {
    const { context, out } = contextAt(work.inbox.places, { columns: 200 });
    expect(await explain(name, { json }, context)).toBe(0);
    return out().replace(SGR, "");
  };
  const [first, second] = heads.map((head) => head.slice(0, 10));
  expect(await explained("one", false)).toContain(
    `\n- It made 1 commit: ${first}, merged as 5555555555 (squash).\n- Its work counts for pull request acme/shop#12.\n`,
  );
  expect(await explained("two", false)).toContain(
    `\n- It made 1 commit: ${second}, not checked yet.\n- It created pull request acme/shop#12.\n`,
  );
  expect(await explained("four", false)).not.toMatch(/It made|It created|Its work counts/);
  expect(JSON.parse(await explained("two", true))).toMatchObject({
    commits: [{ commit: heads[1], certainty: "observed", fate: null }],
    changes: [{ kind: "pull_request", name: "acme/shop#12", certainty: "observed", created: true }],
  });
  expect(JSON.parse(await explained("four", true))).toMatchObject({ commits: [], changes: [] });
});

test("the repository of the folder decides which number is meant; elsewhere it is ambiguous", async () => {
  expect((await json("#12", shop)).name).toBe("acme/shop#12");
  expect((await json("12", api)).name).toBe("acme/api#12");
  expect(await refused("#12")).toBe(
    '"#12" can mean several things: pull request https://github.com/acme/shop/pull/12, pull request https://github.com/acme/api/pull/12',
  );
});

test("a commit that agents' commits were merged as shows their work", async () => {
  expect((await json(SQUASH.slice(0, 8))).commits.map(({ commit }) => commit)).toEqual([heads[0]]);
  expect(await shown(SQUASH)).toMatch(
    new RegExp(`^commit 5555555555 · shop · observed\\nit contains the work of ${heads[0]?.slice(0, 10)}\\n`),
  );
});

test("HEAD is the commit that is checked out; one that no agent made is named as such", async () => {
  work.run("git switch -q fix/SHOP-7", shop);
  expect((await json("HEAD", shop)).name).toBe(heads[1]);
  expect((await json("HEAD~1", shop)).name).toBe(heads[0]);
  const first = work.run("git rev-parse main", shop).output.trim();
  const text = await refused(first.slice(0, 9), shop);
  expect(text).toMatch(/^no session is known to have made commit [0-9a-f]{10}; .*report commit lists /);
  expect(text).toContain(first.slice(0, 10));
});

test("an unknown name is refused, with the commands that list known ones", async () => {
  for (const name of ["deadbeef", "SHOP-99", "https://github.com/acme/shop/pull/123", "--help;"]) {
    expect(await refused(name, shop)).toMatch(
      /^no session begins with ".*"; it is no commit, pull request, ticket or branch .*sessions and .*report change list/,
    );
  }
  expect(await refused("#99", shop)).toMatch(
    /^no session is known to have worked on pull request #99, .*report change /,
  );
  expect(await refused("HEAD~99", shop)).toBe('the repository here has no commit "HEAD~99"');
  expect(await refused("HEAD", work.home)).toBe('there is no git repository here, so "HEAD" is no commit');
  await expect(shown("SHOP-7", { envelopes: true })).rejects.toThrow(
    "--envelopes, --with-content and a turn are for one session: name a session",
  );
});

test("explain of a commit or pull request says which command has the answer", async () => {
  for (const [name, kind] of [
    [heads[0]?.slice(0, 9) ?? "", "commit"],
    ["fix/SHOP-7", "branch"],
  ] as const) {
    const { context } = contextAt(work.inbox.places, { cwd: shop });
    const failure = await explain(name, { json: false }, context).catch((error: UserError) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(new RegExp(`^"${name}" is ${kind} .*, no session; .* show `)),
    });
  }
});

test("a branch whose work is no change says so", async () => {
  expect(await shown("main", { cwd: shop })).toBe(
    "branch main · shop\n0 commits\n\nno work counts for this branch: work on main, master, trunk and develop is no change\n",
  );
  expect(await json("main", shop)).toMatchObject({ kind: "branch", total: null, sessions: [], commits: [] });
});

test("a beginning that commits share, or a commit and a session, is ambiguous", async () => {
  const db = openDatabase(work.inbox.places.storePath);
  const same = `${heads[0]?.slice(0, 8)}${"0".repeat(32)}`;
  db.prepare("UPDATE commits SET commit_id = ? WHERE commit_id = ?").run(same, heads[1] ?? "");
  try {
    expect(await refused(same.slice(0, 8))).toMatch(/^"[0-9a-f]{8}" can mean several things: commit .*, commit /);
    db.prepare("UPDATE sessions SET session_id = ? WHERE session_id = 'four'").run(same);
    expect(await refused(same)).toBe(`"${same}" can mean several things: session acme/${same}, commit ${same}`);
  } finally {
    db.prepare("UPDATE sessions SET session_id = 'four' WHERE session_id = ?").run(same);
    db.prepare("UPDATE commits SET commit_id = ? WHERE commit_id = ?").run(heads[1] ?? "", same);
    db.close();
  }
});
