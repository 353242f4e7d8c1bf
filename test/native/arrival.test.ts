// Real sessions with the agents' own telemetry beside them: it may come before, between or after the drains of the session, twice and
// in any order
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { nativeRecords } from "#collect/native/records.ts";
import type { NativeRecord } from "#core/model/native.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { putNative } from "#store/native.ts";
import { nativeOf } from "#store/sessions/native.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { activeSessions, sessionById } from "#store/sessions.ts";
import { clockAt } from "../support/clock.ts";
import { type RecordedCall, Replay, ROOT } from "../support/replay.ts";
import { firstOf, runs } from "../support/whole.ts";
import { RECORDINGS, recording, unpack } from "./recorded.ts";

const SCENARIOS = RECORDINGS.filter(({ folder }) => existsSync(join(folder, "transcripts")))
  .map(({ source, name }) => [source, name] as const)
  .sort(([, a], [, b]) => Number(b === "parallel-tools") - Number(a === "parallel-tools"));

const replays: Replay[] = [];
afterEach(() => {
  for (const replay of replays.splice(0)) replay.remove();
});

describe.each(firstOf(SCENARIOS, 2))("%s, %s", (source, scenario) => {
  test("with the agent's own telemetry, everything that is counted without it is the same", async () => {
    const records = await recordsIn(source, scenario);
    expect(records.length).toBeGreaterThan(0);
    const off = stateOf(await drained(source, scenario, []));
    const on = stateOf(await drained(source, scenario, [records]));
    expect(on.counters.filter((one) => !isNative(one.metric))).toEqual(off.counters);
    expect(off.counters.some(({ metric }) => isNative(metric))).toBe(false);
    const named = (spans: readonly SpanRecord[]) => spans.map(({ name, startMs }) => `${name} ${startMs}`).sort();
    expect(named(on.spans)).toEqual(named(off.spans));
    expect(off.joined.size).toBe(0);
    expect(on.joined.size).toBeGreaterThan(0);
    // Codex's session files do not have the ids of commands inside of a call, nor of a subagent's turn
    const isUnknown = ({ ids: [first] }: NativeRecord) => first?.kind === "promptId" || first?.id.startsWith("exec-");
    expect(on.pending.filter((record) => !isUnknown(record))).toEqual([]);
  });

  test("the same is known and counted, whenever it comes, in whatever order, and how often", async () => {
    const records = await recordsIn(source, scenario);
    const on = stateOf(await drained(source, scenario, [records]));
    const arrival = fc.tuple(
      fc.shuffledSubarray([...records, ...records], { minLength: 2 * records.length }),
      fc.array(fc.nat({ max: 2 * records.length }), { minLength: 2, maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(arrival, async ([all, cuts]) => {
        const ends = [...cuts, all.length].sort((a, b) => a - b);
        const parts = ends.map((end, i) => all.slice(ends[i - 1] ?? 0, end));
        const other = stateOf(await drained(source, scenario, parts));
        expect(other.joined).toEqual(on.joined);
        expect(byName(other.counters)).toEqual(byName(on.counters));
        expect(factsOnSpans(other.spans)).toEqual(factsOnSpans(on.spans));
        expect(new Set(other.spans.map(({ spanId }) => spanId)).size).toBe(other.spans.length);
      }),
      { numRuns: runs(3) },
    );
  });
});

test("a record that belongs to nothing is counted once, and not before the session is over", async () => {
  const [first] = await recordsIn("claude-code", "parallel-tools");
  if (first === undefined) throw new Error("no records");
  const foreign = { ...first, key: "foreign", ids: [{ kind: "callId" as const, id: "toolu_of_nothing" }] };
  const replay = await drained("claude-code", "parallel-tools", [[foreign]]);
  const unjoined = () => stateOf(replay).counters.filter(({ metric }) => metric === "openhook.native.unjoined.count");
  await replay.drain();
  expect(unjoined()).toEqual([]);
  const later = clockAt(Date.now() + 2 * 3_600_000);
  await replay.drain({}, later);
  expect(unjoined()).toMatchObject([{ value: 1 }]);
  await replay.drain({}, later);
  expect(unjoined()).toMatchObject([{ value: 1 }]);
});

// --- internal ---

/** After all recordings. */
const ENDED_MS = Date.parse("2026-11-30T15:00:00Z");

const isNative = (metric: string): boolean =>
  /^openhook\.(native|permission)\./.test(metric) || metric === "openhook.reported.cost";

/** What was received from a recorded session, in order. */
async function recordsIn(source: string, scenario: string): Promise<readonly NativeRecord[]> {
  const decoded = recording(source, scenario).bodies.map((body) => nativeRecords(source, body));
  return (await Promise.all(decoded)).flatMap(({ records }) => records);
}

/** Drains a recorded session, with records that come before it and after each drain. */
async function drained(source: string, scenario: string, parts: readonly (readonly NativeRecord[])[]): Promise<Replay> {
  const replay = new Replay(source, join("..", "..", "native", "recordings", source, scenario), { isBare: true });
  replays.push(replay);
  const transcripts = unpack(join(recording(source, scenario).folder, "transcripts"), replay.home);
  const put = (records: readonly NativeRecord[]): void => {
    mkdirSync(join(replay.places.stateDir, "native"), { recursive: true });
    const db = openDatabase(replay.places.storePath);
    try {
      db.transaction(() => putNative(db, source, records, Date.now()));
    } finally {
      db.close();
    }
  };
  put(parts[0] ?? []);
  const hooks = join(ROOT, "test", "native", "hooks", `${source}.jsonl`);
  if (scenario === "parallel-tools" && existsSync(hooks)) {
    const calls = readFileSync(hooks, "utf8").replaceAll("/home/dev", replay.home).split("\n").filter(Boolean);
    for (const call of calls) replay.put(JSON.parse(call) as RecordedCall);
  } else {
    const sessionId = (await recordsIn(source, scenario))[0]?.sessionId ?? "";
    const path = transcripts.find((one) => one.endsWith(`${sessionId}.jsonl`));
    const stdin = { session_id: sessionId, transcript_path: path, hook_event_name: "SessionEnd", reason: "other" };
    const received_at = new Date(ENDED_MS).toISOString();
    // Only this agent's reader needs the path
    if (source === "claude-code") replay.put({ received_at, event: "SessionEnd", stdin });
    else replay.sessionEnd(sessionId, ENDED_MS);
  }
  await replay.drain();
  for (const part of parts.slice(1)) {
    put(part);
    await replay.drain();
  }
  return replay;
}

function stateOf(replay: Replay) {
  const db = openDatabase(replay.places.storePath);
  try {
    const [session] = activeSessions(db, 0, 50)
      .map((id) => sessionById(db, id))
      .filter(({ parent }) => parent === undefined);
    if (session === undefined) throw new Error("no session");
    const spans = db
      .prepare("SELECT record FROM spans ORDER BY key")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    return {
      joined: nativeOf(db, session, unsettledSession({ db, agents: [] }, session)),
      spans,
      pending: db
        .prepare("SELECT body FROM native_records WHERE state <> 1")
        .all()
        .map((row) => JSON.parse(String(row["body"])) as NativeRecord),
      counters: counterValues(db).filter(({ metric }) => !metric.startsWith("openhook.collector.")),
    };
  } finally {
    db.close();
  }
}

const byName = (counters: ReturnType<typeof stateOf>["counters"]): readonly string[] =>
  counters.map(({ owed: _, ...counter }) => JSON.stringify(counter)).sort();

const FACTS =
  /^(openhook\.(native|permission|hook|mcp\.connection)\.|gen_ai\.tool\.call\.decision|gen_ai\.response\.time)/;

/** What is exported of each call, turn and segment, by its id: on its span, or in a late part. */
function factsOnSpans(spans: readonly SpanRecord[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const { attributes, events } of spans) {
    for (const one of [{ attributes }, ...events]) {
      const id = one.attributes["gen_ai.tool.call.id"] ?? one.attributes["gen_ai.response.id"] ?? "";
      const event = one.attributes["openhook.hook.event"] ?? "";
      for (const [name, value] of Object.entries(one.attributes)) {
        if (!FACTS.test(name) || name === "openhook.hook.event") continue;
        // Hooks are summed by event in each part; anything else is exported once
        const isSummed = event !== "" && typeof value === "number";
        const key = JSON.stringify([id, event, name, isSummed ? "" : value]);
        sums.set(key, (sums.get(key) ?? 0) + (isSummed ? value : 1));
      }
    }
  }
  return [...sums].map(([key, value]) => `${key} ${Math.round(value * 1e3)}`).sort();
}
