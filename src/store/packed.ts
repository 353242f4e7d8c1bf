import { factsOf } from "../model/fact-tables.ts";
import { digestOf, type Packed } from "../model/packed.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

// Sessions that were imported and are over. As rows they would take a hundred times as long to write, for nobody: who looks
// at history asks for sums, and then for one session. What is asked of one is told from its facts, by the same functions
// that build every other; and as soon as anything new is told of it, it becomes rows like any other.

/** Whether there is any: without it nothing need be looked up. */
export const hasPacked = (db: Database): boolean => db.prepare("SELECT 1 FROM packed LIMIT 1").get() !== undefined;

export const isPacked = (db: Database, session: number): boolean =>
  db.prepare("SELECT 1 FROM packed WHERE session = ?").get(session) !== undefined;

/** The facts of a packed session; `undefined` for any other. */
export function packedFacts(db: Database, session: number): readonly TranscriptEntry[] | undefined {
  const body = packedBody(db, session);
  return body === undefined ? undefined : factsOf(body);
}

/** The same, as they are kept. */
export function packedBody(db: Database, session: number): Packed["facts"] | undefined {
  const body = db.prepare("SELECT body FROM packed WHERE session = ?").get(session)?.["body"];
  if (body === undefined) return undefined;
  return body instanceof ArrayBuffer || body instanceof Uint8Array ? bytesOf(body) : String(body);
}

