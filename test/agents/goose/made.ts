import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import reader from "#agents/goose/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";

/** The tables of schema version 16, with the columns that the reader uses. */
const SCHEMA = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', session_type TEXT NOT NULL DEFAULT 'user',
    working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, provider_name TEXT,
    accumulated_input_tokens INTEGER, parent_session_id TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    tokens INTEGER, metadata_json TEXT);
  CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    model TEXT, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL,
    is_compaction INTEGER DEFAULT 0);`;

type Data = Readonly<Record<string, unknown>>;
type Tokens = readonly [input: number | null, output: number | null, cacheRead?: number];

export const text = (value: string) => ({ type: "text", text: value });
export const request = (id: string, name = "shell", args: Data = { command: "ls" }) => ({
  type: "toolRequest",
  id,
  toolCall: { status: "success", value: { name, arguments: args } },
});
export const response = (id: string, value: Data = { isError: false }) => ({
  type: "toolResponse",
  id,
  toolResult: { status: "success", value: { content: [text("x")], ...value } },
});
export const refused = (id: string, error: string) => ({
  type: "toolResponse",
  id,
  toolResult: { status: "error", error },
});

const timeOf = (s: number): string => new Date(s * 1000).toISOString().slice(0, 19).replace("T", " ");

/** A home with a database open for writing, as Goose has it. */
export class Made {
  readonly home: string;
  readonly path: string;
  readonly db: Libsql.Database;
  #contexts = 0;

  constructor(home = mkdtempSync(join(tmpdir(), "openhook-goose-"))) {
    this.home = home;
    this.path = join(home, ".local", "share", "goose", "sessions", "sessions.db");
    mkdirSync(dirname(this.path), { recursive: true });
    this.db = new Libsql(this.path, {});
    this.db.exec("PRAGMA synchronous = OFF");
    this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}`);
  }

  session(id: string, s: number, parentId: string | null = null): string {
    this.db
      .prepare(
        "INSERT INTO sessions (id, working_dir, created_at, provider_name, parent_session_id) VALUES (?, '/home/dev/acme-shop', ?, 'acme', ?)",
      )
      .run(id, timeOf(s), parentId);
    return id;
  }

  message(
    sessionId: string,
    id: string | null,
    role: string,
    s: number,
    parts: readonly Data[],
    metadata: Data = {},
    writtenS = s,
  ) {
    this.db
      .prepare(
        `INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        sessionId,
        role,
        JSON.stringify(parts),
        s,
        timeOf(writtenS),
        JSON.stringify({ userVisible: true, ...metadata }),
      );
  }

  prompt(sessionId: string, id: string, s: number, value = "Sell apples"): void {
    this.message(sessionId, id, "user", s, [text(value)]);
    this.message(sessionId, `msg_00000000-0000-4000-8000-${++this.#contexts}`, "user", s, [text("<turn-context>")], {
      userVisible: false,
      turnContext: true,
    });
  }

  /** Adds an answer, with its row in the ledger unless `rows` says otherwise. */
  answer(
    sessionId: string,
    id: string,
    s: number,
    parts: readonly Data[],
    tokens: Tokens,
    rows: readonly Tokens[] = [tokens],
  ) {
    const [inputTokens, outputTokens, cacheReadTokens] = tokens;
    const usage = { inputTokens: inputTokens ?? undefined, outputTokens: outputTokens ?? undefined, cacheReadTokens };
    const inference = { provider: "acme", requestedModel: "acme-coder-1" };
    this.message(sessionId, id, "assistant", s, parts, { usage: { ...usage, elapsedMs: 40 }, inference });
    for (const row of rows) this.ledger(sessionId, s, row);
  }

  ledger(
    sessionId: string,
    s: number,
    [input, output, cacheRead = null]: readonly [number | null, number | null, (number | null)?],
    isCompaction = false,
  ) {
    this.db
      .prepare(
        `INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, cache_read_tokens, is_compaction)
          VALUES (?, ?, 'acme-coder-1', ?, ?, ?, ?)`,
      )
      .run(sessionId, s, input, output, cacheRead, isCompaction ? 1 : 0);
  }

  remove(): void {
    this.db.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** All entries of a session and its subagents, in order. */
export async function readAll(query: { readonly home: string; readonly sessionId: string }) {
  const entries: TranscriptEntry[] = [];
  let unreadable = 0;
  for (const file of await reader.files(query)) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) {
      entries.push(...batch.entries);
      unreadable += batch.unreadable;
    }
  }
  return { entries, unreadable };
}

export const ofKind = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K) =>
  entries.filter((entry): entry is Extract<TranscriptEntry, { kind: K }> => entry.kind === kind);
