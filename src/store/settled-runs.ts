import type { ExportedSpan, SettledSubagent, SettledTurn, Subagent, Turn } from "#core/model/session.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row } from "./database.ts";
import { insertRow, numberIn, textIn } from "./rows.ts";

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
export function toTurn(row: Row): SettledTurn {
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
export function toSubagent(row: Row): SettledSubagent {
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

/** Late parts of a turn that was pruned name no span: the turn's own had its key. */
const spanOf = (row: Row): ExportedSpan =>
  row["span_key"] === null
    ? { key: String(row["key"]), segment: Number(row["segment"]) }
    : { key: String(row["span_key"]), segment: Number(row["span_segment"]) };

/** A further part has the key `<key>~<n>`; prompt ids contain no tilde. */
const baseKey = (key: string): string => key.replace(/~\d+$/, "");

/** Number of parts up to this one. If earlier parts were pruned, the first one stored is a later part. */
const partsUpTo = (key: string): number => Number(/~(\d+)$/.exec(key)?.[1] ?? "0") + 1;
