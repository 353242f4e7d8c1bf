import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/claude-code/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { locateAll } from "../../support/located.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const SESSION = "1989bcb3-7aa5-4b16-b591-43dca3a46730";
const RECORDED = join(dirname(new URL(import.meta.url).pathname), "subagent", "transcripts", "-home-dev-acme-shop");

let home = "";
let project = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-transcript-"));
  project = join(home, ".claude", "projects", "-home-dev-acme-shop");
  mkdirSync(project, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const put = (path: string, text = '{"type":"user"}\n'): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

async function read(file: TranscriptFile, from: Offset = INITIAL_OFFSET) {
  const entries: TranscriptEntry[] = [];
  let [next, unreadable] = [from, 0];
  for await (const batch of reader.read(file, from)) {
    entries.push(...batch.entries);
    next = batch.next;
    unreadable += batch.unreadable;
  }
  // The memo is stored as JSON between two drains
  return { entries, next: JSON.parse(JSON.stringify(next)) as Offset, unreadable };
}

const located = async (): Promise<string[]> => (await locateAll(reader, home)).sessions.map(({ path }) => path).sort();

describe("locate", () => {
  test("finds every project's main files, and no subagent's", async () => {
    const main = put(join(project, `${SESSION}.jsonl`));
    const other = put(join(home, ".claude", "projects", "-home-dev-zoo", "s2.jsonl"));
    put(join(project, "agent-a1.jsonl"));
    put(join(project, SESSION, "subagents", "agent-a2.jsonl"));
    put(join(project, "notes.txt"));
    expect(await located()).toEqual([main, other]);
  });

  test("knows a session's parts, unless two paths can lead to the same file", async () => {
    const main = put(join(project, `${SESSION}.jsonl`));
    const below = put(join(project, SESSION, "subagents", "agent-a2.jsonl"));
    const parts = async () => (await locateAll(reader, home)).sessions.map((one) => one.parts?.map(({ file }) => file));
    expect(await parts()).toEqual([[{ path: main }, { path: below, agentId: "a2" }]]);
    for (const link of [symlinkSync, linkSync]) {
      const again = join(dirname(below), "agent-a3.jsonl");
      link(below, again);
      expect(await parts()).toEqual([undefined]);
      rmSync(again);
    }
  });

  test("finds nothing if the agent was never run", async () => {
    rmSync(join(home, ".claude"), { recursive: true });
    expect(await located()).toEqual([]);
  });
});

describe("files", () => {
  test("lists the main file, then subagents of both layouts, without those of other sessions", async () => {
    const main = put(join(project, `${SESSION}.jsonl`));
    const below = put(join(project, SESSION, "subagents", "agent-a2.jsonl"));
    put(join(project, SESSION, "subagents", "agent-a2.meta.json"), "{}");
    const beside = put(join(project, "agent-a1.jsonl"), `{"type":"user","sessionId":"${SESSION}"}\n`);
    put(join(project, "agent-a9.jsonl"), '{"type":"user","sessionId":"another"}\n');
    put(join(project, "agent-empty.jsonl"), "");
    expect(await reader.files({ path: main, sessionId: SESSION, home })).toEqual([
      { path: main },
      { path: below, agentId: "a2" },
      { path: beside, agentId: "a1" },
    ]);
  });

  test("reports an unreadable subagent folder and returns the rest", async () => {
    const main = put(join(project, `${SESSION}.jsonl`));
    const folder = join(project, SESSION, "subagents");
    mkdirSync(dirname(folder));
    // A link to itself, which not even root can open
    symlinkSync("subagents", folder);
    const problems: [string, string][] = [];
    const onProblem = (path: string, error: Error) => problems.push([path, error.message]);
    expect(await reader.files({ path: main, sessionId: SESSION, home, onProblem })).toEqual([{ path: main }]);
    expect(problems).toEqual([[folder, expect.stringContaining("ELOOP")]]);
  });

  test("finds a file that moved to another project's folder", async () => {
    const main = put(join(project, `${SESSION}.jsonl`));
    const moved = join(home, ".claude", "projects", "-home-dev-worktree", `${SESSION}.jsonl`);
    mkdirSync(dirname(moved));
    renameSync(main, moved);
    expect(await reader.files({ path: main, sessionId: SESSION, home })).toEqual([{ path: moved }]);
  });

  test("returns nothing if there is no file", async () => {
    expect(await reader.files({ path: join(project, `${SESSION}.jsonl`), sessionId: SESSION, home })).toEqual([]);
    expect(await reader.files({ path: "/home/dev/nowhere/at/all.jsonl", sessionId: "../../etc/passwd", home })).toEqual(
      [],
    );
  });
});

describe("read", () => {
  const recorded = readFileSync(join(RECORDED, `${SESSION}.jsonl`));

  test("gives the same entries in pieces as in one pass, wherever the pieces end", async () => {
    const path = put(join(project, "s.jsonl"), recorded.toString("utf8"));
    const whole = joined((await read({ path })).entries);
    expect(whole.length).toBeGreaterThan(5);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: recorded.length }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const entries: TranscriptEntry[] = [];
        let from = INITIAL_OFFSET;
        for (const end of [...at.sort((a, b) => a - b), recorded.length]) {
          writeFileSync(path, recorded.subarray(0, end));
          const reading = await read({ path }, from);
          entries.push(...reading.entries);
          from = reading.next;
          expect(reading.unreadable).toBe(0);
        }
        // No entry is repeated, even before merging
        expect(entries.length).toBe((await read({ path })).entries.length);
        expect(joined(entries)).toEqual(whole);
      }),
      { numRuns: runs(25) },
    );
  });

  test("repeats nothing after the last offset", async () => {
    const path = put(join(project, "s.jsonl"), recorded.toString("utf8"));
    const { next } = await read({ path });
    expect(next.bytes).toBe(recorded.length);
    expect(await read({ path }, next)).toMatchObject({ entries: [], next });
    appendFileSync(path, '{"type":"user","uuid":"u9","promptId":"p9","message":{"content":"more"}}\n');
    expect(prompts((await read({ path }, next)).entries)).toEqual(["p9"]);
  });

  test("recognises a repeated request whose first answer an earlier read returned", async () => {
    const answer = (id: string) =>
      `${JSON.stringify({
        type: "assistant",
        requestId: "req_1",
        message: { id, model: "m", stop_reason: "end_turn", usage: { input_tokens: 1000, output_tokens: 77 } },
      })}\n`;
    const path = put(join(project, "s.jsonl"), answer("msg_broken"));
    const first = await read({ path });
    appendFileSync(path, answer("msg_whole"));
    const second = await read({ path }, first.next);
    const calls = [...first.entries, ...second.entries].filter((entry) => entry.kind === "model_call");
    expect(calls.map(({ usage }) => usage?.output)).toEqual([77, undefined]);
  });

  test("starts over if another file has the same name", async () => {
    const path = put(join(project, "s.jsonl"), recorded.toString("utf8"));
    const { next } = await read({ path });
    put(path, `${'{"type":"user","uuid":"u1","promptId":"p1","message":{"content":"new"}}'.padEnd(600)}\n`);
    expect(prompts((await read({ path }, next)).entries)).toEqual(["p1"]);
  });

  test("gives a subagent's type and parent call once", async () => {
    const path = put(
      join(project, SESSION, "subagents", "agent-a2.jsonl"),
      '{"type":"user","message":{"content":"go"}}\n',
    );
    put(path.replace(/jsonl$/, "meta.json"), '{"agentType":"Explore","toolUseId":"t1"}');
    const first = await read({ path, agentId: "a2" });
    const expected = { kind: "subagent", key: "subagent:a2", agentId: "a2", agentType: "Explore", parentCallId: "t1" };
    expect(first.entries.filter((e) => e.kind === "subagent")).toMatchObject([expected]);
  });

  test.each([
    ["is missing", undefined],
    ["is torn", '{"agentType":"Ex'],
    ["holds something else", "[1,2]"],
  ])("gives a subagent also if its meta file %s", async (_, meta) => {
    const path = put(
      join(project, SESSION, "subagents", "agent-a2.jsonl"),
      '{"type":"user","message":{"content":"go"}}\n',
    );
    if (meta !== undefined) put(path.replace(/jsonl$/, "meta.json"), meta);
    const [subagent] = (await read({ path, agentId: "a2" })).entries;
    expect(subagent).toMatchObject({ kind: "subagent", agentId: "a2" });
    expect(subagent).not.toHaveProperty("agentType");
  });

  test("counts lines that are not JSON and reads the others", async () => {
    const prompt = '{"type":"user","uuid":"u1","promptId":"p1","message":{"content":"hello"}}';
    const path = put(join(project, "s.jsonl"), `\u0000\u0000\u0000\n${prompt}\n{"type":"user", torn\nnot json\n`);
    const { entries, unreadable } = await read({ path });
    expect(unreadable).toBe(3);
    expect(prompts(entries)).toEqual(["p1"]);
  });

  test("fails for a missing file", async () => {
    await expect(read({ path: join(project, "gone.jsonl") })).rejects.toThrow("ENOENT");
  });
});

const prompts = (entries: readonly TranscriptEntry[]) =>
  entries.filter((e) => e.kind === "prompt").map((e) => e.promptKey);

/** Merged as in the store. */
function joined(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}
