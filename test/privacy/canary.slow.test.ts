// Slow: only `npm run test:all` runs it. Planted secrets through every agent; e2e/privacy.test.ts has one.
//
// One case per agent. All cases at every level: test/faults/long/privacy.faults.ts
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { canaryRun } from "./canary.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

describe("canaries planted in every text of an agent", () => {
  test.each([
    ["claude-code", "parallel-tools", "metadata"],
    ["codex", "basic", "metadata"],
    ["copilot", "basic", "none"],
    ["cursor", "basic", "metadata"],
    ["gemini-cli", "basic", "metadata"],
    ["opencode", "basic", "none"],
    ["cline", "basic", "metadata"],
  ] as const)("%s %s: nowhere at %s", async (source, name, level) => {
    const { findings, planted, spans } = await canaryRun(source, name, level, receiver);
    expect(findings).toEqual([]);
    expect(planted).toBeGreaterThan(5);
    expect(spans).toBeGreaterThan(0);
  });

  test.each([
    ["claude-code", "basic"],
    ["gemini-cli", "basic"],
  ])("%s %s: at redacted the content arrives, and no secret", async (source, name) => {
    const { findings, arrived, spans } = await canaryRun(source, name, "redacted", receiver);
    expect(findings).toEqual([]);
    expect(spans).toBeGreaterThan(0);
    expect(arrived).toBeGreaterThan(0);
  });
});
