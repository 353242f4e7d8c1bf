import type { ModelCall } from "#core/model/model-call.ts";
import type { Attributes } from "#core/model/telemetry.ts";
import { withSeriesLabels } from "#core/rules/series-labels.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { Database, Row } from "#store/database.ts";
import { hookPromptIds } from "#store/facts.ts";
import type { Histogram } from "#store/histogram.ts";
import { readMeta } from "#store/meta.ts";
import { outboxState } from "#store/outbox.ts";
import { hasPrunedFacts, isPrunedFact } from "#store/pruned-facts.ts";
import { rejectedPoints } from "#store/rejected-points.ts";
import { numbers, texts } from "#store/rows.ts";
import { isOpen, type StoredSession, sessionById } from "#store/sessions.ts";
import { type CallFact, FIGURES, type Kind, type SpanFact } from "./facts.ts";

/** What concerns all sessions together. */
export interface MachineFacts {
  readonly instanceId: string | undefined;
  readonly streams: readonly StoredStream[];
  /** Tokens of all settled calls in the store. */
  readonly tokens: Readonly<Record<Kind, number>>;
  /** Of these, calls that ended after the first token stream was created. */
  readonly tokensSince: Readonly<Record<Kind, number>>;
  /** Something was pruned: the sums include more than the sessions that are left. */
  readonly hasPruned: boolean;
  /** Spans that were dropped or refused before a backend accepted them, over all time. */
  readonly droppedSpans: number;
  /** Deltas that a backend rejected and has not got by now. */
  readonly missingPoints: number;
  readonly clockSkewMs: number;
}

/** One cumulative stream: its value, and the last one that a backend accepted. */
export interface StoredStream {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly service: string;
  readonly value: StreamValue;
  /** Excess that is deducted from the next increments. */
  readonly owed: number;
  /** Absent: never sent. */
  readonly delivered?: StreamValue & { readonly atMs: number };
}

/** For a counter its sum; for a histogram the number of values and their sum. */
export interface StreamValue {
  readonly sum: number;
  readonly count?: number;
}

export function machineFacts(db: Database): MachineFacts {
  const streams = streamsOf(db);
  const beganMs = Math.min(...numbers(db, "SELECT start_ms FROM counters WHERE metric = 'openhook.token.usage'"));
  const outbox = outboxState(db);
  return {
    instanceId: readMeta(db, "instance.id"),
    streams,
    tokens: tokensAfter(db, Number.NEGATIVE_INFINITY),
    tokensSince: tokensAfter(db, beganMs),
    hasPruned: hasPrunedFacts(db),
    droppedSpans: outbox.droppedTotal + outbox.rejectedTotal + outbox.unclaimedTotal,
    missingPoints: rejectedPoints(db).missing,
    clockSkewMs: Number(readMeta(db, "clock.skew_ms") ?? "0"),
  };
}

/** A span of the store, and whether a backend has accepted it, so that it left the outbox. */
export interface StoredSpan extends SpanFact {
  readonly traceId: string;
  readonly isQueued: boolean;
}

/** What the store has of one session. */
export interface StoredSessionFacts {
  readonly session: StoredSession;
  /** Sessions of subagents whose facts are stored in this session. */
  readonly children: readonly StoredSession[];
  /** It is not completely settled: more calls and spans may be added. */
  readonly isOpen: boolean;
  readonly calls: ReadonlyMap<string, CallFact>;
  readonly spans: readonly StoredSpan[];
  /** The parts of its transcripts that were read, by the reader's names. */
  readonly parts: ReadonlySet<string>;
  readonly hookPrompts: ReadonlySet<string>;
}

