import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type PackOptions, pack, type Unpriced } from "../../src/import/pack.lazy.ts";
import { packTables, spanOf } from "../../src/import/tables.ts";
import type { TranscriptFile } from "../../src/model/agent.ts";
import { factsOf } from "../../src/model/fact-columns.ts";
import { CALL_NUMBERS } from "../../src/model/packed.ts";
import { MadeFiles, readAtOnce, readByLines, same } from "../support/at-once.ts";
import { type MadeFile, madeSessions } from "../support/claude-lines.ts";
import { locateAll } from "../support/located.ts";
import { runs } from "../support/whole.ts";
import { type RecordedHome, recordedCases, recordedHome } from "./home.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const OPTIONS: PackOptions = {
  facts: { source: "claude-code", sessionId: "s1" },
  expectsTranscript: true,
  reported: { "claude-opus-4-1": { input: 3, output: 4, cacheRead: 0, cacheWrite: 0 } },
};

describe("recorded sessions", async () => {
  const cases = (await recordedCases()).filter(({ source }) => source === "claude-code");
  let at: RecordedHome | undefined;
  afterEach(() => at?.replay.remove());
  let [all, packed] = [0, 0];

  test.each(cases)("$name: packed from tables it is what it is packed from entries", async (of) => {
    at = await recordedHome(of);
    const { reader, home, roots } = at;
    const { sessions } = await locateAll(reader, home, roots);
    expect(sessions).not.toEqual([]);
    for (const session of sessions) {
      all++;
      if (await isPacked(await reader.files({ ...session, roots }))) packed++;
    }
  });

  test("most of them are packed from tables", () => {
    expect(all).toBe(30);
    expect(packed).toBeGreaterThanOrEqual(24);
  });
});

test("whatever a session is, it is packed from tables as from entries, or left to that", async () => {
  let [all, packed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(madeSessions(), (session) =>
      made.check(session, async (files) => {
        all++;
        if (await isPacked(files)) packed++;
      }),
    ),
    { numRuns: runs(800), endOnFailure: true },
  );
  expect(packed).toBeGreaterThan(all / 4);
});

const at = (second: number, rest: string): string =>
  `{"uuid":"u${second}","timestamp":"2026-11-21T10:${second < 10 ? "0" : ""}${second}:00.000Z",${rest}}`;
const prompt = (second: number, text: string, promptId: string): string =>
  at(second, `"type":"user","promptId":"${promptId}","message":{"content":"${text}"}`);
const use = (second: number, id: string, name = "Read"): string =>
  at(
    second,
    `"type":"assistant","message":{"id":"msg_0123456789${second}","model":"m","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2},` +
      `"content":[{"type":"tool_use","id":"${id}","name":"${name}"}]}`,
  );
const result = (second: number, id: string): string =>
  at(second, `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"${id}","content":"ok"}]}`);

const ASKED = prompt(1, "x", "p1");
const USED = use(2, "t1");

