import type { CallSums, ModelCall, PricedCall } from "#core/model/model-call.ts";
import type { NoPrice } from "#core/model/price-list.ts";
import type { Compaction, Subagent, ToolCall, Turn } from "#core/model/session.ts";
import { TOKEN_KINDS, TOKEN_NAMES } from "#core/model/token-kinds.ts";
import { CHARGES } from "#core/rules/call-sums.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row } from "./database.ts";
import { textIn } from "./rows.ts";
import { hasOpenEvents, isOpen, type StoredSession, sessionById } from "./sessions.ts";

/** Sessions by latest activity. Without subagents, pruned and excluded sessions. */
export const recentSessions = (db: Database, limit: number, all = false): readonly StoredSession[] =>
  db
    .prepare(
      `SELECT id FROM sessions s WHERE parent IS NULL AND pruned_ms IS NULL AND excluded = 0
         AND (? OR NOT ${STARTED_ONLY} OR ${hasOpenEvents("s.id")})
       ORDER BY last_ms DESC, id DESC LIMIT ?`,
    )
    .all(all ? 1 : 0, limit)
    .map((row) => sessionById(db, Number(row["id"])));

/**
 * Sessions by id or the beginning of one, by latest activity; a complete id wins over a beginning. For a subagent's id, the
 * session of its root agent.
 *
 * @param name also `<source>/<id>`, for ids that two agents use; of a session with a local id, the agent's id or the unique one
 */
export function findSessions(db: Database, name: string, limit: number): readonly StoredSession[] {
  const slash = name.indexOf("/");
  const parted = slash > 0 ? find(db, name.slice(slash + 1), limit, name.slice(0, slash)) : [];
  return parted.length > 0 ? parted : find(db, name, limit);
}

/** Sums over the settled model calls of a session. A sum is absent if no call reported it. */
export function settledSums(db: Database, session: number): CallSums {
  const row = db
    .prepare(
      `SELECT sum(calls) AS calls, sum(sums_told) AS sums_told,
         ${TOKEN_KINDS.map((kind) => `sum(${TOKEN_NAMES[kind]}) AS ${kind}`).join(", ")},
         sum(without_usage) AS without_usage, sum(incomplete) AS incomplete, sum(cost_nano_usd) AS costNanoUsd, sum(unpriced) AS unpriced,
         sum(web_searches) AS webSearches, sum(unpriced_searches) AS unpricedSearches, sum(fee_nano_usd) AS feeNanoUsd,
         sum(nano_credits) AS nanoCredits
       FROM usage WHERE session = ?`,
    )
    .get(session);
  const known = ([...TOKEN_KINDS, "costNanoUsd", ...CHARGES] as const).flatMap((name) => {
    const value = row?.[name];
    return typeof value === "number" ? [[name, value] as const] : [];
  });
  return {
    modelCalls: Number(row?.["calls"] ?? 0),
    aggregateRecords: Number(row?.["sums_told"] ?? 0),
    ...Object.fromEntries(known),
    callsWithoutUsage: Number(row?.["without_usage"] ?? 0),
    incompleteCalls: Number(row?.["incomplete"] ?? 0),
    unpricedCalls: Number(row?.["unpriced"] ?? 0),
  };
}

/** Number of settled tool calls by status; statuses without calls are absent. */
export function settledTools(db: Database, session: number): ReadonlyMap<string, number> {
  const row = db
    .prepare(
      `SELECT sum(calls) - sum(errors) - sum(denied) - sum(unfinished) AS success, sum(errors) AS error,
         sum(denied) AS denied, sum(unfinished) AS unfinished FROM tool_usage WHERE session = ?`,
    )
    .get(session);
  return new Map(
    Object.entries(row ?? {}).flatMap(([status, n]) => (typeof n === "number" && n > 0 ? [[status, n] as const] : [])),
  );
}

/** Number of settled turns by origin. */
export const settledTurnCounts = (db: Database, session: number): ReadonlyMap<string, number> =>
  countsBy(db, "SELECT origin AS name, sum(turns) AS n FROM turn_usage WHERE session = ? GROUP BY origin", session);

/** A settled model call with its segment. */
export interface StoredModelCall extends PricedCall {
  readonly segment: number;
}

/** What a row of the waterfall shows of a model call. */
export interface CallFigures {
  readonly segment: number;
  readonly call: Pick<ModelCall, "key" | "usage" | "complete" | "covers" | "coveredCalls" | "agentId" | "endMs">;
  readonly costNanoUsd?: number;
  readonly noPrice?: NoPrice;
}

