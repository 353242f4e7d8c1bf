// Sessions that begin with a copy of another's, and sessions that change after they were imported.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import claudeCode from "#agents/claude-code/index.ts";
import { type Readers, readersInThisThread } from "#collect/import/readers.ts";
import { redact } from "#core/privacy/redact.ts";
import type { Database } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";
import { claudePath, claudeSession, plus, sessionIdOf, type Totals, writeLines } from "./claude.ts";
import { importInto, unpackAll } from "./run.ts";
import { packedCount, storedTotals } from "./totals.ts";

const SOURCE = "claude-code";
const DAY_MS = 24 * 3_600_000;
const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");

let at: Replay;
beforeEach(() => {
  at = new Replay(SOURCE, "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

const stored = (): Totals => storedTotals(at.places.storePath);
const of = (report: Awaited<ReturnType<typeof importInto>>) => report.agents.get(SOURCE);

/** A session, and one that was resumed or forked from it by a version that copies earlier content. */
const [A, B] = [sessionIdOf(1), sessionIdOf(2)];
const first = claudeSession({ id: A, startMs: STARTED_MS, turns: 3 });
const own = claudeSession({ id: B, startMs: STARTED_MS + DAY_MS, turns: 2 });
const copied = [
  ...first.lines.map((line) => line.replaceAll(`"sessionId":"${A}"`, `"sessionId":"${B}"`)),
  ...own.lines,
];
const BOTH = plus(first.totals, own.totals);

const WHOLE = { a: first.lines, b: copied };
let lines: { readonly a: readonly string[]; readonly b: readonly string[] } = WHOLE;
afterEach(() => {
  lines = WHOLE;
});
const writeA = (): void => writeLines(claudePath(at, A), lines.a);
const writeB = (): void => writeLines(claudePath(at, B), lines.b);
const touch = (id: string, timeMs: number): void => utimesSync(claudePath(at, id), timeMs / 1_000, timeMs / 1_000);
const imported = async (): Promise<void> => {
  expect(await importInto(at, SOURCE)).toMatchObject({ problems: [] });
};

/** What an agent with our hook reports about a finished session. */
async function reportByHooks(id: string, timeMs: number): Promise<void> {
  const stdin = { session_id: id, transcript_path: claudePath(at, id), cwd: "/home/dev/acme-shop", reason: "other" };
  at.put({
    received_at: new Date(timeMs).toISOString(),
    event: "SessionEnd",
    stdin: { hook_event_name: "SessionEnd", ...stdin },
  });
  await at.drain();
}
const hooksA = (): Promise<void> => reportByHooks(A, STARTED_MS + 3_600_000);
const hooksB = (): Promise<void> => reportByHooks(B, STARTED_MS + DAY_MS + 3_600_000);

describe("unchanged imports are read again on request, or if another version read them", () => {
  const owned = (): number =>
    readStore(at.places.storePath, (db) =>
      Number(db.prepare("SELECT total(length(digests)) AS n FROM packed_owners").get()?.["n"]),
    ) ?? 0;

  test("copies still count once, and nothing grows", async () => {
    writeA();
    writeB();
    await imported();
    const before = owned();
    for (const _ of [1, 2]) {
      expect(of(await importInto(at, SOURCE, { again: true }))).toMatchObject({ found: 2, imported: 2, again: 2 });
      expect(stored()).toEqual(BOTH);
      expect(owned()).toBe(before);
    }
    expect(of(await importInto(at, SOURCE))).toMatchObject({ unchanged: 2, again: 0 });
    expect(of(await importInto(at, SOURCE, { dryRun: true, again: true }))).toMatchObject({ imported: 2, again: 2 });
  });

  test("by another version, once; reported and sent figures do not change", async () => {
    writeA();
    writeB();
    await importInto(at, SOURCE, {}, "0.0.0-before");
    const since = { sinceMs: STARTED_MS + 40 * DAY_MS };
    expect(of(await importInto(at, SOURCE, since))).toMatchObject({ again: 0 });
    expect(of(await importInto(at, SOURCE, { dryRun: true }))).toMatchObject({ again: 2 });
    await hooksA();
    expect(of(await importInto(at, SOURCE))).toMatchObject({ unchanged: 1, again: 1 });
    expect(of(await importInto(at, SOURCE))).toMatchObject({ unchanged: 2, again: 0 });
    await unpackAll(at, SOURCE);
    expect(of(await importInto(at, SOURCE, { again: true }, "0.0.0-later"))).toMatchObject({ unchanged: 2, again: 0 });
    expect(stored()).toEqual(BOTH);
  });

  test("by a version with --since: the newer sessions once, the others when it reads them", async () => {
    writeA();
    writeB();
    touch(A, STARTED_MS);
    const since = { sinceMs: STARTED_MS + DAY_MS };
    for (const version of ["0.0.0-before", "0.0.0-later"]) {
      const inNewer = async () => of(await importInto(at, SOURCE, since, version));
      const isFirst = version === "0.0.0-before";
      expect(await inNewer()).toMatchObject({ imported: 1, again: isFirst ? 0 : 1 });
      expect(await inNewer()).toMatchObject({ imported: 0, unchanged: 1 });
      expect(of(await importInto(at, SOURCE, {}, version))).toMatchObject({ imported: 1, unchanged: 1 });
      expect(of(await importInto(at, SOURCE, {}, version))).toMatchObject({ imported: 0, unchanged: 2 });
      expect(stored()).toEqual(BOTH);
    }
  });

  test("by another version, once, even if a folder is unreadable", async () => {
    writeA();
    const loop = join(dirname(dirname(claudePath(at, A))), "loop");
    symlinkSync(loop, loop);
    for (const version of ["0.0.0-before", "0.0.0-later"]) {
      const reported = await importInto(at, SOURCE, {}, version);
      expect(reported.unseen).toBe(1);
      expect(of(reported)).toMatchObject({ imported: 1 });
      expect(of(await importInto(at, SOURCE, {}, version))).toMatchObject({ imported: 0, unchanged: 1 });
    }
  });
});

describe("content that one session copied from another counts once", () => {
  const WAYS: Readonly<Record<string, () => Promise<void>>> = {
    "both together": async () => {
      writeA();
      writeB();
      await imported();
    },
    "both together, the copy found first": async () => {
      writeB();
      writeA();
      utimesSync(claudePath(at, B), 1_000, 1_000);
      await imported();
    },
    "one after the other": async () => {
      writeA();
      await imported();
      writeB();
      await imported();
    },
    "the copy first": async () => {
      writeB();
      await imported();
      writeA();
      await imported();
    },
    "the original by hooks, the copy imported": async () => {
      writeA();
      await hooksA();
      writeB();
      await imported();
    },
    "the original imported, the copy by hooks": async () => {
      writeA();
      await imported();
      writeB();
      await hooksB();
    },
    "the copy by hooks, the original imported": async () => {
      writeB();
      await hooksB();
      writeA();
      await imported();
    },
    "the copy imported, the original by hooks": async () => {
      writeB();
      await imported();
      writeA();
      await hooksA();
    },
  };
  async function countsOnce(way: string, totals: Totals): Promise<void> {
    await WAYS[way]?.();
    expect(stored()).toEqual(totals);
    await imported();
    expect(stored()).toEqual(totals);
    await unpackAll(at, SOURCE);
    expect(stored()).toEqual(totals);
    expect(packedCount(at.places.storePath)).toBe(0);
  }
  test.each(firstOf(Object.keys(WAYS), 5))("%s", (way) => countsOnce(way, BOTH));

  test.each(firstOf(Object.keys(WAYS), 1))("ignores a killed call's result that only the copy has: %s", async (way) => {
    const result = copied[4]?.replace(/"content":"x+"/, `"content":"[Tool use interrupted]"`) ?? "";
    lines = { a: first.lines.slice(0, 4), b: [...copied.slice(0, 4), result, ...own.lines] };
    const calls = { calls: 2, input: 2_221, output: 41, cacheRead: 2_000, cacheWrite: 201, tools: 2 };
    await countsOnce(way, plus({ sessions: 1, turns: 1, ...calls }, own.totals));
  });

  describe("lines with own ids that name the ids they were copied from", () => {
    /** As the Agent SDK's `forkSession` writes it: the given lines of a session. */
    const fork = (lines: readonly string[], from: string, id: string): readonly string[] =>
      lines.map((line) => {
        const { uuid, ...rest } = JSON.parse(line) as { readonly uuid: string };
        const forkedFrom = { sessionId: from, messageUuid: uuid };
        return JSON.stringify({ ...rest, uuid: `${id}+${uuid}`, sessionId: id, forkedFrom });
      });
    const C = sessionIdOf(3);
    const third = claudeSession({ id: C, startMs: STARTED_MS + 2 * DAY_MS, turns: 1 });
    const forkB = [...fork(first.lines, A, B), ...own.lines];
    const ALL = plus(BOTH, third.totals);

    test("a fork of a fork, found in any order", async () => {
      writeA();
      writeLines(claudePath(at, B), forkB);
      writeLines(claudePath(at, C), [...fork(forkB, B, C), ...third.lines]);
      await imported();
      expect(stored()).toEqual(ALL);
      await unpackAll(at, SOURCE);
      expect(stored()).toEqual(ALL);
    });

    test("a fork of a fork, reported by hooks", async () => {
      writeA();
      await hooksA();
      writeLines(claudePath(at, B), forkB);
      await hooksB();
      writeLines(claudePath(at, C), [...fork(forkB, B, C), ...third.lines]);
      await reportByHooks(C, STARTED_MS + 3 * DAY_MS);
      expect(stored()).toEqual(ALL);
    });

    test.each(["imported", "by hooks"])("the original is found last, %s", async (way) => {
      writeLines(claudePath(at, B), forkB);
      await imported();
      expect(stored()).toEqual({ ...BOTH, sessions: 1 });
      writeA();
      await (way === "imported" ? imported() : hooksA());
      expect(stored()).toEqual(BOTH);
    });
  });

  test("a compaction that both sessions contain", async () => {
    const boundary = (id: string): string =>
      JSON.stringify({
        type: "system",
        subtype: "compact_boundary",
        uuid: "c0ffee00-0000-4000-8000-000000000001",
        timestamp: new Date(STARTED_MS + 7_200_000).toISOString(),
        sessionId: id,
      });
    writeLines(claudePath(at, A), [...first.lines, boundary(A)]);
    await imported();
    writeLines(claudePath(at, B), [
      ...copied.slice(0, first.lines.length),
      boundary(B),
      ...copied.slice(first.lines.length),
    ]);
    await imported();
    await unpackAll(at, SOURCE);
    const kept = (db: Database) => db.prepare("SELECT count(*) AS n FROM entries WHERE kind = 'compaction'").get();
    expect(readStore(at.places.storePath, kept)?.["n"]).toBe(1);
  });

  test.each(["fork", "killed-then-resumed", "older-version-2.0.77"])("as recorded: %s", async (name) => {
    const recorded = new Replay(SOURCE, name);
    try {
      const { sessions } = JSON.parse(
        readFileSync(join(import.meta.dirname, "..", "agents", SOURCE, name, "expected.json"), "utf8"),
      ) as { readonly sessions: readonly { readonly totals: Readonly<Record<string, number>> }[] };
      const sum = (key: string): number => sessions.reduce((n, { totals }) => n + (totals[key] ?? 0), 0);
      expect(await importInto(recorded, SOURCE)).toMatchObject({ problems: [] });
      const { input, cacheRead } = storedTotals(recorded.places.storePath);
      expect({ input, cacheRead }).toEqual({ input: sum("input"), cacheRead: sum("cache_read") });
    } finally {
      recorded.remove();
    }
  });
});

describe("a session that changed after it was imported", () => {
  const whole = claudeSession({ id: A, startMs: STARTED_MS, turns: 5 });
  const shorter = first.lines.length;

  test("further turns are added, and it stays one session", async () => {
    writeA();
    await imported();
    expect(stored()).toEqual(first.totals);
    writeLines(claudePath(at, A), whole.lines.slice(0, shorter));
    writeLines(claudePath(at, A), whole.lines);
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ imported: 1, unchanged: 0, fromHooks: 0 });
    expect(stored()).toEqual(whole.totals);
    expect(packedCount(at.places.storePath)).toBe(1);
  });

  test("an incomplete line at the end is completed later", async () => {
    const [last = ""] = whole.lines.slice(-1);
    for (const end of [last.slice(0, 100), last.slice(0, -1)]) {
      writeFileSync(ensured(claudePath(at, A)), `${whole.lines.slice(0, -1).join("\n")}\n${end}`);
      expect(of(await importInto(at, SOURCE)), "it may be written right now").toMatchObject({ unfinished: 0 });
      expect(stored().output).toBeLessThan(whole.totals.output);
      touch(A, STARTED_MS);
      expect(of(await importInto(at, SOURCE))).toMatchObject({ imported: 1, unfinished: 1 });
      expect(stored().output).toBeLessThan(whole.totals.output);
    }
    writeLines(claudePath(at, A), whole.lines);
    touch(A, STARTED_MS);
    expect(of(await importInto(at, SOURCE))).toMatchObject({ imported: 1, unfinished: 0 });
    expect(stored()).toEqual(whole.totals);
  });

  test("a subagent's file appears beside it", async () => {
    writeA();
    await imported();
    const agent = claudeSession({ id: A, startMs: STARTED_MS + 10_000, turns: 1, steps: 2 });
    const path = join(dirname(claudePath(at, A)), A, "subagents", "agent-a1b2c3d.jsonl");
    writeLines(
      path,
      agent.lines.map((line) =>
        line
          .replace('"isSidechain":false', '"isSidechain":true,"agentId":"a1b2c3d"')
          .replaceAll(/(msg|req|toolu)_/g, "$1_sub_"),
      ),
    );
    await imported();
    const { input, output, calls, sessions } = stored();
    const both = plus(first.totals, agent.totals);
    expect({ input, output, calls, sessions }).toEqual({
      input: both.input,
      output: both.output,
      calls: both.calls,
      sessions: 1,
    });
  });

  test("cut short and rewritten: earlier usage stays counted", async () => {
    writeLines(claudePath(at, A), whole.lines);
    await imported();
    const again = claudeSession({ id: A, startMs: STARTED_MS + DAY_MS, turns: 1 });
    const renamed = again.lines.map((line) => line.replaceAll(`_${A}_`, "_again_").replaceAll(`${A}-`, "again-"));
    writeLines(claudePath(at, A), renamed);
    await imported();
    expect(stored()).toEqual({ ...plus(whole.totals, again.totals), sessions: 1 });
    writeLines(claudePath(at, A), []);
    await importInto(at, SOURCE);
    expect(stored()).toEqual({ ...plus(whole.totals, again.totals), sessions: 1 });
  });

  test("a session whose file was deleted stays imported", async () => {
    writeA();
    await imported();
    rmSync(claudePath(at, A));
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ found: 0 });
    expect(stored()).toEqual(first.totals);
  });

  test("the same session in two folders is one session", async () => {
    writeA();
    const elsewhere = claudePath(at, A).replace("-home-dev-acme-shop", "-home-dev-moved");
    mkdirSync(dirname(elsewhere), { recursive: true });
    cpSync(claudePath(at, A), elsewhere);
    await imported();
    expect(stored()).toEqual(first.totals);
    await imported();
    expect(stored()).toEqual(first.totals);
  });
});

