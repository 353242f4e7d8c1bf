// Slow: only `npm run test:all` runs it. The comment of a pull request; changes/report.test.ts has the figures.
//
// What a pull request cost, as Markdown: figures that agree with the report, and nothing that must not be published
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { prComment } from "#commands/pr-comment.ts";
import { setOwnPrices } from "#core/rules/price.ts";
import { UserError } from "#kit/errors.ts";
import { count, dollars } from "#kit/text/figures.ts";
import { usage } from "#show/report/usage.ts";
import { readStore } from "#store/read-only.ts";
import { Work } from "../changes/work.ts";
import { contextAt } from "../support/context.ts";

const work = new Work();
let shop = "";
/** What the stand-in for `gh` was started with, and read. */
const posted = (): string => join(work.home, "posted");

beforeAll(async () => {
  const bin = work.folder("bin");
  const script = `#!/bin/sh
case "$1 $2" in
"pr create") echo https://github.com/acme/shop/pull/12;;
"pr comment") { echo "$@"; cat; } > "${posted()}";;
esac
`;
  writeFileSync(join(bin, "gh"), script);
  chmodSync(join(bin, "gh"), 0o755);
  shop = work.repository();
  work.turn("one", shop, ["git switch -q -c secret-plan", "git commit --allow-empty -m 'Secret subject'"]);
  await work.drain();
  work.turn("two", shop, ["ls", "gh pr create --title 'Secret title'"]);
  await work.drain();
});
afterAll(() => work.remove());
afterEach(() => setOwnPrices(undefined));

const world = (cwd: string) =>
  contextAt(work.inbox.places, { cwd, env: { PATH: `${join(work.home, "bin")}:${process.env["PATH"]}` } });

async function printed(name?: string, cwd = shop): Promise<string> {
  const { context, out } = world(cwd);
  expect(await prComment(name, { dryRun: false }, context)).toBe(0);
  return out();
}

test("the comment has the figures of the report, agents, commits, certainty and where prices come from", async () => {
  const text = await printed();
  const row = readStore(work.inbox.places.storePath, (db) => usage(db, { agents: [] }, { by: ["change"] }))?.find(
    ({ key }) => key.change === "acme/shop#12",
  );
  const { calls, turns, tools } = row ?? {};
  expect(text).toMatch(/^### What agents cost for this change\n\n\| agent \| cost \| input tokens \|/);
  expect(text).toContain(
    `| acme | ${dollars(calls?.costNanoUsd ?? 0)} | ${count(calls?.input ?? 0)} | unknown | ${count(calls?.output ?? 0)} |`,
  );
  expect(text).toContain(` | ${calls?.modelCalls} | ${turns?.turns} | ${tools?.calls} | 0% | 2 |\n`);
  expect(text).toContain(`- 1 commit by agents: \`${work.head(shop).slice(0, 10)}\`\n- certainty: observed, `);
  expect(text).toMatch(/^- cost: list prices of genai-prices\//m);
  expect(text).toMatch(/<sub>2 sessions on one machine/);
  for (const name of ["#12", "12", "secret-plan", "https://github.com/acme/shop/pull/12"]) {
    expect(await printed(name)).toBe(text);
  }
});

test("nothing that names people, work or contracts is in it", async () => {
  const models = new Map([["claude-*", { rules: [{ rates: { input: 1, output: 2 } }] }]]);
  setOwnPrices({ source: "Contract with Umbrella", models, digest: "" });
  const text = await printed();
  expect(text).not.toMatch(/secret|Dev\b|dev@|subject|acme\/(one|two)|Umbrella|\/tmp|shop/i);
});

test("where nothing is known, nothing is printed, so that a pipe posts nothing", async () => {
  const failure = async (name: string | undefined, cwd = shop) => {
    const { context, out } = world(cwd);
    const error = await prComment(name, { dryRun: false }, context).catch((reason: unknown) => reason);
    expect(out()).toBe("");
    return error instanceof UserError ? `${error.exitCode} ${error.message}` : error;
  };
  expect(await failure("#99")).toMatch(
    /^1 no session is known to have worked on pull request #99, and no known commit .*report change/,
  );
  expect(await failure(undefined, work.home)).toMatch(/^1 no branch is checked out here/);
  expect(await failure("HEAD~1", work.home)).toBe('1 there is no git repository here, so "HEAD~1" is no commit');
  work.run("git switch -q main", shop);
  expect(await failure(undefined)).toMatch(/^1 no (session|work)/);
  work.turn("main", shop, ["ls"]);
  await work.drain();
  expect(await failure(undefined)).toMatch(/^1 no work counts for branch main in .*: work on it is no change; name a /);
  work.run("git switch -q secret-plan", shop);
});

test.each([
  ["y", true],
  ["n", false],
])("in a terminal it asks first; gh is started only after %s, and gets the text", async (key, isPosted) => {
  writeFileSync(posted(), "");
  const { context } = world(shop);
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const shown: string[] = [];
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  stdout.on("data", (part) => shown.push(String(part)));
  const asked = prComment(undefined, { dryRun: false }, { ...context, stdin, stdout });
  while (!shown.join("").includes("Post this")) await sleep(5);
  stdin.write(key);
  expect(await asked).toBe(0);
  const text = await printed();
  expect(readFileSync(posted(), "utf8")).toBe(
    isPosted ? `pr comment https://github.com/acme/shop/pull/12 --body-file -\n${text}` : "",
  );
  const again = world(shop);
  expect(await prComment(undefined, { dryRun: true }, { ...again.context, stdin, stdout })).toBe(0);
});
