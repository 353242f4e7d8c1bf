// Chat sessions from documentation: which calls have figures, journals, conversations with another id than the file.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { replay } from "#agents/copilot-vscode/journal.ts";
import reader from "#agents/copilot-vscode/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { importInto, unpackAll } from "../../import/run.ts";
import { locateAll } from "../../support/located.ts";
import { Replay } from "../../support/replay.ts";
import { countersAndRows, summaryOf } from "../../support/summary.ts";

const FILE = "8f6a2c1d-0000-4000-8000-000000000001";
let home = "";
let workspace = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-vscode-"));
  workspace = join(home, ".config", "Code", "User", "workspaceStorage", "0a1b");
  mkdirSync(join(workspace, "chatSessions"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const write = (requests: readonly object[], name = `${FILE}.json`): void =>
  writeFileSync(join(workspace, "chatSessions", name), JSON.stringify({ version: 3, sessionId: FILE, requests }));
const request = (requestId: string, metadata: object, more: object = {}) => ({
  requestId,
  timestamp: 1_000,
  message: { text: "hi" },
  modelId: "copilot/gpt-5",
  result: { metadata },
  ...more,
});
const round = (id: string) => ({ id, response: "", toolCalls: [] });

async function entries(sessionId = FILE, path?: string): Promise<readonly TranscriptEntry[]> {
  const all: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId, home, ...(path !== undefined && { path }) })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) all.push(...batch.entries);
  }
  for (const entry of all) expect(TranscriptEntry.parse(entry)).toEqual(entry);
  return all;
}
const callsOf = async (sessionId = FILE) =>
  (await entries(sessionId)).flatMap((entry) => (entry.kind === "model_call" ? [entry] : []));

describe("a turn's figures", () => {
  test("are the last call's; those of the others are unknown", async () => {
    write([request("r1", { toolCallRounds: [round("a"), round("b")], promptTokens: 100, outputTokens: 7 })]);
    expect((await callsOf()).map(({ key, usage }) => [key, usage])).toEqual([
      ["round:a", undefined],
      ["round:b", { input: 100, output: 7 }],
    ]);
  });
  test("are unknown for all calls if the turn failed: they are an earlier call's", async () => {
    const failed = {
      result: { errorDetails: { message: "no" }, metadata: { toolCallRounds: [round("a")], promptTokens: 9 } },
    };
    write([request("r1", {}, failed)]);
    expect(await callsOf()).toMatchObject([{ key: "round:a" }]);
    expect((await callsOf())[0]?.usage).toBeUndefined();
  });
  test("without rounds are one call's; without figures there is none", async () => {
    write([request("r1", { promptTokens: 100, outputTokens: 7 }), request("r2", {})]);
    expect(await callsOf()).toMatchObject([{ model: "gpt-5", usage: { input: 100, output: 7 }, promptKey: "r1" }]);
  });
  test("a summary of the history is a separate call", async () => {
    const usage = { prompt_tokens: 50, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } };
    write([request("r1", { summaries: [{ toolCallRoundId: "a", text: "x", model: "gpt-4o", usage }] })]);
    expect(await callsOf()).toMatchObject([{ model: "gpt-4o", usage: { input: 50, output: 5, cacheRead: 40 } }]);
    expect((await entries()).some(({ kind }) => kind === "compaction")).toBe(true);
  });
  test("another extension's requests are not Copilot's", async () => {
    write([request("r1", { promptTokens: 5, outputTokens: 5 }, { agent: { extensionId: { value: "acme.chat" } } })]);
    expect(await callsOf()).toEqual([]);
  });
});

