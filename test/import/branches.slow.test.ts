// Slow: only `npm run test:all` runs it. Branches at arbitrary lines; import/same.test.ts compares imports and drains of one
// recording per agent.
//
// Branches that agents note in their transcripts: an import and a drain of the same files give each turn the branch on which it ended
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { Dimension } from "#show/report/query.ts";
import { usage } from "#show/report/usage.ts";
import { storedChanges } from "#store/changes.ts";
import { counterValues } from "#store/counters.ts";
import { filesOf } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { clockAt } from "../support/clock.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { claudePath, claudeSession, sessionIdOf, writeLines } from "./claude.ts";
import { importInto, unpackAll } from "./run.ts";

const agents = await allAgents();
const START_MS = Date.parse("2026-11-20T10:07:00Z");
const ID = sessionIdOf(1);
const STEPS = 3;
/** A prompt, a model call with a tool and the tool's result, and a last model call. */
const LINES_PER_TURN = 2 * STEPS;
const OTHER = "feature/SHOP-7";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const newReplay = (): Replay => {
  replay?.remove();
  replay = new Replay("claude-code", "basic", { withTranscripts: false });
  return replay;
};

/** A session whose lines have these branches; `undefined`: the line has none. */
function transcript(branches: readonly (string | undefined)[], cwd = "/home/dev/acme-shop"): readonly string[] {
  const turns = Math.ceil(branches.length / LINES_PER_TURN);
  return claudeSession({ id: ID, startMs: START_MS, turns, cwd }).lines.map((line, at) => {
    const { gitBranch: _, ...record } = JSON.parse(line) as Record<string, unknown>;
    const branch = branches[Math.min(at, branches.length - 1)];
    return JSON.stringify(branch === undefined ? record : { ...record, gitBranch: branch });
  });
}

const turnsOn = (...branches: readonly (string | undefined)[]): readonly (string | undefined)[] =>
  branches.flatMap((branch) => Array.from({ length: LINES_PER_TURN }, () => branch));

interface Figures {
  readonly calls: number;
  readonly tools: number;
  readonly turns: number;
}

/** Figures by branch; `-`: none, or unknown. Checks that the sums over branches are those over sessions, to the nano-dollar. */
function figures(of: Replay, by: Dimension = "branch"): Readonly<Record<string, Figures>> {
  const rowsBy = (dimensions: readonly Dimension[]) =>
    readStore(of.places.storePath, (db) => usage(db, { agents }, { by: dimensions })) ?? [];
  const rows = rowsBy([by]);
  const [whole] = rowsBy([]);
  const sum = (amount: (row: (typeof rows)[number]) => number | null | undefined): number =>
    rows.reduce((all, row) => all + (amount(row) ?? 0), 0);
  expect(sum((row) => row.calls?.costNanoUsd)).toBe(whole?.calls?.costNanoUsd);
  expect(sum((row) => row.calls?.costNanoUsd)).toBeGreaterThan(0);
  return Object.fromEntries(
    rows.map(({ key, calls, tools, turns }) => [
      String(key[by] ?? "-"),
      { calls: calls?.modelCalls ?? 0, tools: tools?.calls ?? 0, turns: turns?.turns ?? 0 },
    ]),
  );
}

const turns = (n: number): Figures => ({ calls: n * STEPS, tools: n * (STEPS - 1), turns: n });

const changesIn = (of: Replay) => readStore(of.places.storePath, (db) => storedChanges(db)) ?? [];

/** A hook reports the session, and a drain reads its file. */
async function drainAfterHook(of: Replay, nowMs = START_MS + 86_400_000, cwd = "/home/dev/acme-shop"): Promise<void> {
  const received_at = new Date(nowMs).toISOString();
  const stdin = { hook_event_name: "Stop", session_id: ID, transcript_path: claudePath(of, ID), cwd };
  of.put({ received_at, event: "Stop", stdin });
  await of.drain({ endIdle: true }, clockAt(nowMs));
}