/** Writes sessions that the store knows and has nothing of. Call it inside a transaction. */
export function putPacked(db: Database, sessions: readonly { readonly id: number; readonly packed: Packed }[]): void {
  if (sessions.length === 0) return;
  const insert = db.prepare("INSERT INTO packed (session, body) VALUES (?, ?)");
  const segment = db.prepare(
    `INSERT INTO segments (session, ordinal, start_ms, end_ms, reason, native_reason, start_origin, last_activity_ms,
       totals, delivered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
  );
  for (const { id, packed } of sessions) {
    insert.run(id, packed.facts);
    keysKnown.get(db)?.delete(id);
    for (const { segment: s, totals } of packed.segments) {
      segment.run(
        id,
        s.ordinal,
        s.startMs,
        s.endMs ?? null,
        s.reason ?? null,
        s.nativeReason ?? null,
        s.startOrigin ?? null,
        s.lastActivityMs,
        totals,
      );
    }
  }
  putRows(
    db,
    "packed_usage",
    17,
    sessions.flatMap(({ id, packed }) => packed.usage.map((row) => [id, ...row])),
  );
  putRows(
    db,
    "packed_tools",
    9,
    sessions.flatMap(({ id, packed }) => packed.tools.map((row) => [id, ...row])),
  );
  putRows(
    db,
    "packed_turns",
    5,
    sessions.flatMap(({ id, packed }) => packed.turns.map((row) => [id, ...row])),
  );
  putOwned(db, sessions);
}

/** Takes a session's facts out, with all that was made of them; its number and how far its files were read stay. */
export function takePacked(db: Database, session: number): readonly TranscriptEntry[] {
  const facts = packedFacts(db, session) ?? [];
  keysKnown.get(db)?.delete(session);
  for (const table of ["packed_usage", "packed_tools", "packed_turns", "packed", "segments"]) {
    db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(session);
  }
  return facts;
}

/** Numbers of the packed sessions that own a record. */
export function packedOwners(db: Database, source: string, globalKey: string): readonly number[] {
  for (const [session, keys] of keysKnown.get(db) ?? []) {
    // A record has one owner, and whoever copied one of a session copied hundreds
    if (keys.has(globalKey) && sourceOf(db, session) === source && isPacked(db, session)) return [session];
  }
  const digest = digestOf(source, globalKey);
  const candidates = new Set<number>();
  for (const run of runNumbers(db)) {
    const row = db
      .prepare("SELECT digests FROM packed_owners WHERE run = ? AND first <= ? ORDER BY first DESC LIMIT 1")
      .get(run, digest);
    for (const { session } of ownersIn(row?.["digests"], digest)) candidates.add(session);
  }
  return [...candidates].filter((session) => {
    return sourceOf(db, session) === source && isPacked(db, session) && keysOf(db, session).has(globalKey);
  });
}

/** Every digest that packed sessions have, for imports: what is not among them nobody owns. */
export function* ownedDigests(db: Database): Generator<Float64Array> {
  const some = db.prepare(
    "SELECT run, first, digests FROM packed_owners WHERE (run, first) > (?, ?) ORDER BY run, first LIMIT 100",
  );
  for (let last: readonly [number, number] = [-1, -1]; ; ) {
    const rows = some.all(...last);
    for (const row of rows) yield Float64Array.from(decoded(row["digests"]), ({ digest }) => digest);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = [Number(end["run"]), Number(end["first"])];
  }
}

/** Sums that stand beside packed sessions, or what they own, were lost with a page of the store. */
export const markTorn = (db: Database): void => writeMeta(db, TORN, "1");

/** Packed sessions whose sums have to be made anew from their facts; none in a sound store. */
export const tornSessions = (db: Database): readonly number[] =>
  readMeta(db, TORN) === undefined
    ? []
    : db
        .prepare("SELECT session FROM packed ORDER BY session")
        .all()
        .map((row) => Number(row["session"]));

/** The sums are made anew. */
export function markWhole(db: Database): void {
  db.prepare("DELETE FROM meta WHERE key = ?").run(TORN);
}

/** Makes one run of many, where there are so many that looking something up takes its time. */
export function mergeRuns(db: Database): void {
  if (runNumbers(db).length <= MAX_RUNS) return;
  // The small ones: a large one is written once, however often something is added
  let rows = 0;
  const small = runsOf(db)
    .sort((a, b) => a.rows - b.rows)
    .filter((one) => {
      rows += one.rows;
      return rows <= MAX_MERGED_ROWS;
    })
    .map(({ run }) => run);
  if (small.length < 2) return;
  db.transaction(() => {
    const packed = new Set(
      db
        .prepare("SELECT session FROM packed")
        .all()
        .map((row) => Number(row["session"])),
    );
    const of = db.prepare("SELECT digests FROM packed_owners WHERE run = ?");
    const all = small
      .flatMap((run) => of.all(run))
      .flatMap((row) => [...decoded(row["digests"])])
      .filter(({ session }) => packed.has(session));
    for (const run of small) db.prepare("DELETE FROM packed_owners WHERE run = ?").run(run);
    putRun(db, all);
  });
}

// --- internal ---

const TORN = "packed.torn";
const MAX_RUNS = 12;
const MAX_MERGED_ROWS = 500;
/** Of a row: enough that there are few rows, few enough that one is read at once. */
const DIGESTS_PER_ROW = 2_048;
/** Six of the digest, four of the session's number. */
const BYTES_PER_DIGEST = 10;

/** Of sessions that were asked for last. */
const keysKnown = new WeakMap<Database, Map<number, ReadonlySet<string>>>();
const MAX_KEYS_KNOWN = 8;

function keysOf(db: Database, session: number): ReadonlySet<string> {
  const known = keysKnown.get(db) ?? new Map<number, ReadonlySet<string>>();
  keysKnown.set(db, known);
  const keys =
    known.get(session) ?? new Set((packedFacts(db, session) ?? []).flatMap(({ globalKey }) => globalKey ?? []));
  // The one that was asked for last goes last
  known.delete(session);
  known.set(session, keys);
  for (const [oldest] of known) {
    if (known.size <= MAX_KEYS_KNOWN) break;
    known.delete(oldest);
  }
  return keys;
}

interface Owned {
  readonly digest: number;
  readonly session: number;
}

function putRows(db: Database, table: string, columns: number, rows: readonly (readonly unknown[])[]): void {
  if (rows.length === 0) return;
  const values = Array.from({ length: columns + 1 }, (_, i) => `json_extract(value, '$[${i}]')`).join(", ");
  db.prepare(`INSERT INTO ${table} SELECT ${values} FROM json_each(?)`).run(JSON.stringify(rows));
}

function putOwned(db: Database, sessions: readonly { readonly id: number; readonly packed: Packed }[]): void {
  putRun(
    db,
    sessions.flatMap(({ id, packed }) => Array.from(packed.owned, (digest) => ({ digest, session: id }))),
  );
}

function putRun(db: Database, all: Owned[]): void {
  if (all.length === 0) return;
  all.sort((a, b) => a.digest - b.digest || a.session - b.session);
  const run = Math.max(0, ...runNumbers(db).map((one) => one + 1));
  const insert = db.prepare("INSERT INTO packed_owners (run, first, digests) VALUES (?, ?, ?)");
  for (let from = 0; from < all.length; ) {
    let to = Math.min(all.length, from + DIGESTS_PER_ROW);
    // The same one twice stays together: a row is found by its first
    while (to < all.length && all[to]?.digest === all[to - 1]?.digest) to++;
    const part = all.slice(from, to);
    insert.run(run, part[0]?.digest ?? 0, encoded(part));
    from = to;
  }
}

/** Looks up one row of each, however many there are. */
const runNumbers = (db: Database): readonly number[] =>
  db
    .prepare(
      `WITH RECURSIVE runs (run) AS (SELECT min(run) FROM packed_owners
         UNION ALL SELECT (SELECT min(run) FROM packed_owners o WHERE o.run > runs.run) FROM runs WHERE run IS NOT NULL)
       SELECT run FROM runs WHERE run IS NOT NULL`,
    )
    .all()
    .map((row) => Number(row["run"]));

const runsOf = (db: Database): { readonly run: number; readonly rows: number }[] =>
  db
    .prepare("SELECT run, count(*) AS n FROM packed_owners GROUP BY run")
    .all()
    .map((row) => ({ run: Number(row["run"]), rows: Number(row["n"]) }));

const sourceOf = (db: Database, session: number): string | undefined => {
  const source = db.prepare("SELECT source FROM sessions WHERE id = ?").get(session)?.["source"];
  return typeof source === "string" ? source : undefined;
};

function encoded(all: readonly Owned[]): Uint8Array {
  const bytes = Buffer.alloc(all.length * BYTES_PER_DIGEST);
  for (const [i, { digest, session }] of all.entries()) {
    bytes.writeUIntBE(digest, i * BYTES_PER_DIGEST, 6);
    bytes.writeUInt32BE(session, i * BYTES_PER_DIGEST + 6);
  }
  return bytes;
}

function* decoded(value: unknown): Generator<Owned> {
  const bytes = bytesOf(value);
  for (let at = 0; at + BYTES_PER_DIGEST <= bytes.length; at += BYTES_PER_DIGEST) yield ownedAt(bytes, at);
}

function* ownersIn(value: unknown, digest: number): Generator<Owned> {
  const bytes = bytesOf(value);
  let [low, high] = [0, Math.floor(bytes.length / BYTES_PER_DIGEST)];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytes.readUIntBE(middle * BYTES_PER_DIGEST, 6) < digest) low = middle + 1;
    else high = middle;
  }
  for (let at = low * BYTES_PER_DIGEST; at + BYTES_PER_DIGEST <= bytes.length; at += BYTES_PER_DIGEST) {
    const owned = ownedAt(bytes, at);
    if (owned.digest !== digest) return;
    yield owned;
  }
}

const ownedAt = (bytes: Buffer, at: number): Owned => ({
  digest: bytes.readUIntBE(at, 6),
  session: bytes.readUInt32BE(at + 6),
});

const bytesOf = (value: unknown): Buffer =>
  value instanceof ArrayBuffer
    ? Buffer.from(value)
    : value instanceof Uint8Array
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : Buffer.alloc(0);
