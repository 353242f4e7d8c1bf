// Slow: only `npm run test:all` runs it. Compressed rollouts of all kinds; shared/unpacked.test.ts reads the format.
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import reader from "#agents/codex/transcript.ts";
import { importPast } from "#commands/import.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { storedTotals } from "../../import/totals.ts";
import { clockAt } from "../../support/clock.ts";
import { contextAt } from "../../support/context.ts";
import { compareRecorded } from "../../support/expected.ts";
import { locateAll } from "../../support/located.ts";
import { packedUncompressed } from "../../support/packed.ts";
import { CASES, Replay } from "../../support/replay.ts";
import type { Expected } from "../../support/summary.ts";

// Rollouts that Codex has compressed: each recording as it would be a week later.

const NAMES = readdirSync(join(CASES, "codex")).filter((name) =>
  ["transcripts", "expected.json"].every((part) => existsSync(join(CASES, "codex", name, part))),
);
const expectedOf = (name: string): Expected =>
  JSON.parse(readFileSync(join(CASES, "codex", name, "expected.json"), "utf8"));

/** Expected totals over all sessions of a recording. */
const expectedTotals = (name: string) => ({
  calls: expectedOf(name).sessions.reduce((sum, { model_calls }) => sum + model_calls.length, 0),
});

let at: Replay;
afterEach(() => at.remove());

function rollouts(): readonly string[] {
  const folder = join(at.home, ".codex");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name));
}

/** Packs as Codex does: the modification time stays. */
function pack(path: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(`${path}.zst`, packedUncompressed(readFileSync(path)));
  utimesSync(`${path}.zst`, atime, mtime);
  rmSync(path);
}

/** All entries of every located session, by the key of their offset. */
async function everything(): Promise<Readonly<Record<string, readonly TranscriptEntry[]>>> {
  const all: Record<string, TranscriptEntry[]> = {};
  for (const { parts: _, ...query } of (await locateAll(reader, at.home)).sessions) {
    for (const file of await reader.files({ ...query, roots: reader.roots(at.home, {}) })) {
      const entries: TranscriptEntry[] = [];
      for await (const batch of reader.read(file, INITIAL_OFFSET)) entries.push(...batch.entries);
      all[`${query.sessionId} ${file.agentId} ${file.key ?? file.path}`] = entries;
    }
  }
  return all;
}

async function runImport(): Promise<{ readonly code: number; readonly out: string }> {
  const { context, out } = contextAt(at.places, {});
  const stop = new AbortController().signal;
  return {
    code: await importPast(["codex"], { dryRun: false, export: false, json: false, stop }, context),
    out: out(),
  };
}

describe.each(NAMES)("%s", (name) => {
  test("packing changes neither the located sessions nor their entries", async () => {
    at = new Replay("codex", name);
    const plain = await everything();
    for (const path of rollouts()) pack(path);
    expect(await everything()).toEqual(plain);
    expect(Object.keys(plain).length).toBeGreaterThan(0);
  });

  test("a drain finds a file that was packed after its hooks ran", async () => {
    at = new Replay("codex", name);
    for (const call of at.calls) at.put(call);
    for (const path of rollouts()) pack(path);
    const { problems } = await at.drain({ endIdle: true });
    expect(problems).toEqual([]);
    compareRecorded(at.places.storePath, expectedOf(name));
  });

  test("a file packed after a drain is recognised, and opened once", async () => {
    at = new Replay("codex", name);
    for (const call of at.calls) at.put(call);
    await at.drain({ endIdle: true });
    for (const path of rollouts()) pack(path);
    const first = await runImport();
    expect(first.code).toBe(0);
    compareRecorded(at.places.storePath, expectedOf(name));
    const second = await runImport();
    expect(second.out).not.toContain("from hooks");
    compareRecorded(at.places.storePath, expectedOf(name));
  });
});

