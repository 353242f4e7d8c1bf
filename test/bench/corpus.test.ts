import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import claudeCode from "#agents/claude-code/transcript.ts";
import codex from "#agents/codex/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { removeFolder } from "../support/remove.ts";
import { ROOT } from "../support/replay.ts";

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

const Totals = z.record(z.string(), z.number());

test("our reader's totals of a Claude Code corpus are exact", async () => {
  const { home, totals } = await make("claude", ".claude", 6, 1);
  const read = await readAll(claudeCode, home, join(home, ".claude", "projects"));

  expect(totals).toMatchObject({ ...sums(read.entries), lines: read.lines, bytes: read.bytes, files: read.files });
  expect(count(read.entries, "prompt")).toBe(totals["turns"]);
  expect(read.unreadable).toBe(0);
  // Without one of these the corpus would be easier than real transcripts
  for (const name of ["subagents", "copied_lines", "tool_errors"]) expect(totals[name], name).toBeGreaterThan(0);
});

test("our reader's totals of a Codex corpus are exact", async () => {
  const { home, totals } = await make("codex", ".codex", 6);
  const read = await readAll(codex, home, join(home, ".codex", "sessions"));

  expect(totals).toMatchObject({ ...sums(read.entries), lines: read.lines, bytes: read.bytes, files: read.files });
  expect(count(read.entries, "prompt")).toBe(totals["turns"]);
  expect(read.unreadable).toBe(0);
  for (const name of ["subagents", "tool_errors"]) expect(totals[name], name).toBeGreaterThan(0);
});

test("the same seed gives the same corpus, byte for byte; another seed another corpus", async () => {
  const texts = async (seed: number) => {
    const { home } = await make("codex", ".codex", 0.5, seed);
    return filesBelow(home).map((path) => [path.slice(home.length), readFileSync(path, "utf8")]);
  };
  const first = await texts(1);
  expect(await texts(1)).toEqual(first);
  expect(await texts(2)).not.toEqual(first);
});

test("a missing directory or an invalid size is an error", async () => {
  const generate = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["bench/corpus/claude.mjs", ...args], { cwd: ROOT });
  await expect(generate("--mb", "1")).rejects.toThrow("the directory to write the corpus to is missing");
  await expect(generate("corpus", "--mb", "none")).rejects.toThrow('--mb must be a number above 0, not "none"');
});

// --- internal ---

async function make(corpus: string, folder: string, mb: number, seed = 7) {
  const home = mkdtempSync(join(tmpdir(), "openhook-corpus-"));
  folders.push(home);
  const directory = join(home, folder);
  const command = [`bench/corpus/${corpus}.mjs`, directory, "--mb", String(mb), "--seed", String(seed)];
  await promisify(execFile)(process.execPath, command, { cwd: ROOT });
  return { home, totals: Totals.parse(JSON.parse(readFileSync(join(directory, "totals.json"), "utf8"))) };
}

/** Reads every session's files; entries that several files share count once. */
async function readAll(reader: TranscriptReader, home: string, root: string) {
  const entries = new Map<string, TranscriptEntry>();
  const read = new Set<string>();
  let [lines, bytes, unreadable] = [0, 0, 0];
  for (const path of filesBelow(root).filter((name) => name.endsWith(".jsonl"))) {
    const sessionId = basename(path, ".jsonl").slice(-36);
    for (const file of await reader.files({ sessionId, path, home })) {
      // A subagent's file belongs to one session only
      if (read.has(file.path) || file.key !== undefined) continue;
      read.add(file.path);
      bytes += statSync(file.path).size;
      for await (const batch of reader.read(file, INITIAL_OFFSET)) {
        lines += batch.records ?? 0;
        unreadable += batch.unreadable;
        expect(batch.unknownKinds ?? new Map()).toEqual(new Map());
        for (const entry of batch.entries) {
          const key = entry.globalKey ?? `${file.path} ${entry.key}`;
          const known = entries.get(key);
          entries.set(key, known === undefined ? entry : mergeEntries(known, entry));
        }
      }
    }
  }
  return { entries: [...entries.values()], lines, bytes, unreadable, files: read.size };
}

const count = (entries: readonly TranscriptEntry[], kind: TranscriptEntry["kind"]): number =>
  entries.filter((entry) => entry.kind === kind).length;

function sums(entries: readonly TranscriptEntry[]) {
  const calls = entries.flatMap((entry) =>
    entry.kind === "model_call" ? [entry.usage ?? { input: NaN, output: NaN }] : [],
  );
  const sum = (of: (usage: (typeof calls)[number]) => number | undefined): number =>
    calls.reduce((all, usage) => all + (of(usage) ?? 0), 0);
  const isClaude = entries.some((entry) => entry.kind === "model_call" && entry.usage?.cacheWrite5m !== undefined);
  return {
    responses: calls.length,
    tool_calls: count(entries, "tool_use"),
    tool_errors: entries.filter((entry) => entry.kind === "tool_result" && entry.status === "error").length,
    output: sum((usage) => usage.output),
    cache_read: sum((usage) => usage.cacheRead),
    ...(isClaude
      ? {
          input: sum((u) => (u.input ?? 0) - (u.cacheRead ?? 0) - (u.cacheWrite ?? 0)),
          cache_creation: sum((u) => u.cacheWrite),
        }
      : { input: sum((u) => u.input), reasoning: sum((u) => u.reasoning) }),
  };
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
