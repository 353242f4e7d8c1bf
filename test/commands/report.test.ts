import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { writeFileAtomic } from "#config/files.ts";
import { type Places, placesOf } from "#config/places.ts";
import type { Dimension } from "#show/report/query.ts";
import { usageTable } from "#show/report/text/usage-report.ts";
import { usage } from "#show/report/usage.ts";
import { limitsText, reportedLimitsPath } from "#show/statusline/summary.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { ensureSession, updateSession } from "#store/sessions.ts";
import { filledStore } from "../report/filled.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

type Options = Partial<Parameters<typeof report>[1]>;

async function reportOf(
  places: Places,
  args: readonly string[] = [],
  options: Options = {},
  world: ContextOptions = {},
) {
  const { context, out } = contextAt(places, world);
  expect(await report(args, { json: false, csv: false, ...options }, context)).toBe(0);
  return out();
}

test("if hooks that report tokens reported none, tokens are unknown, and the agent is named", async () => {
  const of = new Replay("cursor", "basic");
  const other = new Replay("cursor", "mcp");
  for (const call of [...of.calls, ...other.calls]) of.put(call);
  await of.drain({ endIdle: true });
  const now = () => Date.parse("2026-09-15");
  const text = await reportOf(of.places, ["session"], {}, { now });
  expect(text).toMatch(/^cursor\/\S+0003( +\?){3} +1 +1 +0% {2}2026-09-14$/m);
  expect(text).toMatch(/^total +≥\$0\.02 +█* *≥43\.9k /m);
  expect(text).toMatch(/^tokens unknown: 1 session of cursor reported none: /m);
  other.remove();
  of.remove();
});

describe("--time-zone", () => {
  let of: Replay;
  let firstMs = 0;
  const now = () => firstMs + 3_600_000;
  beforeAll(async () => {
    of = new Replay("claude-code", "multi-turn");
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
    firstMs = Math.min(...of.calls.map((call) => Date.parse(call.received_at)));
  });
  afterAll(() => of.remove());
  const json = async (timeZone: string | undefined, args: readonly string[] = ["day"], more: Options = {}) =>
    JSON.parse(await reportOf(of.places, args, { json: true, ...(timeZone && { timeZone }), ...more }, { now }));

  test.each([
    ["UTC", "2026-11-21", "2026-10-23T00:00:00.000Z"],
    ["America/Los_Angeles", "2026-11-20", "2026-10-22T07:00:00.000Z"],
    ["Asia/Kathmandu", "2026-11-21", "2026-10-22T18:15:00.000Z"],
    ["Pacific/Kiritimati", "2026-11-21", "2026-10-22T10:00:00.000Z"],
  ])("days, the default beginning and the title are those of %s", async (timeZone, day, since) => {
    const before = [process.env["TZ"], new Date(0).getHours()];
    const found = await json(timeZone);
    expect(found).toMatchObject({ since, rows: [{ day }], total: (await json(undefined)).total });
    expect(new Intl.DateTimeFormat("en", { timeZone: found.time_zone }).resolvedOptions().timeZone).toBe(
      new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone,
    );
    const text = await reportOf(of.places, [], { timeZone }, { now, env: { NO_COLOR: "1" } });
    expect(text).toMatch(new RegExp(`^usage since 2026-10-\\d\\d · ${timeZone}\n`));
    expect(text).toContain(day);
    expect([process.env["TZ"], new Date(0).getHours()]).toEqual(before);
  });

  test("today and the windows of limits are those of the zone too", async () => {
    // 06:00 UTC is still the day before in Los Angeles, and the next day when its evening ends
    expect((await json("America/Los_Angeles", ["today"])).rows).toHaveLength(1);
    const later = { now: () => firstMs + 4 * 3_600_000 };
    const text = await reportOf(of.places, ["today"], { timeZone: "America/Los_Angeles" }, later);
    expect(text).toMatch(/^no usage since 2026-11-21 · America\/Los_Angeles; the last was on 2026-11-20/);
    const blocks = await reportOf(of.places, [], { blocks: true, timeZone: "America/Los_Angeles" }, { now });
    expect(blocks).toMatch(/2026-11-20 2\d:00–/);
    expect(await json("UTC", [], { blocks: true })).toMatchObject({ time_zone: "UTC" });
  });

  test.each(["Berlin", "+02:00", "Mars/Olympus", "", "UTC+2"])("%j is refused with an example", async (timeZone) => {
    for (const blocks of [false, true]) {
      await expect(reportOf(of.places, [], { timeZone, blocks })).rejects.toThrow(
        `--time-zone takes a name like Europe/Berlin, America/New_York or UTC, not ${JSON.stringify(timeZone)}`,
      );
    }
  });
});

