import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import reader from "#agents/opencode/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";

/** The tables of OpenCode 1.18.33, with the columns that the reader uses. */
const SCHEMA = `
  CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL);
  CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
  CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
  CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
  CREATE INDEX part_message_id_id_idx ON part (message_id, id);
  CREATE INDEX part_session_idx ON part (session_id);`;

type Data = Readonly<Record<string, unknown>>;

/** A home with a database open for writing, as OpenCode has it. */
export class Made {
  readonly home: string;
  readonly path: string;
  readonly db: Libsql.Database;
  #counter = 0;

  constructor(home = mkdtempSync(join(tmpdir(), "openhook-opencode-"))) {
    this.home = home;
    this.path = join(home, ".local", "share", "opencode", "opencode.db");
    mkdirSync(dirname(this.path), { recursive: true });
    this.db = new Libsql(this.path, {});
    this.db.exec("PRAGMA synchronous = OFF");
    this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}`);
  }

  /** An id in OpenCode's form. */
  id(prefix: string, ms: number): string {
    const stamp = (BigInt(ms) * 4096n + BigInt(++this.#counter % 4096)) & 0xffffffffffffn;
    return `${prefix}_${stamp.toString(16).padStart(12, "0")}AcmeShopAcmeSh`;
  }

  session(id: string, createdMs: number, parentId: string | null = null): string {
    this.db
      .prepare("INSERT INTO session VALUES (?, 'p', ?, 'slug', '/home/dev/acme-shop', 'title', '1.18.33', ?, ?)")
      .run(id, parentId, createdMs, createdMs);
    return id;
  }

  /** Inserts or replaces a message. */
  message(sessionId: string, createdMs: number, data: Data, id = this.id("msg", createdMs)): string {
    const time = { created: createdMs, ...(data["time"] as object | undefined) };
    this.db
      .prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data")
      .run(id, sessionId, createdMs, createdMs, JSON.stringify({ agent: "build", ...data, time }));
    return id;
  }

  part(sessionId: string, messageId: string, ms: number, data: Data, id = this.id("prt", ms)): string {
    this.db
      .prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data")
      .run(id, messageId, sessionId, ms, ms, JSON.stringify(data));
    return id;
  }

  /** Adds a user's prompt, with `part` instead of its text part if given. */
  prompt(sessionId: string, ms: number, part: Data = { type: "text", text: "Sell apples" }): string {
    const id = this.message(sessionId, ms, { role: "user" });
    this.part(sessionId, id, ms + 5, part);
    return id;
  }

  /** Adds an answer that is complete 100 ms later. */
  answer(sessionId: string, parentID: string, ms: number, data: Data = {}): string {
    const id = this.message(sessionId, ms, {
      role: "assistant",
      parentID,
      modelID: "acme-coder-1",
      providerID: "acme",
      finish: "stop",
      tokens: { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } },
      time: { completed: ms + 100 },
      ...data,
    });
    this.part(sessionId, id, ms + 1, { type: "step-start" });
    return id;
  }

  tool(sessionId: string, messageId: string, ms: number, callID: string, state: Data = {}, tool = "bash"): string {
    const time = { start: ms, end: ms + 20 };
    return this.part(sessionId, messageId, ms, {
      type: "tool",
      tool,
      callID,
      state: { status: "completed", input: {}, metadata: {}, time, ...state },
    });
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

/** Merged as in the store: one entry per key. */
export function merged(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}

export const ofKind = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K) =>
  entries.filter((entry): entry is Extract<TranscriptEntry, { kind: K }> => entry.kind === kind);
