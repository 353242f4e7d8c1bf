// One session in several files: a stub beside the conversation, or other lines in each, whichever was written or reported last.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { type RecordedHome, recordedCases, recordedHome } from "../import/home.ts";
import { importInto } from "../import/run.ts";
import { storedTotals } from "../import/totals.ts";
import { clockAt } from "../support/clock.ts";
import { locateAll } from "../support/located.ts";
import fc from "../support/properties.ts";
import { summaryOf } from "../support/summary.ts";
import { firstOf } from "../support/whole.ts";

interface Layout {
  readonly source: string;
  /** Where a second file of the session can be. */
  readonly elsewhere: (path: string, home: string) => string;
  /** How many lines each file begins with. */
  readonly headLines: number;
  readonly stub: (lines: readonly string[]) => readonly string[];
}

const LAYOUTS: readonly Layout[] = [
  {
    source: "claude-code",
    elsewhere: (path) => join(dirname(dirname(path)), "-home-dev-acme-shop--claude-worktrees-feat", basename(path)),
    headLines: 0,
    stub: () => ['{"type":"bridge-session","bridgeSessionId":"cse_01","timestamp":"2026-11-21T23:00:00.000Z"}'],
  },
  {
    source: "codex",
    elsewhere: (path, home) => join(home, ".codex", "archived_sessions", basename(path)),
    headLines: 1,
    stub: (lines) => lines.slice(0, 1),
  },
  {
    source: "gemini-cli",
    elsewhere: (path, home) => join(home, ".gemini", "tmp", "2273ed3494a8b696".repeat(4), "chats", basename(path)),
    headLines: 1,
    stub: (lines) => lines.slice(0, 1),
  },
];

const cases = await recordedCases();
const homes: RecordedHome[] = [];
afterEach(() => {
  for (const { replay } of homes.splice(0)) replay.remove();
});

async function recorded({ source, elsewhere }: Layout, name = "multi-turn") {
  const of = cases.find((one) => one.source === source && one.name === name);
  if (of === undefined) throw new Error(`no recording ${source}/${name}`);
  const at = await recordedHome(of);
  homes.push(at);
  const path = (await locateAll(at.reader, at.home, at.roots)).sessions[0]?.path ?? "";
  const [session] = at.expected;
  if (session === undefined) throw new Error("nothing was recorded");
  return { at, path, other: elsewhere(path, at.home), lines: linesOf(path), session };
}

const linesOf = (path: string): readonly string[] => readFileSync(path, "utf8").trimEnd().split("\n");

function put(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
}

