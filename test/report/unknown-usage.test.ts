// Unknown is not 0: sessions without any known usage, in every command, on the page and in what is sent.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { summarise } from "#show/report/session-summary.ts";
import { toRow } from "#show/view/data/rows.ts";
import { openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { contextAt } from "../support/context.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";

const agents = await allAgents();
const UNKNOWN = { model_calls: null, input: null, output: null, cache_read: null, cost_usd: null };

const droid = (hook_event_name: string, rest: object = {}) => ({
  hook_event_name,
  session_id: "d1",
  transcript_path: "/home/dev/.factory/sessions/-home-dev/d1.jsonl",
  cwd: "/home/dev/acme-shop",
  permission_mode: "off",
  ...rest,
});
const cursor = (hook_event_name: string) => ({
  hook_event_name,
  conversation_id: "c1",
  session_id: "c1",
  generation_id: "",
  cursor_version: "3.1",
  workspace_roots: ["/home/dev/acme-shop"],
});
const claude = (hook_event_name: string, rest: object = {}) => ({
  hook_event_name,
  session_id: "a1",
  transcript_path: "/home/dev/.claude/projects/-home-dev/a1.jsonl",
  cwd: "/home/dev/acme-shop",
  ...rest,
});

/** Sessions with unknown usage. */
const CASES: readonly (readonly [string, string, readonly object[]])[] = [
  [
    "a run without a prompt, whose session file is not there",
    "droid",
    [droid("SessionStart", { source: "startup" }), droid("Stop"), droid("SessionEnd", { reason: "other" })],
  ],
  [
    "a session without turns, of an agent that may send no tokens",
    "cursor",
    [cursor("sessionStart"), cursor("sessionEnd")],
  ],
  [
    "a prompt, whose transcript is not there",
    "claude-code",
    [claude("SessionStart", { source: "startup" }), claude("UserPromptSubmit", { prompt: "Hi" }), claude("SessionEnd")],
  ],
];

let inbox: InboxFixture | undefined;
afterEach(() => inbox?.remove());

async function drained(source: string, payloads: readonly object[]) {
  const fixture = new InboxFixture();
  inbox = fixture;
  mkdirSync(fixture.places.inboxDir, { recursive: true, mode: 0o700 });
  for (const [index, payload] of payloads.entries()) {
    const head = formatHead({ source, ppid: 1, pid: index + 1, cwd: "/home/dev", env: {} });
    const path = join(fixture.places.inboxDir, `1-${index + 1}-0.evt`);
    writeFileSync(path, `${head}${JSON.stringify(payload)}${formatEnd("whole")}`);
  }
  await fixture.drain({ endIdle: true }, agents);
  const printed = async (run: (context: ReturnType<typeof contextAt>["context"]) => Promise<number>) => {
    const { context, out } = contextAt(fixture.places);
    expect(await run(context)).toBe(0);
    return out();
  };
  return { places: fixture.places, printed };
}

describe.each(CASES)("%s", (_, source, payloads) => {
  test("its usage is null in JSON", async () => {
    const { printed } = await drained(source, payloads);
    const doc = JSON.parse(await printed((c) => show(undefined, { json: true, envelopes: false }, c)));
    expect(doc.totals).toMatchObject(UNKNOWN);
    for (const segment of doc.segments) expect(segment.totals).toMatchObject(UNKNOWN);
    const list = JSON.parse(await printed((c) => sessions({ limit: 9, all: true, json: true }, c)));
    expect(list[0]).toMatchObject({ totals: UNKNOWN });
    const rows = JSON.parse(await printed((c) => report(["session"], { json: true, csv: false }, c)));
    expect(rows.total).toMatchObject({ ...UNKNOWN, sessions_without_usage: 1 });
  });

  test("texts and the page have no 0 for it", async () => {
    const { places, printed } = await drained(source, payloads);
    const text = await printed((c) => show(undefined, { json: false, envelopes: false }, c));
    expect(text).toContain("tokens unknown");
    expect(text).not.toMatch(/0 model calls|\$0/);
    expect(await printed((c) => sessions({ limit: 9, all: true, json: false }, c))).not.toMatch(/\$0/);
    expect(await printed((c) => report([], { json: false, csv: false }, c))).toMatch(/unknown/);
    const db = openDatabase(places.storePath);
    const row = recentSessions(db, 9, true).map((stored) =>
      toRow(db, { agents, idle: { nowMs: Date.now(), idleTimeoutMs: 1_800_000 } }, summarise(db, stored, { agents })),
    )[0];
    db.close();
    expect(row?.totals).toMatchObject({ model_calls: null, input: null, output: null, cost_usd: null });
  });

  test("spans and counters have no 0 for it", async () => {
    const { places } = await drained(source, payloads);
    const db = openDatabase(places.storePath);
    const spans = db
      .prepare("SELECT record FROM spans")
      .all()
      .map((one) => String(one["record"]));
    const series = db
      .prepare("SELECT * FROM counters")
      .all()
      .map((one) => JSON.stringify(one));
    db.close();
    expect(spans.length).toBeGreaterThan(0);
    for (const record of spans) {
      const names = Object.keys(JSON.parse(record).attributes).filter((name) =>
        /tokens|usage|cost|model\.calls|model_calls/.test(name),
      );
      expect(names, record).toEqual([]);
    }
    expect(series.filter((one) => /token\.usage|cost/.test(one) && !/collector/.test(one))).toEqual([]);
  });
});
