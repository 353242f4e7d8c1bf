// Single-object files as 0.28.2, 0.32.1 and 0.35.3 wrote them: some answers have no record, and subagents have no file
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import reader from "#agents/gemini-cli/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-merged-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const START_MS = Date.UTC(2026, 1, 12, 9, 30);
const at = (ms: number): string => new Date(START_MS + ms).toISOString();

const user = (ms: number, text: string) => ({ id: `u${ms}`, timestamp: at(ms), type: "user", content: [{ text }] });
const answer = (ms: number, input: number, ...toolCalls: readonly unknown[]) => ({
  ...{ id: `a${ms}`, timestamp: at(ms), type: "gemini", content: "Well.", model: "gemini-2.5-pro" },
  tokens: { input, output: 10, cached: 0, thoughts: 0, tool: 0, total: input + 10 },
  ...(toolCalls.length > 0 && { toolCalls }),
});
const call = (name: string, startMs: number, endMs: number, output = "fine", ids = "random") => {
  const ms = START_MS + startMs;
  const id =
    ids === "random" ? `${name}-${ms}-241db70e6f10b` : ids === "counted" ? `${name}_${ms}_0` : `call_${startMs}`;
  const result = [{ functionResponse: { id, name, response: { output } } }];
  return { id, name, args: { objective: "Look" }, result, status: "success", timestamp: at(endMs) };
};
const OVER = "Subagent 'codebase_investigator' finished.\nTermination Reason: GOAL\nResult:\n{}";

/** Prompts, tool calls and model calls, these with their input tokens: `?` if unknown. */
async function summaryOf(...messages: readonly unknown[]): Promise<readonly string[]> {
  const path = join(home, "session-2026-02-12T09-30-91c17a0a.json");
  const head = { sessionId: "91c17a0a-b01c-45e8-befd-5a0e0ab1ec40", projectHash: "a", startTime: at(0) };
  writeFileSync(path, JSON.stringify({ ...head, lastUpdated: at(9000), messages }, null, 2));
  const entries: TranscriptEntry[] = [];
  for await (const batch of reader.read({ path }, INITIAL_OFFSET)) entries.push(...batch.entries);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  return entries.flatMap((entry) => {
    const whose = entry.agentId === undefined ? "" : "subagent: ";
    if (entry.kind === "prompt") return ["prompt"];
    if (entry.kind === "subagent") return [`subagent ${entry.agentType}, by ${entry.parentCallId?.split(/[-_]\d/)[0]}`];
    if (entry.kind === "tool_use") return [`${whose}${entry.name}`];
    return entry.kind === "model_call" ? [`${whose}${entry.usage?.input ?? "?"}`] : [];
  });
}

test("an unrecorded answer without text is a call with unknown usage", async () => {
  const first = [call("read_file", 90, 400), call("run_shell_command", 91, 1500)];
  const second = [call("read_file", 1600, 1650), call("read_file", 1601, 1660)];
  expect(await summaryOf(user(0, "Check"), answer(100, 8000, ...first, ...second), answer(1700, 9900))).toEqual([
    ...["prompt", "8000", "read_file", "run_shell_command", "read_file", "read_file", "?", "9900"],
  ]);
});

test("an answer with only thoughts is written with its calls after they end", async () => {
  const messages = [user(0, "Check"), answer(300, 8000, call("read_file", 90, 299), call("read_file", 350, 400))];
  expect(await summaryOf(...messages)).toEqual(["prompt", "8000", "read_file", "read_file", "?"]);
});

test.each(["counted", "provider's"])("adds nothing if all answers are recorded (%s ids)", async (ids) => {
  const messages = [
    ...[user(0, "Check"), answer(100, 8000, call("read_file", 98, 400, "fine", ids))],
    ...[answer(500, 9000, call("read_file", 500, 600, "fine", ids)), answer(700, 9900)],
  ];
  expect(await summaryOf(...messages)).toEqual(["prompt", "8000", "read_file", "9000", "read_file", "9900"]);
});

test("a subagent's task between the lines is no prompt, and its answers are not the main thread's", async () => {
  const spawned = call("codebase_investigator", 200, 600, OVER);
  const lines = [user(0, "Find"), answer(100, 9000, call("read_file", 98, 150)), user(280, "Your task is to look.")];
  expect(await summaryOf(...lines, answer(350, 2000, spawned), answer(700, 9500), user(800, "Thanks"))).toEqual([
    ...["prompt", "9000", "read_file", "subagent: 2000", "codebase_investigator"],
    ...["subagent codebase_investigator, by codebase_investigator", "?", "9500", "prompt"],
  ]);
});

test("the answer that called the subagent counts once if it is recorded", async () => {
  const spawned = call("codebase_investigator", 200, 600, OVER, "counted");
  const lines = [user(0, "Find"), answer(200, 9000), user(280, "Your task is to look."), answer(350, 2000)];
  expect(await summaryOf(...lines, answer(550, 2300, spawned), answer(700, 9500))).toEqual([
    ...["prompt", "9000", "subagent: 2000", "subagent: 2300", "codebase_investigator"],
    ...["subagent codebase_investigator, by codebase_investigator", "9500"],
  ]);
});

test("a subagent that left only its result made at least one model call", async () => {
  const spawned = call("codebase_investigator", 199, 600, OVER, "counted");
  expect(await summaryOf(user(0, "Find"), answer(200, 9000, spawned), answer(700, 9500))).toEqual([
    ...["prompt", "9000", "codebase_investigator"],
    ...["subagent codebase_investigator, by codebase_investigator", "subagent: ?", "9500"],
  ]);
});

test("a message of an unknown kind with usage is usage whose figures are unknown", async () => {
  const paid = { id: "p", timestamp: at(2000), type: "paid_extra", tokens: { input: 70, output: 7 } };
  expect(await summaryOf(user(0, "Check"), answer(100, 8000), paid)).toEqual(["prompt", "8000", "?"]);
});
