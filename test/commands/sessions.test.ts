import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sessions } from "#commands/sessions.ts";
import type { SessionsOptions } from "#commands/sessions-options.ts";
import { type Places, placesOf } from "#config/places.ts";
import { localTime } from "#kit/text/figures.ts";
import { openDatabase } from "#store/database.ts";
import { ensureSession } from "#store/sessions.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

async function listed(places: Places, options: Partial<SessionsOptions> = {}, world: ContextOptions = {}) {
  const { context, out } = contextAt(places, world);
  expect(await sessions({ limit: 20, json: false, ...options }, context)).toBe(0);
  return out();
}

describe("recorded sessions", () => {
  let of: Replay;
  beforeAll(async () => {
    of = new Replay("claude-code", "subagent");
    for (const name of ["permission-denied", "multi-turn", "killed", "two-sessions-at-once"]) {
      const other = new Replay("claude-code", name);
      for (const call of other.calls) other.put(call);
      // One store for all tests: transcripts are read from the home that the hooks reported
      await other.drain({ endIdle: true }, { places: { ...other.places, storePath: of.places.storePath } });
      other.remove();
    }
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
  });
  afterAll(() => of.remove());

  test("one line each, latest activity first", async () => {
    const lines = (await listed(of.places)).trimEnd().split("\n");
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(/^started +agent +session +repository +turns +calls +tools +tokens +cost +duration +end$/);
    const row = (id: string): string => lines.find((line) => line.includes(id)) ?? "";
    expect(row("1989bcb3")).toMatch(
      / claude-code +1989bcb3 +acme-shop +1 +5 +3 +24\.9k→273 +≥\$0\.03 +\S+ s +completed$/,
    );
    expect(row("64edee75")).toMatch(/ +1 +5 +4 \(3✗\) +27\.8k→244 +\$0\.03 /);
    expect(row("864a3682")).toMatch(/ +3 +5 +2 +26\.4k→161 /);
    expect(row("1b608f27")).toMatch(/ +1 +2 +2 +9,605→121 .* ended$/);
    const list = JSON.parse(await listed(of.places, { json: true })) as { last_activity: string; start: string }[];
    const times = list.map((one) => Date.parse(one.last_activity));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(lines.slice(1).map((line) => line.slice(0, 16))).toEqual(
      list.map((one) => localTime(Date.parse(one.start)).slice(0, 16)),
    );
  });

  test("as JSON: whole ids and numbers", async () => {
    const list = JSON.parse(await listed(of.places, { json: true })) as Record<string, unknown>[];
    expect(list.find((one) => one["session_id"] === "864a3682-ec9e-44b3-8211-50bb5c63aa9d")).toMatchObject({
      source: "claude-code",
      agent_version: "2.1.329",
      reason: "completed",
      open: false,
      segments: 3,
      turns: 3,
      prompts: 3,
      subagents: 0,
      tool_calls: { total: 2, success: 2 },
      totals: { model_calls: 5, output: 161, unpriced_calls: 0, incomplete_calls: 0 },
    });
  });

  test("--limit shows the newest sessions and says how many there are more", async () => {
    expect((await listed(of.places, { limit: 2 })).trimEnd().split("\n")).toHaveLength(4);
    expect(await listed(of.places, { limit: 2 })).toMatch(/\n4 more: --limit 6\n$/);
    expect(await listed(of.places, { limit: 2, repository: "acme-shop" })).toMatch(/\n4 more: --limit 6\n$/);
    expect(JSON.parse(await listed(of.places, { limit: 2, json: true }))).toHaveLength(2);
  });

  test("filters by agent, repository and time", async () => {
    const count = async (options: Partial<SessionsOptions>): Promise<number> =>
      (JSON.parse(await listed(of.places, { json: true, ...options })) as unknown[]).length;
    expect(await count({ agent: "claude-code", repository: "acme-shop" })).toBe(await count({}));
    expect(await count({ agent: "codex" })).toBe(0);
    expect(await count({ repository: "other" })).toBe(0);
    expect(await count({ until: "2020-01-01" })).toBe(0);
    expect(await count({ since: "2020-01-01", limit: 3 })).toBe(3);
    expect(await listed(of.places, { until: "2020-01-01" })).toMatch(/^no session matches; /);
  });

  test("filters by a part of the name of a model or tool", async () => {
    const ids = async (options: Partial<SessionsOptions>) =>
      (JSON.parse(await listed(of.places, { json: true, ...options })) as { session_id: string }[]).map(
        ({ session_id }) => session_id.slice(0, 8),
      );
    expect(await ids({ model: "HAIKU" })).toEqual(["1989bcb3"]);
    expect((await ids({ model: "sonnet" })).length).toBe((await ids({})).length);
    expect(await ids({ tool: "agent" })).toEqual(["1989bcb3"]);
    expect(await ids({ tool: "agent", model: "opus" })).toEqual([]);
    expect(await listed(of.places, { tool: "nowhere" })).toMatch(/^no session matches; /);
  });

  test("sorts by cost, time at work and failures; by time at first", async () => {
    type Listed = { session_id: string; totals: { cost_usd: number | null }; tool_calls: Record<string, number> };
    const sorted = async (sort: SessionsOptions["sort"]) =>
      JSON.parse(await listed(of.places, { json: true, ...(sort && { sort }) })) as Listed[];
    const descending = (values: readonly number[]) => expect(values).toEqual([...values].sort((a, b) => b - a));
    const byCost = (await sorted("cost")).map(({ totals }) => totals.cost_usd ?? -1);
    descending(byCost);
    expect(new Set(byCost).size).toBeGreaterThan(2);
    expect((await sorted("cost")).length).toBe((await sorted(undefined)).length);
    const failures = (await sorted("failures")).map(({ tool_calls: { error = 0, denied = 0 } }) => error + denied);
    descending(failures);
    expect(failures[0]).toBeGreaterThan(0);
    expect(await sorted("time")).toEqual(await sorted(undefined));
    const table = await listed(of.places, { sort: "duration" }, { columns: 200, env: { NO_COLOR: "1" } });
    const seconds = [...table.matchAll(/ (?:(\d+)m )?(\d+(?:\.\d)?) s /g)].map(
      ([, minutes = "0", rest = "0"]) => Number(minutes) * 60 + Number(rest),
    );
    expect(seconds.length).toBeGreaterThan(2);
    descending(seconds);
  });

  test("--search finds what was asked and done, in the agents' own files, and shows the line", async () => {
    const search = (text: string, options: Partial<SessionsOptions> = {}) =>
      listed(of.places, { search: text, titles: true, ...options }, { columns: 200, env: { NO_COLOR: "1" } });
    expect(await search("Exports ARE there")).toMatch(/ 1989bcb3 .* how many exports are there\? use a subagent\n$/);
    expect(await search("grep -c export")).toMatch(/ 1989bcb3 .* grep -c export src\/cart\.js\n$/);
    expect(await search("nowhere to be found")).toMatch(/^no session matches; /);
    // From the store, for sessions whose files are gone
    const inStore = JSON.parse(await search("acme-shop", { json: true })) as unknown[];
    expect(inStore).toHaveLength((JSON.parse(await listed(of.places, { json: true })) as unknown[]).length);
    expect(await search("exports are there", { json: true })).not.toContain("exports");
    // Content that is not to be read is not found either
    const env = { OPENHOOK_OTEL_DISPLAY_CONTENT: "off" };
    expect(await listed(of.places, { search: "exports are there" }, { env })).toMatch(/^no session matches; /);
  });

  test("--search ends when it has enough, and says so", async () => {
    const { context, out } = contextAt(of.places);
    await sessions({ limit: 1, json: false, search: "exports are there" }, context);
    expect(out()).toMatch(/\nolder sessions were not searched: --limit 2\n$/);
  });

  test("a period is a word", async () => {
    const count = async (options: Partial<SessionsOptions>, nowMs: number): Promise<number> => {
      const { context, out } = contextAt(of.places, { now: () => nowMs });
      await sessions({ limit: 20, json: true, ...options }, context);
      return (JSON.parse(out()) as unknown[]).length;
    };
    const list = JSON.parse(await listed(of.places, { json: true })) as { last_activity: string }[];
    const lastMs = Date.parse(list[0]?.last_activity ?? "");
    const all = list.length;
    for (const period of ["today", "week", "month"]) {
      const ofPeriod = await count({ period }, lastMs);
      expect(ofPeriod).toBeGreaterThan(0);
      expect(await count({ since: period }, lastMs)).toBe(ofPeriod);
      expect(await count({ period }, lastMs + 40 * 24 * 3_600_000)).toBe(0);
    }
    expect(await count({}, lastMs)).toBe(all);
    await expect(count({ period: "fortnight" }, lastMs)).rejects.toThrow(
      'unknown period "fortnight"; known are today, yesterday, week, month',
    );
    await expect(count({ period: "today", since: "7d" }, lastMs)).rejects.toThrow("this is about one period");
  });

  test("a name that no session has: what was probably meant, and the names in the store", async () => {
    await expect(listed(of.places, { agent: "clade", json: true })).rejects.toThrow(
      /^unknown agent "clade" \(did you mean claude-code\?\); known are: /,
    );
    expect(await listed(of.places, { agent: "codex" })).toBe(
      'no session of agent "codex"; in the store: claude-code\n',
    );
    expect(await listed(of.places, { repository: "acme-shp" })).toBe(
      'no session of repository "acme-shp" (did you mean acme-shop?); in the store: acme-shop\n',
    );
  });

  test("has titles, with the first prompt line, unless they are off", async () => {
    expect(await listed(of.places, { titles: true })).toMatch(/ title$/m);
    expect(await listed(of.places, { titles: true })).toMatch(/ 1989bcb3 .* completed +\S/m);
    const env = { OPENHOOK_OTEL_DISPLAY_TITLES: "false" };
    expect(await listed(of.places, { titles: true }, { env })).not.toMatch(/ title$/m);
  });

  test("a narrow terminal loses the least important columns, never the id, and never wraps", async () => {
    for (let columns = 1; columns <= 130; columns++) {
      const text = (await listed(of.places, {}, { columns })).replaceAll(SGR, "");
      for (const line of text.split("\n")) expect(columnsOf(line), `${columns}: ${line}`).toBeLessThanOrEqual(columns);
      if (columns >= 8) expect(text).toContain("1989bcb3");
    }
    const titles = async (columns: number, options = {}) =>
      (await listed(of.places, options, { columns, env: { NO_COLOR: "1" } })).split("\n")[0]?.trim().split(/ +/);
    // Agent and repository are the same in all rows
    expect(await titles(80)).toEqual(["started", "session", "turns", "tools", "tokens", "cost", "duration", "end"]);
    expect(await titles(80, { titles: true })).toEqual(["started", "session", "cost", "title"]);
    expect(await titles(64)).toEqual(["started", "session", "turns", "tokens", "cost", "end"]);
    expect(await titles(60, { titles: true })).toEqual(["started", "session", "cost", "title"]);
    expect(await titles(40)).toEqual(["started", "session", "tokens", "cost"]);
  });

  test("colours only on a terminal", async () => {
    expect(await listed(of.places, {}, { columns: 100 })).toMatch(SGR);
    for (const world of [{}, { columns: 100, env: { NO_COLOR: "1" } }]) {
      expect(await listed(of.places, {}, world)).not.toMatch(CONTROL);
    }
  });
});

