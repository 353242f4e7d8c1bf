import { describe, expect, test } from "vitest";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { Database } from "#store/database.ts";
import { addEntries, addEvents, eventsOf, hookPromptIds, openFacts, settleFacts } from "#store/facts.ts";
import { unplacedEvents } from "#store/move-facts.ts";
import { positionOf, setPosition } from "#store/positions.ts";
import {
  ensureSession,
  idleSessions,
  sessionById,
  setFork,
  setProcess,
  unsettledSessions,
  updateSession,
} from "#store/sessions.ts";
import { NOON_MS, prompted, started, toolStarted } from "../session/events.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const sessionIn = (db: Database, sessionId = "session-1", timeMs = NOON_MS) =>
  ensureSession(db, "claude-code", sessionId, timeMs);

const answer = (rest: Partial<EntryOf<"model_call">> = {}): EntryOf<"model_call"> => ({
  kind: "model_call",
  key: "response:msg_1",
  globalKey: "response:msg_1",
  timeMs: NOON_MS,
  endMs: NOON_MS,
  usage: { input: 10, output: 1 },
  complete: false,
  ...rest,
});
const fuller = answer({ timeMs: NOON_MS + 5, endMs: NOON_MS + 5, usage: { input: 10, output: 7 }, complete: true });

describe("calls of agents that count from the same id", () => {
  const used = (callId: string, agentId?: string): TranscriptEntry => ({
    kind: "tool_use",
    key: `use:${callId}`,
    timeMs: NOON_MS,
    callId,
    name: "bash",
    ...(agentId !== undefined && { agentId }),
  });
  const keys = (db: Database) =>
    db
      .prepare("SELECT key FROM entries ORDER BY key")
      .all()
      .map(({ key }) => key);

  test("other agents' calls are stored beside it", () => {
    const db = stores.open();
    const session = sessionIn(db);
    addEntries(db, session, [used("call_1"), used("call_1#a", "a"), used("call_1#b", "b")]);
    expect(keys(db)).toEqual(["use:call_1", "use:call_1#a", "use:call_1#b"]);
  });
});

describe("events", () => {
  test("an event that is known changes nothing", () => {
    const db = stores.open();
    const session = sessionIn(db);
    const start = started("a", 0);
    expect(addEvents(db, session, [start, start])).toBe(1);
    expect(addEvents(db, session, [start, toolStarted("b", 5, "t1")])).toBe(1);
    expect(openFacts(db, session.id).events).toEqual([start, toolStarted("b", 5, "t1")]);
  });

  test("settled events are no longer open, but are still listed, in order of time", () => {
    const db = stores.open();
    const session = sessionIn(db);
    addEvents(db, session, [toolStarted("b", 5, "t1"), started("a", 0)]);
    settleFacts(db, session.id, ["a"]);
    expect(openFacts(db, session.id).events.map((e) => e.id)).toEqual(["b"]);
    expect(eventsOf(db, session.id).map((e) => e.id)).toEqual(["a", "b"]);
    addEvents(db, session, [started("a", 0)]);
    expect(openFacts(db, session.id).events.map((e) => e.id)).toEqual(["b"]);
  });

  test("events with an assigned session id are found by their process without reading other processes' open events", () => {
    const db = stores.open();
    const minted = { ...started("a", 0), extensions: { process: "p1", session_id_origin: "minted" as const } };
    addEvents(db, sessionIn(db, "minted"), [minted]);
    const [own, other] = [sessionIn(db, "own"), sessionIn(db, "other")];
    setProcess(db, own.id, "p1");
    addEvents(db, own, [{ ...minted, id: "b" }, started("c", 1)]);
    setProcess(db, other.id, "p2");
    addEvents(db, other, [started("d", 2)]);
    // Reading it throws
    db.prepare("UPDATE events SET body = '{' WHERE id = 'd'").run();
    const found = unplacedEvents(db, "claude-code", "p1").map(({ event }) => event.id);
    expect(found.sort()).toEqual(["a", "b"]);
  });

  test("the ids of prompts that hooks reported are listed, each once", () => {
    const db = stores.open();
    const session = sessionIn(db);
    addEvents(db, session, [prompted("a", 0, "p1"), prompted("b", 1), prompted("c", 2, "p2")]);
    expect(hookPromptIds(db, session.id)).toEqual(new Set(["p1", "p2"]));
  });
});