describe("--blocks", () => {
  let of: Replay;
  const now = () => Date.parse("2026-11-21T06:10:00Z");
  beforeAll(async () => {
    of = new Replay("claude-code", "multi-turn");
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
    const resetsAtMs = Date.parse("2026-11-21T08:23:20Z");
    const path = reportedLimitsPath(of.places.stateDir, "claude-code");
    await writeFileAtomic(path, limitsText([{ window: "five_hour", percent: 23.5, resetsAtMs }]));
  });
  afterAll(() => of.remove());

  test("the reported window with its limit, a derived week, and the time left of both", async () => {
    const text = await reportOf(of.places, [], { blocks: true }, { now, columns: 160, env: { NO_COLOR: "1" } });
    expect(text).toMatch(/^usage since 2026-10-23\n\nfive-hour windows\nwindow +cost +in .* limit +left +window is/);
    expect(text).toMatch(/:23–\S+ +\$0\.03 .* 23% +2h 13m +reported +claude-sonnet-4-5-20250929$/m);
    expect(text).toMatch(/\n\nweekly windows\n.*\n.* \? +6d \d+h +derived +claude-sonnet-4-5-20250929$/m);
    const { total } = JSON.parse(await reportOf(of.places, [], { json: true }, { now }));
    const data = JSON.parse(await reportOf(of.places, [], { blocks: true, json: true }, { now }));
    expect(data.five_hour.blocks).toMatchObject([
      {
        agent: "claude-code",
        start: "2026-11-21T03:23:20.000Z",
        end: "2026-11-21T08:23:20.000Z",
        window_from: "reported",
        active: true,
        seconds_left: 8000,
        limit_used: 0.235,
        cost_usd: total.cost_usd,
      },
    ]);
    expect(data.seven_day.blocks).toMatchObject([{ window_from: "derived", limit_used: null, input: total.input }]);
  });

  test("a narrow terminal loses the least important columns, and never wraps", async () => {
    for (const columns of [20, 40, 60, 80, 100]) {
      const text = await reportOf(of.places, [], { blocks: true }, { now, columns, env: { NO_COLOR: "1" } });
      for (const line of text.split("\n")) expect(columnsOf(line), line).toBeLessThanOrEqual(columns);
      if (columns >= 60) expect(text).toMatch(/ \$0\.03 .* 23% +2h 13m +reported/);
    }
  });

  test("refuses what windows cannot be combined with, and says when there is nothing", async () => {
    const refused = (args: readonly string[], options: Options) =>
      expect(reportOf(of.places, args, { blocks: true, ...options })).rejects;
    await refused(["week"], {}).toThrow("windows are the rows of --blocks: leave out week");
    await refused([], { repository: "api" }).toThrow("--blocks cannot be combined with --repository");
    await refused([], { model: "gpt-5.5" }).toThrow("--blocks cannot be combined with --model");
    await refused([], { csv: true }).toThrow("use --json");
    await refused([], { agent: "clade" }).toThrow("did you mean claude-code?");
    expect(await reportOf(of.places, [], { blocks: true, until: "2026-01-01" })).toMatch(
      /^no usage since 2025-12-02 until 2026-01-01; the first was on 2026-11-21$/m,
    );
  });
});

test("a table can have more rows than a function takes arguments", () => {
  const rows = Array.from({ length: 130_000 }, (_, n) => ({
    key: { session: `openhook/${n}` },
    sessions: 1,
    agentsWithoutUsage: [],
    sessionsWithoutUsage: 0,
  }));
  const lines = usageTable(["session"], rows, undefined, { columns: 80, colour: false });
  expect([...lines].length).toBeGreaterThan(rows.length);
});

test("names stay distinct in a narrow terminal", () => {
  const models = ["claude-haiku-4-5-20251001", "claude-haiku-5-5-20260301"];
  const rows = models.map((model) => ({
    key: { model },
    sessions: 1,
    agentsWithoutUsage: [],
    sessionsWithoutUsage: 0,
  }));
  const lines = [...usageTable(["model"], rows, undefined, { columns: 25, colour: false })];
  expect(lines.slice(1).map((line) => line.split(" ")[0])).toEqual(["claude-haiku-4…", "claude-haiku-5…"]);
});

