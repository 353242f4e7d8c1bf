import { afterEach, expect, test } from "vitest";
import { drainForPage } from "#commands/view-drains.ts";
import { LAST_DRAIN, readMeta } from "#store/meta.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let at: Replay;
afterEach(() => at.remove());

/** Runs two drains of a page, a minute apart, after a recording's hooks. @returns the time of the last drain after each */
async function twoDrains(name: string): Promise<readonly unknown[]> {
  at = new Replay("claude-code", name);
  for (const call of at.calls) at.put(call);
  at.writeTranscripts();
  const endMs = Math.max(...at.calls.map(({ received_at }) => Date.parse(received_at)));
  const times: unknown[] = [];
  for (const nowMs of [endMs + 1_000, endMs + 61_000]) {
    await drainForPage(contextAt(at.places, { now: () => nowMs }).context);
    times.push(readStore(at.places.storePath, (db) => readMeta(db, LAST_DRAIN)));
  }
  return times;
}

test("a page's drain reads queued events, and leaves a store alone in which all sessions have ended", async () => {
  const [first, second] = await twoDrains("basic");
  expect(first).toEqual(expect.any(String));
  expect(second).toBe(first);
});

test("a page's drain looks after an open session again", async () => {
  const [first, second] = await twoDrains("killed");
  expect(second).not.toBe(first);
});
