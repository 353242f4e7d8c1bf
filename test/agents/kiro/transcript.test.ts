import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import reader from "#agents/kiro/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { locateAll } from "../../support/located.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const HOME = mkdtempSync(join(tmpdir(), "openhook-kiro-"));
const FOLDER = join(HOME, ".kiro", "sessions", "cli");
const ROOT_ID = "c186a259-e55f-4572-abc7-bd3697cf0001";

const turn = (rand: number, counts: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  loop_id: { agent_id: { name: "acme", parent_id: null, rand: null }, rand },
  end_timestamp: "2026-09-14T09:00:09.500000000Z",
  model: "claude-sonnet-4",
  metering_usage: [{ value: 0.25, unit: "credit" }],
  ...counts,
  ...rest,
});
const write = (id: string, turns: readonly unknown[], rest: Record<string, unknown> = {}) => {
  const path = join(FOLDER, `${id}.json`);
  const session_state = {
    agent_name: "acme",
    rts_model_state: { model_info: { model_id: "auto" } },
    conversation_metadata: { user_turn_metadatas: turns },
  };
  const text = {
    session_id: id,
    cwd: "/home/dev/acme-shop",
    created_at: "2026-09-14T09:00:00Z",
    session_state,
    ...rest,
  };
  writeFileSync(path, JSON.stringify(text));
  return path;
};
const entries = async (sessionId: string): Promise<readonly TranscriptEntry[]> => {
  const all: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId, home: HOME })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) all.push(...batch.entries);
  }
  for (const entry of all) expect(TranscriptEntry.parse(entry)).toEqual(entry);
  return all;
};
const usageOf = async (counts: Record<string, unknown>) => {
  write(ROOT_ID, [turn(1, counts)]);
  const call = (await entries(ROOT_ID)).find((entry) => entry.kind === "model_call");
  return call?.kind === "model_call" ? call.usage : undefined;
};

