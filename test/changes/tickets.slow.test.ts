// Slow: only `npm run test:all` runs it. Tickets in trailers, from the commit to the report; changes/trailers.test.ts has the
// rules.
//
// Tickets in trailers of commits, as outcomes find them, also for imported sessions; and branches of several turns
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { checkOutcomes } from "#changes/check-outcomes.ts";
import { dueCommits } from "#changes/due-commits.ts";
import type { DrainOptions } from "#pipeline.ts";
import { changeReport } from "#show/report/change-report.ts";
import { findChanges } from "#show/report/find-change.ts";
import { usage } from "#show/report/usage.ts";
import { storedChanges } from "#store/changes.ts";
import { counterValues } from "#store/counters.ts";
import { storedOutcomes } from "#store/outcomes.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { Replay } from "../support/replay.ts";
import { ACME, Work } from "./work.ts";

let work: Work | undefined;
let replay: Replay | undefined;
afterEach(() => {
  work?.remove();
  replay?.remove();
  replay = undefined;
});

async function outcomes(at: Work, { places, drain }: Drained): Promise<void> {
  const due = readStore(places.storePath, (db) => dueCommits(db, Date.now(), false)) ?? [];
  const around = { env: process.env, places: { ...places, home: at.home }, platform: process.platform, now: Date.now };
  const { problems, ...found } = await checkOutcomes(due, around, 60_000, "[A-Z]+-\\d+");
  expect(problems).toEqual([]);
  await drain({ outcomes: found });
}

interface Drained {
  readonly places: Work["inbox"]["places"];
  readonly drain: (options: DrainOptions) => Promise<unknown>;
}

test("the ticket in a commit's trailer has the calls of the commit, before the ticket of the branch", async () => {
  work = new Work();
  const shop = work.repository();
  work.turn("one", shop, ["git switch -q -c fix/SHOP-7", "git commit --allow-empty -m 'a secret' -m 'Refs: SHOP-12'"]);
  const head = work.head(shop);
  await work.drain();
  work.turn("one", shop, ["git commit --allow-empty -m b"]);
  await work.drain();
  const { inbox } = work;
  const drained = { places: inbox.places, drain: (options: DrainOptions) => inbox.drain(options, [ACME]) };
  await outcomes(work, drained);
  await outcomes(work, drained);
  const found = readStore(work.inbox.places.storePath, (db) => {
    const [named] = findChanges(db, "shop-12");
    if (named === undefined) throw new Error("the ticket was not found");
    return {
      tickets: storedChanges(db)
        .filter(({ changeKind }) => changeKind === "ticket")
        .map(({ change, certainty, how, commit = "" }) => `${change} ${certainty} ${how} ${commit}`.trim())
        .sort(),
      calls: usage(db, { agents: [ACME] }, { by: ["ticket"] }).map(({ key, calls }) => [key.ticket, calls?.modelCalls]),
      shown: changeReport(db, [ACME], named).commits.map(({ commit }) => commit),
      all: JSON.stringify(["entries", "changes", "commit_outcomes"].map((t) => db.prepare(`SELECT * FROM ${t}`).all())),
    };
  });
  expect(found).toMatchObject({
    tickets: [`SHOP-12 observed trailer ${head}`, "SHOP-7 observed branch-name"],
    calls: [
      ["SHOP-12", 2],
      ["SHOP-7", 3],
    ],
    shown: [head],
  });
  expect(found?.all).not.toContain("a secret");
});

test("an imported session has the ticket too, knows its repository, and stays packed", async () => {
  work = new Work();
  const shop = work.repository();
  const command = "git commit --allow-empty -m a -m 'Refs: SHOP-12'";
  const printed = work.run(command, shop).output;
  replay = await imported(shop, command, printed, Date.now());
  const at = replay;
  await outcomes(work, { places: at.places, drain: (options) => at.drain(options) });
  const found = readStore(at.places.storePath, (db) => ({
    tickets: storedChanges(db).map(({ change, how, certainty, repository }) => [change, how, certainty, repository]),
    packed: db.prepare("SELECT count(*) AS n FROM packed").get()?.["n"],
    counted: counterValues(db).filter(({ metric }) => /commit|change/.test(metric)),
  }));
  expect(found).toEqual({ tickets: [["SHOP-12", "trailer", "observed", 1]], packed: 1, counted: [] });
});

test("the lines of an imported session's commit are counted after 1, 7 and 30 days", async () => {
  work = new Work();
  const shop = work.repository();
  // Without a remote, the local main is the default branch
  work.run("git remote remove origin", shop);
  const command = "git add -A && git commit -m tax";
  const nowMs = Date.now();
  const commitAt = (daysAgo: number, lines: number): string => {
    writeFileSync(
      join(shop, "tax.js"),
      Array.from({ length: lines }, (_, n) => `export const tax${n} = ${n};\n`).join(""),
    );
    const date = `@${Math.floor(nowMs / 1_000) - daysAgo * 86_400}`;
    return work?.run(`export GIT_COMMITTER_DATE=${date} GIT_AUTHOR_DATE=${date}; ${command}`, shop).output ?? "";
  };
  const printed = commitAt(40, 10);
  replay = await imported(shop, command, printed, nowMs - 40 * 86_400_000);
  commitAt(32, 6);
  const at = replay;
  await outcomes(work, { places: at.places, drain: (options) => at.drain(options) });
  expect(readStore(at.places.storePath, storedOutcomes)).toMatchObject([
    { fate: "merged", lines: { written: 10, now: 6, after: { 1: 10, 7: 10, 30: 6 } } },
  ]);
});

const ID = "0b6f2a52-5d0c-4f5e-9a53-1f2b3c4d5e6f";

/** A home into which a session with one call was imported, as packed as imports leave it. */
async function imported(cwd: string, command: string, printed: string, timeMs: number): Promise<Replay> {
  const made = new Replay("claude-code", "basic", { withTranscripts: false });
  const folder = join(made.home, ".claude", "projects", "shop");
  mkdirSync(folder, { recursive: true });
  const timestamp = new Date(timeMs).toISOString();
  const line = (uuid: string, type: string, message: object) =>
    `${JSON.stringify({ uuid, type, timestamp, sessionId: ID, cwd, promptId: "p1", message })}\n`;
  const use = { type: "tool_use", id: "toolu_0123456789abcdef", name: "Bash", input: { command } };
  const answer = {
    id: "msg_0123456789abcdef",
    model: "claude-sonnet-4-5",
    stop_reason: "tool_use",
    usage: { input_tokens: 10, output_tokens: 5 },
    content: [use],
  };
  const result = { type: "tool_result", tool_use_id: use.id, content: printed };
  writeFileSync(
    join(folder, `${ID}.jsonl`),
    line("u1", "user", { content: "commit" }) +
      line("u2", "assistant", answer) +
      line("u3", "user", { content: [result] }),
  );
  await importInto(made, "claude-code");
  return made;
}

test("each turn counts for the branch at its end, also the later ones of a branch", async () => {
  work = new Work();
  const shop = work.repository();
  for (const commands of [["git switch -q -c fix/a"], ["ls"], ["git switch -q -c fix/b"], ["ls"]]) {
    work.turn("one", shop, commands);
    await work.drain();
  }
  const calls = readStore(work.inbox.places.storePath, (db) =>
    usage(db, { agents: [ACME] }, { by: ["branch"] }).map(({ key, turns }) => [key.branch, turns?.turns]),
  );
  expect(calls).toEqual([
    ["fix/a", 2],
    ["fix/b", 2],
  ]);
});