describe("unknown values", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-sessions-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const places = () => placesOf({ env: {}, home, platform: "linux" });

  test("no store: prints a remedy, exits with 0 and creates nothing", async () => {
    expect(await listed(places())).toMatch(/^no sessions yet: run openhook-otel start.*\n$/);
    expect(await listed(places(), { json: true })).toBe("[]\n");
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    ["claude-code", "basic"],
    // Its hooks can report tokens, but none did in these sessions
    ["cursor", "mcp"],
    ["cursor", "cli-print"],
  ])("tokens that were not reported are unknown, not 0: %s %s", async (source, name) => {
    const of = new Replay(source, name, { withTranscripts: false });
    for (const call of of.calls) of.hook(call);
    await of.drain({ endIdle: true });
    const [one] = JSON.parse(await listed(of.places, { json: true })) as Record<string, unknown>[];
    expect(one).toMatchObject({ totals: { model_calls: null, input: null, output: null, cost_usd: null } });
    const [, row] = (await listed(of.places)).split("\n");
    expect(row).not.toContain("→");
    expect(row).toMatch(/\? +\? /);
    of.remove();
  });

  test("output is known where only the input is unknown", async () => {
    const of = new Replay("copilot", "older-version-1.0.60-killed");
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
    const [one] = JSON.parse(await listed(of.places, { json: true })) as Record<string, unknown>[];
    expect(one).toMatchObject({ totals: { input: null, output: 40, cost_usd: null } });
    expect((await listed(of.places)).split("\n")[1]).toContain("?→≥40");
    of.remove();
  });

  test("similar ids are shown up to where they differ", async () => {
    const db = openDatabase(places().storePath);
    for (const id of ["session-2026-11-21-aa", "session-2026-11-21-ab", "other"])
      ensureSession(db, "cursor", id, 1_000);
    db.close();
    const text = await listed(places());
    for (const id of ["session-2026-11-21-aa", "session-2026-11-21-ab", "other"]) expect(text).toContain(` ${id} `);
  });
});
