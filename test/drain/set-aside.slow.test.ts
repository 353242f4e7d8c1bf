// Slow: only `npm run test:all` runs it. Foreign files that are too large, or during which drains died: they are set aside by name, and everything else goes on.
// drain/contained.test.ts has sessions that fail for other reasons.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { queryDatabase } from "#agents/shared/transcript/sqlite.ts";
import { storeFindings } from "#check/health/checks/store.ts";
import { collectStatus } from "#check/health/examine.ts";
import { examinedOf } from "#check/health/facts/examined.ts";
import { checkStore } from "#check/health/facts/tried.ts";
import type { Drain } from "#collect/drain/context.ts";
import { databaseWatch } from "#collect/drain/read-again.ts";
import { forgetDeath, isCautious, noteBuild, noteDeath, reasonSetAside } from "#collect/drain/set-aside.ts";
import { drainNow } from "#commands/drain.ts";
import type { Agent } from "#core/model/agent.ts";
import { watchingDatabases } from "#kit/foreign-databases.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { withDrainLock } from "#store/lock.ts";
import { type LockHolder, lockOf, NO_PROGRESS } from "#store/lock-holder.ts";
import { setPosition } from "#store/positions.ts";
import { ensureSession } from "#store/sessions.ts";
import { temporaryStores } from "../store/temporary.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const [BAD, GOOD] = ["bad", "good"].map((name) => name.padEnd(8, "0").concat("-0000-4000-8000-000000000000")) as [
  string,
  string,
];

let replay: Replay;
beforeEach(() => {
  replay = new Replay("claude-code", "basic", { withTranscripts: false });
});
afterEach(() => replay.remove());

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const pathOf = (session: string): string =>
  join(replay.home, ".claude", "projects", "-home-dev-shop", `${session}.jsonl`);

/** A session of one turn with one tool call and its hooks. @param result beside the tool's result, as an MCP server returns it */
function session(id: string, result: unknown): void {
  const line = (second: number, more: object): string =>
    `${JSON.stringify({ sessionId: id, version: "2.1.329", isSidechain: false, uuid: `u${id}${second}`, timestamp: at(second), ...more })}\n`;
  const answer = (n: number, stop: string, content: object) => ({
    ...{ type: "assistant", requestId: `req_${id}${n}` },
    message: {
      ...{ id: `msg_${id}${n}`, role: "assistant", model: "claude-sonnet-4-5", content: [content], stop_reason: stop },
      usage: { input_tokens: 100, output_tokens: 10 },
    },
  });
  mkdirSync(dirname(pathOf(id)), { recursive: true });
  writeFileSync(
    pathOf(id),
    line(2, { type: "user", promptId: `p_${id}`, message: { role: "user", content: "go on" } }) +
      line(3, answer(1, "tool_use", { type: "tool_use", id: `t_${id}`, name: "mcp__db__query", input: {} })) +
      line(4, {
        ...{ type: "user", promptId: `p_${id}`, toolUseResult: { structuredContent: result } },
        message: { role: "user", content: [{ tool_use_id: `t_${id}`, type: "tool_result", content: "rows" }] },
      }) +
      line(5, answer(2, "end_turn", { type: "text", text: "done" })),
  );
  const shared = { session_id: id, transcript_path: pathOf(id), cwd: "/home/dev/shop" };
  for (const [second, event, more] of [
    [1, "SessionStart", { source: "startup" }],
    [2, "UserPromptSubmit", { prompt_id: `p_${id}`, prompt: "go on" }],
    [6, "Stop", { prompt_id: `p_${id}` }],
    [7, "SessionEnd", { reason: "other" }],
  ] as const) {
    replay.put({ received_at: at(second), event, stdin: { ...shared, hook_event_name: event, ...more } });
  }
}

const spansOf = (id: string): number => {
  const db = openDatabase(replay.places.storePath);
  const row = db
    .prepare("SELECT count(*) AS n FROM spans p JOIN sessions s ON s.id = p.session WHERE s.session_id = ?")
    .get(id);
  db.close();
  return Number(row?.["n"]);
};

async function remarks(): Promise<string> {
  const { context } = contextAt(replay.places);
  const status = await collectStatus(context);
  const examined = await examinedOf(context);
  const findings = [...storeFindings({ ...examined, checked: await checkStore(examined.facts) })];
  const [said] = status.remarks.filter((line) => line.startsWith("set aside"));
  expect(findings.map(({ text }) => text)).toContain(said);
  return said ?? "";
}

