import { afterAll, afterEach, describe, expect, test } from "vitest";
import reader from "#agents/claude-code/transcript.ts";
import { pack } from "#collect/import/pack.lazy.ts";
import type { Unpriced } from "#collect/import/price.ts";
import { packOptions } from "#collect/import/read.ts";
import { spanOf, sumsOfRows } from "#collect/import/row-sums.ts";
import type { Agent } from "#core/model/agent.ts";
import { CALL_NUMBERS } from "#core/model/packed.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { compareBoth, MadeFiles, same } from "../support/both-sinks.ts";
import { type MadeFile, madeSessions } from "../support/claude-lines.ts";
import { locateAll } from "../support/located.ts";
import fc from "../support/properties.ts";
import { chosenRecordings, IS_WHOLE, runs } from "../support/whole.ts";
import { type RecordedHome, recordedCases, recordedHome } from "./home.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const CLAUDE = { source: "claude-code", tokens: "transcript" } as const;
const REPORTED = { "claude-opus-4-1": { input: 3, output: 4, cacheRead: 0, cacheWrite: 0 } };

describe("recorded sessions", async () => {
  const cases = chosenRecordings(await recordedCases());
  let at: RecordedHome | undefined;
  afterEach(() => at?.replay.remove());
  const summed = new Map<string, [all: number, inRows: number]>();

  test.each(cases)("$source $name: an import gives the same sums as a drain", async (of) => {
    at = await recordedHome(of);
    const { home, roots } = at;
    const { sessions } = await locateAll(at.reader, home, roots);
    expect(sessions).toHaveLength(at.expected.length);
    const sums = summed.get(of.source) ?? [0, 0];
    summed.set(of.source, sums);
    for (const session of sessions) {
      sums[0]++;
      if (await isSummed(at.reader, of.agent, await at.reader.files({ ...session, roots }))) sums[1]++;
    }
  });

  test("most sessions of agents with line-based transcripts are summed from rows", () => {
    for (const source of ["claude-code", "codex"]) {
      const [all = 0, inRows = 0] = summed.get(source) ?? [];
      expect(inRows / all, source).toBeGreaterThan(IS_WHOLE ? 0.8 : 0.5);
    }
  });
});

