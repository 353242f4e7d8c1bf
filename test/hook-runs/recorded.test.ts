// Runs of hooks as real programs wrote them down: hooks that succeed, print, fail, refuse and take too long, in two sessions of each agent.
import { join } from "node:path";
import { expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import type { HookRun } from "#core/model/hook-run.ts";
import { ROOT } from "../support/replay.ts";

const RECORDED = join(ROOT, "test", "hook-runs", "recorded");

async function runsIn(source: string, file: string): Promise<readonly HookRun[]> {
  const reader = (await (await findAgent(source))?.hookRuns?.())?.default;
  const runs = new Map<string, HookRun>();
  for await (const run of reader?.read({ path: join(RECORDED, file) }) ?? []) runs.set(run.id, run);
  return [...runs.values()];
}

/** `<event> <hook>: <outcomes>`, a letter for each run: ok, failed, blocked; in capitals if it has a time. */
function summary(runs: readonly HookRun[]): readonly string[] {
  const groups = new Map<string, string>();
  for (const { event, hook = "-", isOurs, outcome = "?", durationMs } of runs) {
    const key = `${event} ${isOurs === true ? "ours" : hook}`;
    const letter = outcome.slice(0, 1);
    groups.set(key, (groups.get(key) ?? "") + (durationMs === undefined ? letter : letter.toUpperCase()));
  }
  return [...groups].map(([key, outcomes]) => `${key}: ${outcomes}`).sort();
}

test("Claude Code: every Stop hook, and of other events what failed, refused or printed something", async () => {
  expect(summary(await runsIn("claude-code", "claude-code.jsonl"))).toEqual([
    "PostToolUse -: f",
    "PostToolUse broken.sh: Fb",
    "PreToolUse guard.sh: b",
    "PreToolUse notes.sh: OOOO",
    "SessionStart echo: F",
    "Stop ours: OOO",
    "Stop slow.sh: ObF",
    "UserPromptSubmit echo: O",
  ]);
});

test("Factory Droid: hooks of one event have one time together", async () => {
  expect(summary(await runsIn("droid", "droid.jsonl"))).toEqual([
    "PostToolUse broken.sh: FBF",
    "PreToolUse guard.sh: oboo",
    "PreToolUse notes.sh: oooo",
    "SessionEnd ours: OO",
    "SessionStart ours: OO",
    "Stop slow.sh: OBF",
  ]);
});

test("Grok: by file and place", async () => {
  expect(summary(await runsIn("grok", "grok.jsonl"))).toEqual([
    "post_tool_use global/own[0][0]: FOF",
    "post_tool_use ours: OOO",
    "pre_tool_use global/own[0][0]: OBOO",
    "pre_tool_use global/own[1][0]: OOO",
    "pre_tool_use ours: OOOO",
    "session_end ours: OO",
    "session_start ours: OO",
    "stop global/own[0][0]: OOBFF",
    "stop ours: OOOOO",
    "user_prompt_submit ours: OO",
  ]);
});

test("Copilot CLI: all hooks of an event together, without names", async () => {
  const runs = await runsIn("copilot", "copilot.jsonl");
  expect(summary(runs)).toEqual([
    "agentStop -: OO",
    "postToolUse -: FOF",
    "preToolUse -: OBOO",
    "sessionEnd -: OO",
    "sessionStart -: OO",
    "userPromptSubmitted -: OO",
  ]);
  expect(new Set(runs.map(({ isOurs }) => isOurs))).toEqual(new Set([undefined]));
});

test("OpenHands: every run, without its time", async () => {
  expect(summary(await runsIn("openhands", join("openhands", "base_state.json")))).toEqual([
    "PostToolUse broken.sh: fbf",
    "PostToolUse ours: ooo",
    "PreToolUse guard.sh: oboo",
    "PreToolUse notes.sh: ooo",
    // After a refusal OpenHands runs no further hook of the event
    "PreToolUse ours: ooo",
    "SessionStart ours: oo",
    "Stop ours: oo",
    "Stop slow.sh: obf",
    "UserPromptSubmit ours: oo",
  ]);
});

test("no other agent's files say which hooks ran", async () => {
  const sources = (await allAgents()).filter(({ hookRuns }) => hookRuns !== undefined).map(({ source }) => source);
  expect(sources.sort()).toEqual(["claude-code", "copilot", "droid", "grok", "openhands"]);
});

test("arguments of hooks, their output and folders are left out", async () => {
  const all = await Promise.all(
    ["claude-code", "droid", "grok", "copilot"].map((source) => runsIn(source, `${source}.jsonl`)),
  );
  const text = JSON.stringify([...all.flat(), ...(await runsIn("openhands", join("openhands", "base_state.json")))]);
  expect(text).not.toMatch(/sekret|--flag|forbidden|cannot write|\/home|hello/);
});
