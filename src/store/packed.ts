import type { Packed } from "#core/model/packed.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedFacts } from "#core/packed/fact-columns.ts";
import { commonKey } from "#core/rules/keys.ts";
import { digestOf } from "#kit/digest.ts";
import { putPackedChanges } from "./changes.ts";
import type { Database, Row, Value } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { insertRows, numbers, rowOf } from "./rows.ts";
import { putSums } from "./sum-rows.ts";

// Imported sessions that are over and were not exported. As rows they would take a hundred times as long to write, and of most
// only the sums are read. A single session is built from its facts by the same functions as any other, and becomes rows as soon as
// something new is reported for it.

/** Whether there is any packed session. Without one, no lookup is needed. */
export const hasPacked = (db: Database): boolean => db.prepare("SELECT 1 FROM packed LIMIT 1").get() !== undefined;

export const isPacked = (db: Database, session: number): boolean =>
  db.prepare("SELECT 1 FROM packed WHERE session = ?").get(session) !== undefined;

/** The facts of a packed session; `undefined` for any other session. */
export function packedFacts(db: Database, session: number): readonly TranscriptEntry[] | undefined {
  const body = packedBody(db, session);
  return body === undefined ? undefined : decodePackedFacts(body);
}

/** The facts of a packed session in their stored form; `undefined` for any other session. */
export function packedBody(db: Database, session: number): Packed["facts"] | undefined {
  const body = db.prepare("SELECT body FROM packed WHERE session = ?").get(session)?.["body"];
  if (body === undefined) return undefined;
  return body instanceof Uint8Array ? bytesOf(body) : String(body);
}

/** A session to be written. */
export interface PackedSession {
  readonly id: number;
  readonly packed: Packed;
  /** Version of this program that read its files; `undefined`: not known. */
  readonly readBy: string | undefined;
}

/** Writes sessions of which the store has no facts yet. Call it inside a transaction. */
export function putPacked(db: Database, sessions: readonly PackedSession[]): void {
  if (sessions.length === 0) return;
  const bodies: Value[] = [];
  const segments: Value[] = [];
  for (const { id, packed, readBy } of sessions) {
    bodies.push(id, packed.facts, readBy ?? null);
    keysKnown.get(db)?.delete(id);
    for (const { segment: s, totals } of packed.segments) {
      const reason = [s.reason ?? null, s.nativeReason ?? null, s.startOrigin ?? null];
      segments.push(id, s.ordinal, s.startMs, s.endMs ?? null, ...reason, s.lastActivityMs, totals);
    }
  }
  insertRows(db, "INSERT INTO packed (session, body, read_by) VALUES", rowOf(3), bodies);
  insertRows(db, PUT_SEGMENTS, "(?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", segments);
  putSums(db, sessions);
  putPackedChanges(db, sessions);
  putOwned(db, sessions);
}

/**
 * Removes a packed session's facts and everything derived from them. The session's number and its read positions stay.
 *
 * @returns its facts; empty for any other session, which is not changed
 */
export function takePacked(db: Database, session: number): readonly TranscriptEntry[] {
  const facts = packedFacts(db, session);
  if (facts === undefined) return [];
  keysKnown.get(db)?.delete(session);
  for (const table of ["packed_usage", "packed_tools", "packed_turns", "packed", "segments"]) {
    db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(session);
  }
  return facts;
}

