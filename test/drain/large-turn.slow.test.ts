// Slow: only `npm run test:all` runs it. A turn that fills a small heap, with the built program; store/settle.test.ts has the
// rules.
//
// One turn with thousands of calls, drained by the built program in a heap that has no room for all its spans at once.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { Measured, writeTranscript } from "../faults/limits.ts";
import { ensureBuilt } from "../support/program.ts";

const CALLS = 10_000;
const HEAP_MIB = 64;
const START_MS = Date.UTC(2026, 10, 1);

const at = new Measured();
beforeAll(ensureBuilt);
afterAll(() => at.remove());

test(`${CALLS} calls in one turn fit into a heap of ${HEAP_MIB} MiB, and each is counted once`, async () => {
  const path = writeTranscript(at.home, "large", {
    turns: 1,
    callsPerTurn: CALLS,
    paddingBytes: 10,
    startMs: START_MS,
  });
  const end = {
    session_id: "large",
    transcript_path: path,
    hook_event_name: "SessionEnd",
    reason: "other",
    cwd: at.home,
  };
  at.put("claude-code", "SessionEnd", end, START_MS + 20_000_000, 1);
  const result = await at.run(["drain", "--json"], { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` });
  expect(result.code).toBe(0);
  // One span per call of a tool and of a model, the last answer, the turn and the session
  expect(JSON.parse(result.stdout).spans).toBe(2 * CALLS + 3);
  const db = openDatabase(at.places.storePath);
  const value = (sql: string): unknown => db.prepare(sql).get()?.["n"];
  expect(value("SELECT count(*) AS n FROM tool_calls")).toBe(CALLS);
  expect(value("SELECT sum(output) AS n FROM model_calls")).toBe(CALLS * 50 + 5);
  expect(
    value(
      `SELECT sum(value) AS n FROM counters WHERE metric = 'openhook.token.usage'
         AND json_extract(attributes, '$."openhook.token.type"') = 'output'`,
    ),
  ).toBe(CALLS * 50 + 5);
  expect(value("SELECT sum(value) AS n FROM counters WHERE metric = 'openhook.tool.call.count'")).toBe(CALLS);
  db.close();
});