/** Figures of settled model calls, in any order. Faster than the calls. */
export function* settledFigures(db: Database, session: number): Generator<CallFigures> {
  type Values = readonly [
    key: string,
    segment: number,
    input: number | null,
    output: number | null,
    costNanoUsd: number | null,
    complete: number,
    endMs: number,
    covers: ModelCall["covers"] | null,
    coveredCalls: number | null,
    agentId: string | null,
    noPrice: NoPrice | null,
  ];
  const columns = `json_array(key, segment, input, output, cost_nano_usd, complete, end_ms, body ->> '$.covers', covered_calls, body ->> '$.agentId', no_price)`;
  for (const [values] of inPieces<readonly [Values]>(db, "model_calls", "key", columns, session)) {
    const [key, segment, input, output, costNanoUsd, complete, endMs, covers, coveredCalls, agentId, noPrice] = values;
    const usage = { ...(input !== null && { input }), ...(output !== null && { output }) };
    const call = {
      key,
      usage,
      complete: complete === 1,
      endMs,
      ...(covers && { covers }),
      ...(coveredCalls !== null && { coveredCalls }),
      ...(agentId && { agentId }),
    };
    yield { segment, call, ...(costNanoUsd !== null && { costNanoUsd }), ...(noPrice !== null && { noPrice }) };
  }
}

/** Settled model calls by end time. */
export function settledCalls(db: Database, session: number): readonly StoredModelCall[] {
  type Values = readonly [
    key: string,
    segment: number,
    cost: number | null,
    noPrice: NoPrice | null,
    fee: number | null,
    call: ModelCall,
  ];
  const columns =
    "json_quote(key) || ',' || segment || ',' || coalesce(cost_nano_usd, 'null') || ',' || json_quote(no_price) || ',' || coalesce(fee_nano_usd, 'null') || ',' || body";
  return [...inPieces<Values>(db, "model_calls", "key", columns, session)]
    .sort(([a, , , , , one], [b, , , , , other]) => one.endMs - other.endMs || (a < b ? -1 : 1))
    .map(([, segment, costNanoUsd, noPrice, feeNanoUsd, call]) => ({
      segment,
      call,
      ...(costNanoUsd !== null && { costNanoUsd }),
      ...(noPrice !== null && { noPrice }),
      ...(feeNanoUsd !== null && { feeNanoUsd }),
    }));
}

/** A session's settled compactions: those in its transcript, or of an agent without one, those that hooks reported. */
export function settledCompactions(
  db: Database,
  session: number,
  expectsTranscript: boolean,
): readonly Pick<Compaction, "timeMs" | "agentId">[] {
  const of = (sql: string) =>
    db
      .prepare(sql)
      .all(session)
      .map((row) => defined({ timeMs: Number(row["time_ms"]), agentId: textIn(row, "agent_id") }));
  const written = of(
    "SELECT time_ms, body ->> '$.agentId' AS agent_id FROM entries WHERE session = ? AND kind = 'compaction' AND settled = 1",
  );
  if (expectsTranscript || written.length > 0) return written;
  return of("SELECT time_ms, NULL AS agent_id FROM events WHERE session = ? AND type = 'compaction' AND settled = 1");
}

/** Settled tool calls by start time. */
export const settledToolCalls = (
  db: Database,
  session: number,
): readonly { readonly segment: number; readonly tool: ToolCall }[] =>
  [
    ...inPieces<readonly [segment: number, tool: ToolCall]>(
      db,
      "tool_calls",
      "call_id",
      "segment || ',' || body",
      session,
    ),
  ]
    .sort(([, a], [, b]) => a.startMs - b.startMs || (a.callId < b.callId ? -1 : 1))
    .map(([segment, tool]) => ({ segment, tool }));

/** What is stored of a settled turn, all its parts together. */
export type TurnSummary = Pick<Turn, "key" | "segment" | "startMs" | "endMs"> & {
  readonly origin: string;
  readonly state: string;
  readonly promptLength?: number;
};

/** Settled turns by start time. */
export const settledTurns = (db: Database, session: number): readonly TurnSummary[] =>
  db
    .prepare("SELECT * FROM turns WHERE session = ? ORDER BY start_ms, key")
    .all(session)
    .map((row) => ({
      key: String(row["key"]),
      segment: Number(row["segment"]),
      origin: String(row["origin"]),
      state: String(row["state"]),
      startMs: Number(row["start_ms"]),
      endMs: Number(row["end_ms"]),
      ...(row["prompt_length"] !== null && { promptLength: Number(row["prompt_length"]) }),
    }));

export type SubagentSummary = Pick<
  Subagent,
  "agentId" | "agentType" | "segment" | "turnKey" | "parentCallId" | "startMs" | "endMs"
>;

/** Settled subagents by start time. */
export const settledSubagents = (db: Database, session: number): readonly SubagentSummary[] =>
  db
    .prepare("SELECT * FROM subagents WHERE session = ? ORDER BY start_ms, agent_id")
    .all(session)
    .map((row) =>
      defined<SubagentSummary>({
        agentId: String(row["agent_id"]),
        segment: Number(row["segment"]),
        startMs: Number(row["start_ms"]),
        endMs: Number(row["end_ms"]),
        agentType: textIn(row, "agent_type"),
        turnKey: textIn(row, "turn_key"),
        parentCallId: textIn(row, "parent_call_id"),
      }),
    );