/** Selects sessions with activity in this time. They are compared as a whole. */
export interface TimeRange {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Numbers of the sessions with activity in a time range, the earliest first; how many more were pruned, and how many were
 * imported and never exported.
 */
export function sessionsIn(
  db: Database,
  { sinceMs, untilMs }: TimeRange,
): { readonly numbers: readonly number[]; readonly pruned: number; readonly imported: number } {
  const within = "parent IS NULL AND excluded = 0 AND last_ms >= ? AND first_ms <= ?";
  const packed = "id IN (SELECT session FROM packed)";
  const countOf = (what: string): number =>
    Number(
      db.prepare(`SELECT count(*) AS n FROM sessions WHERE ${within} AND ${what}`).get(sinceMs, untilMs)?.["n"] ?? 0,
    );
  return {
    numbers: numbers(
      db,
      `SELECT id FROM sessions WHERE ${within} AND pruned_ms IS NULL AND NOT ${packed} ORDER BY first_ms, id`,
      sinceMs,
      untilMs,
    ),
    pruned: countOf("pruned_ms IS NOT NULL"),
    imported: countOf(packed),
  };
}

/** @param number of a session that is no subagent's */
export function sessionFacts(db: Database, number: number): StoredSessionFacts {
  const children = childrenOf(db, number);
  const ids = [number, ...children];
  return {
    session: sessionById(db, number),
    children: children.map((id) => sessionById(db, id)),
    isOpen: db.prepare(`SELECT 1 WHERE ${isOpen("?1")}`).get(number) !== undefined,
    calls: callsOf(db, number),
    spans: spansOf(db, number),
    parts: new Set(ids.flatMap((id) => texts(db, "SELECT path FROM positions WHERE session = ?", id))),
    hookPrompts: hookPromptIds(db, number),
  };
}

/**
 * Why the store does not count a call of a transcript: `copy`, another session counts it; `pruned`, it was counted and removed;
 * `pending`, it is known and not settled yet. `undefined`: no known reason.
 */
export function whyNotCounted(
  db: Database,
  { id, source, sessionId }: StoredSession,
  call: { readonly key: string; readonly globalKey?: string | undefined },
): "copy" | "pruned" | "pending" | undefined {
  const { key, globalKey } = call;
  if (globalKey !== undefined) {
    const owner = db.prepare("SELECT session FROM owners WHERE source = ? AND global_key = ?").get(source, globalKey)?.[
      "session"
    ];
    if (owner !== undefined && owner !== id && hasEntry(db, Number(owner), key)) return "copy";
    if (owner === undefined && isPrunedFact(db, "owner", source, globalKey)) return "pruned";
  }
  if (isPrunedFact(db, "entry", source, sessionId, key)) return "pruned";
  const entry = db.prepare("SELECT settled FROM entries WHERE session = ? AND key = ?").get(id, key);
  return entry?.["settled"] === 0 ? "pending" : undefined;
}

// --- internal ---

function streamsOf(db: Database): readonly StoredStream[] {
  return db
    .prepare("SELECT * FROM counters ORDER BY metric, id")
    .all()
    .map((row) => {
      const delivered = valueIn(row, "sent_value", "sent_histogram");
      const { attributes, resource } = withSeriesLabels({
        attributes: JSON.parse(String(row["attributes"])) as Attributes,
        resource: JSON.parse(String(row["resource"])) as Attributes,
      });
      const { [semconv.SERVICE_NAME]: _, ...own } = attributes;
      return {
        metric: String(row["metric"]),
        attributes: own,
        service: String(resource[semconv.SERVICE_NAME] ?? ""),
        value: valueIn(row, "value", "histogram") ?? { sum: 0 },
        owed: Number(row["owed"]),
        ...(delivered !== undefined &&
          row["sent_ms"] !== null && { delivered: { ...delivered, atMs: Number(row["sent_ms"]) } }),
      };
    });
}

function valueIn(row: Row, sum: string, histogram: string): StreamValue | undefined {
  const [plain, text] = [row[sum], row[histogram]];
  if (typeof text === "string") {
    const found = JSON.parse(text) as Histogram;
    return { sum: found.sum, count: found.count };
  }
  return typeof plain === "number" ? { sum: plain } : undefined;
}

function tokensAfter(db: Database, ms: number): Readonly<Record<Kind, number>> {
  const row = db
    .prepare(
      `SELECT coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
         coalesce(sum(cache_read), 0) AS cacheRead, coalesce(sum(cache_write), 0) AS cacheWrite,
         coalesce(sum(json_extract(body, '$.usage.reasoning')), 0) AS reasoning FROM model_calls WHERE end_ms > ?`,
    )
    .get(Number.isFinite(ms) ? ms : ms > 0 ? Number.MAX_SAFE_INTEGER : -1);
  const tokensOf = (name: Kind): number => Number(row?.[name] ?? 0);
  return {
    input: tokensOf("input"),
    output: tokensOf("output"),
    cacheRead: tokensOf("cacheRead"),
    cacheWrite: tokensOf("cacheWrite"),
    reasoning: tokensOf("reasoning"),
  };
}

/** Sessions of subagents, at any depth: a subagent's subagent names its parent. */
function childrenOf(db: Database, number: number): readonly number[] {
  return numbers(
    db,
    `WITH RECURSIVE below (id) AS (SELECT id FROM sessions WHERE parent = ?1
         UNION SELECT s.id FROM sessions s JOIN below b ON s.parent = b.id) SELECT id FROM below WHERE id <> ?1`,
    number,
  );
}

const hasEntry = (db: Database, session: number, key: string): boolean =>
  db.prepare("SELECT 1 FROM entries WHERE session = ? AND key = ?").get(session, key) !== undefined;

function callsOf(db: Database, number: number): ReadonlyMap<string, CallFact> {
  return new Map(
    db
      .prepare("SELECT key, body FROM model_calls WHERE session = ? ORDER BY end_ms, key")
      .all(number)
      .map((row) => {
        const { agentId, model, usage, covers, startMs, endMs } = JSON.parse(String(row["body"])) as ModelCall;
        const key = String(row["key"]);
        return [key, { key, agentId, model, usage, covers, startMs, endMs }];
      }),
  );
}

/** Records contain all attributes; only compared ones are read. */
function spansOf(db: Database, number: number): readonly StoredSpan[] {
  const figure = (name: string): string => `json_extract(record, '$.attributes."${name}"')`;
  const model = `coalesce(${figure(semconv.GEN_AI_RESPONSE_MODEL)}, ${figure(semconv.GEN_AI_REQUEST_MODEL)})`;
  return db
    .prepare(
      `SELECT json_extract(record, '$.traceId') AS trace, json_extract(record, '$.spanId') AS span,
         json_extract(record, '$.parentSpanId') AS parent, json_extract(record, '$.name') AS name,
         ${figure(semconv.OPENHOOK_SPAN_KIND)} AS kind, ${model} AS model,
         ${FIGURES.map((name, i) => `${figure(name)} AS f${i}`).join(", ")}, o.seq IS NOT NULL AS queued
       FROM spans s LEFT JOIN outbox o ON o.seq = s.seq WHERE s.session = ? ORDER BY s.seq`,
    )
    .all(number)
    .map((row) => ({
      traceId: String(row["trace"]),
      spanId: String(row["span"]),
      parentSpanId: row["parent"] === null ? "" : String(row["parent"]),
      name: String(row["name"]),
      isCall: row["kind"] === "model_call",
      model: row["model"] === null ? undefined : String(row["model"]),
      figures: Object.fromEntries(
        FIGURES.flatMap((name, i) => {
          const value = row[`f${i}`];
          return typeof value === "number" ? [[name, value]] : [];
        }),
      ),
      instanceId: undefined,
      isQueued: row["queued"] === 1,
    }));
}
