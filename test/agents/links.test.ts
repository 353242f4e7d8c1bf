import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { removeFolder } from "../support/remove.ts";
import { CASES, Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

// A process that can write into an agent's folder could otherwise make the drain read and send any file of the user.

const agents = await allAgents();
const sources = agents.filter(({ tokens }) => tokens === "transcript").map(({ source }) => source);
const RECORDED = sources.filter((source) => existsSync(join(CASES, source, "basic", "transcripts")));

let replay: Replay | undefined;
let elsewhere: string | undefined;
afterEach(() => {
  replay?.remove();
  if (elsewhere !== undefined) removeFolder(elsewhere);
});

test("agents with recorded transcripts are found", () => expect(RECORDED.length).toBeGreaterThan(5));

describe.each(firstOf(RECORDED, 3))("%s", (source) => {
  test.each([
    ["are in their usual place", () => false, true],
    ["are links to files elsewhere", moveFiles, false],
    ["are in a folder that links elsewhere", moveFolder, false],
  ] as const)("transcripts that %s", async (_, move, canBeRead) => {
    replay = new Replay(source, "basic");
    elsewhere = mkdtempSync(join(tmpdir(), "openhook-elsewhere-"));
    const isMoved = move(replay.home, elsewhere, await rootsOf(source, replay.home));
    for (const call of replay.calls) replay.put(call);
    const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
    await replay.drain({ endIdle: true }, clockAt(lastMs));
    const isRead = canBeRead || !isMoved;
    const db = openDatabase(replay.places.storePath);
    try {
      // Without transcripts, hooks still report turns and some model calls
      const rows = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
      expect(rows("turns")).toBeGreaterThan(0);
      expect(rows("positions") > 0).toBe(isRead);
    } finally {
      db.close();
    }
  });
});

/** A link can replace the file between the lookup and the read. */
test.each(RECORDED)("%s: a transcript that becomes a link after it was located is not read", async (source) => {
  replay = new Replay(source, "basic");
  elsewhere = mkdtempSync(join(tmpdir(), "openhook-elsewhere-"));
  const { home } = replay;
  const agent = agents.find((card) => card.source === source);
  if (agent?.transcript === undefined) throw new Error(`${source} has a transcript`);
  const { default: reader } = await agent.transcript();
  const roots = reader.roots(home, {});
  const files: TranscriptFile[] = [];
  for await (const { parts: _, ...session } of reader.locate({ home, roots, onProblem: () => {} })) {
    for (const file of await reader.files({ ...session, roots })) files.push({ ...file, roots });
  }
  expect(files.length).toBeGreaterThan(0);
  moveFiles(home, elsewhere);
  for (const file of files) {
    const read = async () => {
      for await (const batch of reader.read(file, INITIAL_OFFSET)) expect(batch.entries).toEqual([]);
    };
    await expect(read()).rejects.toMatchObject({ code: "E_REFUSED" });
  }
});

async function rootsOf(source: string, home: string): Promise<readonly string[]> {
  const reader = (await agents.find((card) => card.source === source)?.transcript?.())?.default;
  return reader?.roots(home, {}) ?? [];
}

function moveFiles(home: string, to: string): boolean {
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(to, relative(home, path));
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
    symlinkSync(target, path);
  }
  return true;
}

/** Moves the folders of transcripts, unless they are the agent's root folder, which may be a link. */
function moveFolder(home: string, to: string, roots: readonly string[]): boolean {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const folders = files.map((entry) => entry.parentPath).filter((path) => !roots.includes(path));
  for (const [i, folder] of [...new Set(folders)].entries()) {
    renameSync(folder, join(to, String(i)));
    symlinkSync(join(to, String(i)), folder);
  }
  return folders.length > 0;
}
