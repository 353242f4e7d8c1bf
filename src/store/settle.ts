import type { Price } from "#core/model/price-list.ts";
import type { Session, SettledWork, Subagent, Turn } from "#core/model/session.ts";
import type { Counted, MetricShape, SpanParents } from "#core/model/telemetry.ts";
import { runKeyOf } from "#core/rules/runs.ts";
import { countFacts } from "./counters.ts";
import type { Database } from "./database.ts";
import { settleFacts } from "./facts.ts";
import { putOpenWork, removeOpenWork } from "./open-work.ts";
import { putSpans, type StoredSpan } from "./put-spans.ts";
import { putSegment, type StoredSegment } from "./segments.ts";
import { putSubagent, putTurn, renameTurn } from "./settled-runs.ts";

/** Everything that becomes durable together when parts of a session close. */
export interface Settlement {
  readonly session: Session;
  readonly sessionNumber: number;
  readonly turns: readonly Turn[];
  readonly subagents: readonly Subagent[];
  /** What is settled of open runs now, and the sums of everything that was settled of each. */
  readonly parts: readonly { readonly part: Turn | Subagent; readonly work: SettledWork }[];
  /** Segments as they are now. */
  readonly segments: readonly StoredSegment[];
  /** New keys of settled turns, by old key. */
  readonly renamed?: ReadonlyMap<string, string>;
  /** Read once, one at a time: all spans of a large turn together take more memory than the turn itself. */
  readonly spans: Iterable<StoredSpan>;
  readonly parents: SpanParents;
  /** Read once, after the spans. */
  readonly counts: Iterable<Counted>;
  /** Prices of model calls, by the call's key. */
  readonly prices: ReadonlyMap<string, Price>;
}

/**
 * Writes a settlement. A span that is stored is neither changed nor sent again, and a fact that was counted is not counted again.
 * Call it inside the transaction that also decided what to settle.
 *
 * @param shapes every metric by name
 * @param nowMs milliseconds since the epoch
 * @returns how many spans were added to the outbox
 */
export function settle(
  db: Database,
  settlement: Settlement,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  const { sessionNumber, session, turns, subagents, parts, segments, spans, counts } = settlement;
  for (const segment of segments) putSegment(db, sessionNumber, segment);
  for (const [from, to] of settlement.renamed ?? []) renameTurn(db, sessionNumber, from, to);
  for (const turn of turns) putTurn(db, sessionNumber, turn);
  for (const subagent of subagents) putSubagent(db, sessionNumber, subagent);
  for (const { part, work } of parts) {
    putWork(db, sessionNumber, part, settlement.prices);
    putOpenWork(db, sessionNumber, runKeyOf(part), work);
  }
  for (const run of [...turns, ...subagents]) {
    putWork(db, sessionNumber, run, settlement.prices);
    if (run.settled !== undefined) removeOpenWork(db, sessionNumber, runKeyOf(run));
  }
  const added = putSpans(db, sessionNumber, spans, settlement.parents, nowMs);
  for (const some of batches(counts)) countFacts(db, some, shapes, nowMs);
  settleFacts(db, sessionNumber, session.unused);
  const settled = [...turns, ...subagents, ...parts.map(({ part }) => part), ...segments.map(({ segment }) => segment)];
  for (const { uses } of settled) settleFacts(db, sessionNumber, uses);
  return added;
}

// --- internal ---

/** Facts that are counted together. */
const BATCH = 2_000;

function* batches(counts: Iterable<Counted>): Generator<readonly Counted[]> {
  let some: Counted[] = [];
  for (const counted of counts) {
    some.push(counted);
    if (some.length < BATCH) continue;
    yield some;
    some = [];
  }
  yield some;
}

function putWork(db: Database, sessionNumber: number, run: Turn | Subagent, prices: ReadonlyMap<string, Price>): void {
  for (const call of run.modelCalls) {
    const { costNanoUsd, noPrice } = prices.get(call.key) ?? {};
    db.prepare(
      `INSERT INTO model_calls (session, key, segment, model, subagent, end_ms, input, output, cache_read, cache_write,
         cost_nano_usd, no_price, covered_calls, complete, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (session, key) DO UPDATE SET model = excluded.model, input = excluded.input,
         output = excluded.output, cache_read = excluded.cache_read, cache_write = excluded.cache_write, cost_nano_usd = excluded.cost_nano_usd, no_price = excluded.no_price,
         covered_calls = excluded.covered_calls,
         complete = excluded.complete, body = excluded.body`,
    ).run(
      sessionNumber,
      call.key,
      run.segment,
      call.model ?? null,
      call.agentId === undefined ? 0 : 1,
      call.endMs,
      call.usage?.input ?? null,
      call.usage?.output ?? null,
      call.usage?.cacheRead ?? null,
      call.usage?.cacheWrite ?? null,
      costNanoUsd ?? null,
      noPrice ?? null,
      call.coveredCalls ?? null,
      call.complete ? 1 : 0,
      JSON.stringify(call),
    );
  }
  for (const tool of run.toolCalls) {
    db.prepare(
      `INSERT INTO tool_calls
         (session, call_id, segment, name, status, subagent, start_ms, end_ms, input_digest, spawned_agent, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ).run(
      sessionNumber,
      tool.callId,
      run.segment,
      tool.name,
      tool.status,
      tool.agentId === undefined ? 0 : 1,
      tool.startMs,
      tool.endMs,
      // Used to find the call if its id is not reported, or not stable
      tool.givenId ?? tool.inputDigest ?? null,
      tool.spawnedAgentId ?? null,
      JSON.stringify(tool),
    );
  }
}