beforeEach(() => {
  rmSync(FOLDER, { recursive: true, force: true, maxRetries: 10 });
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(() => rmSync(HOME, { recursive: true, force: true, maxRetries: 10 }));

it("takes usage in unknown members for usage whose figures are unknown", async () => {
  write(ROOT_ID, [turn(1, { input_token_count: 5 })], { paid_extra: { usage: { input_tokens: 3, output_tokens: 4 } } });
  const [, , unread] = await entries(ROOT_ID);
  expect(unread).toMatchObject({
    kind: "model_call",
    key: "unread:paid_extra.usage",
    covers: "unknown",
    complete: true,
  });
  expect(unread).not.toHaveProperty("usage");
});

describe("a turn's counts", () => {
  it("are unknown if they are placeholders", async () => {
    writeFileSync(join(FOLDER, `${ROOT_ID}.json`), readFileSync(join(HERE, "basic", "session.json")));
    expect((await entries(ROOT_ID)).map((entry) => entry.kind)).toEqual(["session"]);
    expect(await usageOf({})).toBeUndefined();
    expect(await usageOf({ input_token_count: -5, output_token_count: "7" })).toBeUndefined();
  });
  it("are kept without the other one", async () => {
    expect(await usageOf({ input_token_count: 5 })).toEqual({ input: 5 });
    expect(await usageOf({ output_token_count: 7, cache_read_input_token_count: 2 })).toEqual({
      output: 7,
      cacheRead: 2,
    });
  });
  it("are incomplete if some are placeholders", async () => {
    const zeros = { input_token_count: 0, output_token_count: 0 };
    write(ROOT_ID, [
      turn(1, zeros),
      turn(2, { input_token_count: 1100, output_token_count: 25 }),
      turn(3, zeros, { metering_usage: [] }),
    ]);
    const calls = (await entries(ROOT_ID)).filter((entry) => entry.kind === "model_call");
    expect(calls.map(({ covers, usage }) => [covers, usage?.input])).toEqual([
      ["turn", undefined],
      ["turn", 1100],
    ]);
  });
  it("count for the turn if they are real, not as one call", async () => {
    write(ROOT_ID, [
      turn(1, { input_token_count: 900, output_token_count: 40, cache_read_input_token_count: 300 }),
      turn(2, { input_token_count: 1100, output_token_count: 25 }, { turn_duration: { secs: 5, nanos: 500_000_000 } }),
    ]);
    const calls = (await entries(ROOT_ID)).filter((entry) => entry.kind === "model_call");
    expect(calls).toMatchObject([
      { usage: { input: 900, output: 40, cacheRead: 300 }, covers: "turn", model: "claude-sonnet-4", complete: true },
      { usage: { input: 1100, output: 25 }, startMs: Date.UTC(2026, 8, 14, 9, 0, 4) },
    ]);
    expect(calls[0]?.key).not.toBe(calls[1]?.key);
  });
  it("keep their key while the turn's record grows", async () => {
    write(ROOT_ID, [turn(1, { input_token_count: 900, output_token_count: 40 })]);
    const before = await entries(ROOT_ID);
    write(ROOT_ID, [turn(1, { input_token_count: 1900, output_token_count: 80 })]);
    expect((await entries(ROOT_ID)).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  });
  it("add the cache to the input only if it cannot be part of it", async () => {
    const counts = { input_token_count: 20, output_token_count: 7, cache_write_input_token_count: 0 };
    expect(await usageOf({ ...counts, cache_read_input_token_count: 3 })).toMatchObject({ input: 20, cacheRead: 3 });
    expect(await usageOf({ ...counts, cache_read_input_token_count: 300 })).toMatchObject({
      input: 320,
      cacheRead: 300,
    });
  });
});

describe("subagents", () => {
  const counts = { input_token_count: 10, output_token_count: 2 };
  it("are nested sessions at any depth, and their own id gives only their parent", async () => {
    write(ROOT_ID, [turn(1, counts)]);
    write("child", [turn(1, counts)], { parent_session_id: ROOT_ID });
    write("grandchild", [turn(1, counts)], { parent_session_id: "child" });
    write("stranger", [turn(1, counts)], { parent_session_id: "another-session" });
    write("loop", [turn(1, counts)], { parent_session_id: "loop" });
    const all = await entries(ROOT_ID);
    expect(all.map(({ kind, agentId }) => [kind, agentId])).toEqual([
      ["session", undefined],
      ["model_call", undefined],
      ["subagent", "child"],
      ["model_call", "child"],
      ["subagent", "grandchild"],
      ["model_call", "grandchild"],
    ]);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
    expect(await entries("child")).toMatchObject([{ kind: "session", parentSessionId: ROOT_ID }]);
  });
  it("are not searched in files older than the session", async () => {
    write(ROOT_ID, []);
    const old = write("child", [turn(1, counts)], { parent_session_id: ROOT_ID });
    utimesSync(old, new Date("2026-09-01"), new Date("2026-09-01"));
    expect(await reader.files({ sessionId: ROOT_ID, home: HOME })).toHaveLength(1);
  });
});

describe("files", () => {
  it("of another format, or missing, give nothing", async () => {
    writeFileSync(join(FOLDER, "broken.json"), '{"session_id": "bro');
    writeFileSync(join(FOLDER, "list.json"), "[]");
    for (const sessionId of ["broken", "list", "missing", "../cli/x", "a b"]) {
      expect(await reader.files({ sessionId, home: HOME }), sessionId).toEqual([]);
    }
  });
  it("that are damaged while they are read count as unreadable", async () => {
    const path = write(ROOT_ID, []);
    writeFileSync(path, "{");
    const batches = [];
    for await (const batch of reader.read({ path }, INITIAL_OFFSET)) batches.push(batch);
    expect(batches).toEqual([{ entries: [], next: { bytes: 1, memo: {} }, unreadable: 1 }]);
  });
  it("of subagents whose root session is missing belong to it, with their tokens", async () => {
    write(ROOT_ID, []);
    const counts = { input_token_count: 10, output_token_count: 2 };
    write("child", [turn(1, counts)], { parent_session_id: ROOT_ID });
    const path = write("grandchild", [turn(2, counts)], { parent_session_id: "child" });
    expect((await locateAll(reader, HOME)).sessions.map(({ sessionId }) => sessionId)).toEqual([ROOT_ID]);
    rmSync(join(FOLDER, `${ROOT_ID}.json`));
    const { sessions } = await locateAll(reader, HOME);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ROOT_ID]);
    for (const given of [sessions[0]?.path ?? "", path, join(FOLDER, `${ROOT_ID}.json`)]) {
      const files = await reader.files({ sessionId: ROOT_ID, home: HOME, path: given });
      expect(files.map(({ agentId }) => agentId)).toEqual(["child", "grandchild"]);
    }
    const calls = (await entries(ROOT_ID)).filter((entry) => entry.kind === "model_call");
    expect(calls.map(({ usage }) => usage)).toEqual([
      { input: 10, output: 2 },
      { input: 10, output: 2 },
    ]);
  });
  it("are located for an import", async () => {
    write(ROOT_ID, []);
    writeFileSync(join(FOLDER, `${ROOT_ID}.jsonl`), "");
    expect((await locateAll(reader, HOME)).sessions).toEqual([
      {
        sessionId: ROOT_ID,
        path: join(FOLDER, `${ROOT_ID}.json`),
        mains: [join(FOLDER, `${ROOT_ID}.json`)],
        home: HOME,
      },
    ]);
  });
  it("of one session in two folders are all read, with its subagents in both, and each turn has one key", async () => {
    const counts = { input_token_count: 10, output_token_count: 2 };
    const moved = join(HOME, "moved", "sessions", "cli");
    rmSync(moved, { recursive: true, force: true, maxRetries: 10 });
    mkdirSync(moved, { recursive: true });
    const older = join(moved, `${ROOT_ID}.json`);
    renameSync(write(ROOT_ID, [turn(1, counts), turn(2, counts)]), older);
    const newer = write(ROOT_ID, [turn(1, counts), turn(2, counts), turn(3, counts)]);
    const child = join(moved, "child.json");
    renameSync(write("child", [turn(4, counts)], { parent_session_id: ROOT_ID }), child);
    const grandchild = write("grandchild", [turn(5, counts)], { parent_session_id: "child" });

    const roots = [HOME, join(HOME, "moved")];
    const { sessions } = await locateAll(reader, HOME, roots);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ROOT_ID]);
    // Found by a search, by a hook without a path, and by one of the files
    for (const given of [sessions[0], {}, { path: older }]) {
      const files = await reader.files({ sessionId: ROOT_ID, home: HOME, roots, ...given });
      expect(files.map(({ path }) => path).sort()).toEqual([older, newer, child, grandchild].sort());
    }
    const keys: string[] = [];
    for (const file of await reader.files({ sessionId: ROOT_ID, home: HOME, roots })) {
      for await (const batch of reader.read(file, INITIAL_OFFSET))
        keys.push(...batch.entries.filter(({ kind }) => kind === "model_call").map(({ key }) => key));
    }
    expect([keys.length, new Set(keys).size]).toEqual([7, 5]);

    // A broken copy is a part that counts as unreadable; the other one is read
    writeFileSync(older, "{");
    const files = await reader.files({ sessionId: ROOT_ID, home: HOME, roots });
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining([older, newer]));
    rmSync(join(HOME, "moved"), { recursive: true, force: true, maxRetries: 10 });
  });
});
