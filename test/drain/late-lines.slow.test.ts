// Slow: only `npm run test:all` runs it. Lines of every recording after the session's end; drain/late-transcript.test.ts reads
// in parts.
//
// Lines of a transcript that arrive after a drain has ended the session, because the agent's process is gone
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { hostHere } from "../support/host.ts";
import { CASES, Replay } from "../support/replay.ts";
import { countersAndRows } from "../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** Agents without process ends whose hooks report no prompt ids: the transcript gives their turns other keys. */
const WITHOUT_PROMPT_IDS: readonly (readonly [source: string, name: string])[] = [
  ["claude-code", "older-version-2.0.77"],
  ["copilot", "multi-turn"],
  ["gemini-cli", "subagent"],
];
const endedByProcess = (await allAgents())
  .filter(({ hooksRunIn, transcript }) => hooksRunIn !== undefined && transcript !== undefined)
  .flatMap(({ source }) => recordingsOf(source).map((name) => [source, name] as const));
const cases = [...WITHOUT_PROMPT_IDS, ...endedByProcess];

describe.skipIf(process.platform !== "linux")("transcript lines that arrive after the session's end", () => {
  test.each(cases)("%s %s: turns, subagents, calls and sums are as with lines in time", async (source, name) => {
    const inTime = await replayed(source, name, []);
    expect(inTime.strays).toEqual([]);
    // Vibe's sums are in another file than its lines
    for (const shares of source === "vibe" ? [[0]] : [[0], [0.3, 0.6], [0.8]]) {
      replay?.remove();
      expect(await replayed(source, name, shares), `lines read: ${shares}`).toEqual(inTime);
    }
  });
});

// --- internal ---

/** Recordings with lines: databases are read as a whole. */
function recordingsOf(source: string): readonly string[] {
  const folder = join(CASES, source);
  const hasLines = (name: string): boolean =>
    readdirSync(join(folder, name, "transcripts"), { recursive: true }).some((file) => String(file).endsWith(".jsonl"));
  return existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "transcripts")) && hasLines(name))
    : [];
}

/** A process that does not exist: no pid is as large. */
const GONE = { pid: 2 ** 22 + 1, start: "1", host: hostHere() };

/** @param shares of the lines of each file that each drain finds; the drains after them find all */
async function replayed(source: string, name: string, shares: readonly number[]) {
  let share = 1;
  replay = new Replay(source, name, {
    withTranscripts: false,
    edit: (text, path) => (path.endsWith(".jsonl") && path !== "hooks.jsonl" ? beginningOf(text, share) : text),
  });
  replay.agentProcess = GONE;
  for (const call of replay.calls) replay.put(call);
  let nowMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  for (share of [...shares, 1]) {
    nowMs += 10_000;
    if (share > 0) replay.writeTranscripts();
    await replay.drain({ endIdle: true }, clockAt(nowMs));
  }
  return outcomeIn(replay.places.storePath);
}

function beginningOf(text: string, share: number): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .slice(0, Math.ceil(lines.length * share))
    .map((line) => `${line}\n`)
    .join("");
}

function outcomeIn(storePath: string) {
  const { counters, rows } = countersAndRows(storePath);
  expect(counters).toEqual(rows);
  const spans = spansIn(storePath);
  const db = openDatabase(storePath);
  try {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const ofKind = (kind: string) => spans.filter(({ attributes }) => attributes[semconv.OPENHOOK_SPAN_KIND] === kind);
    const { incomplete: _, unpriced: __, ...sums } = counters;
    return {
      ...Object.fromEntries(["turn", "subagent", "model_call"].map((kind) => [kind, ofKind(kind).length])),
      tools: ofKind("tool_call").length,
      counted: counterValues(db)
        .filter(({ metric }) => /^openhook\.(session|turn|subagent)\.count$/.test(metric))
        .reduce((sum, { value }) => sum + value, 0),
      sums: { ...sums, tools: Object.values(sums.tools).reduce((a, b) => a + b, 0) },
      strays: spans.flatMap(({ parentSpanId, name }) =>
        parentSpanId === undefined || ids.has(parentSpanId) ? [] : [name],
      ),
    };
  } finally {
    db.close();
  }
}

function spansIn(storePath: string): readonly SpanRecord[] {
  const db = openDatabase(storePath);
  try {
    return db
      .prepare("SELECT record FROM spans")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
  } finally {
    db.close();
  }
}
