// Every step of a drain, before and after, killed and failing in four ways: the backend, the store and the queue at the end are as
// if nothing had happened.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAULT_POINTS, type FaultPoint } from "#kit/fault-points.ts";
import { Campaign } from "../campaign.ts";
import type { Disturbed } from "../disturbed.ts";
import { type FaultKind, faultsFor, KINDS } from "../fault.ts";
import { record } from "../record.ts";

/** Faults per step, by kind: kills are the most frequent. */
const MOST: Readonly<Record<FaultKind, number>> = { kill: 4, throw: 1, ENOSPC: 2, EIO: 1, EACCES: 1 };

let campaign: Campaign;
const runs: Disturbed[] = [];
beforeAll(async () => {
  campaign = await Campaign.start();
}, 120_000);
afterAll(() => campaign?.end());

const isStep = (name: string): name is FaultPoint => FAULT_POINTS.some((step) => step === name);

/** How often the bridge commits depends on how fast its commands end, so its later passes may not happen in another run. */
function passesOf(step: FaultPoint): readonly FaultPoint[] {
  const passes = campaign.trace.filter(isStep).filter((name) => name === step);
  return step === "commit.bridge" ? passes.slice(0, Math.ceil(passes.length / 2)) : passes;
}

test("the undisturbed run passes every named step, and no other", () => {
  expect(FAULT_POINTS.filter((step) => !campaign.trace.includes(step))).toEqual([]);
  expect(campaign.trace.filter((name) => !isStep(name) && name !== "~")).toEqual([]);
});

describe.each(FAULT_POINTS)("%s", (step) => {
  test("killed or failing, before and after: nothing is lost or counted twice", async () => {
    const trace = passesOf(step);
    const faults = faultsFor(trace, (kind) => MOST[kind]);
    expect(faults.length).toBeGreaterThanOrEqual(2 * KINDS.length);
    const done = await campaign.run(faults);
    expect(done.flatMap((run) => run.problems)).toEqual([]);
    runs.push(...done);
  });
});

const IN_WORDS: Readonly<Record<FaultKind, string>> = {
  kill: "SIGKILL",
  throw: "an unexpected error",
  ENOSPC: "disk full (ENOSPC, SQLITE_FULL)",
  EIO: "input/output error (EIO, SQLITE_IOERR)",
  EACCES: "permission denied (EACCES, SQLITE_CANTOPEN)",
};

test.each(KINDS)("all of kind %s are in the report", (kind) => {
  const done = runs.filter(({ fault }) => fault.kind === kind);
  const steps = new Set(done.map(({ fault }) => fault.step)).size;
  expect(steps).toBe(FAULT_POINTS.length);
  const sum = (of: (run: Disturbed) => number): number => done.reduce((n, run) => n + of(run), 0);
  record({
    area: "drain",
    fault: `${IN_WORDS[kind]}, before and after each of ${steps} steps of the drain`,
    runs: done.length,
    eventsIn: done.length * campaign.world.events,
    lost: sum((run) => run.lost),
    duplicates: sum((run) => run.duplicates),
    recoveryMs: Math.ceil(Math.max(...done.map((run) => run.recoveryMs))),
    figures: { spans: done.length * campaign.reference.spans.size, sentAgain: sum((run) => run.sentAgain) },
  });
});