test("whatever branches the lines have, each turn counts for the branch of its last line: packed, unpacked and drained", async () => {
  const branch = fc.constantFrom("main", "fix/a", OTHER, "HEAD", "", undefined);
  // Most lines are on the branch of the line before
  const stretches = fc.array(fc.tuple(branch, fc.integer({ min: 1, max: 2 * LINES_PER_TURN })), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(stretches, async (all) => {
      const lines = all.flatMap(([one, length]) => Array.from({ length }, () => one));
      const whole = transcript(lines).length;
      const expected: Record<string, Figures> = {};
      for (let last = LINES_PER_TURN - 1; last < whole; last += LINES_PER_TURN) {
        const on = lines[Math.min(last, lines.length - 1)];
        const name = on === "fix/a" || on === OTHER ? on : "-";
        expected[name] = turns((expected[name]?.turns ?? 0) + 1);
      }
      const imported = newReplay();
      writeLines(claudePath(imported, ID), transcript(lines));
      await importInto(imported, "claude-code");
      expect(figures(imported)).toEqual(expected);
      await unpackAll(imported, "claude-code");
      expect(figures(imported)).toEqual(expected);
      const drained = newReplay();
      writeLines(claudePath(drained, ID), transcript(lines));
      await drainAfterHook(drained);
      expect(figures(drained)).toEqual(expected);
      // Part by part, as the agent writes it
      const grown = newReplay();
      for (let at = 1; at <= whole; at += 7) {
        writeLines(claudePath(grown, ID), transcript(lines).slice(0, at));
        await drainAfterHook(grown);
      }
      writeLines(claudePath(grown, ID), transcript(lines));
      await drainAfterHook(grown);
      expect(figures(grown)).toEqual(expected);
    }),
    { numRuns: IS_WHOLE ? 16 : 3 },
  );
});

test("a pull request belongs to the branch on which it was created, a ticket to the branch that names it", async () => {
  const of = newReplay();
  const lines = transcript(turnsOn("main", OTHER, OTHER, "main"));
  const created = "https://github.com/acme/shop/pull/12";
  const edited = lines.map((line, at) => {
    // The first call of the third turn, and its result
    if (at === 2 * LINES_PER_TURN + 1)
      return line.replace(/"name":"Read","input":\{.*?\}/, '"name":"Bash","input":{"command":"gh pr create --fill"}');
    return at === 2 * LINES_PER_TURN + 2 ? line.replace("x".repeat(20), created) : line;
  });
  writeLines(claudePath(of, ID), edited);
  await importInto(of, "claude-code");
  const expected = { "acme/shop#12": turns(2), "-": turns(2) };
  expect(figures(of, "change")).toEqual(expected);
  expect(figures(of, "ticket")).toEqual({ "SHOP-7": turns(2), "-": turns(2) });
  expect(
    changesIn(of).map(({ changeKind, change, branch, certainty, how }) => [changeKind, change, branch, certainty, how]),
  ).toEqual([
    ["branch", "main", undefined, "observed", "transcript"],
    ["branch", OTHER, undefined, "observed", "transcript"],
    ["ticket", "SHOP-7", OTHER, "observed", "branch-name"],
    ["pull_request", "12", OTHER, "observed", "printed"],
    ["branch", "main", undefined, "observed", "transcript"],
  ]);
  expect(counted(of)).toEqual([]);
  // A second import, hooks, and both in another order change nothing
  await importInto(of, "claude-code", { again: true });
  expect(figures(of, "change")).toEqual(expected);
  await drainAfterHook(of);
  expect(figures(of, "change")).toEqual(expected);
  expect(counted(of)).toEqual(["branch 1", "pull_request 1", "ticket 1"]);
  const hooksFirst = newReplay();
  writeLines(claudePath(hooksFirst, ID), edited);
  await drainAfterHook(hooksFirst);
  await importInto(hooksFirst, "claude-code", { again: true });
  expect(figures(hooksFirst)).toEqual({ [OTHER]: turns(2), "-": turns(2) });
  expect(counted(hooksFirst)).toEqual(["branch 1", "ticket 1"]);
});

/** What is in the counter of changes, by kind. */
const counted = (of: Replay): readonly string[] =>
  (readStore(of.places.storePath, counterValues) ?? [])
    .flatMap(({ metric, attributes, value }) =>
      metric === "openhook.change.count" ? [`${attributes["openhook.change.kind"]} ${value}`] : [],
    )
    .toSorted();

test.each([
  ["none", 0],
  ["metadata", 1],
  ["redacted", 1],
  ["full", 1],
] as const)("at capture %s, imports keep names of branches and tickets as drains do", async (level, kept) => {
  const secret = "fix/ghp_0123456789abcdefghijABCDEFGHIJ012345";
  for (const read of [importInto, drainAfterHook]) {
    const of = newReplay();
    of.env = { OPENHOOK_OTEL_CAPTURE: level };
    writeLines(claudePath(of, ID), transcript(turnsOn(OTHER, secret)));
    await (read === importInto ? importInto(of, "claude-code") : drainAfterHook(of));
    const store = Buffer.concat(
      filesOf(of.places.storePath)
        .filter(existsSync)
        .map((file) => readFileSync(file)),
    );
    expect(store.includes(OTHER)).toBe(kept === 1);
    expect(store.includes("SHOP-7")).toBe(kept === 1);
    expect(store.includes("ghp_0123456789"), "a secret in a name").toBe(false);
    expect(changesIn(of).filter(({ change }) => change === OTHER)).toHaveLength(kept);
    expect(changesIn(of)).toHaveLength(3 * kept);
  }
});

