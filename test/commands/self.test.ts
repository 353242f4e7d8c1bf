import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { status } from "../../src/commands/status.ts";
import { selfFindings } from "../../src/health/doctor/self.ts";
import { collectStatus } from "../../src/health/status/facts.ts";
import { openDatabase } from "../../src/store/database.ts";
import { addToMeta } from "../../src/store/meta.ts";
import { markCommitted } from "../../src/store/self.ts";
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

async function told(of: Replay) {
  const { context, out } = contextAt(of.places, { columns: 400 });
  await status({ json: false }, context);
  const facts = await collectStatus(contextAt(of.places).context);
  const findings = [];
  for await (const finding of selfFindings(facts, contextAt(of.places).context)) findings.push(finding);
  return { text: out(), facts, findings };
}

test("all is well: what was taken, by how many drains, and how large the store is", async () => {
  const of = await drained();
  const { text, facts, findings } = await told(of);
  expect(facts.self.payloads["converted"]).toBeGreaterThan(0);
  expect(facts.self).toMatchObject({ drains: { ok: 1 }, drift: [], dropped: { retention: 0 }, pruned_sessions: 0 });
  expect(facts.sizes.store).toBeGreaterThan(10_000);
  expect(text).toMatch(/store\s.*\d+\.\d MB/);
  expect(findings.map(({ level }) => level)).toEqual(findings.map(() => "ok"));
  expect(findings.map(({ text: line }) => line)).toContainEqual(
    expect.stringMatching(/^\d+ payloads taken by 1 drain; the last one took \S/),
  );
});

test("an agent that sends what nobody knows: its version, the names, and what to do", async () => {
  const of = await drained({ spectral_class: "G2V" });
  const { text, facts, findings } = await told(of);
  const [drift] = facts.self.drift.filter(({ version }) => version !== "unknown");
  expect(drift ?? facts.self.drift[0]).toMatchObject({ source: "claude-code", fields: ["spectral_class"], events: [] });
  const line = /claude-code(?: \d+\.\d+\.\d+)? sends what this version does not know: 1 field \(spectral_class\)/;
  expect(text).toMatch(line);
  expect(findings.find(({ text: one }) => line.test(one))).toMatchObject({
    level: "remark",
    todo: expect.stringMatching(/^update openhook-otel/),
  });
});

test("what another version of the program did not know is told again only where it still comes", async () => {
  const of = await drained({ spectral_class: "G2V" });
  expect((await told(of)).facts.self.drift).not.toEqual([]);
  await of.drain();
  expect((await told(of)).facts.self.drift).not.toEqual([]);
  await of.drain({}, { version: "0.0.1-test" });
  expect((await told(of)).facts.self.drift).toEqual([]);
});

test("events that found no room: how many and when, before a drain has counted them and after, for a month", async () => {
  const of = await drained();
  for (const name of ["7-8-0.lost", "7-9-0.lost"]) writeFileSync(join(of.places.inboxDir, name), "");
  for (const drainsMore of [0, 1, 2]) {
    const report = drainsMore > 0 ? await of.drain() : undefined;
    expect(report?.problems ?? []).toEqual(drainsMore === 1 ? ["2 events were lost because the disk was full"] : []);
    const { text, facts, findings } = await told(of);
    expect(facts.inbox).toMatchObject({
      waiting: 0,
      claimed: 0,
      lost: 2,
      lost_last: expect.stringMatching(/^20\d\d-/),
    });
    expect(text).toMatch(/2 events found no room on the disk of .+ and are lost, the last \S+ ago; /);
    expect(facts.self.dropped).toEqual({ retention: 0 });
    expect(findings.filter(({ text: line }) => line.startsWith("2 events found no room"))).toMatchObject([
      { level: "remark", todo: expect.stringMatching(/^make room there/) },
    ]);
  }
  // Counted, and could not be removed
  const name = "00000000000000000001-7-8-0-a.lost";
  writeFileSync(join(of.places.claimedDir, name), "");
  const db = openDatabase(of.places.storePath);
  markCommitted(db, [name], []);
  db.close();
  expect((await told(of)).facts.inbox.lost).toBe(2);
  const { context } = contextAt(of.places, { now: () => Date.now() + 31 * 86_400_000 });
  const later = await collectStatus(context);
  expect(later.inbox.lost).toBe(2);
  expect(later.remarks.filter((line) => line.includes("no room"))).toEqual([]);
});

test("what never reached a backend is a remark, with where to look", async () => {
  const of = await drained();
  const db = openDatabase(of.places.storePath);
  addToMeta(db, "outbox.dropped_total", 3);
  db.close();
  const { text, findings } = await told(of);
  expect(text).toMatch(/3 spans never reached a backend \(3 retention\)/);
  expect(findings.find(({ text: line }) => line.startsWith("3 spans"))).toMatchObject({
    level: "remark",
    area: "collector",
  });
});
