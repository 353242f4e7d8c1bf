// Slow: only `npm run test:all` runs it. Transcripts that are not allowed, in every output;
// report/unknown-usage.test.ts has sums without them.
// A transcript that must not be read: the figures of its session are unknown in every output, and the remedy is said.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { summarise } from "#show/report/session-summary.ts";
import { figuresOf } from "#show/statusline/figures.ts";
import { toRow } from "#show/view/data/rows.ts";
import { openDatabase } from "#store/database.ts";
import { findSessions } from "#store/queries.ts";
import { type ContextOptions, contextAt } from "../../support/context.ts";
import { agents, Sender } from "./sender.ts";

let sender: Sender;
beforeEach(() => {
  sender = new Sender();
});
afterEach(() => sender.remove());

const ANSWER = `${JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_795_860_002,
  model: "gpt-5",
  usage: { prompt_tokens: 110, completion_tokens: 11 },
})}\n`;
const UNKNOWN = { model_calls: null, input: null, output: null, cache_read: null, cost_usd: null };

type Run = (context: ReturnType<typeof contextAt>["context"]) => Promise<number>;
async function printed(run: Run, options: ContextOptions = {}): Promise<string> {
  const env = sender.folders === undefined ? {} : { OPENHOOK_OTEL_TRANSCRIPTS_FOLDERS: sender.folders };
  const { context, out } = contextAt(sender.places, { now: () => sender.nowMs, env, ...options });
  expect(await run(context)).toBe(0);
  return out();
}
const shown = async (id: string) => {
  const text = await printed((c) => show(id, { json: false, envelopes: false }, c));
  return text.replace(/\s+/g, " ");
};

describe("a session whose transcript was named and not read", () => {
  const sources = [
    "acme-agent",
    ...agents.filter(({ callsModels }) => callsModels !== false).map(({ source }) => source),
  ];

  test("has unknown calls, tokens and costs in every output, whatever its agent", async () => {
    mkdirSync(join(sender.home, "elsewhere"));
    const path = join(sender.home, "elsewhere", "a.jsonl");
    writeFileSync(path, ANSWER);
    for (const source of sources) sender.end(`of-${source}`, path, source);
    await sender.drain({ endIdle: true });

    const list = JSON.parse(await printed((c) => sessions({ limit: 99, all: true, json: true }, c))) as {
      readonly source: string;
      readonly totals: object;
    }[];
    expect(new Set(list.map(({ source }) => source))).toEqual(new Set(sources));
    for (const { source, totals } of list) expect({ source, ...totals }).toMatchObject({ source, ...UNKNOWN });
    expect(await printed((c) => sessions({ limit: 99, all: true, json: false }, c))).not.toMatch(/\$0/);

    const rows = JSON.parse(await printed((c) => report(["agent"], { json: true, csv: false }, c)));
    for (const row of [...rows.rows, rows.total]) expect(row).toMatchObject(UNKNOWN);
    expect(rows.total).toMatchObject({ sessions_without_usage: sources.length });
    const csv = (await printed((c) => report(["agent"], { json: false, csv: true }, c))).trimEnd().split("\n");
    const names = csv[0]?.split(",") ?? [];
    const columns = ["model_calls", "input_tokens", "output_tokens", "cost_usd"].map((name) => names.indexOf(name));
    expect(columns).not.toContain(-1);
    for (const line of csv.slice(1)) expect(columns.map((at) => line.split(",")[at])).toEqual(["", "", "", ""]);

    for (const source of sources) {
      const id = `of-${source}`;
      const document = JSON.parse(await printed((c) => show(id, { json: true, envelopes: false }, c)));
      expect({ source, ...document.totals }).toMatchObject({ source, ...UNKNOWN });
      for (const segment of document.segments) expect(segment.totals).toMatchObject(UNKNOWN);
      expect(await shown(id)).toMatch(/tokens unknown/);
      expect(await shown(id)).not.toMatch(/0 model calls|\$0/);
      expect(await printed((c) => explain(id, { json: false }, c))).not.toMatch(/\$0|0 model calls|\b0 tokens/);
      const explained = await printed((c) => explain(id, { json: true }, c));
      expect([id, explained.match(/"(?:model_calls|input|output|cost_usd)":0[,}]/g)]).toEqual([id, null]);
    }

    const db = openDatabase(sender.places.storePath);
    try {
      const { today, sessions: costs } = figuresOf(db, agents, sender.nowMs);
      expect(costs.length).toBeGreaterThan(9);
      for (const cost of [today, ...costs.map((one) => one.cost)]) expect(cost).not.toMatch(/0/);
      for (const source of sources) {
        const [stored] = findSessions(db, `of-${source}`, 1);
        if (stored === undefined) throw new Error(source);
        const idle = { nowMs: sender.nowMs, idleTimeoutMs: 1_800_000 };
        expect(toRow(db, { agents, idle }, summarise(db, stored, { agents })).totals).toMatchObject({
          model_calls: null,
          input: null,
          output: null,
          cost_usd: null,
        });
      }
      const records = db
        .prepare("SELECT record FROM spans")
        .all()
        .map((row) => String(row["record"]));
      expect(records.length).toBeGreaterThanOrEqual(sources.length);
      for (const record of records) expect(record).not.toMatch(/usage|cost|model_call/);
      const metrics = db
        .prepare("SELECT DISTINCT metric FROM counters")
        .all()
        .map((row) => String(row["metric"]));
      expect(metrics.filter((name) => /token|cost|model/.test(name))).toEqual([]);
    } finally {
      db.close();
    }
  });
});

