// Slow: only `npm run test:all` runs it. Commits and what became of them at every capture level; changes/drain.test.ts has the
// levels none and forbidden.
//
// What is stored and sent of commits, pull requests and what became of them, at every capture level
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outcomes } from "#commands/outcomes.ts";
import { preview } from "#commands/preview.ts";
import { openDatabase } from "#store/database.ts";
import { Work } from "../changes/work.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";

let work: Work;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  work = new Work();
  receiver.clear();
});
afterEach(() => work.remove());

/** Words that are only in content: messages, titles, names of files, the committer. */
const CONTENT = ["purple-message", "purple-title", "purple-file", "Purple Person", "purple@example.com"];
const BRANCH = "feature/purple-branch";

/** A session that edits a file, commits it and creates a pull request; the user commits another edit; git is asked about it all. */
async function worked(level: string, project?: object) {
  const shop = work.repository("shop", "https://github.com/acme/shop.git");
  const bin = work.folder("bin");
  writeFileSync(join(bin, "gh"), "#!/bin/sh\necho https://github.com/acme/shop/pull/12\n", { mode: 0o755 });
  work.run('git config user.name "Purple Person"; git config user.email purple@example.com', shop);
  if (project !== undefined) writeFileSync(join(shop, ".openhook-otel.json"), JSON.stringify(project));
  work.inbox.env = { OPENHOOK_OTEL_CAPTURE: level, OPENHOOK_OTEL_IDENTITY_USER: "off" };
  work.turn("one", shop, [
    `git switch -q -c ${BRANCH}`,
    "echo 1 > purple-file.js && git add purple-file.js && git commit -m purple-message",
    "gh pr create --title purple-title --body purple-message",
  ]);
  work.put(work.event("one", "file.write", shop, { path: join(shop, "purple-file-2.js"), bytes: 3 }));
  work.run('echo 2 > purple-file-2.js && git add . && git commit -qm "purple-message again"', shop);
  work.put(work.event("one", "session.end", shop));
  await work.drain();
  const asked = contextAt(work.inbox.places, { env: { ...work.inbox.env, PATH: process.env["PATH"] ?? "" } });
  expect(await outcomes({ all: false, quiet: false, json: true }, asked.context)).toBe(0);
  // Sent only now, so that the preview has everything
  work.inbox.env = {
    ...work.inbox.env,
    OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "http/json",
  };
  const look = contextAt(work.inbox.places, { env: work.inbox.env });
  await preview(undefined, { json: true }, look.context);
  await work.drain();
  const sent = receiver.requests.map(({ body }) => body.toString("utf8")).join("\n");
  return { head: work.head(shop), previewed: look.out(), outcomes: asked.out(), sent, stored: stored() };
}

/** Everything below the state directory, and the tables about commits as text. */
function stored(): { readonly files: string; readonly commits: string } {
  const db = openDatabase(work.inbox.places.storePath);
  try {
    const tables = ["commits", "changes", "commit_outcomes", "repositories"];
    const rows = tables.map((name) => JSON.stringify(db.prepare(`SELECT * FROM ${name}`).all()));
    const folder = work.inbox.places.stateDir;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return {
      files: files.map((one) => readFileSync(join(one.parentPath, one.name), "latin1")).join("\n"),
      commits: rows.join("\n"),
    };
  } finally {
    db.close();
  }
}

const foundIn = (text: string, words: readonly string[]): readonly string[] =>
  words.filter((word) => text.includes(word));

describe.each(["none", "metadata", "redacted", "full"])("capture %s", (level) => {
  test("commits and outcomes have ids and numbers, and no message, title, name of a file or person", async () => {
    const { head, outcomes, sent, stored, previewed } = await worked(level);
    expect(foundIn(stored.commits, CONTENT)).toEqual([]);
    expect(foundIn(outcomes, CONTENT)).toEqual([]);
    // Not at any level: who committed
    for (const text of [sent, previewed, stored.files]) expect(foundIn(text, CONTENT.slice(3))).toEqual([]);
    const keepsNames = level !== "none";
    expect(stored.commits.includes(BRANCH)).toBe(keepsNames);
    expect(sent.includes("vcs.change.id")).toBe(keepsNames);
    expect(previewed.includes("vcs.change.id")).toBe(keepsNames);
    expect(previewed.includes("vcs.ref.head.revision")).toBe(keepsNames);
    // The commit of the user is known by its files, whose names are not kept at none
    expect(stored.commits.includes(head)).toBe(keepsNames);
    if (level === "none" || level === "metadata") {
      for (const text of [sent, previewed]) expect(foundIn(text, CONTENT)).toEqual([]);
    }
    // Metrics have no id at any level
    const metrics = sent.split("\n").filter((line) => line.includes('"resourceMetrics"'));
    expect(metrics.length).toBeGreaterThan(0);
    expect(foundIn(metrics.join("\n"), [...CONTENT, head, BRANCH, "vcs.change.id", "pull/12"])).toEqual([]);
  });
});

test.each([
  ["changes: false", { changes: false }],
  ["disabled", { disabled: true }],
])("a project with %s leaves nothing of commits, in the store, the preview or what is sent", async (_, project) => {
  const { outcomes, sent, stored, previewed } = await worked("full", project);
  const ids = ["vcs.change.id", "openhook.commit", "openhook.change"];
  expect(foundIn(sent, ids)).toEqual([]);
  expect(foundIn(previewed, ids)).toEqual([]);
  expect(stored.commits.split("\n").slice(0, 3)).toEqual(["[]", "[]", "[]"]);
  expect(JSON.parse(outcomes)).toMatchObject({ repositories: [], commits: [] });
});
