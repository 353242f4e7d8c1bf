import type { Event } from "#core/model/event-schema.ts";
import type { ModelCall } from "#core/model/model-call.ts";
import {
  ENDED_WITH_PROCESS,
  type ExportedSpan,
  type SessionContext,
  type SettledCall,
  type SettledSubagent,
  type SettledTurn,
  type SettledWork,
  SUPERSEDED,
  type Subagent,
  type Turn,
} from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { givenIdOf, repeatedCallId } from "#core/rules/call-ids.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { minOf } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row } from "./database.ts";
import { insertRow, numberIn, numbers, textIn } from "./rows.ts";
import { lastSegment } from "./segments.ts";

/**
 * The settled turns, subagents and calls to which the given unsettled facts can belong. The cost depends on the number of these
 * facts, not on the size of the session.
 */
export function settledContext(
  db: Database,
  sessionNumber: number,
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
): SessionContext {
  const named = namesIn(events, entries);
  const { callIds, unusedIds, calls } = settledCalls(db, sessionNumber, named);
  const { subagents, spawnedBy } = settledSubagents(db, sessionNumber, named.agentIds);
  const segment = lastSegment(db, sessionNumber)?.segment;
  const openWork = openWorkOf(db, sessionNumber);
  const coveredCalls = settledIn(db, sessionNumber, entries);
  return {
    turns: settledTurns(db, sessionNumber, named.promptKeys),
    subagents,
    knowsCalls: db.prepare(KNOWN_CALLS).get(sessionNumber) !== undefined,
    callIds,
    calls,
    ...(spawnedBy.size > 0 && { spawnedBy }),
    ...(unusedIds.size > 0 && { unusedIds }),
    ...(segment !== undefined && { segment }),
    ...(openWork.size > 0 && { openWork }),
    ...(named.digests.size > 0 && { processStarts: processStarts(db, sessionNumber) }),
    ...(coveredCalls.length > 0 && { coveredCalls }),
  };
}

// The settled work of runs that are still open. Only runs with thousands of calls have any, so these are few rows

/** The settled work of a session's open runs, by `runKeyOf`. */
const openWorkOf = (db: Database, sessionNumber: number): ReadonlyMap<string, SettledWork> =>
  new Map(
    db
      .prepare("SELECT run, body FROM open_work WHERE session = ?")
      .all(sessionNumber)
      .map((row) => [String(row["run"]), JSON.parse(String(row["body"])) as SettledWork]),
  );

/** Stores what is settled of an open run now, in place of what was stored before. */
export function putOpenWork(db: Database, sessionNumber: number, run: string, work: SettledWork): void {
  db.prepare(
    `INSERT INTO open_work (session, run, body) VALUES (?, ?, ?)
     ON CONFLICT (session, run) DO UPDATE SET body = excluded.body`,
  ).run(sessionNumber, run, JSON.stringify(work));
}

/** Changes the settled work of the open run that a settled model call belongs to; does nothing if that run has closed. */
export function changeOpenWork(
  db: Database,
  sessionNumber: number,
  { agentId, endMs }: ModelCall,
  change: (work: SettledWork) => SettledWork,
): void {
  for (const [run, work] of openWorkOf(db, sessionNumber)) {
    const isItsRun =
      agentId === undefined
        ? run.startsWith("turn:") && work.startMs <= endMs && endMs <= work.endMs
        : run.replace(/~\d+$/, "") === `subagent:${agentId}`;
    if (isItsRun) putOpenWork(db, sessionNumber, run, change(work));
  }
}

/** Removes the settled work of a run that has closed: it is in the run's own span now. */
export function removeOpenWork(db: Database, sessionNumber: number, run: string): void {
  db.prepare("DELETE FROM open_work WHERE session = ? AND run = ?").run(sessionNumber, run);
}

// Settled turns and subagents as rows. One that continues after it was settled stays one row, with more parts.

/** Stores a closed turn, or a further part of it. */
export function putTurn(db: Database, sessionNumber: number, turn: Turn): void {
  const row = {
    session: sessionNumber,
    key: baseKey(turn.key),
    segment: turn.segment,
    origin: turn.origin,
    state: turn.state,
    start_ms: turn.startMs,
    end_ms: turn.endMs,
    prompt_length: turn.promptLength,
    hook_seen: turn.hasHookPrompt,
    parts: partsUpTo(turn.key),
    span_key: turn.isLate ? undefined : (turn.exportedKey ?? turn.key),
    span_segment: turn.isLate ? undefined : turn.segment,
  };
  insertRow(
    db,
    "turns",
    row,
    `ON CONFLICT (session, key) DO UPDATE SET parts = parts + 1, end_ms = max(end_ms, excluded.end_ms),
       hook_seen = max(hook_seen, excluded.hook_seen), span_key = coalesce(excluded.span_key, span_key),
       span_segment = coalesce(excluded.span_segment, span_segment)`,
  );
}

