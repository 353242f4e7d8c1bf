// A transcript that becomes readable only after its hooks' events are settled: its folder was refused, or a disk slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, Replay } from "../support/replay.ts";
import { countersAndRows, type Expected, summaryOf } from "../support/summary.ts";
import { firstOf } from "../support/whole.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const LATE: readonly (readonly [source: string, name: string])[] = [
  // None of these reports prompt ids; two prompts of the last one have the same length
  ["claude-code", "older-version-2.0.77"],
  ["copilot", "multi-turn"],
  ["copilot", "nested-subagents"],
  ["copilot", "killed-then-resumed"],
  ["gemini-cli", "subagent"],
  ["gemini-cli", "multi-turn"],
];

describe.each(firstOf(LATE, 2))("%s %s", (source, name) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;

  test.each(["metadata", "none"])("at %s every prompt, model call and tool call counts once", async (capture) => {
    replay = new Replay(source, name, { withTranscripts: false });
    replay.env["OPENHOOK_OTEL_CAPTURE"] = capture;
    const times = replay.calls.map((call) => Date.parse(call.received_at));
    const lastMs = Math.max(...times);
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true }, clockAt(lastMs));
    replay.writeTranscripts({ untilMs: ((times[0] ?? 0) + lastMs) / 2 });
    await replay.drain({}, clockAt(lastMs + 10_000));
    replay.writeTranscripts();
    await replay.drain({}, clockAt(lastMs + 20_000));
    await replay.drain({ endIdle: true }, clockAt(lastMs + 30_000));

    const { storePath } = replay.places;
    const sums = countersAndRows(storePath);
    expect(sums.counters).toEqual(sums.rows);
    for (const session of sessions) {
      const got = summaryOf(storePath, session.session_id);
      expect(got?.prompts).toBe(session.prompts);
      expect(got?.modelCalls.reduce((sum, call) => sum + call.input, 0)).toBe(session.totals["input"]);
      expect(got?.tools).toHaveLength(session.tool_calls.length);
      expect(got?.unsettled).toBe(0);
    }
    expect(humanTurns(storePath)).toBe(sessions.reduce((sum, { prompts }) => sum + prompts, 0));
    expect(orphansIn(storePath)).toEqual([]);
  });
});

// --- internal ---

function humanTurns(storePath: string): number {
  const db = openDatabase(storePath);
  try {
    return counterValues(db)
      .filter((c) => c.metric === "openhook.turn.count" && c.attributes["openhook.turn.origin"] === "human")
      .reduce((sum, { value }) => sum + value, 0);
  } finally {
    db.close();
  }
}

/** Names of spans whose parent was not reported. */
function orphansIn(storePath: string): readonly string[] {
  const db = openDatabase(storePath);
  try {
    const spans = db
      .prepare("SELECT record FROM spans")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    return spans.flatMap(({ parentSpanId, name }) =>
      parentSpanId === undefined || ids.has(parentSpanId) ? [] : [name],
    );
  } finally {
    db.close();
  }
}
