import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { Replay } from "../support/replay.ts";

const PAGE_BYTES = 4096;
const DAY_MS = 24 * 3_600_000;

/** The pages of a table that no drain of a settled session reads. */
function damagePagesOf(table: string, path: string): void {
  const db = openDatabase(path);
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table) ?? {};
  db.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, (Number(rootpage) - 1) * PAGE_BYTES, Number(rootpage) * PAGE_BYTES);
  writeFileSync(path, bytes);
}

test.each([
  ["a drain by hand", { isEager: true }, 0],
  ["the first drain of a day", {}, DAY_MS],
])("damage in pages that no drain reads is found by %s", async (_, options, laterMs) => {
  const replay = new Replay("claude-code", "basic");
  try {
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true });
    damagePagesOf("drift", replay.places.storePath);
    // The next drain reads only the pages it needs, and not this one
    expect((await replay.drain({}))?.problems).toEqual([]);
    const log: string[] = [];
    await replay.drain(options, { now: () => Date.now() + laterMs, log: (line) => log.push(line) });
    expect(log.join("\n")).toMatch(
      /store\.db" is damaged: .+; it was set aside\n.*started a new store with what could/,
    );
    expect((await replay.drain({ isEager: true }))?.problems).toEqual([]);
  } finally {
    replay.remove();
  }
});