describe("entries", () => {
  test("several records of one answer are merged", () => {
    const db = stores.open();
    const session = sessionIn(db);
    expect(addEntries(db, session, [answer(), fuller, answer()])).toEqual([]);
    expect(openFacts(db, session.id).entries).toEqual([{ ...fuller, timeMs: NOON_MS, endMs: NOON_MS + 5 }]);
  });

  test("a more complete record of a counted answer is returned, one with nothing new is not", () => {
    const db = stores.open();
    const session = sessionIn(db);
    addEntries(db, session, [answer()]);
    settleFacts(db, session.id, [answer().key]);
    const [revision, ...others] = addEntries(db, session, [fuller]);
    expect(others).toEqual([]);
    expect(revision?.before.usage?.output).toBe(1);
    expect(revision?.after.usage?.output).toBe(7);
    expect(addEntries(db, session, [fuller, answer()])).toEqual([]);
    expect(openFacts(db, session.id).entries).toEqual([]);
  });

  test("a subagent's copy of an answer in the main conversation is left out, settled or not", () => {
    const db = stores.open();
    const session = sessionIn(db);
    const called = (id: string, request: string, rest: Partial<EntryOf<"model_call">> = {}) => {
      const key = `response:${id}:${request}`;
      return answer({ key, globalKey: key, responseId: id, requestId: request, ...rest });
    };
    const [one, other] = ["msg_01Xw3nPq7RtYkLmZb9", "msg_01Kd8vHs2JfTgNcQe5"];
    addEntries(db, session, [called(one, "req_1"), called("msg_1", "req_1")]);
    settleFacts(db, session.id, [`response:${one}:req_1`]);
    const agentId = "aside-1";
    addEntries(db, session, [
      called(one, "req_2", { agentId }),
      called(other, "req_3", { agentId }),
      called(other, "req_4", { agentId }),
      called("msg_1", "req_5", { agentId }), // a server that counts ids: a separate answer
      called(one, "req_6", { agentId, usage: { input: 1_234, output: 5 } }), // one that gives all the same id
    ]);
    expect(openFacts(db, session.id).entries.map(({ key }) => key)).toEqual([
      `response:${other}:req_3`,
      `response:${other}:req_4`,
      `response:${one}:req_6`,
      "response:msg_1:req_1",
      "response:msg_1:req_5",
    ]);
  });

  test("of an answer and its copies only the main conversation's record is kept, in any order, even if a copy was counted", () => {
    const id = "msg_01Xw3nPq7RtYkLmZb9";
    const called = (request: string, rest: Partial<EntryOf<"model_call">> = {}) => {
      const key = `response:${id}:${request}`;
      return answer({ key, globalKey: key, responseId: id, requestId: request, ...rest });
    };
    const records = [
      called("req_1"),
      called("req_2", { agentId: "aside-1" }),
      called("req_3", { agentId: "aside-2" }),
      // Read as a copy before it is known to be the conversation's record
      called("req_1", { agentId: "compact-1" }),
    ];
    for (const order of permutations(records)) {
      const db = stores.open();
      const session = sessionIn(db);
      addEntries(db, session, order);
      expect(openFacts(db, session.id).entries.map(({ key }) => key)).toEqual([`response:${id}:req_1`]);
      expect(db.prepare("SELECT global_key FROM owners").all()).toEqual([{ global_key: `response:${id}:req_1` }]);
    }
    for (const [counted, ...later] of permutations(records)) {
      if (counted === undefined) throw new Error("one of them");
      const db = stores.open();
      const session = sessionIn(db);
      addEntries(db, session, [counted]);
      settleFacts(db, session.id, [counted.key]);
      addEntries(db, session, [called("req_1"), ...later]);
      expect(openFacts(db, session.id).entries).toEqual([]);
    }
  });

  test("records beside a copied answer are left out with it, in any order", () => {
    const [id, other] = ["msg_01Xw3nPq7RtYkLmZb9", "msg_01Kd8vHs2JfTgNcQe5"];
    const records = (request: string, agentId?: string, of = id) => {
      const key = `response:${of}:${request}`;
      const whose = { requestId: request, ...(agentId !== undefined && { agentId }) };
      const pass = { besideResponseId: of, usage: { input: 700, output: 50 } };
      return [
        answer({ key, globalKey: key, responseId: of, ...whose }),
        answer({ key: `${key}:1`, globalKey: `${key}:1`, ...pass, ...whose }),
        answer({ key: `${key}:2`, globalKey: `${key}:2`, ...pass, ...whose }),
      ];
    };
    const [main, copy, own] = [records("req_1"), records("req_2", "aside-1"), records("req_3", "aside-1", other)];
    const keys = [...own, ...main].map(({ key }) => key);
    for (const order of permutations([main, copy, own])) {
      const db = stores.open();
      const session = sessionIn(db);
      addEntries(db, session, order.flat());
      expect(openFacts(db, session.id).entries.map(({ key }) => key)).toEqual(keys);
    }
  });

  test("a copy in a session that began later only completes the figures of the original", () => {
    const db = stores.open();
    const [first, fork] = [sessionIn(db, "session-1"), sessionIn(db, "session-2", NOON_MS + 60_000)];
    addEntries(db, first, [answer()]);
    addEntries(db, fork, [answer(), fuller]);
    expect(openFacts(db, fork.id).entries).toEqual([]);
    const { usage, complete } = fuller;
    expect(openFacts(db, first.id).entries).toEqual([answer({ ...(usage && { usage }), complete })]);
  });

  test("an entry whose key is unique only in its session belongs to each session that contains it", () => {
    const db = stores.open();
    const [first, other] = [sessionIn(db, "session-1"), sessionIn(db, "session-2", NOON_MS + 60_000)];
    const { globalKey: _, ...local } = answer();
    for (const session of [first, other]) addEntries(db, session, [local as TranscriptEntry]);
    for (const session of [first, other]) expect(openFacts(db, session.id).entries).toEqual([local]);
  });

  test("a counted record stays where it was counted, even if an older session contains it too", () => {
    const db = stores.open();
    const [older, fork] = [sessionIn(db, "session-1"), sessionIn(db, "session-2", NOON_MS + 60_000)];
    addEntries(db, fork, [answer()]);
    settleFacts(db, fork.id, [answer().key]);
    expect(addEntries(db, older, [answer()])).toEqual([]);
    const [revision, ...others] = addEntries(db, older, [fuller]);
    expect(others).toEqual([]);
    expect(revision).toMatchObject({ session: fork.id, before: answer(), after: { usage: fuller.usage } });
    expect(openFacts(db, older.id).entries).toEqual([]);
  });
});

