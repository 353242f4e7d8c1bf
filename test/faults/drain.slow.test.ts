// Slow: only `npm run test:all` runs it. A drain killed at its steps, with the built program; store/*.test.ts have the
// transactions.
//
// The short form of long/drain.faults.ts: a drain that is killed at steps that must be atomic.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FAULT_POINTS, type FaultPoint } from "#kit/fault-points.ts";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { Campaign } from "./campaign.ts";
import type { Fault } from "./fault.ts";

/** Also the step that removes what an agent exported itself, after the commit. */
const PASSED: readonly FaultPoint[] = [...FAULT_POINTS, "native.settle"];

let campaign: Campaign;
beforeAll(async () => {
  await ensureBuilt();
  campaign = await Campaign.start([
    { source: "claude-code", name: "subagent" },
    { source: "codex", name: "basic" },
    { source: "claude-code", name: "parallel-tools", isNative: true },
  ]);
});
afterAll(() => campaign?.end());

test("a drain passes every named step", () => {
  expect(PASSED.filter((step) => !campaign.trace.includes(step))).toEqual([]);
  expect(campaign.reference.spans.size).toBeGreaterThan(10);
  expect(campaign.reference.points.size).toBeGreaterThan(20);
});

/** New commit steps are tested here as well. */
const TRIED = PASSED.filter((step) => /^commit\.|\.send$|\.(set-aside|name-aside|claim|settle)$/.test(step));

test("after a kill at a commit, a send or a move, the next drain continues", async () => {
  // Alternately before and after a step
  const faults = TRIED.map((step, i): Fault => {
    const times = campaign.trace.filter((passed) => passed === step).length;
    return { step, occurrence: Math.ceil(times / 2), when: i % 2 === 0 ? "before" : "after", kind: "kill" };
  });
  const runs = await campaign.run(faults);
  expect(runs.flatMap((run) => run.problems)).toEqual([]);
  expect(runs.length).toBeGreaterThanOrEqual(13);
});

test("the shipped program contains no faults", () => {
  const files = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
  const programs = files.filter((file) => file.endsWith(".cjs"));
  expect(programs).toEqual(
    expect.arrayContaining(["background-drain.cjs", "cli.cjs", "hook.cjs", "openhook-otel.cjs", "reader.cjs"]),
  );
  for (const file of programs) {
    expect(readFileSync(join(ROOT, "dist", file), "utf8")).not.toMatch(/OPENHOOK_FAULT|injected \$\{/);
  }
});
