import type { JoinedNative } from "#core/model/native.ts";
import { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import { sumKnown } from "#kit/numbers.ts";
import type { Database } from "#store/database.ts";
import { nativeRecordsOf } from "#store/native.ts";
import { nativeOf } from "#store/sessions/native.ts";
import { knownFactsOf, type SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { coveredBy, coveredNotes } from "../../report/covered.ts";
import { nativeBySpan, nativePairs } from "../../report/native/notes.ts";
import { type SessionSpan, spansOf } from "../../report/session-spans.ts";
import { outlineOf, type SessionOutline } from "../../report/session-view.ts";
import { rowCalls } from "../../report/waterfall/row-sums.ts";
import { numberAt } from "../../report/waterfall/tree.ts";
import { matchesTerm, termsOf } from "../match.ts";
import type { SearchDocument, SpanDocument } from "../wire/spans.ts";
import { toColumns } from "./columns.ts";
import { familyRows } from "./family.ts";
import { type RowDeps, toRow } from "./rows.ts";

/** The agent and the id it gave the session. */
export interface SessionName {
  readonly source: string;
  readonly sessionId: string;
}

interface SpanDeps extends Pick<RowDeps, "agents"> {
  readonly settings: SpanSettings;
  readonly traceLink?: string;
}

/** The session, or the parent of a subagent's session; `undefined` if it does not exist, was pruned or is excluded. */
export function findSession(db: Database, { source, sessionId }: SessionName): StoredSession | undefined {
  const row = db
    .prepare(
      `SELECT coalesce(parent, id) AS id FROM sessions
       WHERE source = ? AND session_id = ? AND pruned_ms IS NULL AND excluded = 0`,
    )
    .get(source, sessionId);
  return row === undefined ? undefined : sessionById(db, Number(row["id"]));
}

/** A value that changes whenever the session's page would change. Much cheaper than building the document. */
export function stampOf(db: Database, { id }: StoredSession): string {
  const row = db
    .prepare(
      `SELECT (SELECT last_ms FROM sessions WHERE id = ?1) AS last,
         (SELECT max((SELECT max(seq) FROM spans p WHERE p.session = g.session AND p.segment = g.ordinal))
           FROM segments g WHERE g.session = ?1) AS seq,
         (SELECT count(*) FROM events WHERE session = ?1 AND settled = 0) AS events,
         (SELECT group_concat(length(body) || ':' || key) FROM entries INDEXED BY entries_open
            WHERE session = ?1 AND settled = 0) AS entries,
         (SELECT group_concat(ordinal || ':' || delivered) FROM segments WHERE session = ?1) AS segments,
         (SELECT count(*) FROM sessions s JOIN native_records n ON n.source = s.source
            AND n.session_id IN (s.session_id, s.native_id) WHERE s.id = ?1) AS native,
         (SELECT count(*) || ':' || sum(certainty = 'observed') FROM commits) AS commits,
         (SELECT count(*) || ':' || sum(certainty = 'observed') FROM changes) AS changes,
         (SELECT count(*) || ':' || max(c.last_ms) FROM sessions p JOIN launches l ON l.source = p.source
            AND l.session_id = p.session_id AND l.session_id <> '' JOIN sessions c ON c.id = l.session
            WHERE p.id = ?1) AS children`,
    )
    .get(id);
  // Not the whole row, because the driver adds the duration of the query
  return JSON.stringify(
    ["last", "seq", "events", "entries", "segments", "native", "commits", "changes", "children"].map(
      (name) => row?.[name],
    ),
  );
}

export type SessionDocument = ReturnType<typeof toDocument>;

/**
 * The content of a session's page, without the attributes of its spans.
 *
 * @param spans the spans to show. @default all spans of the session
 */
export function toDocument(
  db: Database,
  view: SessionOutline,
  deps: RowDeps,
  traceLink?: string,
  spans: Iterable<SessionSpan> = spansOf(db, view),
) {
  const [first] = traceLink === undefined ? [] : spansOf(db, view);
  return {
    kind: "session" as const,
    row: toRow(db, deps, view),
    family: familyRows({ db, agents: deps.agents }, view),
    reported: reportedOf(view),
    /** What flat plans cover of its cost, in sentences. */
    covered: coveredNotes(coveredBy(db, deps, { session: view.stored.id })),
    spans: toColumns(spans, rowCalls(view.calls, view.facts), nativeBySpan(view.native, view.facts)),
    /** Address of its trace in the user's backend; `null`: none is configured. */
    traceUrl: first === undefined ? null : traceUrl(traceLink, first.record),
  };
}

/** One span in full; `undefined` if the session has none with this id. */
export function toSpanDocument(
  db: Database,
  stored: StoredSession,
  spanId: string,
  { agents, settings, traceLink }: SpanDeps,
): SpanDocument | undefined {
  const row = db
    .prepare(
      "SELECT record FROM spans WHERE session = ? AND instr(record, ?) > 0 AND json_extract(record, '$.spanId') = ?",
    )
    .get(stored.id, `"spanId":"${spanId}"`, spanId);
  if (row !== undefined) {
    const record = SpanRecord.parse(JSON.parse(String(row["record"])));
    return spanDocument(record, false, traceLink, settledNative(db, stored, { agents }).get(spanId));
  }
  const { openSpans, native, facts } = outlineOf(db, stored, { agents }, settings);
  const open = openSpans.find(({ record }) => record.spanId === spanId);
  if (open === undefined) return undefined;
  return spanDocument(open.record, open.open, traceLink, nativeBySpan(native, facts).get(spanId));
}

/** A span as the page shows it. @param native what the agent's own telemetry adds to it */
export const spanDocument = (
  record: SpanRecord,
  open: boolean,
  traceLink?: string,
  native: JoinedNative = {},
): SpanDocument => ({
  kind: "span",
  open,
  native: nativePairs(native, costOf(record)),
  name: record.name,
  traceId: record.traceId,
  traceUrl: traceUrl(traceLink, record),
  spanId: record.spanId,
  parentSpanId: record.parentSpanId ?? null,
  startMs: record.startMs,
  endMs: record.endMs,
  error: record.status.code === "error",
  attributes: { ...record.resource, ...record.attributes },
  events: record.events,
  links: record.links,
});

type Deps = Pick<SessionSource, "agents"> & { readonly settings: SpanSettings };

/** The spans of a session whose attributes match each term of a search. */
export function searchSpans(
  db: Database,
  stored: StoredSession,
  search: string,
  { agents, settings }: Deps,
): SearchDocument {
  const open = outlineOf(db, stored, { agents }, settings).openSpans;
  const terms = termsOf(search).map((term) => {
    const settled = db
      .prepare("SELECT record FROM spans WHERE session = ? AND instr(lower(record), ?) > 0")
      .all(stored.id, fragmentOf(term))
      .map((row) => SpanRecord.parse(JSON.parse(String(row["record"]))));
    const ids = [...settled, ...open.map(({ record }) => record)]
      .filter((record) => matchesTerm(record, term))
      .map(({ spanId }) => spanId);
    return { term, ids: ids.join("") };
  });
  return { kind: "search", terms };
}

// --- internal ---

/** By the ids of spans; without building the session if there is nothing. */
function settledNative(
  db: Database,
  stored: StoredSession,
  { agents }: Pick<RowDeps, "agents">,
): ReadonlyMap<string, JoinedNative> {
  if (nativeRecordsOf(db, stored).length === 0) return new Map();
  const native = nativeOf(db, stored, unsettledSession({ db, agents }, stored));
  return nativeBySpan(native, knownFactsOf(db, { agents }, stored));
}

/** Rounded as the store has it. */
function costOf(record: SpanRecord): number | undefined {
  const usd = numberAt(record, semconv.OPENHOOK_COST_USD);
  return usd === undefined ? undefined : Math.round(usd * 1e9);
}

/** The address of a span's trace in the user's backend. */
const traceUrl = (link: string | undefined, { traceId, spanId }: SpanRecord): string | null =>
  link?.replaceAll("{trace_id}", traceId).replaceAll("{span_id}", spanId) ?? null;

/** Sums reported by the agent, which include its side requests; `null` if they equal ours or if there are none. */
function reportedOf({ reported, sums }: SessionOutline) {
  if (reported === undefined) return null;
  const all = Object.values(reported);
  const sum = (pick: (usage: (typeof all)[number]) => number | undefined): number | null =>
    sumKnown(all.map(pick)) ?? null;
  const [input, output] = [sum((usage) => usage.input), sum((usage) => usage.output)];
  const [costUsd, searches] = [sum((usage) => usage.costUsd), sum((usage) => usage.webSearches)];
  const addsNothing = (reported: number | null, ours: number | undefined): boolean =>
    reported === null || reported === (ours ?? 0);
  const addsSearches = (searches ?? 0) > (sums.webSearches ?? 0);
  if (addsNothing(input, sums.input) && addsNothing(output, sums.output) && !addsSearches) return null;
  return { input, output, costUsd, searches };
}

/** A part of the term that is in the JSON of every match as it is. SQLite lowers only ASCII letters, and JSON escapes some characters. */
const fragmentOf = (term: string): string =>
  term.split(/[^a-z0-9_.-]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");
