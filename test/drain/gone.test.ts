import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GONE_MARK } from "#collect/intake/inbox-file.ts";
import { Replay } from "../support/replay.ts";

test("a drain removes the mark of a missing program, and reads the events since then", async () => {
  const replay = new Replay("claude-code", "basic");
  try {
    const mark = join(replay.places.stateDir, GONE_MARK);
    for (const call of replay.calls) replay.put(call);
    mkdirSync(replay.places.stateDir, { recursive: true });
    writeFileSync(mark, "");
    const report = await replay.drain({ endIdle: true });
    expect(report?.events).toBeGreaterThan(0);
    expect(existsSync(mark)).toBe(false);
  } finally {
    replay.remove();
  }
});
