import { describe, expect, test } from "vitest";
import type { Packed } from "#core/model/packed.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { encodeFacts } from "#core/packed/facts.ts";
import { digestOf } from "#kit/digest.ts";
import type { Database } from "#store/database.ts";
import { addEntries, unpack } from "#store/facts.ts";
import { isPacked, mergeRuns, ownedDigests, packedFacts, packedOwners, putPacked, takePacked } from "#store/packed.ts";
import { prunableSessions, pruneSession } from "#store/prune.ts";
import { ensureSession, sessionById } from "#store/sessions.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const SOURCE = "claude-code";

describe("the owner of a record", () => {
  test("is found in every run, from the first digest to the last, and unknown records have no owner", () => {
    const db = stores.open();
    const keys = new Map<number, string[]>();
    // More than one row, and several runs
    for (let run = 0; run < 3; run++) {
      const sessions = [0, 1].map((i) => ensureSession(db, SOURCE, `s${run}-${i}`, run).id);
      for (const id of sessions)
        keys.set(
          id,
          Array.from({ length: 1_700 }, (_, i) => `msg_${id}_${i}`),
        );
      put(db, new Map(sessions.map((id) => [id, keys.get(id) ?? []])));
    }
    expect(rows(db)).toBeGreaterThan(3);
    expectOwners(db, keys);
    expect(packedOwners(db, SOURCE, "msg_unknown")).toEqual([]);
    expect(packedOwners(db, "codex", "msg_1_0")).toEqual([]);
    const all = [...ownedDigests(db)].flatMap((digests) => [...digests]);
    expect(new Set(all)).toEqual(new Set([...keys.values()].flat().map((key) => digestOf(SOURCE, key))));
  });

  test("is found after runs are merged, and unpacked sessions are removed from them", () => {
    const db = stores.open();
    const keys = new Map<number, string[]>();
    for (let i = 0; i < 30; i++) {
      const { id } = ensureSession(db, SOURCE, `s${i}`, i);
      keys.set(id, [`msg_${i}_a`, `msg_${i}_b`]);
      put(db, new Map([[id, keys.get(id) ?? []]]));
    }
    expect(runs(db)).toBe(30);
    const [first = 0] = keys.keys();
    unpack(db, sessionById(db, first));
    mergeRuns(db);
    expect(runs(db)).toBe(1);
    keys.delete(first);
    expectOwners(db, keys);
    const digests = [...ownedDigests(db)].flatMap((some) => [...some]);
    expect(digests).toHaveLength(58);
    // One run is not merged again
    mergeRuns(db);
    expect(runs(db)).toBe(1);
  });

  test("many imports do not leave many runs, however large one of them was", () => {
    const db = stores.open();
    const { id } = ensureSession(db, SOURCE, "large", 0);
    put(db, new Map([[id, ["msg_large"]]]));
    // As after an import of gigabytes: more rows than are ever rewritten
    const large = db.prepare("INSERT INTO packed_owners (run, first, digests) VALUES (0, ?, zeroblob(20480))");
    db.transaction(() => {
      for (let i = 0; i < 600; i++) large.run(i);
    });
    for (let i = 0; i < 60; i++) {
      const one = ensureSession(db, SOURCE, `s${i}`, i).id;
      put(db, new Map([[one, [`msg_${i}`]]]));
      mergeRuns(db);
    }
    expect(runs(db)).toBeLessThanOrEqual(25);
    expect(packedOwners(db, SOURCE, "msg_large")).toEqual([id]);
    expect(db.prepare("SELECT count(*) AS n FROM packed_owners WHERE run = 0").get()).toMatchObject({
      n: 601,
    });
    expect(packedOwners(db, SOURCE, "msg_3")).toHaveLength(1);
  });

  test("an import of many copies, each with its own run, leaves few runs", () => {
    const db = stores.open();
    const keys = new Map<number, string[]>();
    for (let i = 0; i < 600; i++) {
      const { id } = ensureSession(db, SOURCE, `s${i}`, i);
      keys.set(id, [`msg_${i}`]);
      put(db, new Map([[id, keys.get(id) ?? []]]));
    }
    mergeRuns(db);
    expect(runs(db)).toBe(1);
    expectOwners(db, keys);
  });

  // In test:all only: it takes more than 65,536 sessions
  if (IS_WHOLE)
    test("however many sessions there are, many runs become few", () => {
      const db = stores.open();
      const last = 66_000;
      db.prepare(
        `INSERT INTO sessions (id, source, session_id, first_ms, last_ms)
       WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
       SELECT id, ?, 's' || id, id, id FROM ids`,
      ).run(last, SOURCE);
      const perRun = last / 30;
      for (let run = 0; run < 30; run++) {
        const ids = Array.from({ length: perRun }, (_, i) => run * perRun + i + 1);
        put(db, new Map(ids.map((id) => [id, [`msg_${id}`]])));
      }
      mergeRuns(db);
      expect(runs(db)).toBe(2);
      expect([...ownedDigests(db)].reduce((sum, some) => sum + some.length, 0)).toBe(last);
      for (const id of [1, 65_536, 65_537, last]) expect(packedOwners(db, SOURCE, `msg_${id}`)).toEqual([id]);
    });

  test("two ids with the same digest are two records", () => {
    const db = stores.open();
    const [a, b] = [ensureSession(db, SOURCE, "a", 1).id, ensureSession(db, SOURCE, "b", 2).id];
    const shared = digestOf(SOURCE, "msg_wanted");
    // As if both ids had this digest: it is at the end of one row and continues in the next
    const filler = Float64Array.from({ length: 3_000 }, (_, i) => shared - 2_047 + i);
    db.transaction(() =>
      putPacked(db, [
        { id: a, packed: packed([entry("msg_wanted")], Float64Array.from([shared])), readBy: undefined },
        { id: b, packed: packed([entry("msg_other")], filler), readBy: undefined },
      ]),
    );
    expect(packedOwners(db, SOURCE, "msg_wanted")).toEqual([a]);
    // A third id with this digest is not mistaken for either
    const third = ensureSession(db, SOURCE, "c", 3);
    addEntries(db, third, [entry("msg_third"), entry("msg_wanted")]);
    expect(keysOf(db, third.id)).toEqual(["msg_third"]);
    expect(isPacked(db, b)).toBe(true);
  });
});

