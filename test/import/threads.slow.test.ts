// Slow: only `npm run test:all` runs it. Imports with reader threads; import/same.test.ts reads in one.
import { utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { ReadResult, ReadTask } from "#collect/import/read.ts";
import { type Readers, readersInThisThread, readersInThreads } from "#collect/import/readers.ts";
import { redact } from "#core/privacy/redact.ts";
import { readStore } from "#store/read-only.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { claudePath, claudeSession, sessionIdOf, writeLines } from "./claude.ts";
import { recordedCases, recordedHome } from "./home.ts";
import { importInto } from "./run.ts";

await ensureBuilt();
const agents = await allAgents();
const here = readersInThisThread((source) => agents.find((agent) => agent.source === source), {
  redact,
  redactName: redact,
  redactSecrets: redact,
});
const READER = join(dirname(PROGRAM), "reader.cjs");
const REDACTION = { emails: true, homeDirectories: true, rules: {} };
const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
/** Except one whose calls have ids from their inputs: those contain the home, which differs per import. */
const cases = (await recordedCases()).filter(
  ({ source, name }) => (source === "claude-code" && name !== "older-version-2.0.14") || source === "codex",
);

/** Everything that an import has stored about sessions. */
async function imported(of: (typeof cases)[number], readers: (home: string) => Readers): Promise<unknown> {
  const { replay, home } = await recordedHome(of);
  return importedFrom(replay, of.source, () => readers(home));
}

/** The same, from the home of a temporary replay. */
async function importedFrom(replay: Replay, source: string, readers: () => Readers): Promise<unknown> {
  try {
    const report = await importInto(replay, source, { readers });
    expect(report.problems).toEqual([]);
    // Paths of edited files have it, and it differs per import
    const homeInHex = Buffer.from(basename(replay.home)).toString("hex").toUpperCase();
    return readStore(replay.places.storePath, (db) =>
      [
        "SELECT session, hex(body) AS body FROM packed",
        "SELECT * FROM packed_usage",
        "SELECT * FROM packed_tools",
        "SELECT * FROM packed_turns",
        "SELECT session, start_ms, end_ms, totals FROM segments",
      ].map((sql) =>
        db
          .prepare(sql)
          .all()
          .map((row) => JSON.stringify({ ...row, _metadata: undefined }).replaceAll(homeInHex, ""))
          .sort(),
      ),
    );
  } finally {
    replay.remove();
  }
}

test.each(cases)("$source, $name: reading in threads gives the same result as without", async (one) => {
  const inThreads = (home: string): Readers => readersInThreads(READER, 2, { redaction: REDACTION, home }, here);
  expect(await imported(one, inThreads)).toEqual(await imported(one, () => here));
});

describe("many sessions, of which two in three start with a copy of the previous one", () => {
  const from = (readers: (home: string) => Readers): Promise<unknown> => {
    const replay = new Replay("claude-code", "basic", { withTranscripts: false });
    let before: readonly string[] = [];
    for (let n = 0; n < 300; n++) {
      const id = sessionIdOf(n);
      const { lines } = claudeSession({ id, startMs: STARTED_MS + n * 60_000, turns: 1 });
      const copied = before.map((line) => line.replace(/"sessionId":"[^"]*"/, `"sessionId":"${id}"`));
      before = n % 3 === 0 ? lines : [...copied, ...lines];
      writeLines(claudePath(replay, id), before);
      utimesSync(claudePath(replay, id), n + 1, n + 1);
    }
    return importedFrom(replay, "claude-code", () => readers(replay.home));
  };
  let alone: unknown;
  beforeAll(async () => {
    alone = await from(() => here);
  });

  test("are handled in order, whichever thread reads first", async () => {
    const requested: {
      readonly tasks: readonly ReadTask[];
      readonly done: (read: Promise<readonly ReadResult[]>) => void;
    }[] = [];
    let helped = 0;
    const idle: Readers = {
      ...here,
      concurrency: 6,
      read: (tasks) => new Promise((done) => requested.push({ tasks, done })),
      readUnstarted: async () => {
        const last = requested.pop();
        if (last === undefined) return false;
        helped++;
        last.done(here.read(last.tasks));
        return true;
      },
    };
    expect(await from(() => idle)).toEqual(alone);
    expect(helped).toBeGreaterThan(5);
  });

  test("are read once, by threads and by the main thread", async () => {
    const read: string[] = [];
    const helping: Readers = {
      ...here,
      read: (tasks) => {
        read.push(...tasks.map(({ sessionId }) => sessionId));
        return here.read(tasks);
      },
    };
    const inThreads = (home: string): Readers => readersInThreads(READER, 2, { redaction: REDACTION, home }, helping);
    expect(await from(inThreads)).toEqual(alone);
    expect(read.length).toBe(new Set(read).size);
  });
});

test("a session whose thread fails is read by the main thread, and later ones by a replacement thread", async () => {
  const [of] = cases;
  if (of === undefined) throw new Error("there is no recording");
  const requested: string[] = [];
  const last: Readers = {
    ...here,
    read: (tasks) => here.read(tasks).finally(() => requested.push(...tasks.map(({ sessionId }) => sessionId))),
  };
  // An unloadable module dies immediately
  const dying = readersInThreads(
    join(dirname(PROGRAM), "no-such-reader.cjs"),
    1,
    { redaction: REDACTION, home: "/" },
    last,
  );
  expect(await imported(of, () => dying)).toEqual(await imported(of, () => here));
  expect(requested.length).toBeGreaterThan(0);
});
