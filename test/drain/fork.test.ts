// A fork's file can begin with a copy of another session: its first own prompt shows where its own part begins.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { type Expected, type ExpectedSession, summaryOf } from "../support/summary.ts";

let at: Replay;
afterEach(() => at.remove());

describe.each(["claude-code", "codex"])("a fork of %s whose prompt no hook reported", (source) => {
  test("counts its own work, and nothing that it copied", async () => {
    const { forked, own } = forkOf(source);
    await drained(own.filter(({ event }) => event !== "UserPromptSubmit"));
    expect(figuresOf(forked)).toEqual(wanted(forked));
  });

  test("counts its own work, also if the session that it was forked from is drained with it", async () => {
    const { expected, forked, own } = forkOf(source);
    await drained(at.calls.filter((call) => call.event !== "UserPromptSubmit" || !own.includes(call)));
    for (const session of expected) expect(figuresOf(session)).toEqual(wanted(session));
    expect(figuresOf(forked).calls).toBeGreaterThan(0);
  });
});

test("a fork of claude-code does not repeat errors, interruptions and ends of copied turns", async () => {
  const copied = [
    { type: "system", subtype: "api_error", error: { status: 529 }, uuid: "01" },
    { type: "user", message: { content: "[Request interrupted by user]" }, uuid: "02" },
    { type: "system", subtype: "turn_duration", durationMs: 40, uuid: "03" },
  ].map((line) => JSON.stringify({ ...line, timestamp: "2026-11-21T08:56:49.552Z" }));
  // After the first turn, in both files; the fork itself is killed before the end of its own turn
  const edit = (text: string, path: string): string => {
    if (path === "hooks.jsonl") return text;
    const lines = text.split("\n");
    const own = lines.findIndex((line) => line.includes("stop_hook_summary")) + 1;
    const ownLines = path.includes(FORK) ? lines.slice(own, own + 1) : lines.slice(own);
    return [...lines.slice(0, own), ...copied, ...ownLines, ""].join("\n");
  };
  at = new Replay("claude-code", "fork", { edit });
  await drained(at.calls.filter(({ event, stdin }) => stdin?.["session_id"] !== FORK || event === "UserPromptSubmit"));
  expect(summaryOf(at.places.storePath, FORK)).toMatchObject({ lastTurn: "unfinished", modelCalls: [] });
  const db = openDatabase(at.places.storePath);
  const errors = counterValues(db).filter(({ metric }) => metric === "openhook.model.error.count");
  db.close();
  expect(errors.map(({ value }) => value)).toEqual([1]);
});

// --- internal ---

const FORK = "eded04c6-2966-4926-948e-65e9e29739b0";

function forkOf(source: string) {
  at = new Replay(source, "fork");
  const { sessions } = expectedOf(source);
  const start = at.calls.find(({ stdin }) => stdin?.["source"] === "fork");
  const id = start?.stdin?.["session_id"];
  const forked = sessions.find(({ session_id }) => session_id === id);
  if (forked === undefined) throw new Error(`${source}: no fork was recorded`);
  return { expected: sessions, forked, own: at.calls.filter(({ stdin }) => stdin?.["session_id"] === id) };
}

const expectedOf = (source: string): Expected =>
  JSON.parse(readFileSync(join(CASES, source, "fork", "expected.json"), "utf8")) as Expected;

async function drained(calls: readonly RecordedCall[]): Promise<void> {
  for (const call of calls) at.put(call);
  await at.drain({ endIdle: true }, clockAt(Math.max(...calls.map((call) => Date.parse(call.received_at)))));
}

const wanted = ({ totals }: ExpectedSession) => ({
  calls: totals["model_calls"],
  input: totals["input"],
  output: totals["output"],
});

function figuresOf({ session_id }: ExpectedSession) {
  const calls = summaryOf(at.places.storePath, session_id)?.modelCalls ?? [];
  const sum = (key: "input" | "output"): number => calls.reduce((n, call) => n + Number(call[key] ?? 0), 0);
  return { calls: calls.length, input: sum("input"), output: sum("output") };
}