/** Number of sessions, and of those that have unsettled facts or an open segment. */
export function sessionCounts(db: Database): { readonly sessions: number; readonly open: number } {
  const row = db
    .prepare(
      `SELECT count(*) AS n, coalesce(sum(${isOpen("s.id")}), 0) AS open
       FROM sessions s WHERE parent IS NULL AND pruned_ms IS NULL AND excluded = 0`,
    )
    .get();
  return { sessions: Number(row?.["n"] ?? 0), open: Number(row?.["open"] ?? 0) };
}

/** Number of complete transcript lines that could not be read, and of the files that contain them. */
export function unreadableLines(db: Database): { readonly lines: number; readonly files: number } {
  const row = db
    .prepare("SELECT coalesce(sum(unreadable), 0) AS n, count(*) AS files FROM positions WHERE unreadable > 0")
    .get();
  return { lines: Number(row?.["n"] ?? 0), files: Number(row?.["files"] ?? 0) };
}

/** Sessions whose transcript path was reported but never read, by latest activity. */
export const sessionsWithoutTranscript = (db: Database, limit: number): readonly StoredSession[] =>
  db
    .prepare(
      `SELECT id FROM sessions s WHERE transcript_path IS NOT NULL AND parent IS NULL
         AND NOT EXISTS (SELECT 1 FROM positions p WHERE p.session = s.id) ORDER BY last_ms DESC LIMIT ?`,
    )
    .all(limit)
    .map((row) => sessionById(db, Number(row["id"])));

/**
 * SQL condition on a row `s` of `sessions`: the session has a turn, a tool call or another activity, such as the end of a turn
 * without a prompt. A session that was only opened and closed used nothing.
 */
export const WAS_USED = `(EXISTS (SELECT 1 FROM turns t WHERE t.session = s.id)
  OR EXISTS (SELECT 1 FROM tool_calls c WHERE c.session = s.id)
  OR EXISTS (SELECT 1 FROM packed p WHERE p.session = s.id)
  OR EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.type NOT IN ('session.start', 'session.end')))`;

/**
 * SQL condition on a row `s` of `sessions`: only its start was reported. Some agents report starts of sessions that are never
 * used.
 */
export const STARTED_ONLY = `(NOT ${WAS_USED}
  AND NOT EXISTS (SELECT 1 FROM segments g WHERE g.session = s.id)
  AND NOT EXISTS (SELECT 1 FROM model_calls c WHERE c.session = s.id)
  AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent = s.id)
  AND EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.type = 'session.start'))`;

export const wasUsed = (db: Database, sessionNumber: number): boolean =>
  db.prepare(`SELECT 1 FROM sessions s WHERE id = ? AND ${WAS_USED}`).get(sessionNumber) !== undefined;

/**
 * Rows in one text, where a row for each would take most of the time: libsql makes an object for each. More rows are slower
 * again: texts of more than about 100 kB do not fit in the caches.
 */
export const ROWS_PER_PIECE = 100;

// --- internal ---

/**
 * All rows of a session, many in one text.
 *
 * @param key unique in a session, and part of the table's primary key
 * @param values SQL expression of the elements of a JSON array
 * @returns the arrays, by key
 */
function* inPieces<T>(db: Database, table: string, key: string, values: string, session: number): Generator<T> {
  const after = (last: string, than: ">" | ">="): Row | undefined =>
    db
      .prepare(
        `SELECT max(key) AS last, group_concat(line, ',') AS lines
         FROM (SELECT ${key} AS key, '[' || ${values} || ']' AS line FROM ${table}
           WHERE session = ? AND ${key} ${than} ? ORDER BY ${key} LIMIT ?)`,
      )
      .get(session, last, ROWS_PER_PIECE);
  for (let row = after("", ">="); typeof row?.["last"] === "string"; row = after(row["last"], ">")) {
    yield* JSON.parse(`[${String(row["lines"])}]`) as T[];
  }
}

function find(db: Database, id: string, limit: number, source?: string): readonly StoredSession[] {
  const where = (test: string): readonly StoredSession[] =>
    db
      .prepare(
        `WITH RECURSIVE named (id, parent, last_ms) AS (
           SELECT id, parent, last_ms FROM sessions
             WHERE ${test} AND pruned_ms IS NULL AND excluded = 0 AND (? IS NULL OR source = ?)
           UNION SELECT s.id, s.parent, n.last_ms FROM named n JOIN sessions s ON s.id = n.parent)
         SELECT id FROM named WHERE parent IS NULL GROUP BY id ORDER BY max(last_ms) DESC LIMIT ?`,
      )
      .all(id, source ?? null, source ?? null, limit)
      .map((row) => sessionById(db, Number(row["id"])));
  const whole = where("?1 IN (session_id, native_id, identity)");
  if (whole.length > 0) return whole;
  return where("(substr(session_id, 1, length(?1)) = ?1 OR substr(identity, 1, length(?1)) = ?1)");
}

const countsBy = (db: Database, sql: string, session: number): ReadonlyMap<string, number> =>
  new Map(
    db
      .prepare(sql)
      .all(session)
      .map((row) => [String(row["name"]), Number(row["n"])]),
  );