/** Gives a settled turn, and the subagents that it started, another key. Its span keeps the old one. */
export function renameTurn(db: Database, sessionNumber: number, from: string, to: string): void {
  db.prepare("UPDATE turns SET key = ?, hook_seen = 1 WHERE session = ? AND key = ?").run(to, sessionNumber, from);
  db.prepare("UPDATE subagents SET turn_key = ? WHERE session = ? AND turn_key = ?").run(to, sessionNumber, from);
}

/** Stores a closed subagent, or a further part of it. */
export function putSubagent(db: Database, sessionNumber: number, subagent: Subagent): void {
  const row = {
    session: sessionNumber,
    agent_id: subagent.agentId,
    agent_type: subagent.agentType,
    segment: subagent.segment,
    turn_key: subagent.turnKey,
    parent_call_id: subagent.parentCallId,
    start_ms: subagent.startMs,
    end_ms: subagent.endMs,
    parts: partsUpTo(subagent.key),
    span_key: subagent.exportedKey ?? subagent.key,
    span_segment: subagent.segment,
  };
  insertRow(
    db,
    "subagents",
    row,
    `ON CONFLICT (session, agent_id) DO UPDATE SET parts = parts + 1, end_ms = max(end_ms, excluded.end_ms),
       span_key = excluded.span_key, span_segment = excluded.span_segment`,
  );
}

/** A row of `turns`, with `hook_alone`: the turn is known by a hook's event only. */
function toTurn(row: Row): SettledTurn {
  return defined<SettledTurn>({
    segment: Number(row["segment"]),
    state: String(row["state"]) as SettledTurn["state"],
    startMs: Number(row["start_ms"]),
    endMs: Number(row["end_ms"]),
    parts: Number(row["parts"]),
    hasHook: row["hook_seen"] !== 0,
    hookOnly: row["hook_alone"] === 1 ? true : undefined,
    promptLength: numberIn(row, "prompt_length"),
    span: spanOf(row),
  });
}

/** A row of `subagents`. */
function toSubagent(row: Row): SettledSubagent {
  return defined<SettledSubagent>({
    segment: Number(row["segment"]),
    parts: Number(row["parts"]),
    turnKey: textIn(row, "turn_key"),
    parentCallId: textIn(row, "parent_call_id"),
    agentType: textIn(row, "agent_type"),
    span: spanOf(row),
  });
}

// --- internal ---

/** Facts without a prompt id belong to the last turn that started before them. Enough for every agent's delay. */
const RECENT_TURNS = 50;

const TURNS =
  "SELECT *, EXISTS (SELECT 1 FROM events e WHERE e.id = turns.key) AS hook_alone FROM turns WHERE session = ?";

/** Background agents, such as teammates, can be reported long after the call that started them was settled. */
const SPAWNED = "SELECT call_id FROM tool_calls WHERE session = ? AND spawned_agent = ? LIMIT 1";

/** Limit of calls of one tool with one input: older ones are too far away in time. */
const LIKE_CALLS = 50;

/** Sorts after any text. */
const LAST = "\u{10ffff}";

/** Whether the token usage of single calls is known, not only sums. */
const KNOWN_CALLS =
  "SELECT 1 FROM model_calls WHERE session = ? AND input IS NOT NULL AND json_extract(body, '$.covers') IS NULL LIMIT 1";

const PROCESS_STARTS = `SELECT next.start_ms FROM segments killed
    JOIN segments next ON next.session = killed.session AND next.ordinal = killed.ordinal + 1
  WHERE killed.session = ? AND killed.native_reason IN (?, ?)`;

/** What facts refer to. */
interface Names {
  readonly promptKeys: ReadonlySet<string>;
  readonly callIds: ReadonlySet<string>;
  /** Digests of inputs. */
  readonly digests: ReadonlySet<string>;
  /** Call ids that several calls can share. */
  readonly givenIds: ReadonlySet<string>;
  readonly agentIds: ReadonlySet<string>;
}

function namesIn(events: readonly Event[], entries: readonly TranscriptEntry[]): Names {
  const promptKeys = new Set(["none"]);
  const callIds = new Set<string>();
  const digests = new Set<string>();
  const givenIds = new Set<string>();
  const agentIds = new Set<string>();
  for (const event of events) {
    const extras = extrasOf(event);
    add(promptKeys, extras.prompt_id);
    add(agentIds, extras.agent_id);
    add(agentIds, extras.spawned_agent_id);
    if (event.type !== "tool.start" && event.type !== "tool.end") continue;
    const givenId = givenIdOf(event);
    add(givenIds, givenId);
    if (givenId === undefined) add(callIds, event.data?.tool_call_id);
    if (event.data?.tool_call_id === undefined) add(digests, extras.input_digest);
  }
  for (const entry of entries) {
    add(promptKeys, entry.promptKey);
    add(agentIds, entry.agentId);
    if (entry.kind === "tool_use" || entry.kind === "tool_result") callIds.add(entry.callId);
    if (entry.kind === "tool_use") add(givenIds, entry.givenId);
    if (entry.kind === "tool_use" && entry.givenId === undefined) add(digests, entry.inputDigest);
    if (entry.kind === "subagent") add(givenIds, entry.parentGivenId);
    if (entry.kind === "subagent") add(callIds, entry.parentCallId);
  }
  return { promptKeys, callIds, digests, givenIds, agentIds };
}

