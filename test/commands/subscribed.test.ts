import { afterAll, beforeAll, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import type { Context } from "#config/context.ts";
import { writeFileAtomic } from "#config/files.ts";
import { limitsText, reportedLimitsPath } from "#show/statusline/summary.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const NOTE = /list price, not your bill/g;
const RESET_MS = Date.parse("2026-11-21T08:00:00Z");

let of: Replay;
beforeAll(async () => {
  of = new Replay("claude-code", "multi-turn");
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true });
});
afterAll(() => of.remove());

async function printed(run: (context: Context) => Promise<number>, nowMs: number): Promise<string> {
  const { context, out } = contextAt(of.places, { now: () => nowMs });
  expect(await run(context)).toBe(0);
  return out();
}

const text = { json: false, csv: false, envelopes: false, limit: 20 };
const json = { ...text, json: true };
const SCREENS: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  report: (context) => report([], text, context),
  "report agent": (context) => report(["agent"], text, context),
  "report --blocks": (context) => report([], { ...text, blocks: true }, context),
  sessions: (context) => sessions(text, context),
  show: (context) => show(undefined, text, context),
  explain: (context) => explain(undefined, text, context),
};
const DATA: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  report: (context) => report(["week"], json, context),
  "report --blocks": (context) => report([], { ...json, blocks: true }, context),
  sessions: (context) => sessions(json, context),
  show: (context) => show(undefined, json, context),
  explain: (context) => explain(undefined, json, context),
};
const MARKED = /"on_subscription":true|"subscription_agents":\["claude-code"\]/;

test("an agent that reported no limit: nothing is said", async () => {
  for (const [name, run] of Object.entries(SCREENS)) expect(await printed(run, RESET_MS - 1), name).not.toMatch(NOTE);
  for (const [name, run] of Object.entries(DATA)) {
    const data = await printed(run, RESET_MS - 1);
    expect(data, name).not.toMatch(MARKED);
    expect(data, name).toMatch(/"on_subscription":null|"subscription_agents":\[\]/);
  }
});

test("a limit that runs: once on each screen, and a member of each document; after its reset it is unknown", async () => {
  const limit = { window: "five_hour", percent: 20, resetsAtMs: RESET_MS } as const;
  await writeFileAtomic(reportedLimitsPath(of.places.stateDir, "claude-code"), limitsText([limit]));
  for (const [name, run] of Object.entries(SCREENS)) {
    expect((await printed(run, RESET_MS - 1)).match(NOTE), name).toHaveLength(1);
    expect(await printed(run, RESET_MS), name).not.toMatch(NOTE);
  }
  for (const [name, run] of Object.entries(DATA)) {
    expect(await printed(run, RESET_MS - 1), name).toMatch(MARKED);
    expect(await printed(run, RESET_MS), name).not.toMatch(MARKED);
  }
});

test("a session before the limit's window: unknown", async () => {
  const limit = { window: "five_hour", percent: 20, resetsAtMs: RESET_MS + 9 * 3_600_000 } as const;
  await writeFileAtomic(reportedLimitsPath(of.places.stateDir, "claude-code"), limitsText([limit]));
  for (const name of ["sessions", "show", "explain"]) {
    const run = SCREENS[name];
    if (run === undefined) throw new Error("no such screen");
    expect(await printed(run, RESET_MS + 8 * 3_600_000), name).not.toMatch(NOTE);
  }
});