describe("a session that was unpacked", () => {
  test("owns its records by rows, and nothing counts twice", () => {
    const db = stores.open();
    const a = ensureSession(db, SOURCE, "a", 1);
    put(db, new Map([[a.id, ["msg_1", "msg_2"]]]));
    unpack(db, a);
    expect(packedOwners(db, SOURCE, "msg_1")).toEqual([]);
    expect(packedFacts(db, a.id)).toBeUndefined();
    expect(keysOf(db, a.id)).toEqual(["msg_1", "msg_2"]);
    const b = ensureSession(db, SOURCE, "b", 2);
    addEntries(db, b, [entry("msg_1"), entry("msg_9")]);
    expect(keysOf(db, b.id)).toEqual(["msg_9"]);
    unpack(db, a);
    expect(keysOf(db, a.id)).toEqual(["msg_1", "msg_2"]);
  });

  test("is recognised by digests after it was pruned", () => {
    const db = stores.open();
    const a = ensureSession(db, SOURCE, "a", 1);
    put(db, new Map([[a.id, ["msg_1"]]]));
    expect(prunableSessions(db, 100, 10, { isOnRequest: false })).toEqual([]);
    const [prunable] = prunableSessions(db, 100, 10);
    if (prunable === undefined) throw new Error("it can be pruned when asked for");
    pruneSession(db, prunable, 1_000);
    expect(packedOwners(db, SOURCE, "msg_1")).toEqual([]);
    for (const table of ["packed", "packed_usage", "packed_tools", "packed_turns"]) {
      expect(db.prepare(`SELECT 1 FROM ${table}`).all(), table).toEqual([]);
    }
    const b = ensureSession(db, SOURCE, "b", 2);
    addEntries(db, b, [entry("msg_1"), entry("msg_2")]);
    expect(keysOf(db, b.id)).toEqual(["msg_2"]);
    // The same session reported once more
    addEntries(db, sessionById(db, a.id), [entry("msg_1")]);
    expect(keysOf(db, a.id)).toEqual([]);
  });

  test("unpacked and packed again, it is unchanged", () => {
    const db = stores.open();
    const { id } = ensureSession(db, SOURCE, "a", 1);
    put(db, new Map([[id, ["msg_1"]]]));
    const before = ["packed", "packed_usage", "segments"].map((table) => plain(db, table));
    const facts = takePacked(db, id);
    expect(isPacked(db, id)).toBe(false);
    expect(facts).toEqual([entry("msg_1")]);
    put(db, new Map([[id, ["msg_1"]]]));
    expect(["packed", "packed_usage", "segments"].map((table) => plain(db, table))).toEqual(before);
    expect(takePacked(db, id + 1)).toEqual([]);
  });
});