test("with changes.enabled off, and in a project without changes, imports keep no branches", async () => {
  const off = newReplay();
  off.env = { OPENHOOK_OTEL_CHANGES_ENABLED: "false" };
  writeLines(claudePath(off, ID), transcript(turnsOn(OTHER)));
  await importInto(off, "claude-code");
  expect(changesIn(off)).toEqual([]);
  const project = newReplay();
  const cwd = join(project.home, "shop");
  mkdirSync(cwd);
  writeFileSync(join(cwd, ".openhook-otel.json"), '{ "changes": false }');
  writeLines(claudePath(project, ID), transcript(turnsOn(OTHER), cwd));
  await importInto(project, "claude-code");
  expect(changesIn(project)).toEqual([]);
  expect(figures(project)).toEqual({ "-": turns(1) });
});

/** A repository in the folder, with another branch checked out than the first. @returns git in it */
function repositoryOn(cwd: string, branch: string): (...args: readonly string[]) => void {
  mkdirSync(cwd);
  const git = (...args: readonly string[]): void => {
    const { status } = spawnSync("git", ["-c", "user.name=Dev", "-c", "user.email=dev@example.com", ...args], { cwd });
    expect(status).toBe(0);
  };
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("switch", "-q", "-c", branch);
  return git;
}

test("a branch that was checked out less than two seconds before a turn's end counts for it, as HEAD says; a later one does not", async () => {
  const of = newReplay();
  const cwd = join(of.home, "shop");
  const git = repositoryOn(cwd, OTHER);
  // The agent noted its branch before
  writeLines(claudePath(of, ID), transcript(turnsOn("fix/a", "fix/a"), cwd));
  const endMs = START_MS + 2 * LINES_PER_TURN * 1_000;
  const head = join(cwd, ".git", "HEAD");
  utimesSync(head, new Date(), new Date(endMs - 1_500));
  await drainAfterHook(of, endMs + 500, cwd);
  expect(figures(of)).toEqual({ "fix/a": turns(1), [OTHER]: turns(1) });
  // The user, after the turn
  git("switch", "-q", "-c", "fix/b");
  utimesSync(head, new Date(), new Date(endMs + 60_000));
  await drainAfterHook(of, endMs + 70_000, cwd);
  expect(figures(of)).toEqual({ "fix/a": turns(1), [OTHER]: turns(1) });
});

test("a pull request belongs to the branch that HEAD names since before it, even if the agent noted the one before", async () => {
  const of = newReplay();
  const cwd = join(of.home, "shop");
  repositoryOn(cwd, OTHER);
  writeLines(claudePath(of, ID), transcript(turnsOn("main"), cwd));
  const endMs = START_MS + LINES_PER_TURN * 1_000;
  utimesSync(join(cwd, ".git", "HEAD"), new Date(), new Date(endMs - 2_500));
  of.put({
    received_at: new Date(endMs - 2_000).toISOString(),
    event: "PostToolUse",
    stdin: {
      ...{ hook_event_name: "PostToolUse", session_id: ID, transcript_path: claudePath(of, ID), cwd },
      ...{ tool_name: "Bash", tool_use_id: "toolu_pull", tool_input: { command: "gh pr create --fill" } },
      tool_response: { stdout: "https://github.com/acme/shop/pull/12", stderr: "", interrupted: false },
    },
  });
  await drainAfterHook(of, endMs + 500, cwd);
  const [pull] = changesIn(of).filter(({ changeKind }) => changeKind === "pull_request");
  expect(pull).toMatchObject({ change: "12", branch: OTHER });
});

test("an agent that names a branch only where its session began: the branch is inferred, HEAD and unknown branches are not overruled", async () => {
  const of = new Replay("codex", "multi-turn", {
    edit: (text) => text.replaceAll('"branch":"main"', '"branch":"fix/a"'),
  });
  replay = of;
  const calls = of.calls;
  await importInto(of, "codex");
  const [branch] = changesIn(of);
  expect(branch).toMatchObject({ change: "fix/a", certainty: "inferred", how: "transcript" });
  const all = figures(of)["fix/a"];
  expect(figures(of)).toEqual({ "fix/a": all });
  for (const call of calls) of.put(call);
  await of.drain({ endIdle: true }, clockAt(Math.max(...calls.map(({ received_at }) => Date.parse(received_at)))));
  expect(figures(of)).toEqual({ "fix/a": all });
  expect(changesIn(of)).toEqual([branch]);
});
