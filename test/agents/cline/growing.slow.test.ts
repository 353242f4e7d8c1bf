// Slow: only `npm run test:all` runs it. A task read while it grows; drain/late-transcript.test.ts reads in parts.
//
// The growing message file: a drain at every hook, with the file as far as written then, sometimes half-written
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { clockAt } from "../../support/clock.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { countersAndRows, type Expected, summaryOf } from "../../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each([
  ["basic", false],
  ["api-error", true],
  ["subagent", true],
  ["multi-turn", false],
  ["multi-turn", true],
  ["interrupted", false],
])("%s, incomplete: %s", (name, torn) => {
  const folder = join(CASES, "cline", name);
  const [session] = (JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Expected).sessions;
  if (session === undefined) throw new Error(`${name} has no session`);

  test("counts every call, token and tool once", async () => {
    replay = new Replay("cline", name, { withTranscripts: false });
    for (const call of replay.calls) {
      const ms = Date.parse(call.received_at);
      write(join(folder, "transcripts"), replay.home, ms, torn && !/Complete|Error|Shutdown/.test(call.event));
      replay.put(call);
      await replay.drain({}, clockAt(ms));
    }
    replay.writeTranscripts();
    await replay.drain({ endIdle: true });
    const { counters, rows } = countersAndRows(replay.places.storePath);
    expect(counters).toEqual(rows);
    const got = summaryOf(replay.places.storePath, session.session_id);
    const sum = (field: "input" | "output" | "cache_read") =>
      got?.modelCalls.reduce((total, call) => total + Number(call[field] ?? 0), 0);
    expect(got?.modelCalls).toHaveLength(session.model_calls.length);
    expect([sum("input"), sum("output"), sum("cache_read")]).toEqual([
      session.totals["input"],
      session.totals["output"],
      session.totals["cache_read"],
    ]);
    const tools = got?.tools.map(({ id, status, subagent }) => [id, status, subagent]);
    expect(tools).toEqual(session.tool_calls.map(({ id, status, subagent }) => [id, status, subagent]));
    expect(got?.prompts).toBe(session.prompts);
    expect(got?.unsettled).toBe(0);
  });
});

/** The file is complete at a run's end, as observed in all recordings. */
const WRITTEN_WITHIN_MS = 60;

function write(from: string, home: string, untilMs: number, torn: boolean): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = JSON.parse(readFileSync(path, "utf8")) as { messages?: { ts: number }[] };
    if (file.messages === undefined) continue;
    const messages = file.messages.filter((message) => message.ts <= untilMs + WRITTEN_WITHIN_MS);
    const text = JSON.stringify({ ...file, messages }, null, 2);
    const to = join(home, path.slice(from.length + 1));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, torn ? text.slice(0, Math.floor(text.length * 0.7)) : text);
  }
}
