import type { ModelCall } from "#core/model/model-call.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { Database } from "#store/database.ts";
import { hookPromptIds } from "#store/facts.ts";
import { isPrunedFact } from "#store/pruned-facts.ts";
import { numbers, texts } from "#store/rows.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { type CallFact, FIGURES, type SpanFact } from "./facts.ts";

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
    isOpen: isOpen(db, number),
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

/** Sessions of subagents, at any depth: a subagent's subagent names its parent. */
function childrenOf(db: Database, number: number): readonly number[] {
  return numbers(
    db,
    `WITH RECURSIVE below (id) AS (SELECT id FROM sessions WHERE parent = ?1
         UNION SELECT s.id FROM sessions s JOIN below b ON s.parent = b.id) SELECT id FROM below WHERE id <> ?1`,
    number,
  );
}

const isOpen = (db: Database, number: number): boolean =>
  db
    .prepare(
      `SELECT 1 FROM sessions s WHERE id = ? AND (
         EXISTS (SELECT 1 FROM segments g WHERE g.session = s.id AND g.delivered = 0)
         OR EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.settled = 0)
         OR EXISTS (SELECT 1 FROM entries e WHERE e.session = s.id AND e.settled = 0))`,
    )
    .get(number) !== undefined;

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
