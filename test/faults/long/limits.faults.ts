// Memory and time of a drain at the sizes in docs/limits.md, and pruning for every agent with transcripts.
import { beforeAll, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { prunedAnywhere } from "../../store/pruned.ts";
import { ensureBuilt } from "../../support/program.ts";
import { Measured, type Took, writeTranscript } from "../limits.ts";
import { record } from "../record.ts";

beforeAll(ensureBuilt, 120_000);

/** V8 collects garbage late if there is memory: less than half of it is live data, see docs/limits.md. */
const MAX_MIB = 400;
const START_MS = Date.UTC(2026, 10, 1);

async function measured(work: (at: Measured) => Promise<void>): Promise<void> {
  const at = new Measured();
  try {
    await work(at);
  } finally {
    at.remove();
  }
}

/** Checks memory and exit code, and adds the figures to the report. */
function checkAndRecord(fault: string, took: Took, more: Readonly<Record<string, number>> = {}): void {
  expect(took.code).toBe(0);
  expect(took.peakMib).toBeLessThan(MAX_MIB);
  record({ area: "load", fault, runs: 1, figures: { peakMib: took.peakMib, drainMs: Math.round(took.ms), ...more } });
}

test("a drain without work stays within the memory limit", () =>
  measured(async (at) => {
    await at.run(["drain", "--quiet"]);
    checkAndRecord("a drain without work", await at.run(["drain", "--quiet"]));
  }));

test("10,000 payloads at once are all processed, within the memory limit", () =>
  measured(async (at) => {
    const payload = { transcript_path: "/home/dev/.claude/projects/p/s.jsonl", cwd: "/home/dev/acme-shop" };
    for (let i = 0; i < 10_000; i++) {
      const call = {
        ...payload,
        session_id: `s${i % 50}`,
        tool_name: "Read",
        tool_use_id: `t${i >> 1}`,
        tool_input: {},
      };
      const event = i % 2 === 0 ? "PreToolUse" : "PostToolUse";
      at.put("claude-code", event, { ...call, hook_event_name: event }, START_MS + i * 10, i);
    }
    const took = await at.run(["drain", "--json"]);
    expect(JSON.parse(took.stdout)).toMatchObject({ files: 10_000, events: 10_000, left: 0 });
    checkAndRecord("10,000 queued payloads", took);
  }));

test("a session of 100,000 transcript lines is read completely, within the memory limit", () =>
  measured(async (at) => {
    const shape = { turns: 500, callsPerTurn: 99, paddingBytes: 600, startMs: START_MS };
    const path = writeTranscript(at.home, "long", shape);
    const end = {
      session_id: "long",
      transcript_path: path,
      hook_event_name: "SessionEnd",
      reason: "other",
      cwd: at.home,
    };
    at.put("claude-code", "SessionEnd", end, START_MS + 20_000_000, 1);
    const took = await at.run(["drain", "--json"]);
    const db = openDatabase(at.places.storePath);
    expect(db.prepare("SELECT count(*) AS n FROM model_calls").get()?.["n"]).toBe(500 * 100);
    expect(db.prepare("SELECT count(*) AS n FROM tool_calls").get()?.["n"]).toBe(500 * 99);
    db.close();
    checkAndRecord("a session of 100,000 transcript lines", took, { spans: JSON.parse(took.stdout).spans });
    const pruned = await at.run(["prune", "--older-than", "0h", "--json"], { OPENHOOK_OTEL_OUTBOX_MAX_AGE_DAYS: "1" });
    expect(pruned.code).toBe(0);
  }));

test.each([
  ["claude-code", "fork"],
  ["claude-code", "killed-then-resumed"],
  ["codex", "subagent-fork"],
  ["copilot", "nested-subagents"],
  ["cline", "subagent"],
  ["gemini-cli", "killed-then-resumed"],
  ["opencode", "subagent"],
] as const)("%s %s: pruned at any time, read and reported again", async (source, name) => {
  const runs = 3;
  const eventsIn = await prunedAnywhere(source, name, runs);
  record({
    area: "load",
    fault: "a session pruned, then read and reported again",
    runs,
    eventsIn,
    lost: 0,
    duplicates: 0,
  });
});
