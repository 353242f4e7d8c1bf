// Slow: only `npm run test:all` runs it. Whole sessions in both texts of OpenHook; adapter.test.ts has the events of
// each.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { validate } from "#check/conformance/conformance.ts";
import { conforms } from "#check/conformance/report-text.ts";
import { envelopeLines } from "#collect/convert/envelopes.ts";
import type { EnvelopeText } from "#core/model/envelope-types.ts";
import { openDatabase } from "#store/database.ts";
import { sessionById } from "#store/sessions.ts";
import { DocumentedRun } from "../../support/documented-run.ts";
import { spansIn } from "../../support/summary.ts";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "both-texts");
const runs: DocumentedRun[] = [];
type Recorded = Awaited<ReturnType<typeof recorded>>;
const NAMES = ["cwd", "context", "both", "file-write"] as const;
const sessions = new Map<string, Recorded>();
beforeAll(async () => {
  for (const name of NAMES) sessions.set(name, await recorded(name));
});
afterAll(() => {
  for (const run of runs) run.remove();
});

/** What a session of one file gives, with the folder's path as in the files. */
async function recorded(name: string, settings?: object) {
  const run = new DocumentedRun();
  runs.push(run);
  const project = join(run.home, "my project");
  mkdirSync(project);
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", project, ...args], { stdio: "ignore" });
  git("init", "-q", "-b", "feature/texts");
  git("remote", "add", "origin", "https://example.com/acme/shop.git");
  if (settings !== undefined) {
    mkdirSync(dirname(run.places.configPath), { recursive: true });
    writeFileSync(run.places.configPath, JSON.stringify(settings));
  }
  const local = (text: string) => text.replaceAll("/home/dev", run.home);
  for (const line of readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")) {
    const stdin = JSON.parse(local(line));
    await run.hook({ received_at: stdin.time, argv: ["--source", "openhook"], stdin });
  }
  expect(await run.drain(Date.parse("2026-09-14T12:00:00Z"))).toMatchObject({ quarantined: 0 });
  const db = openDatabase(run.places.storePath);
  try {
    const session = sessionById(db, 1);
    const written = (text: EnvelopeText) =>
      [...envelopeLines(db, session, text)].map((line) => line.replaceAll(run.home, "/home/dev"));
    return {
      spans: spansIn(run.places.storePath).replaceAll(run.home, "/home/dev").replaceAll(INSTANCE, "instance"),
      repository: session.repository,
      folder: session.cwd?.replaceAll(run.home, "/home/dev"),
      unsettled: db.prepare("SELECT count(*) AS n FROM events WHERE settled = 0").get()?.["n"],
      cwd: written("cwd"),
      context: written("context"),
      files: db
        .prepare("SELECT body FROM tool_calls")
        .all()
        .map((row) => JSON.parse(String(row["body"]).replaceAll(run.home, "/home/dev")).files),
      log: run.log,
    };
  } finally {
    db.close();
  }
}

test("a session gives the same repository, branch and spans in either text", () => {
  const first = sessions.get("cwd") as Recorded;
  expect(first.repository).toMatchObject({ name: "shop", branch: "feature/texts" });
  expect(first.spans).toContain("edit");
  for (const name of NAMES.slice(1)) {
    const { spans, repository, folder, cwd, unsettled, log } = sessions.get(name) as Recorded;
    expect({ spans, repository, folder, cwd, unsettled }, name).toEqual({
      spans: first.spans,
      repository: first.repository,
      folder: "/home/dev/my project",
      cwd: first.cwd,
      unsettled: 0,
    });
    expect(log.join("\n"), name).not.toMatch(/differ|no event type|not match/);
  }
});

test("a written file belongs to its tool call", () => {
  expect(sessions.get("cwd")?.files).toEqual([undefined]);
  expect(sessions.get("file-write")?.files).toEqual([
    [{ path: "/home/dev/my project/src/x.ts", operation: "update", startLine: 3, endLine: 9 }],
  ]);
});

test("envelopes are written as they were read, and conform to their text", () => {
  for (const name of NAMES) {
    const { cwd, context } = sessions.get(name) as Recorded;
    for (const [text, lines] of [["cwd", cwd] as const, ["context", context] as const]) {
      const report = validate(Buffer.from(lines.join("\n")), undefined);
      expect(conforms(report), `${name} as ${text}`).toBe(true);
      expect(report.lines.every(({ texts }) => texts.length === 1 && texts[0] === text)).toBe(true);
      expect(report.sources[0]?.texts.find((one) => one.text === text)?.level).toBe(2);
    }
    const file = (of: string) =>
      readFileSync(join(FOLDER, `${of}.jsonl`), "utf8")
        .trim()
        .split("\n")
        .map(parsed);
    expect(cwd.map(parsed)).toEqual(file("cwd"));
    expect(context.map(parsed)).toEqual(file(name === "file-write" ? "file-write" : "context"));
  }
});

test("at capture: none nothing of a written file is kept, and no folder", async () => {
  const { folder, context } = await recorded("file-write", { capture: "none" });
  expect(context.map((line) => JSON.parse(line).type)).not.toContain("file.write");
  expect(context.join()).not.toMatch(/my%20project|my project/);
  expect(folder).toBeUndefined();
});

/** Each store has its own. */
const INSTANCE = /(?<="service\.instance\.id":")[^"]+/g;

const parsed = (line: string): unknown => JSON.parse(line);
