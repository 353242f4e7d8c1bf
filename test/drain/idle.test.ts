// Sessions that end without an event: ended after the idle timeout, not before, and continued afterwards.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clockAt } from "../support/clock.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";
import { summaryOf } from "../support/summary.ts";

const SESSION = "1b608f27-1e49-4b06-80e5-752dc2ee0b52";
const MINUTE_MS = 60_000;

let replay: Replay;
beforeEach(() => {
  replay = new Replay("claude-code", "killed");
});
afterEach(() => replay.remove());

const lastMs = (): number => Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
const drainAt = (nowMs: number) => replay.drain({}, clockAt(nowMs));
const summary = () => summaryOf(replay.places.storePath, SESSION);

describe("a killed agent", () => {
  test("stays open until the timeout, then ends at its last activity, with its call unfinished", async () => {
    for (const call of replay.calls) replay.hook(call);
    await drainAt(lastMs() + 29 * MINUTE_MS);
    expect(summary()?.segments).toEqual([{ reason: null, native: null, ended: false }]);
    expect(summary()?.tools).toEqual([]);

    const report = await drainAt(lastMs() + 31 * MINUTE_MS);
    expect(summary()?.segments).toEqual([{ reason: "timeout", native: "idle", ended: true }]);
    expect(
      summary()
        ?.tools.map((tool) => tool.status)
        .sort(),
    ).toEqual(["success", "unfinished"]);
    expect(report.spans).toBeGreaterThan(0);
    expect((await drainAt(lastMs() + 90 * MINUTE_MS)).spans).toBe(0);
  });

  test("that wakes up afterwards continues in a new segment", async () => {
    for (const call of replay.calls) replay.hook(call);
    await drainAt(lastMs() + 31 * MINUTE_MS);
    const laterMs = lastMs() + 120 * MINUTE_MS;
    const later = (event: string, more: Record<string, unknown>): RecordedCall => ({
      received_at: new Date(laterMs).toISOString(),
      event,
      stdin: { ...replay.calls[0]?.stdin, hook_event_name: event, ...more },
    });
    replay.hook(
      later("UserPromptSubmit", { prompt: "still there?", prompt_id: "aaaaaaaa-0000-4000-8000-000000000001" }),
    );
    replay.hook(later("SessionEnd", { reason: "other", prompt_id: "aaaaaaaa-0000-4000-8000-000000000001" }));
    await drainAt(laterMs + 5_000);
    expect(summary()?.segments).toEqual([
      { reason: "timeout", native: "idle", ended: true },
      { reason: "completed", native: "other", ended: true },
    ]);
    expect(summary()?.prompts).toBe(2);
  });
});