test("if one turn of several reported no tokens, the sum is shown as a lower bound", async () => {
  const of = new Replay("cursor", "basic");
  const stop = of.calls.find(({ event }) => event === "stop");
  if (stop?.stdin === undefined) throw new Error("no turn ended");
  for (const call of of.calls) of.put(call);
  const { input_tokens: _, output_tokens: __, cache_read_tokens: ___, cache_write_tokens: ____, ...rest } = stop.stdin;
  const cancelled = { ...rest, generation_id: "1f6a0b52-77a4-4c0e-8d39-0d7e7a3b0009", status: "aborted" };
  const prompt = of.calls.find(({ event }) => event === "beforeSubmitPrompt")?.stdin;
  const later = new Date(Date.parse(stop.received_at) + 5_000).toISOString();
  const result = { ...prompt, generation_id: cancelled.generation_id };
  of.put({ received_at: later, event: "beforeSubmitPrompt", stdin: result });
  of.put({ received_at: later, event: "stop", stdin: cancelled });
  await of.drain({ endIdle: true });
  const now = () => Date.parse("2026-09-15");
  const text = await reportOf(of.places, ["agent"], {}, { now });
  expect(text).toMatch(/^cursor +≥\$0\.02 +█* *≥43\.9k +65% +≥1,076 /m);
  expect(text).toMatch(/^tokens and cost are a lower bound: 1 call or turn reported none, or not all: /m);
  expect(text).not.toContain("price unknown");
  const { context, out } = contextAt(of.places, { now });
  expect(await sessions({ limit: 20, json: false }, context)).toBe(0);
  expect(out()).toContain("≥43.9k→≥1,076");
  of.remove();
});

test("an opened and closed session, and a program that calls no model, used nothing", async () => {
  const of = new Replay("claude-code", "basic", { withTranscripts: false });
  for (const call of of.calls) if (call.event === "SessionStart" || call.event === "SessionEnd") of.put(call);
  Object.assign(of, { source: "cli-wrapper" });
  for (const phase of ["pre", "post"]) {
    const stdin = { phase, cli: "gh", args: ["pr", "list"], exit_code: 0, call: "1-2", shell: "3-4" };
    of.put({ received_at: of.calls[0]?.received_at ?? "", event: phase, stdin });
  }
  await of.drain({ endIdle: true });
  const now = () => Date.parse(of.calls[0]?.received_at ?? "");
  const result = JSON.parse(await reportOf(of.places, ["agent"], { json: true }, { now }));
  expect(result.rows.map(({ agent }: { agent: string }) => agent).sort()).toEqual(["claude-code", "cli-wrapper"]);
  for (const row of [...result.rows, result.total]) {
    expect(row).toMatchObject({ sessions_without_usage: 0, model_calls: 0, input: 0, cost_usd: 0 });
  }
  expect(await reportOf(of.places, ["agent"], {}, { now })).not.toMatch(/[?≥]/);
  const { context, out } = contextAt(of.places, { now });
  expect(await sessions({ limit: 20, json: false }, context)).toBe(0);
  expect(out()).not.toContain("?");
  of.remove();
});

