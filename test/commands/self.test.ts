import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  driftFindings,
  lostFindings,
  processedFindings,
  sizeFindings,
  unfinishedFindings,
} from "#check/health/checks/collector.ts";
import { resultsOf } from "#check/health/checks.ts";
import { collectStatus } from "#check/health/examine.ts";
import { examinedOf } from "#check/health/facts/examined.ts";
import { status } from "#commands/status.ts";
import { openDatabase } from "#store/database.ts";
import { addToMeta } from "#store/meta.ts";
import { markCommitted } from "#store/self.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

async function drained(stdin: Readonly<Record<string, unknown>> = {}): Promise<Replay> {
  const of = new Replay("claude-code", "basic");
  replay = of;
  for (const call of of.calls) of.put({ ...call, stdin: { ...call.stdin, ...stdin } });
  await of.drain({ endIdle: true });
  return of;
}

async function reported(of: Replay) {
  const { context, out } = contextAt(of.places, { columns: 400 });
  await status({ json: false }, context);
  const facts = await collectStatus(contextAt(of.places).context);
  const checks = [processedFindings, lostFindings, unfinishedFindings, driftFindings, sizeFindings];
  const results = await resultsOf(checks, await examinedOf(contextAt(of.places).context));
  return { text: out(), facts, findings: results.filter((result) => "area" in result) };
}

test("no problems: processed payloads, number of drains, and size of the store", async () => {
  const of = await drained();
  const { text, facts, findings } = await reported(of);
  expect(facts.self.payloads["converted"]).toBeGreaterThan(0);
  expect(facts.self).toMatchObject({ drains: { ok: 1 }, drift: [], dropped: { retention: 0 }, pruned_sessions: 0 });
  expect(facts.sizes.store).toBeGreaterThan(10_000);
  expect(text).toMatch(/store\s.*\d+\.\d MB/);
  expect(findings.map(({ level }) => level)).toEqual(findings.map(() => "ok"));
  expect(findings.map(({ text: line }) => line)).toContainEqual(
    expect.stringMatching(/^\d+ payloads processed by 1 drain; the last one took \S/),
  );
});

test("unknown names from an agent: its version, the names, and a remedy", async () => {
  const of = await drained({ spectral_class: "G2V" });
  const { text, facts, findings } = await reported(of);
  const [drift] = facts.self.drift.filter(({ version }) => version !== "unknown");
  expect(drift ?? facts.self.drift[0]).toMatchObject({ source: "claude-code", fields: ["spectral_class"], events: [] });
  const line = /claude-code(?: \d+\.\d+\.\d+)? sends names that this version does not know: 1 field \(spectral_class\)/;
  expect(text).toMatch(line);
  expect(findings.find(({ text: one }) => line.test(one))).toMatchObject({
    level: "remark",
    todo: expect.stringMatching(/^update openhook-otel/),
  });
});

test("after an update, unknown names are reported only if they still occur", async () => {
  const of = await drained({ spectral_class: "G2V" });
  expect((await reported(of)).facts.self.drift).not.toEqual([]);
  await of.drain();
  expect((await reported(of)).facts.self.drift).not.toEqual([]);
  await of.drain({}, { version: "0.0.1-test" });
  expect((await reported(of)).facts.self.drift).toEqual([]);
});

test("events lost to a full disk: number and time, before and after a drain counts them, for a month", async () => {
  const of = await drained();
  for (const name of ["7-8-0.lost", "7-9-0.lost"]) writeFileSync(join(of.places.inboxDir, name), "");
  for (const drainsMore of [0, 1, 2]) {
    const report = drainsMore > 0 ? await of.drain() : undefined;
    expect(report?.problems ?? []).toEqual(drainsMore === 1 ? ["2 events were lost because the disk was full"] : []);
    const { text, facts, findings } = await reported(of);
    expect(facts.inbox).toMatchObject({
      waiting: 0,
      claimed: 0,
      lost: 2,
      lost_last: expect.stringMatching(/^20\d\d-/),
    });
    expect(text).toMatch(/2 events lost because the disk of .+ was full, the last one \S+ m?s ago; /);
    expect(facts.self.dropped).toEqual({ retention: 0, rejected: 0 });
    expect(findings.filter(({ text: line }) => line.startsWith("2 events lost because the disk"))).toMatchObject([
      { level: "remark", todo: expect.stringMatching(/^free disk space there/) },
    ]);
  }
  // Counted, but could not be removed
  const name = "00000000000000000001-7-8-0-a.lost";
  writeFileSync(join(of.places.claimedDir, name), "");
  const db = openDatabase(of.places.storePath);
  markCommitted(db, [name], []);
  db.close();
  expect((await reported(of)).facts.inbox.lost).toBe(2);
  const { context } = contextAt(of.places, { now: () => Date.now() + 31 * 86_400_000 });
  const later = await collectStatus(context);
  expect(later.inbox.lost).toBe(2);
  expect(later.remarks.filter((line) => line.includes("lost because the disk"))).toEqual([]);
});

test("dropped spans are a remark, with a remedy", async () => {
  const of = await drained();
  const db = openDatabase(of.places.storePath);
  addToMeta(db, "outbox.dropped_total", 3);
  db.close();
  const { text, findings } = await reported(of);
  expect(text).toMatch(/3 spans dropped before a backend accepted them \(3 retention\)/);
  expect(findings.find(({ text: line }) => line.startsWith("3 spans"))).toMatchObject({
    level: "remark",
    area: "collector",
  });
});