describe("a packed session", () => {
  test("that is resumed is unpacked by Codex, and read from the last offset", async () => {
    at = new Replay("codex", "multi-turn", { withTranscripts: false });
    const [first] = at.calls;
    const cut = Date.parse(at.calls.findLast(({ event }) => event === "SessionStart")?.received_at ?? "");
    expect(cut).toBeGreaterThan(Date.parse(first?.received_at ?? ""));
    at.writeTranscripts({ untilMs: cut - 1 });
    const [path = ""] = rollouts();
    const begun = readFileSync(path);
    const later = at.calls.filter(({ received_at }) => Date.parse(received_at) >= cut);
    for (const call of at.calls) if (!later.includes(call)) at.put(call);
    pack(path);
    await at.drain({}, clockAt(cut));
    rmSync(`${path}.zst`);
    at.writeTranscripts();
    expect(readFileSync(path).subarray(0, begun.length).equals(begun)).toBe(true);
    for (const call of later) at.put(call);
    await at.drain({ endIdle: true });
    compareRecorded(at.places.storePath, expectedOf("multi-turn"));
  });

  test("is read from an offset, or from the start if it is another file", async () => {
    at = new Replay("codex", "basic");
    const [path = ""] = rollouts();
    const text = readFileSync(path, "utf8");
    const lines = text.split("\n");
    writeFileSync(path, `${lines.slice(0, 4).join("\n")}\n`);
    const read = async (file: string, from = INITIAL_OFFSET) => {
      const batches = [];
      for await (const batch of reader.read({ path: file }, from)) batches.push(batch);
      return { entries: batches.flatMap(({ entries }) => entries), next: batches.at(-1)?.next };
    };
    const begun = await read(path);
    writeFileSync(path, text);
    const plain = await read(path, begun.next);
    const all = await read(path);
    pack(path);
    expect(await read(`${path}.zst`, begun.next)).toEqual(plain);
    expect(await read(`${path}.zst`, plain.next)).toEqual({ entries: [], next: undefined });
    const other = { bytes: 10 ** 9, memo: { ...begun.next?.memo } };
    expect((await read(`${path}.zst`, other)).next).toEqual(all.next);
  });

  test("next to its plain form is incomplete: the plain form is read", async () => {
    at = new Replay("codex", "subagent");
    const plain = await everything();
    for (const path of rollouts()) writeFileSync(`${path}.zst`, "half of it");
    expect(await everything()).toEqual(plain);
    expect((await locateAll(reader, at.home)).problems).toEqual([]);
  });

  test("that is truncated is reported, read as far as possible and retried", async () => {
    at = new Replay("codex", "basic");
    const [path = ""] = rollouts();
    const { calls } = expectedTotals("basic");
    // Longer than one unpacked piece
    appendFileSync(path, `${JSON.stringify({ type: "world_state", payload: { pad: "x".repeat(500_000) } })}\n`);
    pack(path);
    const whole = readFileSync(`${path}.zst`);
    writeFileSync(`${path}.zst`, whole.subarray(0, whole.length - 10));
    const torn = await runImport();
    expect(torn.code).toBe(1);
    expect(torn.out).toMatch(/could not read the transcript ".*\.jsonl\.zst": it cannot be unpacked \(Zstandard\)/);
    expect(storedTotals(at.places.storePath)).toMatchObject({ calls });
    writeFileSync(`${path}.zst`, whole);
    expect((await runImport()).out).toMatch(/^Codex +1 +1 /m);
    expect(storedTotals(at.places.storePath)).toMatchObject({ calls });
    expect((await runImport()).out).toContain("nothing is new");
  });

  test("whose beginning is unreadable is reported", async () => {
    at = new Replay("codex", "basic");
    const [path = ""] = rollouts();
    pack(path);
    writeFileSync(`${path}.zst`, "x");
    const { sessions, problems } = await locateAll(reader, at.home);
    expect(sessions).toEqual([]);
    expect(problems.map(({ error }) => error.message)).toEqual([
      expect.stringContaining("its first line has no thread id"),
    ]);
  });
});
