import { rmSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { readSession } from "#collect/import/read.ts";
import type { Readers } from "#collect/import/readers.ts";
import type { Agent } from "#core/model/agent.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { redact } from "#core/privacy/redact.ts";
import { viewOf } from "#show/report/session-view.ts";
import { type Database, filesOf } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { whenReleased } from "#store/release.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { sessionById } from "#store/sessions.ts";
import { clockAt } from "../support/clock.ts";
import { compareRecorded, finishedOf, hasUnfinishedCalls, isClean } from "../support/expected.ts";
import type { Replay } from "../support/replay.ts";
import { storeBytes } from "../support/store-bytes.ts";
import { firstOf, firstRecordings } from "../support/whole.ts";
import { recordedCases, recordedHome } from "./home.ts";
import { importInto as importAny, unpackAll } from "./run.ts";

// agents/content-lines.test.ts imports a recording of every agent
const cases = firstOf(firstRecordings(await recordedCases()), 5);
let replay: Replay | undefined;
afterEach(() => replay?.remove());

// One walk through everything for each recording: most of its time is spent on creating stores
test.each(cases)(
  "$source $name: an import matches the recording, packed matches unpacked, and hooks after it match hooks without an import",
  async (of) => {
    const home = await recordedHome(of);
    replay = home.replay;
    const { stateDir, storePath } = replay.places;
    const found = home.expected.length;
    const nowMs = Math.max(...home.calls.map((call) => Date.parse(call.received_at)));
    const hooks = async (): Promise<void> => {
      for (const call of home.calls) home.replay.put(call);
      await home.replay.drain({ endIdle: true }, clockAt(nowMs));
    };

    await hooks();
    const alone = rowsIn(replay);
    // Transcripts without hook events, such as sessions before the installation, stay imported
    expect((await importInto(replay, of.source)).fromHooks).toEqual([]);
    expect(rowsIn(replay)).toEqual(alone);
    await whenReleased(() => rmSync(stateDir, { recursive: true }));

    const first = await importInto(replay, of.source);
    expect(first.agents.get(of.source)).toMatchObject({ found, imported: found, failed: 0, unfinished: 0 });
    const packed = await whatIsIn(replay);
    const bytes = storeBytes(storePath);
    const second = await importInto(replay, of.source);
    expect(second.agents.get(of.source)).toMatchObject({ unchanged: found, imported: 0 });
    expect(second.fromHooks).toEqual([]);
    expect(contentOf(storeBytes(storePath)).equals(contentOf(bytes)), "nothing is written anew").toBe(true);

    await unpackAll(replay, of.source);
    expect(await whatIsIn(replay)).toEqual(packed);
    const clean = home.expected.filter(isClean);
    const sessions = clean.map((session) => (hasUnfinishedCalls(storePath, session) ? session : finishedOf(session)));
    compareRecorded(storePath, { sessions }, false);

    await whenReleased(() => {
      for (const file of filesOf(storePath)) rmSync(file, { force: true });
    });
    writeFileSync(storePath, bytes, { mode: 0o600 });
    await hooks();
    expect(rowsIn(replay)).toEqual(alone);

    await whenReleased(() => rmSync(stateDir, { recursive: true }));
    const before = readersOfBefore(of.agent, home.reader);
    await importAny(replay, of.source, { readers: () => before }, "0.0.0-before");
    const wasSame = JSON.stringify(await whatIsIn(replay)) === JSON.stringify(packed);
    expect(wasSame, "another version read less").toBe(found === 0);
    const anew = await importInto(replay, of.source);
    expect(anew.agents.get(of.source)).toMatchObject({ imported: found, again: found, unchanged: 0 });
    expect(await whatIsIn(replay), "read anew").toEqual(packed);
    expect((await importInto(replay, of.source)).agents.get(of.source)).toMatchObject({
      imported: 0,
      unchanged: found,
    });
  },
);

// --- internal ---

/** A session as an earlier version may have read it: records under other keys, and no call with usage. */
const readersOfBefore = (agent: Agent, reader: TranscriptReader): Readers => {
  async function* read(
    ...[file, from, { sink: _, ...options } = {}]: Parameters<TranscriptReader["read"]>
  ): ReturnType<TranscriptReader["read"]> {
    for await (const batch of reader.read(file, from, options)) {
      const entries = batch.entries.map((entry): TranscriptEntry => {
        const { usage: _, ...rest } = { usage: undefined, ...entry, key: `before:${entry.key}` };
        return rest as TranscriptEntry;
      });
      yield { ...batch, entries };
    }
  }
  const before: Agent = { ...agent, transcript: async () => ({ default: { ...reader, read } }) };
  return {
    concurrency: 1,
    read: async (tasks) =>
      Promise.all(
        tasks.map((task) => readSession(task, before, { redact, redactName: redact, redactSecrets: redact }, false)),
      ),
    close: async () => {},
  };
};

/** A store's file without the two counters in its header, which count write transactions. */
function contentOf(file: Buffer): Buffer {
  const content = Buffer.from(file);
  for (const at of [24, 92]) content.fill(0, at, at + 4);
  return content;
}

async function importInto(of: Replay, source: string): ReturnType<typeof importAny> {
  const report = await importAny(of, source);
  expect(report.problems).toEqual([]);
  return report;
}

function query<T>(of: Replay, select: (db: Database) => T): T {
  const found = readStore(of.places.storePath, (db) => ({ answer: select(db) }));
  if (found === undefined) throw new Error("there is no store");
  return found.answer;
}

/** Output of reports and of commands that show a session, for sessions in any form. */
async function whatIsIn(of: Replay) {
  const settings = spanSettings(await of.deps());
  const agents = [...new Set(cases.map(({ agent }) => agent))];
  return query(of, (db) => ({
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
        `SELECT s.session_id, u.name, u.mcp_server, u.skill, u.subagent, sum(u.calls) AS calls, sum(u.errors) AS errors,
           sum(u.denied) AS denied, sum(u.unfinished) AS unfinished, sum(u.duration_ms) AS ms,
           floor(u.time_ms / 900000) AS quarter
         FROM tool_usage u JOIN sessions s ON s.id = u.session GROUP BY s.session_id, u.name, u.mcp_server, u.skill, u.subagent, quarter
         ORDER BY s.session_id, u.name, u.mcp_server, u.skill, u.subagent, quarter`,
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

/** Rows by content, without the store's own ids. */
function rowsIn(of: Replay) {
  return query(of, (db) =>
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
