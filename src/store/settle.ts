import type { Price } from "#core/model/price-list.ts";
import type { Session, SettledWork, Subagent, Turn } from "#core/model/session.ts";
import type { Counted, LogRecord, MetricShape, SpanParents, SpanRecord } from "#core/model/telemetry.ts";
import { runKeyOf } from "#core/rules/segments.ts";
import { countFacts } from "./counters.ts";
import type { Database } from "./database.ts";
import { settleFacts } from "./facts.ts";
import { enqueueLogs } from "./outbox.ts";
import { insertRow } from "./rows.ts";
import { putSegment, type StoredSegment } from "./segments.ts";
import { putOpenWork, putSubagent, putTurn, removeOpenWork, renameTurn } from "./settled-context.ts";
import { putSpans, type StoredSpan } from "./spans.ts";

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
  /** Absent: log records are not sent. */
  readonly logs?: {
    readonly of: (record: SpanRecord) => readonly LogRecord[];
    /** Of facts that are on no span. */
    readonly others: readonly LogRecord[];
  };
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
  const { logs } = settlement;
  const added = putSpans(db, sessionNumber, spans, settlement.parents, nowMs, logs?.of);
  if (logs !== undefined) enqueueLogs(db, sessionNumber, logs.others, nowMs);
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
    const { costNanoUsd, noPrice, feeNanoUsd } = prices.get(call.key) ?? {};
    const row = {
      session: sessionNumber,
      key: call.key,
      segment: run.segment,
      model: call.model,
      subagent: call.agentId !== undefined,
      end_ms: call.endMs,
      input: call.usage?.input,
      output: call.usage?.output,
      cache_read: call.usage?.cacheRead,
      cache_write: call.usage?.cacheWrite,
      cost_nano_usd: costNanoUsd,
      no_price: noPrice,
      fee_nano_usd: feeNanoUsd,
      covered_calls: call.coveredCalls,
      complete: call.complete,
      body: JSON.stringify({ ...call, native: undefined }),
    };
    insertRow(db, "model_calls", row, NEW_READING);
  }
  for (const tool of run.toolCalls) {
    const row = {
      session: sessionNumber,
      call_id: tool.callId,
      segment: run.segment,
      name: tool.name,
      status: tool.status,
      subagent: tool.agentId !== undefined,
      start_ms: tool.startMs,
      end_ms: tool.endMs,
      // Used to find the call if its id is not reported, or not stable
      input_digest: tool.givenId ?? tool.inputDigest,
      spawned_agent: tool.spawnedAgentId,
      body: JSON.stringify({ ...tool, native: undefined }),
    };
    insertRow(db, "tool_calls", row, "ON CONFLICT DO NOTHING");
  }
}

const NEW_READING = `ON CONFLICT (session, key) DO UPDATE SET model = excluded.model, input = excluded.input,
  output = excluded.output, cache_read = excluded.cache_read, cache_write = excluded.cache_write,
  cost_nano_usd = excluded.cost_nano_usd, no_price = excluded.no_price,
  fee_nano_usd = excluded.fee_nano_usd, covered_calls = excluded.covered_calls,
  complete = excluded.complete, body = excluded.body`;
