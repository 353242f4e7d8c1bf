// Databases written by other programs, and names that never repeat.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import opencode from "#agents/opencode/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { MAX_OVERFLOW_SERIES, MAX_SERIES, overflowState } from "#store/cardinality.ts";
import { counterValues, countFacts } from "#store/counters.ts";
import { pendingStreams } from "#store/pending-streams.ts";
import { temporaryStores } from "../store/temporary.ts";
import { InputWorld } from "./input-world.ts";
import { record } from "./record.ts";

describe("a foreign database in place of OpenCode's", () => {
  let world: InputWorld;
  let path = "";
  beforeEach(() => {
    world = new InputWorld();
    path = join(world.home, ".local", "share", "opencode", "opencode.db");
    mkdirSync(dirname(path), { recursive: true });
  });
  afterEach(() => world.remove());

  const SESSION = `CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, time_created integer);
    INSERT INTO session VALUES ('s', NULL, '/home/dev', '1', 1);`;
  const PART =
    "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);";
  const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

  async function read(): Promise<unknown> {
    const roots = opencode.roots(world.home, {});
    const found: unknown[] = [];
    for (const file of await opencode.files({ sessionId: "s", home: world.home, path, roots })) {
      for await (const batch of opencode.read({ ...file, roots }, INITIAL_OFFSET)) found.push(batch);
    }
    return found;
  }

  const make = (sql: string): void => {
    const db = new Libsql(path, {});
    db.exec(sql);
    db.close();
  };

  test.each([
    ["a view that never ends", `${SESSION}${PART} CREATE VIEW message AS ${ENDLESS}`, /message in it is a view/],
    [
      "a column that is computed",
      `${SESSION}${PART} CREATE TABLE message (id text, session_id text, time_created integer, data text AS (hex(zeroblob(100000000))))`,
      /message in it has a computed column/,
    ],
    [
      "a virtual table",
      `${SESSION}${PART} CREATE VIRTUAL TABLE message USING fts5(id, session_id, time_created, data)`,
      /message in it is virtual/,
    ],
    ["a view for the sessions", `${PART} CREATE VIEW session AS ${ENDLESS}`, /session in it is a view/],
  ])("%s is refused", async (_, sql, reason) => {
    make(sql);
    await expect(read()).rejects.toThrow(reason);
  });

  test("no database, an empty one, and a link, a FIFO or a directory in its place", async () => {
    writeFileSync(path, "SQLite format 3\0".padEnd(4096, "\xff"));
    await expect(read()).rejects.toThrow();
    writeFileSync(path, "");
    expect(await read()).toBeDefined();
    for (const place of [
      () => expect(spawnSync("mkfifo", [path]).status).toBe(0),
      () => mkdirSync(path),
      () => symlinkSync("/dev/zero", path),
      () => symlinkSync(join(world.home, "elsewhere.db"), path),
    ]) {
      rmSync(path, { recursive: true, force: true, maxRetries: 10 });
      writeFileSync(join(world.home, "elsewhere.db"), "");
      place();
      await expect(read()).rejects.toThrow(/not read|not a regular file/);
    }
  });

  test("a FIFO in place of its log blocks nothing", async () => {
    make(`${SESSION}${PART}`);
    expect(spawnSync("mkfifo", [`${path}-wal`]).status).toBe(0);
    await expect(read()).rejects.toThrow(/not a regular file/);
  });
});

describe("names that never repeat", () => {
  const stores = temporaryStores();
  const NOW_MS = Date.UTC(2026, 10, 21, 8);
  const METRIC = "openhook.tool.call.count";
  const call = (n: number, source = "odd-agent") => ({
    key: `call-${source}-${n}`,
    increments: [
      {
        metric: METRIC,
        amount: 1,
        attributes: { "gen_ai.tool.name": `tool-${n}` },
        resource: { "service.name": source },
      },
      {
        metric: "gen_ai.execute_tool.duration",
        amount: 0.5,
        attributes: { "gen_ai.tool.name": `tool-${n}` },
        resource: { "service.name": source },
      },
    ],
  });

  test("series are limited, sums are exact, and existing series survive restarts", () => {
    const path = stores.path();
    const calls = MAX_SERIES + 500;
    // Every tenth is repeated later: names that have a series continue in it
    const facts = Array.from({ length: calls }, (_, n) => call(n));
    for (let from = 0; from < calls; from += 500) {
      const db = stores.open(path);
      countFacts(db, facts.slice(from, from + 500), METRIC_SHAPES, NOW_MS);
    }
    const db = stores.open(path);
    const again = Array.from({ length: 250 }, (_, n) => ({ ...call(n * 10), key: `again-${n}` }));
    countFacts(db, again, METRIC_SHAPES, NOW_MS + 1);
    for (let n = 0; n < 100; n++) countFacts(db, [call(n, `agent-${n}`)], METRIC_SHAPES, NOW_MS + 2);

    const values = counterValues(db).filter(({ metric }) => metric === METRIC);
    expect(values.length).toBeLessThanOrEqual(MAX_SERIES);
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(calls + 250 + 100);
    expect(values.find(({ attributes }) => attributes["gen_ai.tool.name"] === "tool-10")?.value).toBe(2);
    expect(values.filter(({ resource }) => resource["service.name"] === "_OTHER")).toHaveLength(1);
    const rest = values.filter(({ attributes }) => attributes["otel.metric.overflow"] === true);
    expect(rest).toHaveLength(MAX_OVERFLOW_SERIES);
    expect(overflowState(db)).toEqual([
      {
        metric: "gen_ai.execute_tool.duration",
        series: MAX_SERIES,
        amount: rest.reduce((n, { value }) => n + value, 0),
      },
      { metric: METRIC, series: MAX_SERIES, amount: rest.reduce((n, { value }) => n + value, 0) },
    ]);
    // As a backend receives them
    expect(pendingStreams(db, METRIC_SHAPES, "cumulative", NOW_MS + 3)).toHaveLength(2 * MAX_SERIES);
    record({
      area: "input",
      fault: "a new tool name with every call",
      runs: calls,
      eventsIn: calls + 350,
      lost: 0,
      duplicates: 0,
      figures: { seriesPerMetric: MAX_SERIES },
    });
  });

  test("below the limit nothing is merged", () => {
    const db = stores.open();
    countFacts(db, [call(1), call(2)], METRIC_SHAPES, NOW_MS);
    expect(overflowState(db)).toEqual([]);
  });
});
