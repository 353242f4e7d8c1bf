// Agents whose session ids are unique only in one database, and which give the id of a removed session again.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readersInThisThread } from "#collect/import/readers.ts";
import { importSessions } from "#collect/import/run.ts";
import type { Agent } from "#core/model/agent.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { redact } from "#core/privacy/redact.ts";
import { openDatabase } from "#store/database.ts";
import { planLocalSession } from "#store/local-sessions.ts";
import { findSessions } from "#store/queries.ts";
import { whenReleased } from "#store/release.ts";
import { ACME, InboxFixture } from "../support/inbox-fixture.ts";

const ID = "20261125_1";
// The agent's database has seconds. Recent: the first drain would end anything older than the idle timeout
const CREATED_MS = Math.floor(Date.now() / 1000) * 1000 - 600_000;

interface StoredHere {
  readonly id: string;
  readonly createdMs: number;
  /** Response ids of its model calls. */
  readonly calls: readonly string[];
}

const databaseIn = (home: string): string => join(home, ".acme", "sessions.json");
function sessionsIn(path: string): readonly StoredHere[] {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return [];
  }
}

/** All sessions in one file, which also stands for a database. */
const READER: TranscriptReader = {
  roots: (home) => [join(home, ".acme")],
  async *locate({ roots }) {
    for (const root of roots) {
      const path = join(root, "sessions.json");
      for (const { id: sessionId, createdMs } of sessionsIn(path))
        yield { sessionId, path, home: dirname(root), origin: { database: path, createdMs } };
    }
  },
  files: async ({ sessionId, home }) => {
    const path = databaseIn(home);
    return sessionsIn(path).some(({ id }) => id === sessionId) ? [{ path, key: `${path}#${sessionId}` }] : [];
  },
  originsOf: async ({ sessionId, home }) =>
    sessionsIn(databaseIn(home))
      .filter(({ id }) => id === sessionId)
      .map(({ createdMs }) => ({ database: databaseIn(home), createdMs })),
  async *read({ path, key }: TranscriptFile) {
    const session = sessionsIn(path).find(({ id }) => key?.endsWith(`#${id}`));
    const entries = (session?.calls ?? []).map(
      (responseId, i): TranscriptEntry => ({
        kind: "model_call",
        key: responseId,
        globalKey: responseId,
        timeMs: (session?.createdMs ?? 0) + 2_000 + i,
        endMs: (session?.createdMs ?? 0) + 2_000 + i,
        responseId,
        model: "acme-1",
        usage: { input: 100, output: 10 },
        complete: true,
      }),
    );
    yield { entries, next: { bytes: 0, memo: { read: true } }, unreadable: 0 };
  },
};

const AGENT: Agent = {
  ...ACME,
  emits: ["session.start", "prompt.submit", "turn.end", "session.end"],
  tokens: "transcript",
  capabilities: { ...ACME.capabilities, sessionIds: "local" },
  transcript: async () => ({ default: READER }),
};

let inbox: InboxFixture;
let other: InboxFixture;
beforeEach(() => {
  inbox = new InboxFixture();
  other = new InboxFixture();
});
afterEach(() => {
  inbox.remove();
  other.remove();
});

const event = (type: string, ms: number) => ({
  ...(type === "turn.end" ? {} : { openhook: "0.1" }),
  // As an adapter derives it: equal payloads of two sessions have one id
  id: `${ID}-${type}`,
  source: "acme",
  type,
  time: new Date(ms).toISOString(),
  session_id: ID,
});
/** The hooks of a session with one turn. */
const hooksFrom = (ms: number) => [
  event("session.start", ms + 300),
  event("prompt.submit", ms + 1_000),
  event("turn.end", ms + 3_000),
  event("session.end", ms + 3_100),
];
function putHooks(into: InboxFixture, ms: number): void {
  for (const one of hooksFrom(ms)) into.put({ events: [one] });
}
function writeSessions(of: InboxFixture, ...sessions: StoredHere[]): void {
  const path = databaseIn(of.places.home);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(sessions));
}
const drain = (of: InboxFixture) => of.drain({}, [AGENT]);
const first: StoredHere = { id: ID, createdMs: CREATED_MS, calls: ["r-1"] };
const second: StoredHere = { id: ID, createdMs: CREATED_MS + 60_000, calls: ["r-2", "r-3"] };