test("a session that was opened and closed, whose transcript was never written, used nothing", async () => {
  sender.envelope("session.start", "s1", { transcript_path: join(sender.logs, "never.jsonl") }, "claude-code");
  sender.end("s1", join(sender.logs, "never.jsonl"), "claude-code");
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 0, input: 0 });
});

test("show and report type the command that allows the folder, with those that are allowed; the next drain reads it", async () => {
  mkdirSync(join(sender.home, "my logs"));
  const path = join(sender.home, "my logs", "a.jsonl");
  writeFileSync(path, ANSWER);
  sender.end("s1", path);
  await sender.drain();
  const all = `${sender.logs}:${join(sender.home, "my logs")}`;
  const command = `openhook-otel config set transcripts.folders '${all}'`;
  expect(await shown("s1")).toContain(command);
  expect((await printed((c) => report([], { json: false, csv: false }, c))).replace(/\s+/g, " ")).toContain(command);
  expect(JSON.parse(await printed((c) => report([], { json: true, csv: false }, c)))).toMatchObject({
    allow_command: command,
    unread_transcripts: [{ source: "acme-agent", session_id: "s1", path }],
  });
  sender.folders = all;
  // Drains read old sessions only after such a change
  sender.nowMs += 86_400_000;
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 1, input: 110, output: 11 });
  expect(await shown("s1")).toContain("read by its shape: OpenAI Chat Completions");
  expect(JSON.parse(await printed((c) => show("s1", { json: true, envelopes: false }, c))).transcript).toEqual({
    read: true,
    shapes: ["openai-chat"],
    unread_reason: null,
    allow_command: null,
  });
});

test("no command is offered that would allow the home folder, or that would not help", async () => {
  writeFileSync(join(sender.home, "a.jsonl"), ANSWER);
  symlinkSync("/etc/hostname", join(sender.logs, "link.jsonl"));
  sender.end("s1", join(sender.home, "a.jsonl"));
  sender.end("s2", join(sender.logs, "link.jsonl"));
  await sender.drain();
  for (const id of ["s1", "s2"]) {
    expect(await shown(id)).toMatch(/was not read/);
    expect(await shown(id)).not.toMatch(/config set/);
  }
});

describe("a hostile transcript harms nothing", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const CASES: readonly (readonly [string, (path: string) => void])[] = [
    ["a FIFO", (path) => execFileSync("mkfifo", [path])],
    ["a folder", (path) => mkdirSync(path)],
    ["a link out of the folder", (path) => symlinkSync("/etc/passwd", path)],
    [
      "a gigabyte of nothing",
      (path) => {
        writeFileSync(path, "{");
        truncateSync(path, 1 << 30);
      },
    ],
    [
      "a gigabyte in an array",
      (path) => {
        writeFileSync(path, "[");
        truncateSync(path, 1 << 30);
      },
    ],
    ["deep arrays", (path) => writeFileSync(path, deep)],
    ["deep objects", (path) => writeFileSync(path, `${'{"message":'.repeat(100_000)}1${"}".repeat(100_000)}\n`)],
    ["deep records", (path) => writeFileSync(path, `{"data":${deep}}\n`)],
    ["many small values", (path) => writeFileSync(path, `{"messages":[${"0,".repeat(2_000_000)}{}]}\n`)],
    [
      "names of objects",
      (path) =>
        writeFileSync(path, '{"__proto__":{"usage":{"input_tokens":1}},"constructor":{"usage":1},"usage":[1]}\n'),
    ],
    ["no text", (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0, 1, 2, 0x0a, 0x7b]))],
    ["nothing", (path) => writeFileSync(path, "")],
  ];
  test.each(CASES)(
    "%s",
    async (_, make) => {
      const path = join(sender.logs, "hostile.jsonl");
      make(path);
      sender.end("bad", path);
      sender.end("good", sender.write("good.jsonl", ANSWER));
      await sender.drain();
      expect(sender.session("good").totals).toMatchObject({ model_calls: 1, input: 110 });
      expect(sender.session("bad").totals).toMatchObject(UNKNOWN);
      expect(await shown("bad")).toMatch(/tokens unknown/);
      await sender.drain();
      const db = openDatabase(sender.places.storePath);
      // Its session is delivered all the same
      expect(db.prepare("SELECT count(*) AS n FROM segments WHERE delivered = 1").get()?.["n"]).toBe(2);
      db.close();
    },
    60_000,
  );
});
