// A record that was cut where another one begins in its line, and two whole records in one line: every agent with JSON lines.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { splitLine } from "#agents/shared/transcript/spliced.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { CASES } from "../support/replay.ts";
import { IS_WHOLE } from "../support/whole.ts";

/** Every line, or in `npm test` one of five. */
const STEP = IS_WHOLE ? 1 : 5;

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-spliced-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const agents = (await allAgents()).flatMap((agent) => {
  const folder = join(CASES, agent.source, "basic", "transcripts");
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }).sort() : [];
  // Beside the session's file there can be an index, which is smaller
  const sizeOf = (one: string): number => statSync(join(folder, one)).size;
  const name = names.filter((one) => one.endsWith(".jsonl")).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
  const { source, transcript } = agent;
  return name === undefined || transcript === undefined ? [] : [{ source, transcript, folder, name }];
});

interface Recorded {
  readonly folder: string;
  /** Its largest file of lines. */
  readonly name: string;
}

async function read(reader: TranscriptReader, { folder, name }: Recorded, lines: readonly string[]) {
  const main = await mainPart(reader, folder);
  const isWholeFolder = main !== undefined && !main.endsWith(".jsonl");
  const to = join(home, isWholeFolder ? name : basename(name));
  if (isWholeFolder && !existsSync(to)) cpSync(folder, home, { recursive: true });
  writeFileSync(to, `${lines.join("\n")}\n`);
  const entries: unknown[] = [];
  let unreadable = 0;
  const path = isWholeFolder ? join(home, relative(folder, main)) : to;
  for await (const batch of reader.read({ path }, INITIAL_OFFSET)) {
    entries.push(...batch.entries);
    unreadable += batch.unreadable;
  }
  return { entries, unreadable };
}

/** A session can have a folder with several files of lines, which are read together. */
async function mainPart(reader: TranscriptReader, folder: string): Promise<string | undefined> {
  const query = { home: folder, roots: reader.roots(folder, {}), onProblem: () => {} };
  for await (const { path } of reader.locate(query)) return path;
  return undefined;
}

test("the agents with JSON lines are tested here", () => {
  const known = ["claude-code", "codex", "copilot", "gemini-cli"];
  expect(agents.map(({ source }) => source)).toEqual(expect.arrayContaining(known));
});

describe.each(agents)("$source", ({ transcript, folder, name: file }) => {
  const name = { folder, name: file };
  const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");

  test("two records in one line are both read", async () => {
    const { default: reader } = await transcript();
    const expected = await read(reader, name, lines);
    expect(expected.unreadable).toBe(0);
    for (let i = 0; i + 1 < lines.length; i += STEP) {
      const joined = lines.toSpliced(i, 2, `${lines[i]}${lines[i + 1]}`);
      expect(await read(reader, name, joined), `line ${i}`).toEqual(expected);
    }
    expect(await read(reader, name, [lines.join("")])).toEqual(expected);
  });

  test("a record after one that was cut is read, and the cut one is counted as unreadable", async () => {
    const { default: reader } = await transcript();
    for (let i = 1; i + 1 < lines.length; i += STEP) {
      const { entries } = await read(reader, name, lines.toSpliced(i, 1));
      const line = lines[i] ?? "";
      for (const length of [1, 20, Math.floor(line.length / 2), line.length - 1]) {
        const cut = line.slice(0, length);
        const spliced = lines.toSpliced(i, 2, `${cut}${lines[i + 1]}`);
        expect(await read(reader, name, spliced), `line ${i}, ${length} bytes`).toEqual({ entries, unreadable: 1 });
      }
    }
  });
});

describe("splitLine", () => {
  const split = (text: string) => {
    const { records, torn } = splitLine(Buffer.from(text));
    return [...records.map(String), torn];
  };
  const whole = '{"type":"a","text":"say {\\"b\\":1}"}';

  test.each<[string, string, (string | number)[]]>([
    ["a whole record", whole, [whole, 0]],
    ["a whole record before a cut one", `${whole}{"type":"b","te`, [whole, 1]],
    ["a whole record between two cut ones", `{"type":"c"${whole}{"ty`, [whole, 2]],
    ["cut after an object", `{"type":"c","usage":{"n":1},"text":"x${whole}`, [whole, 1]],
    ["cut in a name", `{"type":"c","te${whole}`, [whole, 1]],
    ["cut after a backslash", `{"type":"c","text":"a\\\\${whole}`, [whole, 1]],
    ["after a byte order mark", `\uFEFF${whole}`, [whole, 0]],
    ["after zeros", `\0\0${whole}\0`, [whole, 0]],
    ["no record", "no JSON", [1]],
    ["a list", `[${whole}]`, [1]],
    ["only the beginning of a record", '{"type":"a","text":"', [1]],
  ])("%s", (_, text, expected) => {
    expect(split(text)).toEqual(expected);
  });

  test("takes time in proportion to a large line's length", () => {
    const line = `{"type":"a","list":[${Array.from({ length: 200_000 }, () => '{"n":1}').join(",")},"`;
    const start = performance.now();
    expect(split(line)).toEqual([1]);
    expect(performance.now() - start).toBeLessThan(30_000);
  });
});