describe("recorded sessions", () => {
  let of: Replay;
  let now: () => number;
  beforeAll(async () => {
    const { of: filled, lastMs } = await filledStore();
    of = filled;
    now = () => lastMs + 60_000;
  });
  afterAll(() => of.remove());
  const shown = (args: readonly string[] = [], options: Options = {}, world: ContextOptions = {}) =>
    reportOf(of.places, args, options, { now, ...world });

  test("without arguments: days, agents, models, and each unknown value by name", async () => {
    const text = await shown();
    const lines = text.split("\n");
    expect(lines[0]).toMatch(/^usage since \d{4}-\d\d-\d\d$/);
    expect(lines[1]).toMatch(/^day +cost +in +cached +out +calls +turns +tools +failed +sessions$/);
    expect(text).toMatch(/^2026-\d\d-\d\d (Mon|Tue|Wed|Thu|Fri|Sat|Sun) +≥\$\d+\.\d+ +█+ /m);
    expect(text).toMatch(/^agent +cost /m);
    expect(text).toMatch(/^claude-code +≥\$0\.\d+ +█+ +≥/m);
    // Includes the calls of a session that reported no tokens, and whose number is unknown
    expect(text).toMatch(/^claude-code .* 60% +≥940 +≥26 +11 +18 /m);
    expect(text).toMatch(/^opencode +\? +21\.0k +78% +86 +5 +3 +2 +0% +1$/m);
    expect(text).toMatch(/^model +cost /m);
    expect(text).toMatch(/^cost: list prices of genai-prices\/\d+\.\d+\.\d+/m);
    expect(text).toMatch(/^price unknown: \d+ calls, .*acme-coder-1 \(5\)/m);
    expect(text).toMatch(/^cached: share of input tokens read from a cache/m);
    expect(text).toMatch(/^tokens unknown: 1 session of claude-code reported none: /m);
    expect(text).not.toMatch(CONTROL);
  });

  test("as JSON: the same in whole numbers, unknown is null", async () => {
    const document = JSON.parse(await shown([], { json: true })) as Record<string, unknown>;
    expect(document).toMatchObject({
      by: ["day"],
      filters: { agent: null },
      total: { sessions_without_usage: 1, agents_without_usage: ["claude-code"] },
    });
    expect((document["agents"] as Record<string, unknown>[]).find((row) => row["agent"] === "opencode")).toMatchObject({
      sessions: 1,
      turns: 3,
      model_calls: 5,
      input: 21_000,
      output: 86,
      cost_usd: null,
      unpriced_calls: 5,
      tool_calls: 2,
    });
    expect(document["unpriced"]).toContainEqual({ model: "acme-coder-1", calls: 5, reasons: ["model"] });
    const rows = document["rows"] as Record<string, number>[];
    const total = document["total"] as Record<string, number>;
    for (const key of ["input", "output", "turns", "tool_calls", "model_calls"] as const)
      expect(
        rows.reduce((sum, row) => sum + (row[key] ?? 0), 0),
        key,
      ).toBe(total[key]);
  });

  test("tools: calls, errors, denied, time", async () => {
    const text = await shown(["tools"]);
    expect(text).toMatch(/^tool +calls +failed +share +denied +no end +time +mean +sessions$/m);
    expect(text).toMatch(/^Bash +\d+ +█+ +\d+ +\d+% +\d+ +\d+ +\S+ m?s +\S+ m?s +\d+$/m);
    expect(text).not.toMatch(/cost|cached/);
    const [tool] = (JSON.parse(await shown(["tool"], { json: true })) as { rows: Record<string, unknown>[] }).rows;
    expect(tool).not.toHaveProperty("input");
  });

  test("filters, several dimensions, and a limit that reports what it omits", async () => {
    const codex = await shown(["agent", "model"], { agent: "codex" });
    expect(codex).toMatch(/^usage since \S+ · codex\n/);
    expect(codex).not.toContain("claude");
    const limited = await shown(["session"], { limit: 2 });
    expect(limited.split("\n").filter((line) => /^[\w-]+\/[\w-]{8}/.test(line))).toHaveLength(2);
    expect(limited).toMatch(/^\d+ rows more: --limit \d+$/m);
    expect(limited).toMatch(/^total /m);
    expect(JSON.parse(await shown(["session"], { json: true }))).toMatchObject({ rows_left_out: 0 });
    expect(JSON.parse(await shown(["session"], { json: true, limit: 2 })).rows).toHaveLength(2);
    expect(await shown(["repo"])).toMatch(/^acme-shop /m);
  });

  test("invalid arguments list the valid ones", async () => {
    for (const json of [false, true]) {
      await expect(shown([], { agent: "clade", json })).rejects.toThrow(
        /^unknown agent "clade" \(did you mean claude-code\?\); known are: .*codex/,
      );
    }
    expect(await shown([], { agent: "kiro" })).toMatch(
      /^no session of agent "kiro"; in the store: claude-code, .*codex/,
    );
    expect(await shown([], { repository: "acme-shp" })).toMatch(
      /^no session of repository "acme-shp" \(did you mean acme-shop\?\); in the store: /,
    );
    expect(await shown([], { model: "\u001b[2J" })).toMatch(/^no session of model "\\x1b\[2J"; in the store: /);
    const later = { now: () => Date.parse("2030-02-01") };
    const [, last] =
      /^no usage since 2030-01-01; the last was on (2026-\d\d-\d\d): --since (\1)$/m.exec(
        await shown([], { since: "2030-01-01" }, later),
      ) ?? [];
    expect(await shown([], { since: last ?? "" })).toMatch(/^usage since 2026-/);
    expect(await shown([], { since: "2030-01-01", agent: "codex" }, later)).toMatch(
      /^no usage since 2030-01-01 · codex; the last was on 2026-/,
    );
    // Without --since: the period before --until
    expect(await shown([], { until: "2020-02-01" })).toMatch(
      /^no usage since 2020-01-02 until 2020-02-01; the first was on 2026-\d\d-\d\d$/m,
    );
    expect(await shown(["month"], { until: "2020-02-01" })).toMatch(/^no usage since 2019-02-01 until 2020-02-01;/);
    expect(JSON.parse(await shown([], { since: "2030-01-01", json: true }, later))).toMatchObject({
      rows: [],
      total: null,
    });
    await expect(shown(["tool", "model"])).rejects.toThrow("model and tool cannot be combined");
    await expect(shown(["tool"], { model: "gpt-5.5" })).rejects.toThrow("model and tool cannot be combined");
    await expect(shown(["colour"])).rejects.toThrow(
      'unknown dimension "colour"; a report can be by hour, day, week, month, agent, model',
    );
    await expect(shown(["weak"])).rejects.toThrow('unknown dimension "weak" (did you mean week?); a report can be by');
    await expect(shown([], { since: "2099-01-01" })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--since "2099-01-01" is in the future'),
    });
    await expect(shown([], { since: "soon" })).rejects.toThrow("--since takes an age");
    for (const day of ["2025-02-29", "2026-02-30T09:00", "2025-04-31"]) {
      await expect(shown([], { since: day }), day).rejects.toThrow(`not "${day}"`);
    }
    expect(await shown([], { since: "2024-02-29" })).toMatch(/^usage since 2024-02-29\n/);
    await expect(shown([], { json: true, csv: true })).rejects.toThrow("choose one of");
    await expect(shown([], { since: "1d", until: "2d" })).rejects.toThrow("later than --until");
  });

  test("fits any terminal width, dropping the bars first", async () => {
    const db = openDatabase(of.places.storePath);
    const agents = await allAgents();
    for (const by of [["day"], ["tool"], ["day", "agent", "model", "repository"], ["session"]] as Dimension[][]) {
      const rows = usage(db, { agents }, { by });
      const [total] = usage(db, { agents }, { by: [] });
      for (let columns = 1; columns <= 140; columns++) {
        for (const line of usageTable(by, rows, total, { columns, colour: false }))
          expect(columnsOf(line), `${columns}: ${line}`).toBeLessThanOrEqual(columns);
      }
    }
    db.close();
    for (const columns of [1, 7, 20, 33, 80]) {
      for (const line of (await shown([], {}, { columns })).replaceAll(SGR, "").split("\n"))
        expect(columnsOf(line), `${columns}: ${line}`).toBeLessThanOrEqual(columns);
    }
    const at50 = (await shown([], {}, { columns: 50, env: { NO_COLOR: "1" } })).split("\n");
    expect(at50[1]).toMatch(/^day +cost +in +out/);
    expect(at50[2]).toMatch(/█/);
  });

  test("colours only on a terminal, and ASCII if the terminal supports nothing else", async () => {
    expect(await shown([], {}, { columns: 100 })).toMatch(SGR);
    expect(await shown([], {}, { columns: 100, env: { NO_COLOR: "1" } })).not.toMatch(CONTROL);
    const ascii = await shown([], {}, { env: { LC_ALL: "C" } });
    expect(ascii).toMatch(/^[\n\x20-\x7e]+$/);
    expect(ascii).toMatch(/ #+ /);
    for (const env of [{ LANG: "de_DE.UTF-8" }, { LANG: "en_US.utf8", LC_ALL: "" }, {}])
      expect(await shown([], {}, { env: env as Record<string, string> })).toContain("█");
  });

  test("CSV: one header line, no missing cell, unknown is empty", async () => {
    const lines = (await shown(["agent", "day"], { csv: true })).trimEnd().split("\r\n");
    const head = (lines[0] ?? "").split(",");
    expect(head.slice(0, 3)).toEqual(["agent", "day", "sessions"]);
    for (const line of lines) expect(line.split(","), line).toHaveLength(head.length);
    const opencode = (lines.find((line) => line.startsWith("opencode,")) ?? "").split(",");
    expect(opencode[head.indexOf("cost_usd")]).toBe("");
    expect(opencode[head.indexOf("input_tokens")]).toBe("21000");
    const unreported = JSON.parse(await shown(["session"], { json: true })) as { rows: Record<string, unknown>[] };
    const [one] = unreported.rows.filter((row) => row["sessions_without_usage"] === 1);
    expect(one).toMatchObject({ model_calls: null, input: null, cost_usd: null });
    const csv = (await shown(["session"], { csv: true })).trimEnd().split("\r\n");
    const figures = (csv[0] ?? "").split(",");
    const cells = (csv.find((line) => line.startsWith(`${String(one?.["session"])},`)) ?? "").split(",");
    for (const name of ["model_calls", "input_tokens", "cost_usd"]) expect(cells[figures.indexOf(name)], name).toBe("");
    expect((await shown(["tool"], { csv: true })).split("\r\n")[0]).toBe(
      "tool,sessions,tool_calls,tool_errors,tool_denied,tool_unfinished,tool_open,tool_ms",
    );
  });
});

