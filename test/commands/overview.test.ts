import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { overview } from "#commands/overview.ts";
import { type ReportOptions, report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { placesOf } from "#config/places.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { removeFolder } from "../support/remove.ts";
import { Replay } from "../support/replay.ts";

const of = new Replay("claude-code", "multi-turn");
const endMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at)));
const DAY_MS = 24 * 3_600_000;
beforeAll(async () => {
  for (const call of of.calls) of.put(call);
  await of.drain({}, clockAt(endMs));
});
afterAll(() => of.remove());

const at = (nowMs: number, columns?: number) =>
  contextAt(of.places, { now: () => nowMs, env: { NO_COLOR: "1" }, ...(columns !== undefined && { columns }) });

test("without a command: today, the last seven days, what is running, and five commands", async () => {
  const { context, out } = at(endMs + 1000, 120);
  expect(await overview(context)).toBe(0);
  const text = out();
  expect(text).toMatch(/^Today +\$0\.0\d · 26\.4k→161 tokens · 3 turns · 1 session$/m);
  expect(text).toMatch(/^Last 7 days +\$0\.0\d · 26\.4k→161 tokens · 3 turns · 1 session$/m);
  expect(text).toMatch(/^Running +nothing$/m);
  expect(text.match(/^openhook-otel \S+ +\S/gm)).toHaveLength(5);
});

test("without a command, days later: nothing today is said as such", async () => {
  const { context, out } = at(endMs + 3 * DAY_MS);
  await overview(context);
  expect(out()).toMatch(/^Today +no session$/m);
  expect(out()).toMatch(/^Last 7 days +\$0\.0\d /m);
});

test("without a command and before the set-up: says what to do first, and creates nothing", async () => {
  const home = mkdtempSync(join(tmpdir(), "openhook-overview-"));
  const { context, out } = contextAt(placesOf({ env: {}, home, platform: "linux" }));
  expect(await overview(context)).toBe(0);
  expect(out()).toMatch(/^no sessions yet: run openhook-otel start /);
  expect(out()).toMatch(/^openhook-otel start {3}enable your agents/m);
  expect(readdirSync(home)).toEqual([]);
  removeFolder(home);
});

test("without a command, never fails: says what cannot be read, and still names commands", async () => {
  const home = mkdtempSync(join(tmpdir(), "openhook-overview-"));
  const places = placesOf({ env: {}, home, platform: "linux" });
  mkdirSync(dirname(places.storePath), { recursive: true });
  writeFileSync(places.storePath, "no database");
  const { context, out } = contextAt(places);
  expect(await overview(context)).toBe(0);
  expect(out()).toMatch(/store\.db.*\n\nopenhook-otel \S+ +\S/);
  removeFolder(home);
});

async function reported(words: readonly string[], options: Partial<ReportOptions>, nowMs: number) {
  const { context, out } = at(nowMs);
  await report(words, { json: true, csv: false, ...options }, context);
  return JSON.parse(out());
}

test("today and yesterday are periods, as words and as times", async () => {
  const today = await reported(["today"], {}, endMs);
  expect(today).toMatchObject({ by: ["day"], until: null, total: { model_calls: 5 } });
  expect(await reported([], { since: "today" }, endMs)).toEqual(today);
  expect(await reported(["today", "model"], {}, endMs)).toMatchObject({ by: ["model"], since: today.since });
  const yesterday = await reported(["yesterday"], {}, endMs + DAY_MS);
  expect(yesterday).toMatchObject({ since: today.since, total: today.total });
  expect(Date.parse(yesterday.until) - Date.parse(yesterday.since)).toBe(DAY_MS);
  expect((await reported(["yesterday"], {}, endMs)).total).toBeNull();
  await expect(reported(["today"], { since: "7d" }, endMs)).rejects.toThrow(
    "choose one of today, yesterday, and --since",
  );
  for (const [word, by] of [
    ["daily", "day"],
    ["weekly", "week"],
    ["monthly", "month"],
    ["project", "repository"],
  ] as const)
    expect((await reported([word], {}, endMs)).by).toEqual([by]);
});

test("a word that is a figure or a person: says what to use instead", async () => {
  for (const word of ["cost", "costs", "tokens", "usage"])
    await expect(reported([word], {}, endMs)).rejects.toThrow(
      `unknown dimension "${word}": every report has cost and tokens, see openhook-otel report; a report can be by hour`,
    );
  await expect(reported(["user"], {}, endMs)).rejects.toThrow(
    "a report has the sessions of one user; dashboards for a team: openhook-otel stack;",
  );
});

/** A second session in the store of all tests; a second time changes nothing. */
async function addSession(): Promise<void> {
  const two = new Replay("claude-code", "basic");
  for (const call of two.calls) two.put(call);
  await two.drain({ endIdle: true }, { ...clockAt(endMs), places: { ...two.places, storePath: of.places.storePath } });
  two.remove();
}

test("a limit is about rows with something in them, and the total stays", async () => {
  const { context, out } = at(endMs + 3 * DAY_MS, 140);
  await report([], { limit: 1, json: false, csv: false }, context);
  const [, titles, ...rows] = out().split("\n");
  expect(titles).toMatch(/^day +cost .* sessions$/);
  expect(rows[0]).toMatch(/^2026-11-\d\d \w+ +\$0\.0\d /);
  expect(out()).not.toContain("without a session");
  await addSession();
  const limited = at(endMs + 3 * DAY_MS, 140);
  await report(["session"], { limit: 1, json: false, csv: false }, limited.context);
  expect(limited.out()).toMatch(/^total +\$0\.0\d .* 4 /m);
});

test("a key that all rows share has no column, but is said once; the dearest row has a bar of its own colour", async () => {
  await addSession();
  const { context, out } = at(endMs + 3 * DAY_MS, 140);
  await report(["agent", "session"], { json: false, csv: false }, context);
  const [heading = "", titles = "", ...rows] = out().split("\n");
  expect(heading).toMatch(/^usage since \d{4}-\d\d-\d\d · agent claude-code$/);
  expect(titles).toMatch(/^session +cost /);
  expect(rows.filter((row) => row.startsWith("claude-code/")).length).toBeGreaterThan(1);
  expect(rows.join("\n")).toMatch(/^total +\$/m);
  const coloured = contextAt(of.places, { now: () => endMs + 3 * DAY_MS, columns: 140 });
  await report(["session"], { json: false, csv: false }, coloured.context);
  const bars = coloured
    .out()
    .split("\u001b[")
    .filter((piece) => /^3[36]m█/.test(piece));
  expect(bars.map((piece) => piece.slice(0, 3))).toEqual(["33m", ...bars.slice(1).map(() => "36m")]);
  expect(bars.length).toBeGreaterThan(1);
});

test("an agent is known by the beginning of its name, and the newest session by a word", async () => {
  expect((await reported([], { agent: "claude" }, endMs)).filters.agent).toBe("claude-code");
  const { context, out } = at(endMs, 120);
  await sessions({ limit: 5, json: true, agent: "claude" }, context);
  expect(JSON.parse(out()).length).toBeGreaterThan(0);
  await expect(sessions({ limit: 5, json: true, agent: "c" }, at(endMs).context)).rejects.toThrow('unknown agent "c"');
  for (const word of ["last", "latest", "newest"]) {
    const [shown, explained] = [at(endMs), at(endMs)];
    await show(word, { json: true, envelopes: false }, shown.context);
    await explain(word, { json: true }, explained.context);
    expect(JSON.parse(shown.out()).session_id).toBe(JSON.parse(explained.out()).session_id);
  }
});
