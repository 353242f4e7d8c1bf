import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import reader from "#agents/crush/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";

/** The tables of Crush 0.90.0. */
const SCHEMA = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
  CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
    parts TEXT NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL);
  CREATE TRIGGER update_messages_updated_at AFTER UPDATE ON messages BEGIN
    UPDATE messages SET updated_at = strftime('%s', 'now') WHERE id = new.id; END;`;

type Data = Readonly<Record<string, unknown>>;

export const text = (value: string, more: Data = {}) => ({ type: "text", data: { text: value, ...more } });
export const call = (id: string, name: string, input: Data) => ({
  type: "tool_call",
  data: { id, name, input: JSON.stringify(input), provider_executed: false, finished: true },
});
export const result = (id: string, content: string, more: Data = {}) => ({
  type: "tool_result",
  data: { tool_call_id: id, name: "bash", content, metadata: "{}", is_error: false, ...more },
});
export const finish = (reason: string, s: number, more: Data = {}) => ({
  type: "finish",
  data: { reason, time: s, ...more },
});

/** A home with a project's database open for writing, as Crush has it. */
export class Made {
  readonly home: string;
  readonly project: string;
  readonly path: string;
  readonly db: Libsql.Database;

  constructor(home = mkdtempSync(join(tmpdir(), "openhook-crush-")), data = join("acme-shop", ".crush")) {
    this.home = home;
    this.path = join(home, data, "crush.db");
    this.project = dirname(dirname(this.path));
    mkdirSync(dirname(this.path), { recursive: true });
    this.db = new Libsql(this.path, {});
    this.db.exec("PRAGMA synchronous = OFF");
    this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}`);
  }

  session(id: string, s: number, parentId: string | null = null): string {
    this.db
      .prepare("INSERT INTO sessions (id, parent_session_id, title, updated_at, created_at) VALUES (?, ?, '', ?, ?)")
      .run(id, parentId, s, s);
    return id;
  }

  /** Inserts or replaces a message. */
  message(sessionId: string, id: string, role: string, s: number, parts: readonly Data[], isSummary = false): string {
    this.db
      .prepare(
        `INSERT INTO messages (id, session_id, role, parts, model, provider, created_at, updated_at, is_summary_message)
          VALUES (?, ?, ?, ?, 'acme-coder-1', 'acme', ?, ?, ?) ON CONFLICT (id) DO UPDATE SET parts = excluded.parts`,
      )
      .run(id, sessionId, role, JSON.stringify(parts), s, s, isSummary ? 1 : 0);
    return id;
  }

  prompt(sessionId: string, id: string, s: number, value = "Sell apples"): string {
    return this.message(sessionId, id, "user", s, [text(value), finish("stop", 0)]);
  }

  remove(): void {
    this.db.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Reads a session and its subagents: entries in order, and the offset of each part. */
export async function readAll(
  query: { readonly home: string; readonly sessionId: string; readonly path?: string },
  from: ReadonlyMap<string, Offset> = new Map(),
) {
  const entries: TranscriptEntry[] = [];
  const offsets = new Map<string, Offset>();
  let unreadable = 0;
  for (const file of await reader.files(query)) {
    const key = file.key ?? file.path;
    for await (const batch of reader.read(file, from.get(key) ?? INITIAL_OFFSET)) {
      entries.push(...batch.entries);
      unreadable += batch.unreadable;
      // The memo is stored as JSON between two drains
      offsets.set(key, JSON.parse(JSON.stringify(batch.next)) as Offset);
    }
  }
  return { entries, offsets, unreadable };
}

export const ofKind = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K) =>
  entries.filter((entry): entry is Extract<TranscriptEntry, { kind: K }> => entry.kind === kind);