/** Each with whether it can be packed from tables. */
const CASES: Readonly<Record<string, readonly [isPacked: boolean, ...lines: readonly string[]]>> = {
  "two turns over several quarters of an hour": [
    true,
    ASKED,
    USED,
    result(17, "t1"),
    prompt(31, "y", "p2"),
    use(32, "t2", "Bash"),
    use(47, "t3", "Bash"),
    result(48, "t3"),
  ],
  "more tokens than half of what four bytes hold": [
    true,
    ASKED,
    USED.replace('"input_tokens":1', '"input_tokens":3000000000'),
    use(3, "t2").replace('"output_tokens":2', '"output_tokens":4294967294,"cache_read_input_tokens":900000000'),
  ],
  "a call that nobody answered lasts as long as its session": [true, ASKED, USED, prompt(31, "y", "p2"), use(59, "t2")],
  "an answer to a call that nobody made": [true, ASKED, USED, result(3, "t9")],
  "an answer before its call": [true, ASKED, result(2, "t1"), use(3, "t1")],
  "a tool that is named as those are that nobody named": [false, ASKED, use(2, "t1", "unknown"), result(3, "t9")],
  "such a tool alone": [true, ASKED, use(2, "t1", "unknown"), result(3, "t1")],
  "a command, and no turn": [true, prompt(1, "<command-name>/clear", "p1"), prompt(2, "x", "p2"), use(3, "t1")],
  "a command that the model was called for": [true, prompt(1, "<command-name>/init", "p1"), use(3, "t1")],
  "a prompt, then a command of the same id": [false, ASKED, prompt(2, "<command-name>/init", "p1"), use(3, "t1")],
  "a command, then a prompt of the same id": [
    false,
    prompt(1, "<command-name>/init", "p1"),
    prompt(2, "x", "p1"),
    use(3, "t1"),
  ],
  "two prompts of one id, as a fork has them": [false, ASKED, prompt(2, "y", "p1"), use(3, "t1")],
  "work before any prompt": [false, use(1, "t1"), prompt(2, "x", "p1")],
  "a prompt that says a word of ours": [false, prompt(1, "x", "none"), USED],
  "a prompt that has a sign of ours": [false, prompt(1, "x", "p1~1"), USED],
  "an end of a turn": [true, ASKED, USED, at(40, '"type":"system","subtype":"turn_duration"')],
  "a compaction": [true, ASKED, at(2, '"type":"system","subtype":"compact_boundary"'), use(3, "t1")],
  "a compaction behind all of it": [true, ASKED, USED, at(3, '"type":"system","subtype":"compact_boundary"')],
  "an error": [false, ASKED, at(2, '"type":"system","subtype":"api_error"')],
  "an interruption": [false, ASKED, prompt(2, "[Request interrupted by user]", "p1")],
  nothing: [false],
};

describe("a session with", () => {
  test.each(Object.entries(CASES))("%s", async (_, [isSimple, ...lines]) => {
    expect(await isPacked(made.put(filesOf(lines)))).toBe(isSimple);
  });

  test("subagents that did something, or nothing", async () => {
    const main = filesOf([ASKED, USED, result(30, "t1")]);
    const working: MadeFile = { agentId: "a1", bytes: bytesOf([prompt(3, "y", "p9"), use(20, "t2")]) };
    const idle: MadeFile = { agentId: "a2", bytes: bytesOf([prompt(45, "y", "p9")]), meta: '{"toolUseId":"t1"}' };
    expect(await isPacked(made.put([...main, working, idle]))).toBe(true);
    expect(await isPacked(made.put([...main, idle]))).toBe(true);
  });
});

// --- internal ---

const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(""));
const filesOf = (lines: readonly string[]): readonly MadeFile[] => [{ bytes: bytesOf(lines) }];

/** @returns whether it could be packed from tables; then it is the same. */
async function isPacked(files: readonly TranscriptFile[]): Promise<boolean> {
  const once = readAtOnce(files);
  const fromTables = once && packTables(once.tables, OPTIONS);
  if (once === undefined || fromTables === undefined) return false;
  const entries = [...(await readByLines(files)).entries.values()];
  same(meaningOf(fromTables), meaningOf(pack(entries, OPTIONS)));
  const times = entries.map(({ timeMs }) => timeMs);
  same(spanOf(once.tables), { firstMs: Math.min(...times), lastMs: Math.max(...times) });
  return true;
}

/** A packed session with whatever has no order in one, and numbers of places as what they stand for. */
function meaningOf({ facts, owned, segments, usage, tools, turns, calls, providers }: Unpriced) {
  const called: unknown[] = [];
  for (let row = 0; row < calls.length; row += CALL_NUMBERS) {
    const [place = -1, segment = -1, provider = -1, ...told] = calls.subarray(row, row + CALL_NUMBERS);
    const [timeMs, model, subagent] = usage[place] ?? [];
    called.push([timeMs, model, subagent, segments[segment]?.segment.ordinal, providers[provider], ...told]);
  }
  return {
    facts: new Map(factsOf(facts).map((entry) => [entry.key, entry])),
    owned: [...owned].sort(),
    segments,
    usage: sorted(usage),
    tools: sorted(tools),
    turns: sorted(turns),
    calls: sorted(called),
    providers: new Set(providers),
  };
}

const sorted = (rows: readonly unknown[]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();
