// Several configurations of one agent: usage by the folder that a session's files are in
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { report } from "#commands/report.ts";
import { questionOf } from "#show/report/question.ts";
import { usageByGroupings } from "#show/report/usage.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { contextAt } from "../support/context.ts";
import { CASES, Replay } from "../support/replay.ts";

const agents = await allAgents();
let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** Sessions and tokens by folder. */
function byFolder({ places, home }: Replay) {
  const found = readStore(places.storePath, (db) =>
    usageByGroupings(db, { agents }, { home }, [["config-folder"], []]),
  );
  const [rows = [], [total] = []] = found ?? [];
  return {
    rows: rows.map(({ key, sessions, calls }) => [key["config-folder"], sessions, calls?.input]),
    found: rows,
    total,
  };
}

const CASE_OF = [
  ["claude-code", "basic", "~/.claude"],
  ["codex", "basic", "~/.codex"],
  ["copilot", "basic", "~/.copilot"],
  ["gemini-cli", "basic", "~/.gemini"],
  ["qwen-code", "basic", "~/.qwen"],
  ["kimi", "basic", "~/.kimi-code"],
  ["grok", "basic", "~/.grok"],
  ["droid", "basic", "~/.factory"],
  ["pi", "basic", "~/.pi/agent"],
  ["vibe", "basic", "~/.vibe"],
  ["amp", "ledger", "~/.local/share/amp"],
  ["goose", "basic", "~/.local/share/goose"],
  ["auggie", "basic", "~/.augment"],
] as const;

test.each(CASE_OF)("a session of %s, %s is in %s, by import and by hooks", async (source, name, folder) => {
  for (const way of ["import", "hooks"]) {
    replay = new Replay(source, name);
    if (way === "import") await importInto(replay, source);
    else {
      for (const call of replay.calls) replay.put(call);
      await replay.drain({ endIdle: true });
    }
    const { rows } = byFolder(replay);
    expect(
      rows.map(([name]) => name),
      way,
    ).toEqual([folder]);
    if (way === "import") replay.remove();
  }
});

test("two folders of one agent are two rows that add up to the total; a folder outside the home has its whole path", async () => {
  const of = new Replay("claude-code", "basic");
  replay = of;
  const work = join(of.home, "work", ".claude-work");
  const other = new Replay("claude-code", "multi-turn");
  mkdirSync(work, { recursive: true });
  cpSync(join(other.home, ".claude", "projects"), join(work, "projects"), { recursive: true });
  other.remove();
  await importInto(of, "claude-code", { env: {} });
  await importInto(of, "claude-code", { env: { CLAUDE_CONFIG_DIR: work } });
  const { rows, found, total } = byFolder(of);
  expect(rows.map(([name, sessions]) => [name, sessions])).toEqual([
    ["~/.claude", 1],
    ["~/work/.claude-work", 1],
  ]);
  expect(found.reduce((sum, { calls }) => sum + (calls?.input ?? 0), 0)).toBe(total?.calls?.input);
  expect(found.reduce((sum, { calls }) => sum + (calls?.costNanoUsd ?? 0), 0)).toBe(total?.calls?.costNanoUsd);
  const without = readStore(of.places.storePath, (db) => usageByGroupings(db, { agents }, {}, [["config-folder"]]));
  expect(without?.[0]?.map(({ key }) => key["config-folder"])).toEqual([join(of.home, ".claude"), work]);
});

test("the command prints them, and sessions without a known folder in a row of their own", async () => {
  replay = new Replay("claude-code", "basic");
  cpSync(join(CASES, "opencode", "basic", "transcripts"), replay.home, { recursive: true });
  for (const source of ["claude-code", "opencode"]) await importInto(replay, source);
  const { context, out } = contextAt(replay.places);
  await report(["config-folder"], { json: false, csv: false, since: "2020-01-01", refresh: false }, context);
  expect(out()).toMatch(/^config-folder .*\n~\/\.claude /m);
  expect(out()).toMatch(/^\(no config folder known\) /m);
});

test("who asks for accounts is told why there are none", () => {
  expect(() => questionOf(["account"], { json: false, csv: false }, Date.now())).toThrow(
    /no session's files name the account; .* report config-folder/,
  );
});