interface Stored {
  readonly sessionId: string;
  readonly identity: string;
  readonly calls: readonly string[];
  readonly traces: readonly string[];
  readonly attributes: readonly string[];
}
function storedIn(of: InboxFixture): readonly Stored[] {
  const db = openDatabase(of.places.storePath);
  try {
    return db
      .prepare("SELECT id, session_id, identity FROM sessions ORDER BY first_ms")
      .all()
      .map((row) => {
        const spans = db
          .prepare("SELECT record FROM spans WHERE session = ?")
          .all(Number(row["id"]))
          .map(({ record }) => JSON.parse(String(record)) as SpanRecord);
        return {
          sessionId: String(row["session_id"]),
          identity: String(row["identity"]),
          calls: db
            .prepare("SELECT key FROM model_calls WHERE session = ? ORDER BY key")
            .all(Number(row["id"]))
            .map(({ key }) => String(key)),
          traces: [...new Set(spans.map(({ traceId }) => traceId))],
          attributes: [...new Set(spans.map(({ attributes }) => String(attributes["session.id"])))],
        };
      });
  } finally {
    db.close();
  }
}
async function importInto(of: InboxFixture) {
  const { loadConfig } = await import("#config/load.ts");
  const report = await importSessions(
    {
      places: of.places,
      loaded: await loadConfig({ env: {}, places: of.places }),
      agents: [AGENT],
      version: "0.0.0-test",
      platform: "linux",
      arch: "x64",
      now: Date.now,
      sleep: async () => {},
      log: () => {},
    },
    {
      agents: ["acme"],
      env: {},
      dryRun: false,
      readers: () => readersInThisThread(() => AGENT, { redact, redactName: redact, redactSecrets: redact }),
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  return report?.agents.get("acme");
}

test("two machines give one id at the same second: two traces", async () => {
  for (const machine of [inbox, other]) {
    writeSessions(machine, first);
    putHooks(machine, CREATED_MS);
    await drain(machine);
  }
  const [[here], [there]] = [storedIn(inbox), storedIn(other)];
  expect(here).toMatchObject({ sessionId: ID, calls: ["r-1"] });
  expect(there).toMatchObject({ sessionId: ID, calls: ["r-1"] });
  expect(here?.traces).toHaveLength(1);
  expect(there?.traces).not.toEqual(here?.traces);
  expect(here?.attributes).toEqual([here?.identity]);
  expect(there?.identity).not.toBe(here?.identity);
});

describe("one machine gives the id of a removed session again: two sessions are stored", () => {
  const check = (): void => {
    const [one, two, ...more] = storedIn(inbox);
    expect(more).toEqual([]);
    expect(one).toMatchObject({ sessionId: ID, calls: ["r-1"] });
    expect(two).toMatchObject({ sessionId: two?.identity, calls: ["r-2", "r-3"] });
    expect(new Set([...(one?.traces ?? []), ...(two?.traces ?? [])]).size).toBe(2);
  };

  test("if a drain read the first one before", async () => {
    writeSessions(inbox, first);
    putHooks(inbox, first.createdMs);
    await drain(inbox);
    writeSessions(inbox, second);
    await drain(inbox);
    putHooks(inbox, second.createdMs);
    await drain(inbox);
    check();
    const db = openDatabase(inbox.places.storePath);
    expect(findSessions(db, ID, 5)).toHaveLength(2);
    expect(findSessions(db, storedIn(inbox)[0]?.identity ?? "", 5)).toHaveLength(1);
    db.close();
  });

  test("hooks of both in one drain: the first one's tokens are gone, and are not taken from the second", async () => {
    putHooks(inbox, first.createdMs);
    putHooks(inbox, second.createdMs);
    writeSessions(inbox, second);
    await inbox.drain({ endIdle: true }, [AGENT]);
    const [one, two, ...more] = storedIn(inbox);
    expect(more).toEqual([]);
    expect([one?.calls, two?.calls]).toEqual([[], ["r-2", "r-3"]]);
    expect(new Set([...(one?.traces ?? []), ...(two?.traces ?? [])]).size).toBe(2);
  });

  test("if both are imported, one after the other", async () => {
    writeSessions(inbox, first);
    expect(await importInto(inbox)).toMatchObject({ imported: 1 });
    writeSessions(inbox, second);
    expect(await importInto(inbox)).toMatchObject({ imported: 1 });
    expect(await importInto(inbox)).toMatchObject({ imported: 0, unchanged: 1 });
    expect(storedIn(inbox).map(({ sessionId }) => sessionId)).toEqual([ID, expect.stringContaining(`${ID}@`)]);
  });

  test("the database cannot be read: its first event begins the second session", async () => {
    putHooks(inbox, first.createdMs);
    putHooks(inbox, second.createdMs);
    await inbox.drain({ endIdle: true }, [AGENT]);
    const stored = storedIn(inbox);
    expect(stored).toHaveLength(2);
    expect(new Set(stored.flatMap(({ traces }) => traces)).size).toBe(2);
  });
});

test("hooks and import give the same session the same ids, in a new store too", async () => {
  writeSessions(inbox, first);
  putHooks(inbox, CREATED_MS);
  await drain(inbox);
  const [byHooks] = storedIn(inbox);
  expect(await importInto(inbox)).toMatchObject({ imported: 0, unchanged: 1 });
  expect(storedIn(inbox)).toEqual([byHooks]);
  await whenReleased(() => rmSync(inbox.places.stateDir, { recursive: true }));
  expect(await importInto(inbox)).toMatchObject({ imported: 1 });
  expect(storedIn(inbox)[0]?.identity).toBe(byHooks?.identity);
});

test("a database that is readable only later supplies the tokens, and the ids stay", async () => {
  for (const one of hooksFrom(CREATED_MS).slice(0, 2)) inbox.put({ events: [one] });
  await drain(inbox);
  const [before] = storedIn(inbox);
  writeSessions(inbox, first);
  for (const one of hooksFrom(CREATED_MS).slice(2)) inbox.put({ events: [one] });
  await drain(inbox);
  expect(storedIn(inbox)).toEqual([expect.objectContaining({ identity: before?.identity, calls: ["r-1"] })]);
});

test("a home folder that is moved keeps its sessions", async () => {
  writeSessions(inbox, first);
  putHooks(inbox, CREATED_MS);
  await drain(inbox);
  const [before] = storedIn(inbox);
  other.remove();
  renameSync(inbox.places.home, other.places.home);
  expect(await importInto(other)).toMatchObject({ imported: 0 });
  expect(storedIn(other)).toEqual([before]);
});

test("a session from before the ids were known to be local keeps its ids", async () => {
  const native: Agent = { ...AGENT, capabilities: { ...AGENT.capabilities, sessionIds: "native" } };
  writeSessions(inbox, first);
  const [start, prompt, ...rest] = hooksFrom(CREATED_MS);
  inbox.put({ events: [start, prompt] });
  await inbox.drain({}, [native]);
  for (const one of rest) inbox.put({ events: [one] });
  await drain(inbox);
  expect(storedIn(inbox)).toEqual([expect.objectContaining({ sessionId: ID, identity: ID, calls: ["r-1"] })]);
});

test("the machine is part of a session's identity", () => {
  const place = { home: "/home/dev", stateDir: "/home/dev/.local/state/openhook-otel" };
  const mention = {
    source: "acme",
    nativeId: ID,
    timeMs: CREATED_MS,
    origins: [{ database: "/home/dev/.acme/sessions.json", createdMs: CREATED_MS }],
  };
  const on = (machine: string) => planLocalSession([], { ...place, machineId: () => machine }, mention).identity;
  expect(on("m-1")).toBe(on("m-1"));
  expect(on("m-1")).not.toBe(on("m-2"));
});
