import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { nativeRecords } from "#collect/native/records.ts";
import { reconcile } from "#commands/reconcile.ts";
import type { NativeRecord } from "#core/model/native.ts";
import { openDatabase } from "#store/database.ts";
import { putNative } from "#store/native.ts";
import { contextAt, SGR } from "../support/context.ts";
import { type RecordedCall, Replay, ROOT } from "../support/replay.ts";
import { RECORDINGS, recording, unpack } from "./recorded.ts";

// `reconcile --native`: recorded sessions, and what the same agent's own telemetry said of them

const replays: Replay[] = [];
afterEach(() => {
  for (const replay of replays.splice(0)) replay.remove();
});

/** Agents whose telemetry has tokens, by call or by turn. */
const WITH_TOKENS = ["claude-code", "codex", "copilot", "goose", "qwen-code"];

describe.each(RECORDINGS.filter(({ name }) => name === "parallel-tools"))("$source", ({ source }) => {
  test("what both know is equal, for every call", async () => {
    const { code, json, text } = await reconciled(await drained(source));
    if (!WITH_TOKENS.includes(source)) {
      expect(json.native).toEqual([]);
      expect(text).toContain("no session has native telemetry of tokens or cost");
      return;
    }
    expect(json.differences).toEqual([]);
    expect(code).toBe(0);
    expect(json.native).toMatchObject([{ verdict: "equal", model_calls: { store: 3, native: 3 } }]);
    const [row] = json.native;
    expect(row?.["output_tokens"]).toEqual({ store: expect.any(Number), native: row?.["output_tokens"]?.store });
    expect(text).toMatch(/equal$/m);
  });
});

test("Claude Code's figures are those that were checked by hand, to the token and the micro-dollar", async () => {
  const { json, text } = await reconciled(await drained("claude-code"));
  expect(json.native).toMatchObject([
    {
      input_tokens: { store: 26_912, native: 26_912 },
      output_tokens: { store: 198, native: 198 },
      cost_usd: { store: expect.closeTo(0.038346, 6), native: 0.038346 },
    },
  ]);
  expect(text).toMatch(/26,912 +198 +\$0\.038/);
});

test("a call that the telemetry has with other figures is a difference", async () => {
  const edit = ({ facts, ...record }: NativeRecord): NativeRecord => ({
    ...record,
    facts: { ...facts, tokens: { ...facts.tokens, output: 1_000 } },
  });
  const { code, json, text } = await reconciled(await drained("claude-code", edit));
  expect(code).toBe(1);
  expect(json.differences).toMatchObject([
    { between: "store and native telemetry", what: "output tokens of 3 calls", left: 198 },
  ]);
  expect(json.native).toMatchObject([{ verdict: "differs" }]);
  expect(text).toMatch(/198\/1,\d+ .*differs$/m);
});

test("calls that the telemetry does not have are not compared: it is incomplete", async () => {
  const { code, json, text } = await reconciled(await drained("claude-code", () => undefined));
  expect(code).toBe(0);
  expect(json.native).toMatchObject([{ verdict: "incomplete", model_calls: { store: 3, native: 2 } }]);
  expect(json.unknown).toContainEqual(expect.stringMatching(/: native telemetry has 2 of 3 calls of /));
  expect(text).toMatch(/ 2\/3 .*incomplete$/m);
});

test("without the option nothing of it is compared", async () => {
  const replay = await drained("claude-code");
  const { context, out } = contextAt(replay.places);
  await reconcile(undefined, { since: "2020-01-01", sampled: false, json: true }, context);
  expect(JSON.parse(out())).not.toHaveProperty("native");
});

// --- internal ---

type Edit = (record: NativeRecord) => NativeRecord | undefined;

/** @param edit changes what is said of the first call's tokens and cost; `undefined` removes it */
async function drained(source: string, edit: Edit = (record) => record): Promise<Replay> {
  const { folder, bodies } = recording(source, "parallel-tools");
  const replay = new Replay(source, join("..", "..", "native", "recordings", source, "parallel-tools"), {
    isBare: true,
  });
  replays.push(replay);
  unpack(join(folder, "transcripts"), replay.home);
  const records = (await Promise.all(bodies.map((body) => nativeRecords(source, body)))).flatMap((one) => one.records);
  const hooks = join(ROOT, "test", "native", "hooks", `${source}.jsonl`);
  if (existsSync(hooks)) {
    const calls = readFileSync(hooks, "utf8").replaceAll("/home/dev", replay.home).split("\n").filter(Boolean);
    for (const call of calls) replay.put(JSON.parse(call) as RecordedCall);
  } else replay.sessionEnd(records[0]?.sessionId ?? "", Date.now() - 600_000);
  // The same call comes as a span and as a log record
  const isOfCall = ({ facts }: NativeRecord): boolean => facts.tokens !== undefined || facts.costNanoUsd !== undefined;
  const requestOf = ({ ids }: Pick<NativeRecord, "ids">) => ids.find(({ kind }) => kind === "requestId")?.id;
  const first = requestOf(records.find(isOfCall) ?? { ids: [] });
  const edited = records.flatMap((one) => (isOfCall(one) && requestOf(one) === first ? (edit(one) ?? []) : [one]));
  const db = openDatabase(replay.places.storePath);
  db.transaction(() => putNative(db, source, edited, Date.now()));
  db.close();
  await replay.drain();
  return replay;
}

interface Reconciled {
  readonly native: readonly Readonly<Record<string, { readonly store: number; readonly native: number } | undefined>>[];
  readonly differences: readonly unknown[];
  readonly unknown: readonly string[];
}

async function reconciled({ places }: Replay) {
  const run = async (json: boolean) => {
    const { context, out } = contextAt(places, { columns: 160 });
    const code = await reconcile(undefined, { since: "2020-01-01", sampled: false, json, native: true }, context);
    return { code, text: out().replaceAll(SGR, "") };
  };
  const { code, text } = await run(false);
  return { code, text, json: JSON.parse((await run(true)).text) as Reconciled };
}