// --- internal ---

function put(db: Database, sessions: ReadonlyMap<number, readonly string[]>): void {
  db.transaction(() =>
    putPacked(
      db,
      [...sessions].map(([id, keys]) => ({ id, packed: packed(keys.map((key) => entry(key))), readBy: undefined })),
    ),
  );
}

const entry = (globalKey: string): TranscriptEntry => ({
  kind: "model_call",
  key: globalKey,
  globalKey,
  timeMs: 1_000,
  endMs: 1_000,
  complete: true,
});

const packed = (
  entries: readonly TranscriptEntry[],
  owned = Float64Array.from(entries, ({ globalKey }) => digestOf(SOURCE, globalKey ?? "")),
): Packed => ({
  facts: encodeFacts(entries),
  owned,
  segments: [{ segment: { ordinal: 0, startMs: 1_000, endMs: 1_000, lastActivityMs: 1_000, uses: [] }, totals: "{}" }],
  usage: [
    {
      ...{ timeMs: 0, model: "m", subagent: 0, calls: entries.length, aggregateRecords: 0, withoutUsage: 0 },
      ...{ unpriced: 0, incomplete: 0, tokens: TOKEN_KINDS.map((_, i) => (i < 2 ? 1 : null)), costNanoUsd: null },
      ...{ durationMs: 0, noPrice: null, unpricedCalls: null, webSearches: null, unpricedSearches: null },
      ...{ feeNanoUsd: null, nanoCredits: null },
    },
  ],
  tools: [[0, "Bash", null, null, 0, 1, 0, 0, 0, 5]],
  turns: [[0, "human", 1, 0, 0]],
});

/** Checks the owners of a sample of keys, and of each session's last. */
function expectOwners(db: Database, keys: ReadonlyMap<number, readonly string[]>): void {
  for (const [id, all] of keys) {
    for (const [i, key] of all.entries()) {
      if (i % 211 === 0 || i === all.length - 1) expect(packedOwners(db, SOURCE, key), key).toEqual([id]);
    }
  }
}

const keysOf = (db: Database, session: number): readonly string[] =>
  db
    .prepare("SELECT key FROM entries WHERE session = ? ORDER BY key")
    .all(session)
    .map((row) => String(row["key"]));

const rows = (db: Database): number => Number(db.prepare("SELECT count(*) AS n FROM packed_owners").get()?.["n"]);
const runs = (db: Database): number =>
  Number(db.prepare("SELECT count(DISTINCT run) AS n FROM packed_owners").get()?.["n"]);
const plain = (db: Database, table: string): string => JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all());