test("random Claude Code files: an import gives the same sums as a drain", async () => {
  let [all, summed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(madeSessions(), (session) =>
      made.check(session, async (files) => {
        all++;
        if (await isSummed(reader, CLAUDE, files)) summed++;
      }),
    ),
    { numRuns: runs(800), endOnFailure: true },
  );
  expect(summed).toBeGreaterThan(all / 4);
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

/** Each case, and whether its rows are enough. */
const CASES: Readonly<Record<string, readonly [isPacked: boolean, ...lines: readonly string[]]>> = {
  "two turns across several quarters of an hour": [
    true,
    ASKED,
    USED,
    result(17, "t1"),
    prompt(31, "y", "p2"),
    use(32, "t2", "Bash"),
    use(47, "t3", "Bash"),
    result(48, "t3"),
  ],
  "more tokens than a signed 32-bit integer holds": [
    true,
    ASKED,
    USED.replace('"input_tokens":1', '"input_tokens":3000000000'),
    use(3, "t2").replace('"output_tokens":2', '"output_tokens":4294967294,"cache_read_input_tokens":900000000'),
  ],
  "a call without a result lasts as long as its session": [true, ASKED, USED, prompt(31, "y", "p2"), use(59, "t2")],
  "a result without a call": [true, ASKED, USED, result(3, "t9")],
  "a result before its call": [true, ASKED, result(2, "t1"), use(3, "t1")],
  "a tool with the name that tools without one get": [true, ASKED, use(2, "t1", "unknown"), result(3, "t9")],
  "only such a tool": [true, ASKED, use(2, "t1", "unknown"), result(3, "t1")],
  "a command, and no turn": [true, prompt(1, "<command-name>/clear", "p1"), prompt(2, "x", "p2"), use(3, "t1")],
  "a command with a model call": [true, prompt(1, "<command-name>/init", "p1"), use(3, "t1")],
  "a prompt, then a command with the same id": [false, ASKED, prompt(2, "<command-name>/init", "p1"), use(3, "t1")],
  "a command, then a prompt with the same id": [
    false,
    prompt(1, "<command-name>/init", "p1"),
    prompt(2, "x", "p1"),
    use(3, "t1"),
  ],
  "two prompts with one id, as in a fork": [false, ASKED, prompt(2, "y", "p1"), use(3, "t1")],
  "work before any prompt": [false, use(1, "t1"), prompt(2, "x", "p1")],
  "a prompt id that is a reserved word": [false, prompt(1, "x", "none"), USED],
  "a prompt id that contains our separator": [false, prompt(1, "x", "p1~1"), USED],
  "an end of a turn": [true, ASKED, USED, at(40, '"type":"system","subtype":"turn_duration"')],
  "a compaction": [true, ASKED, at(2, '"type":"system","subtype":"compact_boundary"'), use(3, "t1")],
  "a compaction after everything": [true, ASKED, USED, at(3, '"type":"system","subtype":"compact_boundary"')],
  "an error": [true, ASKED, at(2, '"type":"system","subtype":"api_error"')],
  "an interruption": [true, ASKED, prompt(2, "[Request interrupted by user]", "p1")],
  nothing: [false],
};

describe("a session with", () => {
  test.each(Object.entries(CASES))("%s", async (_, [isSimple, ...lines]) => {
    expect(await isSummed(reader, CLAUDE, made.put(filesOf(lines)))).toBe(isSimple);
  });

  test("subagents with and without activity", async () => {
    const main = filesOf([ASKED, USED, result(30, "t1")]);
    const working: MadeFile = { agentId: "a1", bytes: bytesOf([prompt(3, "y", "p9"), use(20, "t2")]) };
    const idle: MadeFile = { agentId: "a2", bytes: bytesOf([prompt(45, "y", "p9")]), meta: '{"toolUseId":"t1"}' };
    expect(await isSummed(reader, CLAUDE, made.put([...main, working, idle]))).toBe(true);
    expect(await isSummed(reader, CLAUDE, made.put([...main, idle]))).toBe(true);
  });
});

// --- internal ---

const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(""));
const filesOf = (lines: readonly string[]): readonly MadeFile[] => [{ bytes: bytesOf(lines) }];

/** Compares both sinks, and the sums of rows with those of a built session. @returns whether rows were enough */
async function isSummed(
  of: TranscriptReader,
  agent: Pick<Agent, "source" | "tokens" | "provider">,
  files: readonly TranscriptFile[],
): Promise<boolean> {
  const { entries, rows } = await compareBoth(of, agent.source, files);
  if (entries.size === 0) return false;
  const options = packOptions(agent, "s1", { reported: REPORTED }, []);
  const tables = rows.tables();
  const sums = sumsOfRows(tables, options);
  const all = [...entries.values()];
  if (sums !== undefined) {
    const built = pack(all, options);
    same(meaningOf({ ...built, ...sums, owned: rows.owned() }), meaningOf(built));
  }
  const times = all.map(({ timeMs }) => timeMs);
  same(spanOf(tables), { firstMs: Math.min(...times), lastMs: Math.max(...times) });
  return sums !== undefined;
}

/** A packed session with unordered parts sorted, and references replaced by what they refer to. */
function meaningOf({ owned, segments, usage, tools, turns, calls, sellers }: Unpriced) {
  const called: unknown[] = [];
  for (let row = 0; row < calls.length; row += CALL_NUMBERS) {
    const [place = -1, segment = -1, seller = -1, ...rest] = calls.subarray(row, row + CALL_NUMBERS);
    const { timeMs, model, subagent } = usage[place] ?? {};
    called.push([timeMs, model, subagent, segments[segment]?.segment.ordinal, sellers[seller], ...rest]);
  }
  return {
    owned: [...owned].sort(),
    segments,
    usage: sorted(usage),
    tools: sorted(tools),
    turns: sorted(turns),
    calls: sorted(called),
    sellers: new Set(sellers.map((seller) => JSON.stringify(seller))),
  };
}

const sorted = (rows: readonly unknown[]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();
