import { describe, expect, test } from "vitest";
import type { ModelCall } from "#core/model/model-call.ts";
import type { Session } from "#core/model/session.ts";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { buildSession } from "#core/session/build.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import { knownParents } from "#core/telemetry/known-parents.ts";
import { runCounts, segmentCounts } from "#core/telemetry/metrics.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { counterValues } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import { addEntries, addEvents, openFacts } from "#store/facts.ts";
import { acknowledge, queuedCount, queuedSpans } from "#store/outbox.ts";
import { reviseCall } from "#store/revise-call.ts";
import { lastSegment } from "#store/segments.ts";
import { ensureSession, type StoredSession } from "#store/sessions.ts";
import { type Settlement, settle } from "#store/settle.ts";
import { settledContext } from "#store/settled-context.ts";
import { repairedSpans } from "#store/spans.ts";
import { batch, prompted, toolEnded, used } from "../session/events.ts";
import { inputOf, merged, recordedSession } from "../session/recorded.ts";
import { endedSession, placesIn, spansOf } from "../telemetry/records.ts";
import { rowsOf, temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const recorded = await recordedSession("subagent");
const NOW_MS = Date.UTC(2026, 10, 22);
/** The rows that a backend and the local commands get their data from. */
const TABLES = ["spans", "outbox", "counters", "increments", "model_calls", "tool_calls"];

/** The whole recorded session in the store, unsettled. */
function stored(db: Database): StoredSession {
  const session = ensureSession(db, recorded.source, recorded.sessionId, NOW_MS);
  addEvents(db, session, recorded.events);
  addEntries(db, session, recorded.lines);
  return session;
}

function settlementOf(session: Session, sessionNumber: number) {
  const { turns, subagents, segments, facts } = session;
  const runs = [...turns, ...subagents];
  const prices = runs.flatMap((run) => run.modelCalls).map((c) => [c.key, callPrice(c, facts.provider)] as const);
  return {
    session,
    sessionNumber,
    turns,
    subagents,
    parts: [],
    segments: segments.map((segment) => ({ segment, totals: "{}", delivered: true })),
    spans: spansOf(session, { semconv: "both", traceScope: "session" }).map((span) => ({ ...span, segment: 0 })),
    parents: knownParents(session, NOTHING_SETTLED, facts, "session", placesIn(session, facts)),
    counts: [
      ...runs.flatMap((run) => runCounts(run, facts)),
      ...segments.map((segment) => segmentCounts(segment, facts)),
    ],
    prices: new Map(prices),
  } satisfies Settlement;
}

describe("settle", () => {
  test("settling twice changes nothing: the same spans, outbox and counters", () => {
    const db = stores.open();
    const { id } = stored(db);
    const settlement = settlementOf(endedSession(recorded), id);
    const added = db.transaction(() => settle(db, settlement, METRIC_SHAPES, NOW_MS));
    expect(added).toBe(settlement.spans.length);
    const before = TABLES.map((table) => [table, rowsOf(db, table)]);
    expect(db.transaction(() => settle(db, settlement, METRIC_SHAPES, NOW_MS + 1))).toBe(0);
    expect(TABLES.map((table) => [table, rowsOf(db, table)])).toEqual(before);
  });

  test("a span whose parent is in no trace or in another one is queued below its root, and counted", () => {
    const db = stores.open();
    const { id } = stored(db);
    const settlement = settlementOf(endedSession(recorded), id);
    const lost: Readonly<Record<string, string>> = { parentSpanId: "00000000000000aa" };
    const [root] = settlement.spans.filter(({ subject }) => subject === "session");
    const calls = settlement.spans.filter(({ subject }) => subject === "model_call").map(({ key }) => key);
    const spans = settlement.spans.map((span) => {
      if (span.subject === "subagent") return { ...span, record: { ...span.record, traceId: "b".repeat(32) } };
      if (span.key === calls[0]) return { ...span, record: { ...span.record, ...lost } };
      return span.key === calls[1] ? { ...span, record: { ...span.record, traceId: "a".repeat(32) } } : span;
    });
    const added = settle(db, { ...settlement, spans }, METRIC_SHAPES, NOW_MS);
    expect(added).toBe(settlement.spans.length);
    const queued = queuedSpans(db, 0, 1_000).map(({ record }) => record);
    const ids = new Set(queued.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    expect(queued.filter((span) => span.parentSpanId && !ids.has(`${span.traceId} ${span.parentSpanId}`))).toEqual([]);
    expect(queued.filter(({ parentSpanId }) => parentSpanId === root?.record.spanId).length).toBeGreaterThan(0);
    // What the gateway accepts: one link, of sessions, turns and subagents
    const linked = queued.filter(({ links }) => links.length > 0);
    expect(linked.map(({ links, attributes }) => [links.length, attributes["openhook.span.kind"]])).toEqual([
      [1, "subagent"],
    ]);
    // The two calls, the subagent and what was below it
    expect(repairedSpans(db)).toBe(8);
  });

  test("spans that the backend accepted are not sent again", () => {
    const db = stores.open();
    const { id } = stored(db);
    const settlement = settlementOf(endedSession(recorded), id);
    settle(db, settlement, METRIC_SHAPES, NOW_MS);
    const seqs = queuedSpans(db, 0, 1000).map((row) => row.seq);
    acknowledge(db, seqs);
    settle(db, settlement, METRIC_SHAPES, NOW_MS);
    expect(queuedCount(db)).toBe(0);
    expect(rowsOf(db, "spans").length).toBe(settlement.spans.length);
  });

  test("settles every fact, and later facts get what it wrote as context", () => {
    const db = stores.open();
    const { id } = stored(db);
    const { events, entries } = openFacts(db, id);
    expect(settledContext(db, id, events, entries)).toEqual({ ...NOTHING_SETTLED });
    const session = endedSession(recorded);
    settle(db, settlementOf(session, id), METRIC_SHAPES, NOW_MS);
    expect(openFacts(db, id)).toEqual({ events: [], entries: [] });

    const context = settledContext(db, id, events, entries);
    expect([...context.turns.keys()].sort()).toEqual(session.turns.map((t) => t.key).sort());
    expect([...context.subagents.keys()]).toEqual(session.subagents.map((s) => s.agentId));
    expect([...context.callIds].sort()).toEqual(
      [...session.turns, ...session.subagents].flatMap((run) => run.toolCalls.map((t) => t.callId)).sort(),
    );
    expect(context.segment).toMatchObject({ ordinal: 0, reason: "completed" });
    expect(lastSegment(db, id)?.delivered).toBe(true);

    // The same facts once more change nothing
    const again = buildSession(inputOf(recorded, { events, entries: merged(recorded.lines) }, context));
    expect([...again.turns, ...again.subagents].flatMap((run) => run.toolCalls)).toEqual([]);
  });

  test("counters equal the sums over model calls", () => {
    const db = stores.open();
    const { id } = stored(db);
    settle(db, settlementOf(endedSession(recorded), id), METRIC_SHAPES, NOW_MS);
    for (const column of ["input", "output"]) {
      const counted = counterValues(db)
        .filter((c) => c.metric === "openhook.token.usage" && c.attributes["openhook.token.type"] === column)
        .reduce((n, c) => n + c.value, 0);
      expect(counted).toBeGreaterThan(0);
      expect(db.prepare(`SELECT sum(${column}) AS n FROM model_calls`).all()).toMatchObject([{ n: counted }]);
    }
  });

  test("fails completely: nothing is settled, nothing counted", () => {
    const db = stores.open();
    const { id } = stored(db);
    const settlement = settlementOf(endedSession(recorded), id);
    const wrong = { key: "k", increments: [{ metric: "nonsense", amount: 1, attributes: {}, resource: {} }] };
    const counts = [...settlement.counts, wrong];
    expect(() => db.transaction(() => settle(db, { ...settlement, counts }, METRIC_SHAPES, NOW_MS))).toThrow(
      "nonsense",
    );
    for (const table of [...TABLES, "turns", "segments"]) expect(rowsOf(db, table), table).toEqual([]);
    expect(openFacts(db, id).events.length).toBe(recorded.events.length);
  });
});

describe("outbox", () => {
  test("returns the oldest first, in batches, and keeps unacknowledged spans", () => {
    const db = stores.open();
    const { id } = stored(db);
    const settlement = settlementOf(endedSession(recorded), id);
    settle(db, settlement, METRIC_SHAPES, NOW_MS);
    const first = queuedSpans(db, 0, 3);
    const rest = queuedSpans(db, first.at(-1)?.seq ?? 0, 1000);
    const names = settlement.spans.map((s) => s.record);
    expect([...first, ...rest].map((row) => row.record)).toEqual(names);
    acknowledge(
      db,
      first.map((row) => row.seq),
    );
    expect(queuedSpans(db, 0, 1000).map((row) => row.seq)).toEqual(rest.map((row) => row.seq));
    expect(queuedCount(db)).toBe(names.length - 3);
  });
});

describe("settledContext", () => {
  const settled = (db: Database): { readonly id: number; readonly session: Session } => {
    const { id } = stored(db);
    const session = endedSession(recorded);
    settle(db, settlementOf(session, id), METRIC_SHAPES, NOW_MS);
    return { id, session };
  };

  test("contains the settled subagent that an event, an entry or the end of a call names", () => {
    const db = stores.open();
    const { id, session } = settled(db);
    const [subagent] = session.subagents;
    if (subagent === undefined) throw new Error("the recording has a subagent");
    const { agentId, agentType, parentCallId, turnKey } = subagent;
    const names = [
      settledContext(
        db,
        id,
        [batch("b", 0, [])].map((e) => ({ ...e, extensions: { agent_id: agentId } })),
        [],
      ),
      settledContext(db, id, [toolEnded("e", 0, "t1", { status: "success" }, { spawned_agent_id: agentId })], []),
      settledContext(db, id, [], [{ ...used("t1", 0), agentId }]),
    ];
    for (const { subagents } of names) {
      const span = { key: agentId, segment: 0 };
      expect([...subagents]).toEqual([[agentId, { segment: 0, parts: 1, agentType, parentCallId, turnKey, span }]]);
    }
    expect(settledContext(db, id, [prompted("p", 0)], [used("t1", 0)]).subagents.size).toBe(0);
  });

  test("contains the settled call that started a subagent without settled facts", () => {
    const db = stores.open();
    const { id } = stored(db);
    const session = endedSession(recorded);
    settle(db, { ...settlementOf(session, id), subagents: [] }, METRIC_SHAPES, NOW_MS);
    const [{ agentId, parentCallId } = { agentId: "", parentCallId: "" }] = session.subagents;
    const { subagents, spawnedBy } = settledContext(db, id, [], [{ ...used("t1", 0), agentId }]);
    expect([subagents.size, [...(spawnedBy ?? [])]]).toEqual([0, [[agentId, parentCallId]]]);
  });

  test("contains a turn that continued after it was settled as one turn", () => {
    const db = stores.open();
    const { id, session } = settled(db);
    const [turn] = session.turns;
    if (turn === undefined) throw new Error("the recording has a turn");
    for (const parts of [1, 2, 3]) {
      const call: TranscriptEntry = {
        ...{ kind: "model_call", key: `response:later-${parts}`, promptKey: turn.key, complete: true },
        ...{ timeMs: turn.endMs + parts, endMs: turn.endMs + parts },
      };
      const context = settledContext(db, id, [], [call]);
      expect(context.turns.get(turn.key)?.parts).toBe(parts);
      const more = buildSession({ ...inputOf(recorded, { events: [], entries: [call] }), context });
      expect(more.turns.map(({ key, origin }) => [key, origin])).toEqual([[`${turn.key}~${parts}`, "continuation"]]);
      settle(db, settlementOf(more, id), METRIC_SHAPES, NOW_MS);
    }
    expect(rowsOf(db, "turns")).toHaveLength(session.turns.length);
  });
});

describe("revise", () => {
  const price = (call: ModelCall) => callPrice(call, "anthropic");

  test("replaces tokens, price and completeness of a settled call", () => {
    const db = stores.open();
    const { id } = stored(db);
    settle(db, settlementOf(endedSession(recorded), id), METRIC_SHAPES, NOW_MS);
    const entry = merged(recorded.lines).find((e) => e.kind === "model_call");
    if (entry?.kind !== "model_call" || entry.usage?.output === undefined) throw new Error("there is no call");
    const usage = { ...entry.usage, output: entry.usage.output + 1000 };
    const revised = reviseCall(db, id, entry, { ...entry, usage, complete: true, finishReason: "end_turn" }, price);
    expect(revised?.before.call.usage).toEqual(entry.usage);
    expect(revised?.before).toMatchObject(price(revised?.before.call as ModelCall));
    expect(revised?.after.call).toMatchObject({ usage, complete: true, finishReason: "end_turn" });
    const row = db.prepare("SELECT output, cost_nano_usd FROM model_calls WHERE key = ?").get(entry.key);
    expect(row).toMatchObject({
      output: usage.output,
      cost_nano_usd: price(revised?.after.call as ModelCall).costNanoUsd,
    });
    expect(revised?.after.costNanoUsd).toBe(row?.["cost_nano_usd"]);
  });

  test("a call that was never settled is not revised", () => {
    const db = stores.open();
    const { id } = stored(db);
    const entry = merged(recorded.lines).find((e) => e.kind === "model_call");
    if (entry?.kind !== "model_call") throw new Error("there is no model call");
    expect(reviseCall(db, id, entry, entry, price)).toBeUndefined();
  });
});
