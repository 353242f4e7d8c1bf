import { type Event, extrasOf } from "../model/event.ts";
import type {
  Segment,
  Session,
  SessionContext,
  SettledCall,
  SettledSubagent,
  SettledTurn,
  Subagent,
  Turn,
} from "../model/session.ts";
import type { Counted, MetricShape, SpanRecord } from "../model/telemetry.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { count } from "./counters.ts";
import type { Database, Row } from "./database.ts";
import { settleFacts } from "./facts.ts";
import { hasForgotten, isForgotten } from "./forgotten.ts";
import { enqueue } from "./outbox.ts";

/** A span with the key that makes it this span for ever. */
export interface StoredSpan {
  readonly key: string;
  readonly segment: number;
  readonly record: SpanRecord;
}

/** Everything that becomes durable together when parts of a session close. */
export interface Settlement {
  readonly session: Session;
  readonly sessionNumber: number;
  readonly turns: readonly Turn[];
  readonly subagents: readonly Subagent[];
  /** Segments as they are now, with what they add up to, as JSON of the caller's. */
  readonly segments: readonly { readonly segment: Segment; readonly totals: string; readonly delivered: boolean }[];
  /** New keys of turns that were settled, by their old ones. */
  readonly renamed?: ReadonlyMap<string, string>;
  readonly spans: readonly StoredSpan[];
  readonly counts: readonly Counted[];
  /** Price of a model call by its key; absent means unknown. */
  readonly costNanoUsd: ReadonlyMap<string, number>;
}

/**
 * Writes a settlement. Spans that are stored already are neither changed nor sent again, facts that were counted never
 * count again. Call it inside the transaction that also decided what to settle.
 *
 * @returns how many spans are new in the outbox
 */
export function settle(
  db: Database,
  settlement: Settlement,
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): number {
  const { sessionNumber, session, turns, subagents, segments, spans, counts } = settlement;
  for (const { segment, totals, delivered } of segments) putSegment(db, sessionNumber, segment, totals, delivered);
  for (const [from, to] of settlement.renamed ?? []) renameTurn(db, sessionNumber, from, to);
  for (const turn of turns) putTurn(db, sessionNumber, turn);
  for (const subagent of subagents) putSubagent(db, sessionNumber, subagent);
  for (const run of [...turns, ...subagents]) putWork(db, sessionNumber, run, settlement.costNanoUsd);
  const added = putSpans(db, sessionNumber, spans, nowMs);
  count(db, counts, shapes, nowMs);
  settleFacts(db, sessionNumber, [
    ...session.spent,
    ...turns.flatMap((t) => t.uses),
    ...subagents.flatMap((s) => s.uses),
    ...segments.flatMap(({ segment }) => segment.uses),
  ]);
  return added;
}

/** What was settled before, as far as the given facts can bear on it: cost depends on them, not on the session. */
export function contextOf(
  db: Database,
  sessionNumber: number,
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
): SessionContext {
  const promptKeys = new Set(["none"]);
  const callIds = new Set<string>();
  const digests = new Set<string>();
  const agentIds = new Set<string>();
  for (const event of events) {
    const extras = extrasOf(event);
    add(promptKeys, extras.prompt_id);
    add(agentIds, extras.agent_id);
    add(agentIds, extras.spawned_agent_id);
    if (event.type !== "tool.start" && event.type !== "tool.end") continue;
    add(callIds, event.data?.tool_call_id);
    if (event.data?.tool_call_id === undefined) add(digests, extras.input_digest);
    add(digests, extras.given_id);
  }
  for (const entry of entries) {
    add(promptKeys, entry.promptKey);
    add(agentIds, entry.agentId);
    if (entry.kind === "tool_use" || entry.kind === "tool_result") callIds.add(entry.callId);
    if (entry.kind === "tool_use") add(digests, entry.givenId ?? entry.inputDigest);
    if (entry.kind === "subagent") add(digests, entry.parentGivenId);
    if (entry.kind === "subagent") add(callIds, entry.parentCallId);
  }
  const subagents = new Map<string, SettledSubagent>();
  const spawnedBy = new Map<string, string>();
  for (const id of agentIds) {
    const row = db.prepare("SELECT * FROM subagents WHERE session = ? AND agent_id = ?").get(sessionNumber, id);
    if (row !== undefined) subagents.set(id, toSubagent(row));
    const call = row === undefined ? db.prepare(SPAWNED).get(sessionNumber, id) : undefined;
    if (call !== undefined) spawnedBy.set(id, String(call["call_id"]));
  }
  const turns = new Map<string, SettledTurn>();
  for (const row of db.prepare(`${TURNS} ORDER BY start_ms DESC LIMIT ?`).all(sessionNumber, RECENT_TURNS))
    turns.set(String(row["key"]), toTurn(row));
  for (const key of promptKeys) {
    const row = db.prepare(`${TURNS} AND key = ?`).get(sessionNumber, key);
    if (row !== undefined) turns.set(key, toTurn(row));
  }
  const has = (sql: string, value: string): boolean => db.prepare(sql).get(sessionNumber, value) !== undefined;
  const settledCalls = new Set(
    [...callIds].filter((id) => has("SELECT 1 FROM tool_calls WHERE session = ? AND call_id = ?", id)),
  );
  const unusedIds = new Set(
    [...callIds].filter(
      (id) =>
        !settledCalls.has(id) &&
        has("SELECT 1 FROM entries WHERE session = ? AND key = ? AND settled = 1", `use:${id}`),
    ),
  );
  for (const id of unusedIds) settledCalls.add(id);
  const calls = [...digests].flatMap((digest) =>
    db
      .prepare("SELECT body FROM tool_calls WHERE session = ? AND input_digest = ? ORDER BY start_ms DESC LIMIT ?")
      .all(sessionNumber, digest, LIKE_CALLS)
      .map((row) => JSON.parse(String(row["body"])) as SettledCall),
  );
  for (const { callId } of calls) settledCalls.add(callId);
  const segment = lastSegment(db, sessionNumber)?.segment;
  const knowsCalls =
    db
      .prepare(
        "SELECT 1 FROM model_calls WHERE session = ? AND input IS NOT NULL AND json_extract(body, '$.covers') IS NULL LIMIT 1",
      )
      .get(sessionNumber) !== undefined;
  return {
    turns,
    subagents,
    knowsCalls,
    callIds: settledCalls,
    calls,
    ...(spawnedBy.size > 0 && { spawnedBy }),
    ...(unusedIds.size > 0 && { unusedIds }),
    ...(segment !== undefined && { segment }),
  };
}