const figures = (calls: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  calls.map(({ input, output }) => `${input}/${output}`).sort();

/** Sends all hook calls, with one of the paths, and drains once at the end. */
async function reportedBy(at: RecordedHome, path: string, reported: string): Promise<void> {
  const text = JSON.stringify(at.calls).replaceAll(
    JSON.stringify(path).slice(1, -1),
    JSON.stringify(reported).slice(1, -1),
  );
  for (const call of JSON.parse(text) as RecordedHome["calls"]) at.replay.put(call);
  const endMs = Date.parse(at.calls.at(-1)?.received_at ?? "");
  const report = await at.replay.drain({ endIdle: true }, clockAt(endMs));
  expect(report.problems).toEqual([]);
}

/** The figures of all files of a session, as a store adds them up. */
async function readAll(at: RecordedHome, sessionId: string, path: string): Promise<readonly string[]> {
  const byKey = new Map<string, TranscriptEntry>();
  for (const file of await at.reader.files({ sessionId, path, home: at.home, roots: at.roots })) {
    for await (const { entries } of at.reader.read({ ...file, roots: at.roots }, INITIAL_OFFSET)) {
      for (const entry of entries) {
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
    }
  }
  const calls = [...byKey.values()].filter((entry) => entry.kind === "model_call");
  return figures(calls.map(({ usage }) => usage ?? {}));
}

describe.each(firstOf(LAYOUTS, 1))("$source", (layout) => {
  const head = (lines: readonly string[]) => lines.slice(0, layout.headLines);
  const middle = (lines: readonly string[]) => Math.floor(lines.length / 2);
  const SHAPES: Readonly<
    Record<string, (lines: readonly string[]) => readonly [readonly string[], readonly string[]]>
  > = {
    "a stub beside the conversation": (lines) => [layout.stub(lines), lines],
    "the conversation beside a stub": (lines) => [lines, layout.stub(lines)],
    "other lines in each": (lines) => [lines.slice(0, middle(lines)), [...head(lines), ...lines.slice(middle(lines))]],
    "the later lines first": (lines) => [
      [...head(lines), ...lines.slice(middle(lines))],
      lines.slice(0, middle(lines)),
    ],
    "a copy": (lines) => [lines, lines],
  };

  describe.each(Object.keys(SHAPES))("%s: all lines count once", (shape) => {
    test.each(["first", "second"])("by import, the %s file written last", async (last) => {
      const { at, path, other, lines, session } = await recorded(layout);
      const [one = [], two = []] = SHAPES[shape]?.(lines) ?? [];
      put(path, one);
      put(other, two);
      utimesSync(last === "first" ? other : path, new Date("2026-11-20"), new Date("2026-11-20"));
      const report = await importInto(at.replay, layout.source);
      expect(report.problems).toEqual([]);
      const wanted = session.model_calls.reduce<{ input: number; output: number }>(
        (sum, { input, output }) => ({ input: sum.input + Number(input), output: sum.output + Number(output) }),
        { input: 0, output: 0 },
      );
      const expected = { sessions: 1, calls: session.model_calls.length, turns: session.prompts, ...wanted };
      expect(storedTotals(at.replay.places.storePath)).toMatchObject(expected);
      expect((await importInto(at.replay, layout.source)).agents.get(layout.source)).toMatchObject({ unchanged: 1 });
      expect(storedTotals(at.replay.places.storePath)).toMatchObject(expected);
    });

    test.each(["first", "second"])("by hooks that report the %s file", async (reported) => {
      const { at, path, other, lines, session } = await recorded(layout);
      const [one = [], two = []] = SHAPES[shape]?.(lines) ?? [];
      put(path, one);
      put(other, two);
      await reportedBy(at, path, reported === "first" ? path : other);
      const summary = summaryOf(at.replay.places.storePath, session.session_id);
      expect(figures(summary?.modelCalls ?? [])).toEqual(figures(session.model_calls));
      expect(summary?.prompts).toBe(session.prompts);
      expect(summary?.tools).toHaveLength(session.tool_calls.length);
    });
  });

  test("each line in either file or in both, in order", async () => {
    const { at, path, other, lines, session } = await recorded(layout);
    const wanted = figures(session.model_calls);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("one", "two", "both"), { minLength: lines.length, maxLength: lines.length }),
        fc.boolean(),
        async (places, isOther) => {
          const linesIn = (place: string) =>
            lines.filter((_, i) => i < layout.headLines || [place, "both"].includes(places[i] ?? ""));
          put(path, linesIn("one"));
          put(other, linesIn("two"));
          expect(await readAll(at, session.session_id, isOther ? other : path)).toEqual(wanted);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a link to the same folder adds nothing", async () => {
    const { at, path, other, session } = await recorded(layout);
    const isOfProject = layout.source !== "gemini-cli";
    const [target, link] = isOfProject
      ? [dirname(path), dirname(other)]
      : [path, other].map((one) => dirname(dirname(one)));
    symlinkSync(target ?? "", link ?? "");
    const query = { sessionId: session.session_id, home: at.home, roots: at.roots };
    const files = await at.reader.files({ ...query, path });
    expect(files).toHaveLength(1);
    const [located] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    expect(await at.reader.files({ ...query, ...located })).toHaveLength(1);
  });

  test("subagents' files in both folders count once", async () => {
    const { at, path, other, session } = await recorded(layout, "subagent");
    const from = layout.source === "codex" ? join(at.home, ".codex", "sessions") : dirname(path);
    for (const file of await at.reader.files({ sessionId: session.session_id, path, home: at.home, roots: at.roots })) {
      const copy =
        layout.source === "codex" ? join(dirname(other), basename(file.path)) : file.path.replace(from, dirname(other));
      mkdirSync(dirname(copy), { recursive: true });
      cpSync(file.path, copy);
    }
    rmSync(path);
    const [located] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    expect(located?.sessionId).toBe(session.session_id);
    expect(await readAll(at, session.session_id, located?.path ?? "")).toEqual(figures(session.model_calls));
    expect(await readAll(at, session.session_id, path)).toEqual(figures(session.model_calls));
  });

  test("its own files alone, in the same order", async () => {
    const { at, path, other, lines, session } = await recorded(layout, "subagent");
    put(other, lines);
    for (const told of [path, other, `${path}.gone`]) {
      const query = { sessionId: session.session_id, path: told, home: at.home, roots: at.roots };
      const all = await at.reader.files(query);
      expect(all.some(({ agentId }) => agentId !== undefined)).toBe(true);
      const own = all.filter(({ agentId }) => agentId === undefined);
      expect(own).toHaveLength(2);
      expect(await at.reader.files({ ...query, isOwnOnly: true })).toEqual(own);
    }
  });

  test("a byte order mark before the first line is not part of it", async () => {
    const { at, path, lines, session } = await recorded(layout);
    const before = await readAll(at, session.session_id, path);
    writeFileSync(path, `\uFEFF${lines.join("\n")}\n`);
    let unreadable = 0;
    for await (const batch of at.reader.read({ path, roots: at.roots }, INITIAL_OFFSET)) unreadable += batch.unreadable;
    expect(unreadable).toBe(0);
    expect(await readAll(at, session.session_id, path)).toEqual(before);
    const [located] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    expect(located?.sessionId).toBe(session.session_id);
  });
});