/** Numbers of the packed sessions that own a record. */
export function packedOwners(db: Database, source: string, globalKey: string): readonly number[] {
  for (const [session, keys] of keysKnown.get(db) ?? []) {
    // A session can copy hundreds of records from another one, so keep the keys of the sessions read last
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

/** Every digest of packed sessions, for imports: a digest that is not among them has no owner. */
export function* ownedDigests(db: Database): Generator<Float64Array> {
  const some = db.prepare(
    "SELECT run, first, digests FROM packed_owners WHERE (run, first) > (?, ?) ORDER BY run, first LIMIT 100",
  );
  for (let last: readonly [number, number] = [-1, -1]; ; ) {
    const rows = some.all(...last);
    for (const row of rows) yield digestsIn(bytesOf(row["digests"]));
    const end = rows.at(-1);
    if (end === undefined) return;
    last = [Number(end["run"]), Number(end["first"])];
  }
}

/** Notes that sums or owned records beside packed sessions were lost with a page of the store. */
export const markTorn = (db: Database): void => writeMeta(db, TORN, "1");

/** Packed sessions whose sums have to be computed again from their facts; empty in an intact store. */
export const tornSessions = (db: Database): readonly number[] =>
  readMeta(db, TORN) === undefined ? [] : numbers(db, "SELECT session FROM packed ORDER BY session");

/** Notes that the sums were computed again. */
export function markWhole(db: Database): void {
  db.prepare("DELETE FROM meta WHERE key = ?").run(TORN);
}

/** Numbers of all packed sessions. */
export const packedNumbers = (db: Database): ReadonlySet<number> =>
  numbersOf(db.prepare("SELECT session FROM packed").all());

/** Numbers of the packed sessions that another version of this program read: it may have read less than this one does. */
export const readByOthers = (db: Database, version: string): ReadonlySet<number> =>
  numbersOf(db.prepare("SELECT session FROM packed WHERE read_by IS NOT ?").all(version));

/** The version that read a packed session; `undefined` if that is not known, or the session is not packed. */
export function readerOf(db: Database, session: number): string | undefined {
  const version = db.prepare("SELECT read_by FROM packed WHERE session = ?").get(session)?.["read_by"];
  return typeof version === "string" ? version : undefined;
}

/** Merges small runs of digests, because a lookup searches every run. */
export function mergeRuns(db: Database): void {
  for (let before = runNumbers(db).length; before > MAX_RUNS; ) {
    mergeSmall(db);
    const { length } = runNumbers(db);
    if (length >= before) return;
    before = length;
  }
}

// --- internal ---

const numbersOf = (rows: readonly Row[]): ReadonlySet<number> => new Set(rows.map((row) => Number(row["session"])));

const TORN = "packed.torn";
const PUT_SEGMENTS = `INSERT INTO segments (session, ordinal, start_ms, end_ms, reason, native_reason, start_origin,
  last_activity_ms, totals, delivered) VALUES`;
const MAX_RUNS = 24;
/** Size of a run that is not merged any more: a million digests. */
const MAX_MERGED_BYTES = 10_000_000;
/** Few rows, each small enough to read completely. */
const DIGESTS_PER_ROW = 2_048;
/** Six for the digest, four for the session's number. */
const BYTES_PER_DIGEST = 10;

/** Merges the small runs into one; a large run is written once, however often something is added. */
function mergeSmall(db: Database): void {
  let bytes = 0;
  const small = runsOf(db)
    .sort((a, b) => a.bytes - b.bytes)
    .filter((one) => {
      bytes += one.bytes;
      return bytes <= MAX_MERGED_BYTES;
    })
    .map(({ run }) => run);
  const packed = numbers(db, "SELECT session FROM packed");
  if (small.length <= Math.max(1, Math.ceil(packed.length / MAX_SESSIONS))) return;
  db.transaction(() => {
    const of = db.prepare("SELECT digests FROM packed_owners WHERE run = ?");
    const merged: OwnedList[] = [];
    for (let from = 0; from < packed.length; from += MAX_SESSIONS) {
      const some = new Set(packed.slice(from, from + MAX_SESSIONS));
      const list = new OwnedList();
      for (const run of small) for (const row of of.all(run)) list.addEncoded(bytesOf(row["digests"]), some);
      merged.push(list);
    }
    for (const run of small) db.prepare("DELETE FROM packed_owners WHERE run = ?").run(run);
    for (const list of merged) putRun(db, list);
  });
}

/** Keys of the sessions that were looked up last. */
const keysKnown = new WeakMap<Database, Map<number, ReadonlySet<string>>>();
const MAX_KEYS_KNOWN = 8;

function keysOf(db: Database, session: number): ReadonlySet<string> {
  const known = keysKnown.get(db) ?? new Map<number, ReadonlySet<string>>();
  keysKnown.set(db, known);
  const keys = known.get(session) ?? new Set((packedFacts(db, session) ?? []).flatMap(keysIn));
  // Move the session that was looked up last to the end
  known.delete(session);
  known.set(session, keys);
  for (const [oldest] of known) {
    if (known.size <= MAX_KEYS_KNOWN) break;
    known.delete(oldest);
  }
  return keys;
}

/** An answer without a request is found under the key that all its records have in common. */
function keysIn({ globalKey }: TranscriptEntry): readonly string[] {
  if (globalKey === undefined) return [];
  const common = commonKey(globalKey);
  return common === undefined ? [globalKey] : [globalKey, common];
}

interface Owned {
  readonly digest: number;
  readonly session: number;
}

function putOwned(db: Database, sessions: readonly PackedSession[]): void {
  let all = new OwnedList();
  for (const { id, packed } of sessions) {
    if (all.isFull) {
      putRun(db, all);
      all = new OwnedList();
    }
    for (let i = 0; i < packed.owned.length; i++) all.add(packed.owned[i] ?? 0, id);
  }
  putRun(db, all);
}

/** Sessions in one list: their places have 16 bits. */
const MAX_SESSIONS = 0x1_0000;

/** Digests with their sessions, sorted as numbers of 64 bits: the digest above the session's place. */
class OwnedList {
  #numbers = new BigUint64Array(1024);
  #halves = new Uint32Array(this.#numbers.buffer);
  length = 0;
  readonly #sessions: number[] = [];
  readonly #places = new Map<number, number>();
  #last = { session: -1, place: -1 };

  /** Whether it has no place for another session. */
  get isFull(): boolean {
    return this.#sessions.length >= MAX_SESSIONS;
  }

  add(digest: number, session: number): void {
    const high = Math.floor(digest / 0x1_0000);
    this.#put(high, digest - high * 0x1_0000, session);
  }

  /** Adds the digests of a row that belong to these sessions. Reads bytes, because there are millions of digests and an object for each would be slow. */
  addEncoded(bytes: Uint8Array, sessions: ReadonlySet<number>): void {
    const uint16 = (at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    for (let at = 0; at + BYTES_PER_DIGEST <= bytes.length; at += BYTES_PER_DIGEST) {
      const session = uint16(at + 6) * 0x1_0000 + uint16(at + 8);
      if (sessions.has(session)) this.#put(uint16(at) * 0x1_0000 + uint16(at + 2), uint16(at + 4), session);
    }
  }

  sort(): void {
    this.#numbers.subarray(0, this.length).sort();
  }

  digest(i: number): number {
    return (this.#halves[2 * i + HIGH] ?? 0) * 0x1_0000 + ((this.#halves[2 * i + LOW] ?? 0) >>> 16);
  }

  /** Encodes digests as rows of `packed_owners` store them: six bytes of the digest, four of the session's number. */
  encoded(from: number, to: number): Uint8Array {
    const bytes = new Uint8Array((to - from) * BYTES_PER_DIGEST);
    let at = 0;
    const uint16 = (value: number): void => {
      bytes[at++] = value >>> 8;
      bytes[at++] = value;
    };
    for (let i = from; i < to; i++) {
      const [low = 0, high = 0] = [this.#halves[2 * i + LOW], this.#halves[2 * i + HIGH]];
      const session = this.#sessions[low & 0xffff] ?? 0;
      uint16(high >>> 16);
      uint16(high);
      uint16(low >>> 16);
      uint16(session >>> 16);
      uint16(session);
    }
    return bytes;
  }

  #put(high: number, low: number, session: number): void {
    if (this.length === this.#numbers.length) {
      const before = this.#numbers;
      this.#numbers = new BigUint64Array(before.length * 2);
      this.#numbers.set(before);
      this.#halves = new Uint32Array(this.#numbers.buffer);
    }
    if (this.#last.session !== session) this.#last = { session, place: this.#placeOf(session) };
    this.#halves[2 * this.length + LOW] = (low << 16) | this.#last.place;
    this.#halves[2 * this.length + HIGH] = high;
    this.length++;
  }

  #placeOf(session: number): number {
    const known = this.#places.get(session);
    if (known !== undefined) return known;
    this.#sessions.push(session);
    this.#places.set(session, this.#sessions.length - 1);
    return this.#sessions.length - 1;
  }
}

/** Positions of the halves of a 64-bit number in memory. */
const LOW = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

function putRun(db: Database, all: OwnedList): void {
  if (all.length === 0) return;
  all.sort();
  const run = Math.max(0, ...runNumbers(db).map((one) => one + 1));
  const insert = db.prepare("INSERT INTO packed_owners (run, first, digests) VALUES (?, ?, ?)");
  for (let from = 0; from < all.length; ) {
    let to = Math.min(all.length, from + DIGESTS_PER_ROW);
    // Equal digests stay together, because a row is found by its first digest
    while (to < all.length && all.digest(to) === all.digest(to - 1)) to++;
    insert.run(run, all.digest(from), all.encoded(from, to));
    from = to;
  }
}

/** The numbers of all runs. One lookup per run, however many rows it has. */
const runNumbers = (db: Database): readonly number[] =>
  numbers(
    db,
    `WITH RECURSIVE runs (run) AS (SELECT min(run) FROM packed_owners
         UNION ALL SELECT (SELECT min(run) FROM packed_owners o WHERE o.run > runs.run) FROM runs WHERE run IS NOT NULL)
       SELECT run FROM runs WHERE run IS NOT NULL`,
  );

const runsOf = (db: Database): { readonly run: number; readonly bytes: number }[] =>
  db
    .prepare("SELECT run, sum(length(digests)) AS bytes FROM packed_owners GROUP BY run")
    .all()
    .map((row) => ({ run: Number(row["run"]), bytes: Number(row["bytes"]) }));

const sourceOf = (db: Database, session: number): string | undefined => {
  const source = db.prepare("SELECT source FROM sessions WHERE id = ?").get(session)?.["source"];
  return typeof source === "string" ? source : undefined;
};

function digestsIn(bytes: Buffer): Float64Array {
  const digests = new Float64Array(Math.floor(bytes.length / BYTES_PER_DIGEST));
  for (let i = 0; i < digests.length; i++) digests[i] = bytes.readUIntBE(i * BYTES_PER_DIGEST, 6);
  return digests;
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
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.alloc(0);