/** The last segment of a session with what it adds up to; `undefined` before the first. */
export function lastSegment(
  db: Database,
  sessionNumber: number,
): { readonly segment: Segment; readonly totals: string; readonly delivered: boolean } | undefined {
  return segmentsOf(db, sessionNumber, "ORDER BY ordinal DESC LIMIT 1")[0];
}

/** One segment, or all of a session in order. */
export function segmentsOf(db: Database, sessionNumber: number, tail = "ORDER BY ordinal") {
  return db
    .prepare(`SELECT * FROM segments WHERE session = ? ${tail}`)
    .all(sessionNumber)
    .map((row) => ({ segment: toSegment(row), totals: String(row["totals"]), delivered: row["delivered"] === 1 }));
}

/** The trace that a stored span is in; `undefined` where it is not stored, as of pruned sessions. */
export function traceOfSpan(db: Database, key: string): string | undefined {
  const row = db.prepare("SELECT json_extract(record, '$.traceId') AS id FROM spans WHERE key = ?").get(key);
  return row === undefined ? undefined : String(row["id"]);
}

/** Changes what a segment adds up to. @param change as JSON of the caller's */
export function changeTotals(
  db: Database,
  sessionNumber: number,
  ordinal: number,
  change: (totals: string) => string,
): void {
  const row = db.prepare("SELECT totals FROM segments WHERE session = ? AND ordinal = ?").get(sessionNumber, ordinal);
  if (row === undefined) return;
  db.prepare("UPDATE segments SET totals = ? WHERE session = ? AND ordinal = ?").run(
    change(String(row["totals"])),
    sessionNumber,
    ordinal,
  );
}

// --- internal ---

/** Facts without a prompt id go to the last turn that had begun; no agent is this far behind. */
const RECENT_TURNS = 50;

const TURNS =
  "SELECT *, EXISTS (SELECT 1 FROM events e WHERE e.id = turns.key) AS hook_alone FROM turns WHERE session = ?";

/** Agents that work on in the background, as teammates do, are told of when the call that started them is long settled. */
const SPAWNED = "SELECT call_id FROM tool_calls WHERE session = ? AND spawned_agent = ? LIMIT 1";

/** Of one tool and input: more are never near enough in time. */
const LIKE_CALLS = 50;

const add = (set: Set<string>, value: string | undefined): void => {
  if (value !== undefined) set.add(value);
};

function putSegment(db: Database, sessionNumber: number, s: Segment, totals: string, delivered: boolean): void {
  db.prepare(
    `INSERT INTO segments (session, ordinal, start_ms, end_ms, reason, native_reason, start_origin, last_activity_ms, totals, delivered)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, ordinal) DO UPDATE SET start_ms = excluded.start_ms, end_ms = excluded.end_ms,
       reason = excluded.reason, native_reason = excluded.native_reason, start_origin = excluded.start_origin,
       last_activity_ms = excluded.last_activity_ms, totals = excluded.totals, delivered = max(delivered, excluded.delivered)`,
  ).run(
    sessionNumber,
    s.ordinal,
    s.startMs,
    s.endMs ?? null,
    s.reason ?? null,
    s.nativeReason ?? null,
    s.startOrigin ?? null,
    s.lastActivityMs,
    totals,
    delivered ? 1 : 0,
  );
}