describe("the session in basic", () => {
  const ID = "8f6a2c1d-3b5e-4f70-9a21-7c0d5e8f0001";
  let to: Replay;
  beforeEach(() => {
    to = new Replay("copilot-vscode", "basic");
  });
  afterEach(() => to.remove());
  const expectFigures = (tools: readonly object[]): void => {
    const got = summaryOf(to.places.storePath, ID);
    expect(got?.modelCalls.map(({ input, output }) => `${input} ${output}`).sort()).toEqual([
      "14852 70",
      "15100 31",
      "undefined undefined",
    ]);
    expect(got).toMatchObject({ prompts: 2, lastTurn: "ended", unsettled: 0 });
    expect(got?.tools.map(({ name, status }) => ({ name, status }))).toEqual(tools);
    const { counters, rows } = countersAndRows(to.places.storePath);
    expect(counters).toEqual(rows);
  };
  const TOOL = { name: "run_in_terminal", status: "success" };

  test("hooks twice: each call and prompt once", async () => {
    for (const call of [...to.calls, ...to.calls]) to.put(call);
    await to.drain({ endIdle: true });
    expectFigures([TOOL]);
  });
  test("import, then its hooks: nothing counts again", async () => {
    await importInto(to, "copilot-vscode");
    await unpackAll(to, "copilot-vscode");
    expectFigures([]);
    for (const call of to.calls) to.put(call);
    await to.drain({ endIdle: true });
    expectFigures([TOOL]);
  });
});

describe("journals", () => {
  const lines = (...entries: readonly object[]): string => entries.map((one) => `${JSON.stringify(one)}\n`).join("");
  test("set, push, cut and delete", () => {
    const text = lines(
      { kind: 0, v: { requests: [{ a: 1 }], title: "x" } },
      { kind: 2, k: ["requests"], v: [{ a: 2 }, { a: 3 }] },
      { kind: 2, k: ["requests"], i: 2, v: [{ a: 4 }] },
      { kind: 1, k: ["requests", 0, "b", "c"], v: 1 },
      { kind: 1, k: ["requests", 0, "a"], v: 5 },
      { kind: 2, k: ["more"], v: [1] },
      { kind: 3, k: ["title"] },
    );
    expect(replay(text)).toEqual({
      object: { requests: [{ a: 5 }, { a: 2 }, { a: 4 }], more: [1], title: undefined },
      unreadable: 0,
    });
  });
  test("a line that is being written is not read, damaged ones are counted", () => {
    expect(replay(`${lines({ kind: 0, v: { a: 1 } })}x\n{"kind":1,"k":["a"],"v":2}`)).toEqual({
      object: { a: 1 },
      unreadable: 1,
    });
    expect(replay(lines({ kind: 1, k: ["a"], v: 1 }))).toEqual({ object: undefined, unreadable: 0 });
    expect(replay(lines({ kind: 0, v: {} }, { kind: 1, k: ["__proto__"], v: { x: 1 } })).object).toEqual({});
  });
});

describe("sessions", () => {
  test("have the id of the conversation, which hooks send, not of the file", async () => {
    write([
      request("r1", { sessionId: "first", promptTokens: 1, outputTokens: 1 }),
      request("r2", { promptTokens: 2, outputTokens: 2 }),
      request("r3", { sessionId: "second", promptTokens: 3, outputTokens: 3 }),
    ]);
    const { sessions } = await locateAll(reader, home, reader.roots(home));
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(["first", "second"]);
    const transcript = join(workspace, "GitHub.copilot-chat", "transcripts", "first.jsonl");
    const outputs = async (id: string) =>
      (await entries(id, transcript)).flatMap((entry) => (entry.kind === "model_call" ? [entry.usage?.output] : []));
    expect(await outputs("first")).toEqual([1, 2]);
    expect(await outputs("second")).toEqual([3]);
    expect(await outputs("third")).toEqual([]);
  });
  test("are in the folder of their window", async () => {
    writeFileSync(join(workspace, "workspace.json"), '{"folder":"file:///home/dev/acme%20shop"}');
    write([request("r1", {})]);
    expect(await entries()).toContainEqual(expect.objectContaining({ kind: "session", cwd: "/home/dev/acme shop" }));
  });
  test("in an older file and its journal count once", async () => {
    const one = request("r1", { toolCallRounds: [round("a")], promptTokens: 100, outputTokens: 7 });
    write([one]);
    const journal = `${JSON.stringify({ kind: 0, v: { sessionId: FILE, requests: [one] } })}\n`;
    writeFileSync(join(workspace, "chatSessions", `${FILE}.jsonl`), journal);
    expect(new Set((await callsOf()).map(({ key }) => key))).toEqual(new Set(["round:a"]));
    const { sessions } = await locateAll(reader, home, reader.roots(home));
    expect(sessions).toHaveLength(1);
  });
});