describe("a session that cannot be read", () => {
  const three = [1, 2, 3].map((n) => claudeSession({ id: sessionIdOf(n), startMs: STARTED_MS + n * DAY_MS, turns: n }));
  const [one, , third] = three;
  const bad = (): string => claudePath(at, sessionIdOf(2));
  const OTHERS = plus(one?.totals ?? BOTH, third?.totals ?? BOTH);

  const HOW: Readonly<Record<string, () => void>> = {
    "deleted before it is read": () => {},
    "containing only incomplete JSON": () => writeFileSync(bad(), '{"type":"user","message\n{"type":\n'),
  };

  test.each(Object.keys(HOW))("%s: the others are imported; it is reported and retried", async (how) => {
    for (const [i, { lines }] of three.entries()) writeLines(claudePath(at, sessionIdOf(i + 1)), lines);
    HOW[how]?.();
    for (const sinceMs of [undefined, STARTED_MS - DAY_MS]) {
      const report = await importInto(at, SOURCE, {
        ...(sinceMs !== undefined && { sinceMs }),
        ...(how.startsWith("deleted") && { readers: () => hiding(bad()) }),
      });
      expect(of(report)).toMatchObject({ found: 3, failed: 1, leftOut: 0, older: 0 });
      expect(report.problems.join("\n")).toContain(sessionIdOf(2));
      expect(stored()).toEqual(OTHERS);
    }
    rmSync(bad(), { force: true });
    writeLines(bad(), three[1]?.lines ?? []);
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ found: 3, imported: 1, unchanged: 2, failed: 0 });
    expect(report.problems).toEqual([]);
    expect(stored()).toEqual(plus(...three.map(({ totals }) => totals)));
  });

  test("a directory in its place is not a session", async () => {
    for (const [i, { lines }] of three.entries()) if (i !== 1) writeLines(claudePath(at, sessionIdOf(i + 1)), lines);
    mkdirSync(bad());
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ imported: 2 });
    expect(stored()).toEqual(OTHERS);
  });

  test("an unreadable folder is reported", async () => {
    for (const [i, { lines }] of three.entries()) writeLines(claudePath(at, sessionIdOf(i + 1)), lines);
    rmSync(dirname(bad()), { recursive: true });
    symlinkSync(dirname(bad()), dirname(bad()));
    const report = await importInto(at, SOURCE);
    expect(report.problems.join("\n")).toContain("could not look");
  });

  test("a file without facts about a session creates none", async () => {
    writeLines(bad(), ['{"type":"summary","summary":"said","leafUuid":"a"}']);
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ found: 1, imported: 0, leftOut: 1, failed: 0 });
    expect(stored().sessions).toBe(0);
    // Now it begins, without a hook: it is imported, and not sent
    writeLines(bad(), three[1]?.lines ?? []);
    expect(of(await importInto(at, SOURCE))).toMatchObject({ imported: 1, fromHooks: 0 });
    expect(packedCount(at.places.storePath)).toBe(1);
  });
});

// --- internal ---

/** Readers for which one file is missing while they read it, as when its agent is just replacing it. */
function hiding(path: string): Readers {
  const readers = readersInThisThread((source) => [claudeCode].find((agent) => agent.source === source), {
    redact,
    redactName: redact,
    redactSecrets: redact,
  });
  return {
    ...readers,
    read: async (tasks) => {
      const isHidden = tasks.some(({ files }) => files.some((file) => file.path === path));
      if (isHidden) renameSync(path, `${path}.hidden`);
      const results = await readers.read(tasks);
      if (isHidden) renameSync(`${path}.hidden`, path);
      return results;
    },
  };
}

function ensured(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  return path;
}
