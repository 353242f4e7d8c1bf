// What the recordings do not show: missing figures, running and cancelled answers, forks whose origin is gone.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/amp/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { locateAll } from "../../support/located.ts";

const ID = "T-019be45c-0000-7000-8000-000000000001";
const ORIGIN = "T-019be45c-0000-7000-8000-000000000002";
const CREATED = Date.parse("2026-01-22T10:00:00.000Z");

let home = "";
let folder = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-amp-"));
  folder = join(home, ".local", "share", "amp", "threads");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const write = (messages: readonly object[], more: object = {}, id = ID): void =>
  writeFileSync(join(folder, `${id}.json`), JSON.stringify({ v: 1, id, created: CREATED, messages, ...more }));

async function entries(id = ID): Promise<readonly TranscriptEntry[]> {
  const all: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId: id, home })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) all.push(...batch.entries);
  }
  for (const entry of all) expect(TranscriptEntry.parse(entry)).toEqual(entry);
  return all;
}
const callsOf = async (id = ID) => (await entries(id)).flatMap((entry) => (entry.kind === "model_call" ? [entry] : []));

const at = (second: number): string => new Date(CREATED + second * 1000).toISOString();
const user = (messageId: number | string, second: number) => ({
  role: "user",
  messageId,
  content: [{ type: "text", text: "hi" }],
  meta: { sentAt: CREATED + second * 1000 },
});
const answer = (messageId: number | string, usage: object | undefined, state = "complete") => ({
  role: "assistant",
  messageId,
  content: [{ type: "text", text: "hello" }],
  state: { type: state, stopReason: "end_turn" },
  ...(usage !== undefined && { usage: { model: "m", ...usage } }),
});

describe("an answer's figures", () => {
  test("input includes the cache; a part that is not reported adds nothing", async () => {
    write([answer(1, { inputTokens: 3, outputTokens: 70, cacheReadInputTokens: 13_248, timestamp: at(1) })]);
    expect((await callsOf())[0]?.usage).toEqual({ input: 13_251, output: 70, cacheRead: 13_248 });
  });
  test("without a figure of the uncached input, the sum that the file has is used", async () => {
    write([answer(1, { outputTokens: 70, totalInputTokens: 14_852, timestamp: at(1) })]);
    expect((await callsOf())[0]?.usage).toEqual({ input: 14_852, output: 70 });
  });
  test("zeros and missing figures are unknown", async () => {
    write([answer(1, { inputTokens: 0, outputTokens: 0, timestamp: at(1) }), answer(2, { timestamp: at(2) })]);
    const calls = await callsOf();
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(call.usage).toBeUndefined();
  });
  test("a running answer is not a call yet, a cancelled one interrupts its turn", async () => {
    write([user(0, 0), answer(1, undefined, "streaming")]);
    expect(await callsOf()).toEqual([]);
    write([user(0, 0), answer(1, { inputTokens: 2, outputTokens: 4, timestamp: at(1) }, "cancelled")]);
    expect(await entries()).toContainEqual({
      kind: "interruption",
      key: "interruption:0",
      promptKey: "0",
      timeMs: CREATED + 1000,
    });
    expect(await callsOf()).toHaveLength(1);
  });
  test("a ledger's event counts beside the answers only if no answer has its figures", async () => {
    const event = (id: string, toMessageId?: number) => ({
      id,
      timestamp: at(1),
      model: "m",
      tokens: { input: 9, output: Number(id) },
      ...(toMessageId !== undefined && { toMessageId }),
    });
    const events = [event("4", 1), event("5", 2), event("6"), event("7", 99)];
    write([answer(1, { inputTokens: 2, outputTokens: 4, timestamp: at(1) }), answer(2, undefined)], {
      usageLedger: { events },
    });
    const usages = (await callsOf()).map(({ usage }) => usage);
    expect(usages).toEqual([{ input: 2, output: 4 }, { output: 5 }, { output: 6 }, { output: 7 }]);
  });
});

describe("a fork", () => {
  const copies = [user(0, -60), answer(1, { inputTokens: 2, outputTokens: 4, timestamp: at(-50) })];
  const own = [user(2, 1), answer(3, { inputTokens: 3, outputTokens: 5, timestamp: at(2) })];
  const relationships = [{ threadID: ORIGIN, type: "fork", role: "child" }];

  test("has only its own calls if its origin exists", async () => {
    write(copies, { created: CREATED - 61_000 }, ORIGIN);
    write([...copies, ...own], { relationships });
    expect((await callsOf()).map(({ usage }) => usage?.output)).toEqual([5]);
    expect((await callsOf(ORIGIN)).map(({ usage }) => usage?.output)).toEqual([4]);
  });
  test("has the copies too if its origin is gone, under the keys of the origin", async () => {
    write([...copies, ...own], { relationships });
    const calls = await callsOf();
    expect(calls.map(({ usage }) => usage?.output)).toEqual([4, 5]);
    write(copies, { created: CREATED - 61_000 }, ORIGIN);
    expect((await callsOf(ORIGIN))[0]?.globalKey).toBe(calls[0]?.globalKey);
  });
});

describe("files", () => {
  test("are in the default folder, and in those that variables name", () => {
    expect(reader.roots("/home/dev", {})).toEqual(["/home/dev/.local/share/amp/threads"]);
    expect(reader.roots("/home/dev", { XDG_DATA_HOME: "/data" })).toEqual(["/data/amp/threads"]);
    expect(reader.roots("/home/dev", { AMP_DATA_DIR: "/a, /b" })).toEqual([
      "/a/threads",
      "/b/threads",
      "/home/dev/.local/share/amp/threads",
    ]);
  });
  test("other files in the folder are no threads", async () => {
    write([user(0, 0)]);
    for (const name of ["index.json", "T-1.json.tmp", "x.json"]) writeFileSync(join(folder, name), "{}");
    const { sessions } = await locateAll(reader, home, [folder]);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ID]);
    expect(await reader.files({ sessionId: "../T-1", home })).toEqual([]);
  });
  test("a damaged file is unreadable, and gives nothing", async () => {
    writeFileSync(join(folder, `${ID}.json`), '{"id":');
    const [file] = await reader.files({ sessionId: ID, home });
    for await (const batch of reader.read(file ?? { path: "" }, INITIAL_OFFSET)) {
      expect(batch).toMatchObject({ entries: [], unreadable: 1 });
    }
  });
});