describe("a line with more values than fit in memory", () => {
  test.each([
    ["numbers", "0"],
    ["empty objects", "{}"],
    ["lists", '["a"]'],
  ])("of %s loses its large value and nothing else", async (_, item) => {
    session(BAD, "@@");
    const many = `[${Array.from({ length: 1_100_000 }, () => item).join(",")}]`;
    writeFileSync(
      pathOf(BAD),
      readFileSync(pathOf(BAD), "utf8").replace('"@@"', () => many),
    );
    session(GOOD, "few");
    const { problems } = await replay.drain();
    expect(problems.join("\n")).toMatch(/set aside 1 record of the transcript ".*bad00000/);
    expect(spansOf(BAD)).toBe(spansOf(GOOD));
    expect(spansOf(GOOD)).toBeGreaterThan(3);
    expect(await remarks()).toMatch(/^set aside: 1 record of .*bad00000.*: it has more than \d+ values/);
  });
});

describe("a file that exceeds a limit as a whole", () => {
  let reads = 0;
  /** A reader of databases that cannot read one of them. */
  async function agents(): Promise<readonly Agent[]> {
    return (await allAgents()).map((card) => {
      if (card.source !== "claude-code") return card;
      const transcript: Agent["transcript"] = async () => {
        const { default: reader } = await (card.transcript as NonNullable<Agent["transcript"]>)();
        return {
          default: {
            ...reader,
            read: (file, ...rest) => {
              if (!file.path.includes("bad")) return reader.read(file, ...rest);
              reads++;
              throw new ExcessError("a query of it takes too long");
            },
          },
        };
      };
      return { ...card, transcript };
    });
  }

  test("is set aside, and read again when it changes or after an update", async () => {
    reads = 0;
    session(BAD, "few");
    session(GOOD, "few");
    const deps = { agents: await agents() };
    await replay.drain({}, deps);
    expect([spansOf(BAD), spansOf(GOOD) > 3, reads]).toEqual([0, true, 1]);
    expect(await remarks()).toMatch(
      /^set aside: .*bad00000.*: a query of it takes too long; the file is read again when/,
    );
    await replay.drain({}, deps);
    expect(reads).toBe(1);
    appendFileSync(pathOf(BAD), "\n");
    await replay.drain({}, deps);
    expect(reads).toBe(2);
    await replay.drain({}, { ...deps, version: "0.0.1-test" });
    expect(reads).toBe(3);
    await replay.drain({}, { version: "0.0.2-test" });
    expect(spansOf(BAD)).toBe(spansOf(GOOD));
    expect((await collectStatus(contextAt(replay.places).context)).failed).toEqual([]);
  });
});

describe("drains that died while they read", () => {
  const stores = temporaryStores();
  const FILE = "/repo/.crush/crush.db#s1";
  const LEFT = { pid: 1, host: "h", start: "1", sinceMs: 0, stepMs: 0, beatMs: 0 };

  /** The next drain, after one died at these files. */
  function died(
    db: Drain["db"],
    files: readonly string[],
    more: Partial<Drain> = {},
    step: LockHolder["step"] = "read",
  ): Drain {
    const left = { ...LEFT, step, files };
    const drain = { db, version: "1.0.0", now: () => 0, log: () => {}, progress: { ...NO_PROGRESS, left }, ...more };
    noteDeath(drain as unknown as Drain);
    return drain as unknown as Drain;
  }

  test("read files one at a time then, and the one at which two died is set aside", () => {
    const db = stores.open();
    const first = died(db, ["/a.jsonl", FILE]);
    expect([isCautious(first), reasonSetAside(first, FILE)]).toEqual([true, undefined]);
    const second = died(db, [FILE]);
    expect(reasonSetAside(second, FILE, () => ({ sizeBytes: 9, modifiedMs: 9 }))).toMatch(/two drains died/);
    expect(reasonSetAside(second, "/a.jsonl")).toBeUndefined();
    expect(reasonSetAside({ ...second, version: "1.0.1" }, FILE)).toBeUndefined();
    expect(reasonSetAside({ ...second, now: () => 86_400_001 }, FILE)).toBeUndefined();
  });

  test("a database of which a query did not return is set aside at once, and not opened", async () => {
    const db = stores.open();
    const database = join(replay.home, "crush.db");
    mkdirSync(replay.home, { recursive: true });
    const progress = {
      ...NO_PROGRESS,
      left: { ...LEFT, step: "read", files: ["/a.jsonl", FILE], database, isHung: true },
    } as const;
    const first = died(db, [], { progress });
    expect([isCautious(first), reasonSetAside(first, "/a.jsonl")]).toEqual([false, undefined]);
    writeFileSync(database, "");
    const open = () => databaseWatch(first).open(database);
    await expect(open()).rejects.toThrow("a query of it did not return");
    await expect(databaseWatch({ ...first, now: () => 86_400_001 }).open(database)).resolves.toBeDefined();
  });

  test("a file that was read further meanwhile is not the cause", () => {
    const db = stores.open();
    const { id } = ensureSession(db, "claude-code", "s", 0);
    died(db, [FILE]);
    setPosition(db, id, FILE, { offset: { bytes: 5, memo: {} }, sizeBytes: 9, modifiedMs: 9 }, 0);
    expect(reasonSetAside(died(db, [FILE]), FILE)).toBeUndefined();
  });

  test("nor is one after a drain that ended by itself, or that died elsewhere", () => {
    const db = stores.open();
    const drain = died(db, [FILE]);
    forgetDeath(drain);
    died(db, [FILE], {}, "send");
    died(db, [FILE], {}, "import");
    died(db, [FILE]);
    expect(reasonSetAside(drain, FILE)).toBeUndefined();
  });

  /** Stores a session with an open turn of this many records. @returns what a drain that builds it notes about it */
  function building(db: Drain["db"], sessionId: string, records: number, more: Partial<Drain> = {}): string[] {
    const session = ensureSession(db, "claude-code", sessionId, 0);
    const use = (n: number) =>
      ({ kind: "tool_use", key: `use:${n}`, callId: `${n}`, name: "Bash", timeMs: n }) as const;
    const entries = Array.from({ length: records }, (_, n) => use(n));
    db.transaction(() => addEntries(db, session, entries));
    const noted: string[] = [];
    const note = (_: string, file?: string) => noted.push(...(file === undefined ? [] : [file]));
    const drain = { db, version: "1.0.0", now: () => 0, progress: { ...NO_PROGRESS, note }, ...more };
    noteBuild(drain as unknown as Drain, session.id);
    return noted;
  }

  test("while they built a large session: it is not built until a day later or another version", () => {
    const db = stores.open();
    died(db, building(db, "large", 6_000), {}, "build");
    died(db, building(db, "large", 6_000), {}, "build");
    expect(() => building(db, "large", 6_000)).toThrow(/two drains died while they built it.*6000 records/);
    expect(building(db, "other", 6_000)).toHaveLength(1);
    expect(building(db, "large", 6_000, { version: "1.0.1" })).toHaveLength(1);
    expect(building(db, "large", 6_000, { now: () => 86_400_001 })).toHaveLength(1);
  });

  test("a large session is built again if the drain ended by itself, and a small one always", () => {
    const db = stores.open();
    forgetDeath(died(db, building(db, "large", 6_000), {}, "build"));
    died(db, building(db, "large", 6_000), {}, "build");
    expect(building(db, "large", 6_000)).toHaveLength(1);
    died(db, [FILE]);
    for (const _ of [1, 2, 3]) died(db, building(db, "small", 10), {}, "build");
    expect(building(db, "small", 10)).toEqual([]);
    expect(reasonSetAside(died(db, [FILE]), FILE), "they change nothing about a file").toMatch(/two drains died/);
  });
});

test("a database that another process keeps locked is waited for once per drain", async () => {
  const path = join(replay.home, "crush.db");
  const other = new Libsql(path);
  other.exec("CREATE TABLE sessions (id TEXT); BEGIN EXCLUSIVE");
  const drain = { db: openDatabase(join(replay.home, "store.db")), version: "1", now: () => 0, progress: NO_PROGRESS };
  const read = () => queryDatabase({ path, tables: ["sessions"] }, (db) => db.all("SELECT id FROM sessions"));
  await watchingDatabases(databaseWatch(drain), async () => {
    await expect(read()).rejects.toThrow("locked");
    other.exec("COMMIT");
    await expect(read()).rejects.toThrow("locked");
  });
  await watchingDatabases(databaseWatch(drain), async () => expect(await read()).toEqual([]));
  other.close();
  drain.db.close();
});

test("a drain started by hand says for whom it waits", async () => {
  const said: string[] = [];
  let nowMs = Date.now();
  const sleep = async (): Promise<void> => {
    nowMs += 5_000;
  };
  const deps = await replay.deps({ now: () => nowMs, sleep });
  let passes = 0;
  await withDrainLock(lockOf(replay.places.stateDir), async (_, progress) => {
    // The drains that wait ask for a further pass
    if (++passes > 1) return;
    progress.enter("/repo/.crush/crush.db");
    const report = await drainNow(deps, { endIdle: false, quiet: false, onWait: (text) => said.push(text) });
    expect(report).toBeUndefined();
    await drainNow(deps, { endIdle: false, quiet: true, onWait: (text) => said.push(text) });
  });
  expect(said).toEqual([
    expect.stringMatching(
      /^another drain is running \(process \d+, for \d+ s, reading \/repo\/\.crush\/crush\.db for \d+ s/,
    ),
  ]);
});
