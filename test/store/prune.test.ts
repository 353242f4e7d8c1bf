import { afterEach, describe, expect, test } from "vitest";
import { addEntries, addEvents, settleFacts } from "#store/facts.ts";
import { prunableSessions, pruneSession, SESSION_TABLES } from "#store/prune.ts";
import { recentSessions } from "#store/queries.ts";
import { ensureSession } from "#store/sessions.ts";
import { releasePages, spaceOf, vacuum } from "#store/vacuum.ts";
import { NOON_MS, prompted, used } from "../session/events.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";
import { ALL, endOf, inStore, pruneAll, prunedAnywhere } from "./pruned.ts";
import { rowsOf, temporaryStores } from "./temporary.ts";

// All agents with transcripts: see test/faults/long/limits.faults.ts
const CASES = [["claude-code", "subagent"]] as const;

const stores = temporaryStores();
let replay: Replay | undefined;
afterEach(() => {
  replay?.remove();
  replay = undefined;
});

test.each(CASES)(
  "%s %s: pruned at any time, then read and reported again: nothing counts twice, no span is new",
  async (source, name) => {
    await prunedAnywhere(source, name, 1);
  },
);

describe("pruning", () => {
  const pruned = async (): Promise<Replay> => {
    replay = new Replay("claude-code", "subagent");
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true }, clockAt(endOf(replay.calls)));
    return replay;
  };

  test("keeps a session with spans in the outbox", async () => {
    const of = await pruned();
    inStore(of, (db) => {
      expect(db.prepare("SELECT count(*) AS n FROM outbox").get()?.["n"]).toBeGreaterThan(0);
      expect(prunableSessions(db, ALL, ALL)).toEqual([]);
      db.prepare("DELETE FROM outbox").run();
      expect(prunableSessions(db, ALL, ALL)).toHaveLength(1);
      const [session] = prunableSessions(db, ALL, ALL);
      expect(prunableSessions(db, session?.lastMs ?? 0, ALL)).toEqual([]);
    });
  });

  test("keeps a session with unsettled facts, and removes nothing of another session, whatever its keys are", () => {
    const db = stores.open();
    const factOf = (sessionId: string, id: string) => {
      const session = ensureSession(db, "claude-code", sessionId, NOON_MS);
      addEvents(db, session, [{ ...prompted(id, 0, "p1"), session_id: sessionId }]);
      addEntries(db, session, [used("toolu_1", 1), used("toolu_2", 2)]);
      return session;
    };
    const [first, second] = [factOf("session-1", "e1"), factOf("session-2", "e2")];
    const prunable = () => prunableSessions(db, ALL, ALL).map(({ sessionId }) => sessionId);
    const keys = ["use:toolu_1", "use:toolu_2"];
    expect(prunable()).toEqual([]);
    settleFacts(db, first.id, ["e1"]);
    settleFacts(db, second.id, keys);
    expect(prunable()).toEqual([]);
    settleFacts(db, first.id, keys);
    expect(prunable()).toEqual(["session-1"]);
    settleFacts(db, second.id, ["e2"]);
    expect(prunable()).toEqual(["session-1", "session-2"]);
    const [pruned] = prunableSessions(db, ALL, 1);
    if (pruned === undefined) throw new Error("there is a session to prune");
    // Its event and its entries; the row of the session is overwritten
    expect(pruneSession(db, pruned, NOON_MS)).toBe(3);
    expect(prunable()).toEqual(["session-2"]);
    expect(rowsOf(db, "entries")).toMatchObject(keys.map((key) => ({ session: second.id, key })));
    expect(rowsOf(db, "events")).toMatchObject([{ session: second.id, id: "e2" }]);
  });

  test("leaves rows only in the tables for digests and positions, and these reveal no content", async () => {
    const of = await pruned();
    pruneAll(of, 1);
    inStore(of, (db) => {
      expect(recentSessions(db, 10)).toEqual([]);
      const tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .all()
        .map((row) => String(row["name"]));
      const ofSessions = tables.filter((table) =>
        db.prepare(`SELECT 1 FROM pragma_foreign_key_list('${table}') WHERE "table" = 'sessions'`).get(),
      );
      for (const table of ofSessions.filter((t) => !["sessions", "positions", "segments"].includes(t))) {
        expect(SESSION_TABLES, table).toContain(table);
        expect(db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get(), table).toBeUndefined();
      }
      expect(db.prepare("SELECT 1 FROM increments LIMIT 1").get()).toBeUndefined();
      const session = db.prepare("SELECT * FROM sessions").get();
      for (const factOf of ["cwd", "transcript_path", "branch", "repository", "reported", "process"]) {
        expect(session?.[factOf], factOf).toBeNull();
      }
      expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
      // A digest of about ten bytes per fact
      const digests = Number(db.prepare("SELECT count(*) AS n FROM forgotten").get()?.["n"]);
      expect(digests).toBeGreaterThan(20);
    });
  });

  test("a session that continues after pruning is counted from there, in a new segment", async () => {
    const of = new Replay("claude-code", "killed-then-resumed", { withTranscripts: false });
    replay = of;
    const resumed = of.calls.findIndex((call, i) => i > 0 && call.event === "SessionStart");
    const [before, after] = [of.calls.slice(0, resumed), of.calls.slice(resumed)];
    // The agent is started again some seconds later
    const isBefore = (ms: number): boolean => ms < Date.parse(before.at(-1)?.received_at ?? "") + 1_000;
    of.writeTranscripts({ untilMs: Date.parse(before.at(-1)?.received_at ?? "") });
    for (const call of before) of.put(call);
    await of.drain({ endIdle: true }, clockAt(endOf(before)));
    pruneAll(of, 1);
    of.writeTranscripts();
    for (const call of after) of.put(call);
    await of.drain({ endIdle: true }, clockAt(endOf(of.calls)));
    inStore(of, (db) => {
      expect(recentSessions(db, 10)).toHaveLength(1);
      const segments = db.prepare("SELECT ordinal, start_ms FROM segments ORDER BY ordinal").all();
      expect(segments.map((segment) => isBefore(Number(segment["start_ms"])))).toEqual([true, false]);
      const turns = db.prepare("SELECT start_ms FROM turns").all();
      expect(turns.length).toBeGreaterThan(0);
      for (const turn of turns) expect(isBefore(Number(turn["start_ms"]))).toBe(false);
    });
  });

  test("the file shrinks without being rewritten", () => {
    const db = stores.open();
    db.transaction(() => {
      const fill = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
      for (let i = 0; i < 4_000; i++) fill.run(`filler ${i}`, "x".repeat(1_000));
    });
    db.prepare("DELETE FROM meta WHERE key LIKE 'filler %'").run();
    const { freePages, pageBytes } = spaceOf(db);
    expect(freePages).toBeGreaterThan(500);
    expect(releasePages(db, performance.now() - 1)).toBe(0);
    expect(releasePages(db, Number.POSITIVE_INFINITY)).toBeGreaterThanOrEqual(freePages * pageBytes);
    expect(spaceOf(db).freePages).toBe(0);
  });

  test("rewriting it leaves no free pages", () => {
    const db = stores.open();
    const fill = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
    db.transaction(() => {
      for (let i = 0; i < 2_000; i++) fill.run(`filler ${i}`, "x".repeat(1_000));
    });
    db.prepare("DELETE FROM meta WHERE key LIKE 'filler %'").run();
    expect(spaceOf(db).freePages).toBeGreaterThan(250);
    expect(vacuum(db, stores.path())).toBeGreaterThan(1_000_000);
    expect(spaceOf(db).freePages).toBe(0);
  });
});
