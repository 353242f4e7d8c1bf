// A process of the agent ends or is killed, and another one continues the session hours later: no segment contains the hours between
// if any fact shows the second start.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { importInto } from "../import/run.ts";
import { Replay } from "../support/replay.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const HOURS_MS = 14 * 3_600_000;
const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Changes every line of the transcripts. */
function rewrite(of: Replay, change: (line: string) => string | undefined): void {
  for (const name of readdirSync(of.home, { recursive: true, encoding: "utf8" })) {
    const path = join(of.home, name);
    if (!name.endsWith(".jsonl") || !statSync(path).isFile()) continue;
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, lines.flatMap((line) => change(line) ?? []).join("\n"));
  }
}

const later =
  (fromMs: number) =>
  (line: string): string =>
    line.replace(ISO, (text) => {
      const ms = Date.parse(text);
      return ms < fromMs ? text : new Date(ms + HOURS_MS).toISOString();
    });

function segments(of: Replay): readonly { startMs: number; endMs: number; turns: number }[] {
  const db = openDatabase(of.places.storePath);
  try {
    return db
      .prepare(
        `SELECT start_ms, end_ms, (SELECT count(*) FROM turns t WHERE t.session = s.session AND t.segment = s.ordinal) AS turns
         FROM segments s ORDER BY session, ordinal`,
      )
      .all()
      .map((row) => ({
        startMs: Number(row["start_ms"]),
        endMs: Number(row["end_ms"]),
        turns: Number(row["turns"]),
      }));
  } finally {
    db.close();
  }
}

/** The result that the second process writes for the call that was open. */
const isOfOpenCall = (line: string): boolean =>
  line.includes("[Tool call interrupted") ||
  (line.includes("tool.execution_complete") && line.includes('"interrupted"'));

const KILLED = "killed-then-resumed";
test.each([
  ["copilot", KILLED, "2026-11-21T12:23:10.000Z", "a separate line", 2],
  ["gemini-cli", KILLED, "2026-11-21T12:20:21.000Z", "another head", 2],
  // Its first two starts are within ten seconds of each other, like the late hook of a start
  ["gemini-cli", "multi-turn", "2026-11-21T05:44:52.000Z", "another head", 2],
  ["claude-code", KILLED, "2026-11-21T08:56:59.000Z", "another version", 2],
  ["claude-code", KILLED, "2026-11-21T08:56:59.000Z", "nothing", 1],
] as const)(
  "an import of %s %s, continued after %s, finds the second start by %s",
  async (source, name, from, by, count) => {
    const fromMs = Date.parse(from);
    replay = new Replay(source, name);
    const shifted = later(fromMs);
    rewrite(replay, (line) => {
      if (isOfOpenCall(line)) return undefined;
      const moved = shifted(line);
      return by === "another version" && moved !== line
        ? moved.replace(/"version":"[\d.]+"/, '"version":"2.9.9"')
        : moved;
    });
    await importInto(replay, source);
    const found = segments(replay);
    expect(found.length).toBe(count);
    const longestMs = Math.max(...found.map(({ startMs, endMs }) => endMs - startMs));
    // Nothing shows it: docs/sessions.md says so
    if (by === "nothing") expect(longestMs).toBeGreaterThan(HOURS_MS);
    else expect(longestMs).toBeLessThan(60_000);
  },
);

test.each([
  ["copilot", "older-version-1.0.60-resumed-then-killed"],
  ["copilot", "older-version-1.0.75-resumed-then-killed"],
])(
  "%s %s, by hooks alone: a prompt that arrives before the start of its process belongs to it",
  async (source, name) => {
    replay = new Replay(source, name, { withTranscripts: false });
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true });
    const found = segments(replay);
    expect(found.map(({ turns }) => turns)).toEqual([1, 1, 1]);
    for (const [i, { startMs }] of found.slice(1).entries()) {
      expect(startMs).toBeGreaterThanOrEqual(found[i]?.endMs ?? Number.NaN);
    }
  },
);