const add = (set: Set<string>, value: string | undefined): void => {
  if (value !== undefined) set.add(value);
};

function settledTurns(
  db: Database,
  sessionNumber: number,
  promptKeys: ReadonlySet<string>,
): ReadonlyMap<string, SettledTurn> {
  const turns = new Map<string, SettledTurn>();
  for (const row of db.prepare(`${TURNS} ORDER BY start_ms DESC LIMIT ?`).all(sessionNumber, RECENT_TURNS))
    turns.set(String(row["key"]), toTurn(row));
  for (const key of promptKeys) {
    const row = db.prepare(`${TURNS} AND key = ?`).get(sessionNumber, key);
    if (row !== undefined) turns.set(key, toTurn(row));
  }
  return turns;
}

/** The settled model calls in the time of sums over removed calls. */
function settledIn(db: Database, sessionNumber: number, entries: readonly TranscriptEntry[]): readonly ModelCall[] {
  const sums = entries.filter((entry) => entry.kind === "model_call" && entry.covers === "removed");
  if (sums.length === 0) return [];
  const sinceMs = minOf(sums.map((sum) => (sum.kind === "model_call" ? (sum.startMs ?? sum.timeMs) : sum.timeMs)));
  return db
    .prepare("SELECT body FROM model_calls WHERE session = ? AND end_ms >= ?")
    .all(sessionNumber, sinceMs)
    .map((row) => JSON.parse(String(row["body"])) as ModelCall);
}

/** When processes started that followed one that was killed. */
const processStarts = (db: Database, sessionNumber: number): readonly number[] =>
  numbers(db, PROCESS_STARTS, sessionNumber, SUPERSEDED, ENDED_WITH_PROCESS.nativeReason);

/** `spawnedBy`: the settled call that started an agent, for agents that are not settled. */
function settledSubagents(db: Database, sessionNumber: number, agentIds: ReadonlySet<string>) {
  const subagents = new Map<string, SettledSubagent>();
  const spawnedBy = new Map<string, string>();
  for (const id of agentIds) {
    const row = db.prepare("SELECT * FROM subagents WHERE session = ? AND agent_id = ?").get(sessionNumber, id);
    if (row !== undefined) subagents.set(id, toSubagent(row));
    const call = row === undefined ? db.prepare(SPAWNED).get(sessionNumber, id) : undefined;
    if (call !== undefined) spawnedBy.set(id, String(call["call_id"]));
  }
  return { subagents, spawnedBy };
}

/** `unusedIds`: ids of settled entries that became no call. */
function settledCalls(db: Database, sessionNumber: number, { callIds, digests, givenIds }: Names) {
  const has = (sql: string, value: string): boolean => db.prepare(sql).get(sessionNumber, value) !== undefined;
  const settled = new Set(
    [...callIds].filter((id) => has("SELECT 1 FROM tool_calls WHERE session = ? AND call_id = ?", id)),
  );
  const unusedIds = new Set(
    [...callIds].filter(
      (id) =>
        !settled.has(id) && has("SELECT 1 FROM entries WHERE session = ? AND key = ? AND settled = 1", `use:${id}`),
    ),
  );
  for (const id of unusedIds) settled.add(id);
  const callsLike = (sql: string, ...values: readonly string[]): readonly SettledCall[] =>
    db
      .prepare(`SELECT body FROM tool_calls WHERE session = ? AND ${sql} ORDER BY start_ms DESC LIMIT ?`)
      .all(sessionNumber, ...values, LIKE_CALLS)
      .map((row) => JSON.parse(String(row["body"])) as SettledCall);
  const calls = [
    ...[...digests, ...givenIds].flatMap((id) => callsLike("input_digest = ?", id)),
    // A call that only a transcript without given ids has reported, such as one of Amp, has it as its call id
    ...[...givenIds].flatMap((givenId) =>
      callsLike(
        "(call_id = ? OR call_id BETWEEN ? AND ?) AND input_digest IS NULL",
        givenId,
        repeatedCallId(givenId, ""),
        repeatedCallId(givenId, LAST),
      ).map((call) => ({ ...call, givenId, ...(call.status === "unfinished" && { hooks: "start" as const }) })),
    ),
  ];
  for (const { callId } of calls) settled.add(callId);
  return { callIds: settled, unusedIds, calls };
}

/** Late parts of a turn that was pruned name no span: the turn's own had its key. */
const spanOf = (row: Row): ExportedSpan =>
  row["span_key"] === null
    ? { key: String(row["key"]), segment: Number(row["segment"]) }
    : { key: String(row["span_key"]), segment: Number(row["span_segment"]) };

/** A further part has the key `<key>~<n>`; prompt ids contain no tilde. */
const baseKey = (key: string): string => key.replace(/~\d+$/, "");

/** Number of parts up to this one. If earlier parts were pruned, the first one stored is a later part. */
const partsUpTo = (key: string): number => Number(/~(\d+)$/.exec(key)?.[1] ?? "0") + 1;