describe("made stores", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-report-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const places = () => placesOf({ env: {}, home, platform: "linux" });

  test("without sessions, text says what to do, JSON has no rows, CSV has only the header line", async () => {
    expect(await reportOf(places())).toMatch(/^no sessions yet: run openhook-otel start/);
    const blocks = { blocks: [], total: null };
    expect(JSON.parse(await reportOf(places(), [], { blocks: true, json: true }))).toMatchObject({
      five_hour: blocks,
      seven_day: blocks,
    });
    openDatabase(places().storePath).close();
    expect(await reportOf(places(), ["tool"])).toMatch(/^no sessions yet: run openhook-otel start/);
    expect(JSON.parse(await reportOf(places(), [], { json: true }))).toMatchObject({ rows: [], total: null });
    // Concatenated reports need the same columns in each
    expect(await reportOf(places(), [], { csv: true })).toMatch(
      /^day,sessions,turns,.*,cost_usd,.*,tool_ms,[^\n]*\r\n$/,
    );
    expect(await reportOf(places(), ["model"], { csv: true })).toMatch(
      /^model,sessions,model_calls,(?!.*(?:turns|tool_)).*\r\n$/,
    );
  });

  test("names with formulas, quotes, line breaks or terminal sequences are escaped", async () => {
    const db = openDatabase(places().storePath);
    const names = [
      "=1+1",
      "+A1",
      "-2",
      "@SUM(A1)",
      "\t=1",
      "\uff1d1",
      'a "b", c',
      "two\nlines",
      "\u001b]0;title\u0007",
    ];
    for (const [i, name] of names.entries()) {
      const { id } = ensureSession(db, "cursor", String(i), Date.now());
      updateSession(db, id, { timeMs: Date.now(), repository: { name } });
    }
    db.close();
    const lines = (await reportOf(places(), ["repository"], { csv: true })).trimEnd().split("\r\n").slice(1);
    expect(lines).toHaveLength(names.length);
    const firsts = lines.map((line) => /^("(?:[^"]|"")*"|[^,]*),/.exec(line)?.[1] ?? "");
    for (const first of firsts) expect(first).not.toMatch(/^"?[\s]*[=+\-@\uff1d]/);
    expect(firsts).toContain('"a ""b"", c"');
    expect(firsts).toContain("two\\x0alines");
    expect(firsts).toContain("'=1+1");
    const text = await reportOf(places(), ["repository"], {}, { columns: 80 });
    expect(text.replaceAll(SGR, "")).not.toMatch(CONTROL);
    expect(text).toContain("\\x1b]0;title\\x07");
  });

  test("repositories with the same name are distinguished, and filtered, by owner", async () => {
    const db = openDatabase(places().storePath);
    const urls = ["https://git.example/acme/api.git", "https://git.example/beta/api.git", "ssh://git.example/acme/api"];
    for (const [i, url] of urls.entries()) {
      const { id } = ensureSession(db, "codex", `session-${i}`, Date.now());
      updateSession(db, id, { timeMs: Date.now(), repository: { name: "api", url } });
      addCall(db, id);
    }
    db.close();
    const rows = async (options: Options) =>
      (
        JSON.parse(await reportOf(places(), ["repository"], { json: true, ...options })) as {
          rows: { repository: string; sessions: number }[];
        }
      ).rows.map(({ repository, sessions }) => [repository, sessions]);
    expect(await rows({})).toEqual(
      expect.arrayContaining([
        ["acme/api", 2],
        ["beta/api", 1],
      ]),
    );
    expect(await rows({ repository: "acme/api" })).toEqual([["acme/api", 2]]);
    expect(await rows({ repository: "api" })).toHaveLength(2);
    expect(await reportOf(places(), [], { repository: "gamma/api" })).toContain(
      'no session of repository "gamma/api"; in the store: acme/api, beta/api',
    );
  });

  const ALIKE = Array.from({ length: 4 }, (_, n) => n);
  test.each([
    ["only the first part differs, at its end", (n: number) => `01a1fca1-7c0${n}-7d3e-8f21-5c9d0e7b4a1${n}`],
    ["only the last part differs", (n: number) => `01a1fca1-7c00-7d3e-8f21-5c9d0e7b4a1${n}`],
  ])("session ids with a common prefix stay distinct at any width: %s", async (_, idOf) => {
    const db = openDatabase(places().storePath);
    for (const n of ALIKE) {
      const { id } = ensureSession(db, "codex", idOf(n), Date.now());
      addCall(db, id);
    }
    db.close();
    for (let columns = 16; columns <= 90; columns++) {
      const text = (await reportOf(places(), ["session"], {}, { columns })).replaceAll(SGR, "");
      for (const line of text.split("\n")) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
      const names = text.split("\n").flatMap((line) => /^codex\/\S*/.exec(line)?.[0] ?? []);
      expect([columns, new Set(names).size], names.join(" ")).toEqual([columns, ALIKE.length]);
      if (columns >= 30) expect(text, String(columns)).toMatch(/^session +.*cost/m);
    }
    // Complete ids can be passed to `show`
    expect(await reportOf(places(), ["session"])).toContain(`codex/${idOf(1).slice(0, 13)}`);
  });

  test("a calendar contains empty days, from the first day with data", async () => {
    const db = openDatabase(places().storePath);
    const day = (n: number): number => new Date(2026, 9, n, 12).getTime();
    for (const n of [20, 26]) {
      const { id } = ensureSession(db, "openhook", String(n), day(n));
      db.prepare(
        `INSERT INTO model_calls (session, key, segment, model, subagent, end_ms, input, output, complete, body)
         VALUES (?, 'a', 0, 'm', 0, ?, 5, 1, 1, '{"startMs":0}')`,
      ).run(id, day(n));
    }
    db.close();
    const text = await reportOf(places(), [], {}, { now: () => day(27) });
    const days = text.split("\n").flatMap((line) => /^2026-10-(\d\d) /.exec(line)?.[1] ?? []);
    expect(days).toEqual(["20", "26", "27"]);
    expect(text).toMatch(/^… 5 days without a session$/m);
    expect(text).toMatch(/^2026-10-27 Tue$/m);
    const narrow = await reportOf(places(), ["day"], {}, { now: () => day(29), columns: 24 });
    expect(narrow.replaceAll(SGR, "")).toMatch(/^… 5 days\D*\n( *without.*\n)?2026-10-26[\s\S]*^… 3 days/m);
    expect(await reportOf(places(), [], {}, { now: () => day(28) })).toMatch(/^2026-10-28 Wed$/m);
    const { rows } = JSON.parse(await reportOf(places(), ["day"], { json: true }, { now: () => day(29) }));
    expect(rows).toHaveLength(2);
    const csv = await reportOf(places(), ["day"], { csv: true }, { now: () => day(27) });
    expect(csv.trimEnd().split("\r\n")).toHaveLength(3);
    expect(csv.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });
});

// --- internal ---

/** A session that ended just now. */
function addCall(db: Database, session: number): void {
  db.prepare(
    `INSERT INTO model_calls (session, key, segment, model, subagent, end_ms, input, output, cost_nano_usd, complete, body)
     VALUES (?, 'a', 0, 'm', 0, ?, 50000, 1000, 1, 1, '{"startMs":0}')`,
  ).run(session, Date.now());
}
