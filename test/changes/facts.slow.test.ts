// Slow: only `npm run test:all` runs it. Who made the commits of every situation; changes/drain.test.ts has the rules.
//
// Who made the commits of the situations, by what hooks and .git files show: nothing may be observed that the agent did not do
import { afterEach, describe, expect, test } from "vitest";
import { checkOutcomes } from "#changes/check-outcomes.ts";
import { dueCommits } from "#changes/due-commits.ts";
import { storedCommits } from "#store/changes.ts";
import { readStore } from "#store/read-only.ts";
import { GitWorld } from "../support/git-world.ts";
import { Replay } from "../support/replay.ts";
import { type Answer, SITUATIONS } from "./situations.ts";

const world: GitWorld[] = [];
const inbox: Replay[] = [];
afterEach(() => {
  for (const one of [...world.splice(0), ...inbox.splice(0)]) one.remove();
});

/** The certainty of each commit with a label, after one drain of all hook calls and after outcomes; `none` if it is not stored. */
async function certainties(run: (world: GitWorld) => unknown): Promise<Record<string, string>> {
  const made = new GitWorld();
  const at = new Replay("claude-code", "basic", { withTranscripts: false });
  world.push(made);
  inbox.push(at);
  run(made);
  for (const { source, timeMs, payload } of made.calls) {
    const received_at = new Date(timeMs).toISOString();
    at.put({ received_at, event: String(payload["hook_event_name"]), stdin: payload }, timeMs, source);
  }
  const now = () => made.nowMs + 1_000;
  await at.drain({ endIdle: true }, { now });
  const due = readStore(at.places.storePath, (db) => dueCommits(db, now(), false)) ?? [];
  const around = { env: process.env, places: { ...at.places, home: made.home }, platform: process.platform, now };
  const { outcomes, edited, problems } = await checkOutcomes(due, around, 60_000, "[A-Z]+-\\d+");
  expect(problems.filter((one) => !one.endsWith(" is gone"))).toEqual([]);
  await at.drain({ outcomes: { outcomes, edited } }, { now });
  const stored = readStore(at.places.storePath, (db) => storedCommits(db)) ?? [];
  return Object.fromEntries(
    [...made.commits].map(([label, id]) => {
      const found = stored.filter(({ commit }) => id.startsWith(commit)).map(({ certainty }) => certainty);
      return [label, found.includes("observed") ? "observed" : (found[0] ?? "none")];
    }),
  );
}

const ALLOWED: Readonly<Record<NonNullable<Answer["fact"]>, readonly string[]>> = {
  observed: ["observed"],
  inferred: ["inferred"],
  none: ["none"],
  unobserved: ["none", "inferred"],
};

const ASKED = SITUATIONS.filter(({ commits }) => Object.values(commits).some(({ fact }) => fact !== undefined));

describe("the certainty that a session made a commit is correct", () => {
  test.each(ASKED)("$name", async ({ run, commits }) => {
    const found = await certainties(run);
    for (const [label, { fact }] of Object.entries(commits)) {
      if (fact !== undefined) expect(ALLOWED[fact], `${label} is ${found[label]}, not ${fact}`).toContain(found[label]);
    }
  });
});
