import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { quarantinedIn } from "#check/health/facts/inbox.ts";
import { replay } from "#commands/replay.ts";
import { openDatabase } from "#store/database.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let of: Replay;
beforeEach(() => {
  of = new Replay("claude-code", "basic");
});
afterEach(() => of.remove());

/** Quarantines the hooks of a session whose agent the drain does not know, as in an older version. @returns names of the files */
async function quarantineAll(): Promise<readonly string[]> {
  for (const call of of.calls) of.put(call);
  const report = await of.drain({}, { agents: [] });
  expect(report.quarantined).toBe(of.calls.length);
  return readdirSync(of.places.quarantineDir).filter((name) => !name.endsWith(".reason"));
}

async function run(dryRun = false) {
  const { context, out } = contextAt(of.places);
  const code = await replay({ dryRun }, context);
  return { code, text: out() };
}

const eventTimes = (): readonly number[] => {
  const db = openDatabase(of.places.storePath);
  try {
    return db
      .prepare("SELECT time_ms AS ms FROM events ORDER BY time_ms")
      .all()
      .map((row) => Number(row["ms"]));
  } finally {
    db.close();
  }
};

test("after an update all events are replayed, with their original times", async () => {
  const names = await quarantineAll();
  expect(names).toHaveLength(of.calls.length);
  const { code, text } = await run();
  expect(code).toBe(0);
  expect(text).toMatch(
    new RegExp(`^${names.length} payloads moved back to the inbox\\n${names.length} files from the inbox`),
  );
  expect(text).not.toContain("returned to quarantine");
  expect(readdirSync(of.places.quarantineDir)).toEqual([]);
  expect(readdirSync(of.places.inboxDir)).toEqual([]);
  const recorded = of.calls.map((call) => Date.parse(call.received_at));
  expect(eventTimes().every((ms) => recorded.some((at) => Math.abs(at - ms) <= 1))).toBe(true);
  expect(eventTimes().length).toBeGreaterThan(5);
});

test("unrecognised events return to the quarantine once, with their time and reason, however often they are replayed", async () => {
  for (const stdin_raw of ["sk-secret is no JSON", '{"unknown":"sk-secret"}', '{"unknown":"sk-secret"}']) {
    of.hook({ received_at: "2026-09-14T09:00:00.000Z", event: "Stop", stdin_raw });
  }
  await of.drain();
  for (let times = 0; times < 4; times++) {
    const { code, text } = await run();
    expect(code).toBe(0);
    expect(text).toMatch(/^3 payloads moved back to the inbox\n3 files .* 3 quarantined/);
    expect(text).toMatch(
      /3 payloads returned to quarantine:\n2 × claude-code: no agent recognises it\n1 × claude-code: /,
    );
    expect(text).not.toContain("sk-secret");
  }
  const returned = await quarantinedIn(of.places.quarantineDir);
  expect(returned).toHaveLength(3);
  expect(readdirSync(of.places.quarantineDir)).toHaveLength(6);
  for (const { name, reason } of returned) {
    expect(reason).not.toBeNull();
    expect(name.length).toBeLessThan(200);
    expect(statSync(join(of.places.quarantineDir, name)).mtime.toISOString()).toBe("2026-09-14T09:00:00.000Z");
    expect(readFileSync(join(of.places.quarantineDir, name), "utf8")).toMatch(/^openhook-inbox 1\n/);
  }
});

test("counts replayed events and those quarantined again separately", async () => {
  await quarantineAll();
  of.hook({ received_at: new Date().toISOString(), event: "Stop", stdin_raw: '{"unknown":1}' });
  // With the same agents, so that the drain retries nothing
  await of.drain({}, { agents: [] });
  // a payload that arrives at the same time and is not recognised is not counted as replayed
  of.hook({ received_at: new Date().toISOString(), event: "Stop", stdin_raw: '{"unknown":2}' });
  const { text } = await run();
  expect(text).toContain(`${of.calls.length + 1} payloads moved back`);
  expect(text).toContain("1 payload returned to quarantine:\n1 × claude-code: no agent recognises it");
  expect(await quarantinedIn(of.places.quarantineDir)).toHaveLength(2);
});

test("--dry-run moves nothing; an empty quarantine is no error; files that no hook wrote stay", async () => {
  expect(await run()).toEqual({ code: 0, text: "No payload is quarantined.\n" });
  const names = await quarantineAll();
  const before = readdirSync(of.places.quarantineDir);
  const { code, text } = await run(true);
  expect(code).toBe(0);
  expect(text).toBe(
    `${names.length} × claude-code: no agent recognises it\nDry run: ${names.length} payloads would be retried.\n`,
  );
  expect(readdirSync(of.places.quarantineDir)).toEqual(before);
  writeFileSync(join(of.places.quarantineDir, "notes.txt"), "");
  mkdirSync(join(of.places.quarantineDir, "folder.evt"));
  expect((await run()).text).toMatch(/^2 files that no hook wrote stay in quarantine\n/);
  expect(readdirSync(of.places.quarantineDir).sort()).toEqual(["folder.evt", "notes.txt"]);
});

test("files with the same name do not collide in the inbox", async () => {
  const [name = ""] = await quarantineAll();
  const other = join(of.places.inboxDir, `r-00000000-0-${name}`);
  writeFileSync(other, readFileSync(join(of.places.quarantineDir, name)));
  writeFileSync(join(of.places.inboxDir, name), readFileSync(join(of.places.quarantineDir, name)));
  utimesSync(other, 1e9, 1e9);
  const { text } = await run();
  expect(text).toContain(`${of.calls.length + 2} files from the inbox`);
});

test("without a usable store the replayed events stay queued", async () => {
  const names = await quarantineAll();
  const db = openDatabase(of.places.storePath);
  db.prepare("PRAGMA user_version = 999").run();
  db.close();
  const { code } = await run();
  expect(code).toBe(1);
  const waiting = [...readdirSync(of.places.inboxDir), ...readdirSync(of.places.claimedDir)];
  expect(waiting).toHaveLength(names.length);
  expect(existsSync(of.places.quarantineDir)).toBe(true);
});
