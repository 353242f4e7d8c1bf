import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insights } from "#commands/insights.ts";
import { type Places, placesOf } from "#config/places.ts";
import type { InsightsDocument } from "#show/view/wire/documents.ts";
import { filledStore } from "../report/filled.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt } from "../support/program.ts";
import type { Replay } from "../support/replay.ts";
import { Served } from "../view/served.ts";

const OPTIONS = { json: false, limit: 10, refresh: false };

async function shown(places: Places, options: Partial<Parameters<typeof insights>[0]> = {}): Promise<string> {
  const { context, out } = contextAt(places);
  expect(await insights({ ...OPTIONS, ...options }, context)).toBe(0);
  return out();
}

describe("recorded sessions", () => {
  let of: Replay;
  beforeAll(async () => {
    await ensureBuilt();
    ({ of } = await filledStore());
  });
  afterAll(() => of.remove());

  test("the period, its cost, and what it is compared with", async () => {
    const lines = (await shown(of.places, { since: "2026-01-01" })).split("\n");
    expect(lines[0]).toMatch(/^2026-01-01 to 2026-\d\d-\d\d · \d+ sessions · ≥?\$\d/);
    expect(lines).toContain("not compared: the period before has fewer than five sessions");
    expect(lines).toContainEqual(expect.stringMatching(/^list prices of genai-prices/));
  });

  test("nothing in a period without sessions", async () => {
    expect(await shown(of.places, { since: "2026-01-01", until: "2026-01-02" })).toContain(
      "no session with model calls",
    );
  });

  test("the page has the same as --json", async () => {
    const since = "2026-01-01";
    const json = JSON.parse(await shown(of.places, { since, json: true }));
    const served = await Served.at(of.places, Date.now, async () => {}, { subscriptions: () => new Map() });
    try {
      const { text } = await served.ask(`api/insights?sinceMs=${Date.parse(`${since}T00:00`)}`);
      const { kind, choices, until, ...same } = JSON.parse(text) as InsightsDocument;
      expect(kind).toBe("insights");
      expect(choices.agents.length).toBeGreaterThan(0);
      expect(json).toMatchObject(same);
      expect(Date.parse(until ?? "")).toBeGreaterThanOrEqual(Date.parse(json.until));
      expect(same.total_cost_usd).toBeGreaterThan(0);
    } finally {
      await served.close();
    }
  });

  test("an agent that is not known, and times that are none", async () => {
    await expect(shown(of.places, { agent: "nosuch" })).rejects.toThrow('unknown agent "nosuch"');
    await expect(shown(of.places, { since: "soon" })).rejects.toThrow("--since takes an age");
  });
});

test("without a store: how to get one, and null in JSON", async () => {
  const home = mkdtempSync(join(tmpdir(), "insights-"));
  try {
    const places = placesOf({ env: {}, home, platform: "linux" });
    expect(await shown(places)).toMatch(/^no sessions yet/);
    expect(await shown(places, { json: true })).toBe("null\n");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