describe("positions", () => {
  test("are returned as stored", () => {
    const db = stores.open();
    const session = sessionIn(db);
    const position = { offset: { bytes: 4096, memo: { state: { timeMs: 1 } } }, sizeBytes: 5000, modifiedMs: 12.5 };
    expect(positionOf(db, "/home/dev/a.jsonl")).toBeUndefined();
    setPosition(db, session.id, "/home/dev/a.jsonl", position, 2);
    expect(positionOf(db, "/home/dev/a.jsonl")).toEqual(position);
    setPosition(db, session.id, "/home/dev/a.jsonl", { ...position, sizeBytes: 6000 }, 1);
    expect(positionOf(db, "/home/dev/a.jsonl")?.sizeBytes).toBe(6000);
    expect(db.prepare("SELECT unreadable FROM positions").all()).toMatchObject([{ unreadable: 3 }]);
  });
});

describe("sessions", () => {
  test("the same source and id is the same session; another source's is another", () => {
    const db = stores.open();
    expect(sessionIn(db).id).toBe(sessionIn(db).id);
    expect(ensureSession(db, "acme-agent", "session-1", NOON_MS).id).not.toBe(sessionIn(db).id);
  });

  test("updates complete a session; absent values change nothing", () => {
    const db = stores.open();
    const { id } = sessionIn(db);
    updateSession(db, id, { timeMs: NOON_MS + 10, cwd: "/home/dev/acme-shop", branch: "main" });
    updateSession(db, id, { timeMs: NOON_MS - 10, agentVersion: "2.1.329", repository: { name: "acme-shop" } });
    expect(sessionById(db, id)).toMatchObject({
      cwd: "/home/dev/acme-shop",
      branch: "main",
      agentVersion: "2.1.329",
      repository: { name: "acme-shop" },
      firstMs: NOON_MS - 10,
      lastMs: NOON_MS + 10,
      fork: "no",
    });
  });

  test("a fork that has begun does not go back to waiting", () => {
    const db = stores.open();
    const { id } = sessionIn(db);
    for (const state of ["waiting", "begun", "waiting"] as const) setFork(db, id, state);
    expect(sessionById(db, id).fork).toBe("begun");
  });

  test("open sessions without activity are idle", () => {
    const db = stores.open();
    const [quiet, busy, over] = ["quiet", "busy", "over"].map((name) => sessionIn(db, name));
    if (quiet === undefined || busy === undefined || over === undefined) throw new Error("three sessions");
    addEvents(db, quiet, [started("a", 0)]);
    addEvents(db, busy, [started("b", 0)]);
    updateSession(db, busy.id, { timeMs: NOON_MS + 3_600_000 });
    addEvents(db, over, [started("c", 0)]);
    settleFacts(db, over.id, ["c"]);
    expect(idleSessions(db, NOON_MS + 1_800_000)).toEqual([quiet.id]);
    expect(new Set(unsettledSessions(db))).toEqual(new Set([quiet.id, busy.id]));
  });
});

// --- internal ---

const permutations = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, i) => permutations(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]));