function putTurn(db: Database, sessionNumber: number, turn: Turn): void {
  db.prepare(
    `INSERT INTO turns (session, key, segment, origin, state, start_ms, end_ms, prompt_length, hook_seen, parts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, key) DO UPDATE SET parts = parts + 1, end_ms = max(end_ms, excluded.end_ms),
       hook_seen = max(hook_seen, excluded.hook_seen)`,
  ).run(
    sessionNumber,
    baseKey(turn.key),
    turn.segment,
    turn.origin,
    turn.state,
    turn.startMs,
    turn.endMs,
    turn.promptLength ?? null,
    turn.promptTold ? 1 : 0,
    partsUpTo(turn.key),
  );
}

function renameTurn(db: Database, sessionNumber: number, from: string, to: string): void {
  db.prepare("UPDATE turns SET key = ?, hook_seen = ? WHERE session = ? AND key = ?").run(
    to,
    RENAMED,
    sessionNumber,
    from,
  );
  db.prepare("UPDATE subagents SET turn_key = ? WHERE session = ? AND turn_key = ?").run(to, sessionNumber, from);
}

/** In the place of 1, which `hook_seen` is of every other turn that a hook told of. */
const RENAMED = 2;

function putSubagent(db: Database, sessionNumber: number, s: Subagent): void {
  db.prepare(
    `INSERT INTO subagents (session, agent_id, agent_type, segment, turn_key, parent_call_id, start_ms, end_ms, parts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, agent_id) DO UPDATE SET parts = parts + 1, end_ms = max(end_ms, excluded.end_ms)`,
  ).run(
    sessionNumber,
    s.agentId,
    s.agentType ?? null,
    s.segment,
    s.turnKey ?? null,
    s.parentCallId ?? null,
    s.startMs,
    s.endMs,
    partsUpTo(s.key),
  );
}

function putWork(db: Database, sessionNumber: number, run: Turn | Subagent, costs: ReadonlyMap<string, number>): void {
  for (const call of run.modelCalls) {
    db.prepare(
      `INSERT INTO model_calls (session, key, segment, model, subagent, end_ms, input, output, cache_read, cache_write,
         cost_nano_usd, complete, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (session, key) DO UPDATE SET input = excluded.input, output = excluded.output,
         cache_read = excluded.cache_read, cache_write = excluded.cache_write, cost_nano_usd = excluded.cost_nano_usd,
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
      costs.get(call.key) ?? null,
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
      // What it is found by, where its id is not told or says nothing
      tool.givenId ?? tool.inputDigest ?? null,
      tool.spawnedAgentId ?? null,
      JSON.stringify(tool),
    );
  }
}

function putSpans(db: Database, sessionNumber: number, spans: readonly StoredSpan[], nowMs: number): number {
  let added = 0;
  const mayBeForgotten = hasForgotten(db);
  for (const { key, segment, record } of spans) {
    if (mayBeForgotten && isForgotten(db, "span", key)) continue;
    const { changes } = db
      .prepare("INSERT INTO spans (key, session, segment, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .run(key, sessionNumber, segment, JSON.stringify(record));
    if (changes === 0) continue;
    enqueue(db, key, nowMs);
    added++;
  }
  return added;
}

/** A continuation is `<key>~<n>`; prompt ids hold no tilde. */
const baseKey = (key: string): string => key.replace(/~\d+$/, "");

/** How many parts there are with this one: the first that is stored is a further one where those before it were pruned. */
const partsUpTo = (key: string): number => Number(/~(\d+)$/.exec(key)?.[1] ?? "0") + 1;

const text = (row: Row, name: string): string | undefined => (typeof row[name] === "string" ? row[name] : undefined);

function toSegment(row: Row): Segment {
  const [reason, nativeReason, startOrigin] = [
    text(row, "reason"),
    text(row, "native_reason"),
    text(row, "start_origin"),
  ];
  return {
    ordinal: Number(row["ordinal"]),
    startMs: Number(row["start_ms"]),
    lastActivityMs: Number(row["last_activity_ms"]),
    uses: [],
    ...(row["end_ms"] !== null && { endMs: Number(row["end_ms"]) }),
    ...(reason !== undefined && { reason: reason as NonNullable<Segment["reason"]> }),
    ...(nativeReason !== undefined && { nativeReason }),
    ...(startOrigin !== undefined && { startOrigin }),
  };
}

function toTurn(row: Row): SettledTurn {
  return {
    segment: Number(row["segment"]),
    state: String(row["state"]) as SettledTurn["state"],
    startMs: Number(row["start_ms"]),
    endMs: Number(row["end_ms"]),
    parts: Number(row["parts"]),
    hookSeen: row["hook_seen"] !== 0,
    ...(row["hook_alone"] === 1 && { hookAlone: true }),
    ...(row["hook_seen"] === RENAMED && { renamed: true }),
    ...(row["prompt_length"] !== null && { promptLength: Number(row["prompt_length"]) }),
  };
}

function toSubagent(row: Row): SettledSubagent {
  const [turnKey, parentCallId, agentType] = [
    text(row, "turn_key"),
    text(row, "parent_call_id"),
    text(row, "agent_type"),
  ];
  return {
    segment: Number(row["segment"]),
    parts: Number(row["parts"]),
    ...(turnKey !== undefined && { turnKey }),
    ...(parentCallId !== undefined && { parentCallId }),
    ...(agentType !== undefined && { agentType }),
  };
}
