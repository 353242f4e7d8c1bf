import { rmSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { spanSettings } from "../../src/drain/derive.ts";
import { exportPacked } from "../../src/import/export.ts";
import { readersHere } from "../../src/import/readers.ts";
import { type ImportOptions, type ImportReport, importSessions } from "../../src/import/run.ts";
import { redact } from "../../src/privacy/redact.ts";
import { viewOf } from "../../src/report/session-view.ts";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { sessionById } from "../../src/store/sessions.ts";
import { clockAt } from "../support/clock.ts";
import { compareRecorded, finishedOf, isClean, isWrittenWhole } from "../support/expected.ts";
import type { Replay } from "../support/replay.ts";
import { recordedCases, recordedHome } from "./home.ts";

const cases = await recordedCases();
let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(cases)("$source $name", (of) => {
  test("what is imported is what was recorded; packed it tells the same as in rows", async () => {
    const home = await recordedHome(of);
    replay = home.replay;
    const first = await importInto(replay, of.source);
    const found = first.agents.get(of.source);
    expect(found).toMatchObject({ found: home.expected.length, imported: home.expected.length, failed: 0 });
    const packed = await whatIsIn(replay);
    expect(await importInto(replay, of.source)).toMatchObject({ told: [] });
    expect(await whatIsIn(replay)).toEqual(packed);
    expect((await importInto(replay, of.source)).agents.get(of.source)).toMatchObject({
      unchanged: home.expected.length,
      imported: 0,
    });

    await unpackAll(replay, of.source);
    const { storePath } = replay.places;
    expect(await whatIsIn(replay)).toEqual(packed);
    const clean = home.expected.filter(isClean);
    const sessions = clean.map((session) => (isWrittenWhole(storePath, session) ? session : finishedOf(session)));
    compareRecorded(storePath, { sessions }, false);
  });

  test("hooks and import in either order are as hooks alone", async () => {
    const home = await recordedHome(of);
    replay = home.replay;
    const nowMs = Math.max(...home.calls.map((call) => Date.parse(call.received_at)));
    const hooks = async (): Promise<void> => {
      for (const call of home.calls) home.replay.put(call);
      await home.replay.drain({ endIdle: true }, clockAt(nowMs));
    };
    await hooks();
    const alone = rowsIn(home.replay);
    const after = await importInto(home.replay, of.source);
    expect(after.told).toEqual([]);
    expect(rowsIn(home.replay)).toEqual(alone);

    rmSync(home.replay.places.stateDir, { recursive: true });
    await importInto(home.replay, of.source);
    await hooks();
    const both = rowsIn(home.replay);
    // Transcripts that no hook told of, as those of sessions before it was installed, stay what they are
    expect(both).toEqual(alone);
  });
});

// --- internal ---

async function importInto(of: Replay, source: string, options: Partial<ImportOptions> = {}): Promise<ImportReport> {
  const deps = await of.deps();
  const report = await importSessions(deps, {
    agents: [source],
    env: {},
    dryRun: false,
    readers: () => readersHere((name) => deps.agents.find((agent) => agent.source === name), redact),
    onProgress: () => {},
    signal: new AbortController().signal,
    ...options,
  });
  if (report === undefined) throw new Error("a drain was at work");
  expect(report.problems).toEqual([]);
  return report;
}

async function unpackAll(of: Replay, source: string): Promise<void> {
  const never = new AbortController().signal;
  await exportPacked(await of.deps(), { agents: [source], sinceMs: undefined, signal: never, onProgress: () => {} });
}

function look<T>(of: Replay, ask: (db: Database) => T): T {
  const db = openDatabase(of.places.storePath);
  try {
    return ask(db);
  } finally {
    db.close();
  }
}

/** What reports and the commands that show a session say, however it is kept. */
async function whatIsIn(of: Replay) {
  const settings = spanSettings(await of.deps());
  const agents = [...new Set(cases.map(({ agent }) => agent))];
  return look(of, (db) => ({
    usage: db
      .prepare(
        `SELECT s.session_id, u.model, u.subagent, sum(u.calls) AS calls, sum(u.sums_told) AS sums_told,
           sum(u.without_usage) AS without_usage, sum(u.unpriced) AS unpriced, sum(u.incomplete) AS incomplete,
           sum(u.input) AS input, sum(u.output) AS output, sum(u.cache_read) AS cache_read,
           sum(u.cache_write) AS cache_write, sum(u.cache_write_5m) AS m5, sum(u.cache_write_1h) AS h1,
           sum(u.reasoning) AS reasoning, sum(u.cost_nano_usd) AS cost, sum(u.duration_ms) AS ms,
           floor(u.time_ms / 900000) AS quarter
         FROM usage u JOIN sessions s ON s.id = u.session GROUP BY s.session_id, u.model, u.subagent, quarter
         ORDER BY s.session_id, u.model, u.subagent, quarter`,
      )
      .all()
      .map(plain),
    tools: db
      .prepare(
        `SELECT s.session_id, u.name, u.mcp_server, u.subagent, sum(u.calls) AS calls, sum(u.errors) AS errors,
           sum(u.denied) AS denied, sum(u.unfinished) AS unfinished, sum(u.duration_ms) AS ms,
           floor(u.time_ms / 900000) AS quarter
         FROM tool_usage u JOIN sessions s ON s.id = u.session GROUP BY s.session_id, u.name, u.mcp_server, u.subagent, quarter
         ORDER BY s.session_id, u.name, u.mcp_server, u.subagent, quarter`,
      )
      .all()
      .map(plain),
    turns: db
      .prepare(
        `SELECT s.session_id, u.origin, sum(u.turns) AS turns, sum(u.failed) AS failed,
           sum(u.interrupted) AS interrupted, floor(u.time_ms / 900000) AS quarter
         FROM turn_usage u JOIN sessions s ON s.id = u.session GROUP BY s.session_id, u.origin, quarter
         ORDER BY s.session_id, u.origin, quarter`,
      )
      .all()
      .map(plain),
    sessions: db
      .prepare("SELECT id FROM sessions WHERE parent IS NULL ORDER BY source, session_id")
      .all()
      .map((row) => {
        const stored = sessionById(db, Number(row["id"]));
        const view = viewOf(db, stored, { agents }, settings);
        const spans = view.isPacked
          ? view.openSpans.map(({ record }) => record)
          : db
              .prepare("SELECT record FROM spans WHERE session = ?")
              .all(stored.id)
              .map((one) => JSON.parse(String(one["record"])));
        return {
          session: { ...stored, id: 0 },
          segments: view.segments.map(({ uses: _, ...segment }) => segment),
          sums: view.sums,
          tools: [...view.tools].sort(),
          calls: view.calls.map(({ call }) => call.key).sort(),
          spans: spans.map((span) => JSON.stringify(sorted(span))).sort(),
        };
      }),
  }));
}

/** Rows by what they say, without the store's own numbers. */
function rowsIn(of: Replay) {
  return look(of, (db) =>
    Object.fromEntries(
      (
        [
          ["turns", "s.session_id, t.key, t.origin, t.state, t.start_ms, t.end_ms"],
          ["model_calls", "s.session_id, t.key, t.input, t.output, t.cache_read, t.cache_write, t.cost_nano_usd"],
          ["tool_calls", "s.session_id, t.call_id, t.name, t.status, t.start_ms, t.end_ms"],
          ["segments", "s.session_id, t.ordinal, t.start_ms, t.end_ms, t.reason, t.totals, t.delivered"],
          ["spans", "s.session_id, t.key, t.record"],
          ["counters", "t.metric, t.attributes, t.value, t.histogram"],
        ] as const
      ).map(([table, columns]) => {
        const from =
          table === "counters"
            ? "counters t WHERE t.metric NOT LIKE 'openhook.collector.%'"
            : `${table} t JOIN sessions s ON s.id = t.session`;
        const rows = db.prepare(`SELECT ${columns} FROM ${from}`).all();
        return [table, rows.map((row) => JSON.stringify(plain(row))).sort()];
      }),
    ),
  );
}

const plain = (row: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const { _metadata: _, ...rest } = row;
  return rest;
};

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
