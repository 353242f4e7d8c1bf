import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { explain } from "#commands/explain.ts";
import { type Places, placesOf } from "#config/places.ts";
import { explain as explanationOf } from "#show/report/explain.ts";
import { describeCause } from "#show/report/finding.ts";
import { findingsOf } from "#show/report/findings.ts";
import { viewOf } from "#show/report/session-view.ts";
import { timeTable } from "#show/report/text/explain-tables.ts";
import { openDatabase } from "#store/database.ts";
import { findSessions } from "#store/queries.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { ensureSession } from "#store/sessions.ts";
import { filledStore } from "../report/filled.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

async function explained(places: Places, session?: string, json = false, world: ContextOptions = {}) {
  const { context, out } = contextAt(places, world);
  expect(await explain(session, { json }, context)).toBe(0);
  return out();
}

/** Lines that fit on a terminal of the usual size, less one for the prompt. */
const SCREEN = 31;

describe("recorded sessions", () => {
  let of: Replay;
  let ids: readonly string[];
  beforeAll(async () => {
    ({ of } = await filledStore());
    const db = openDatabase(of.places.storePath);
    ids = db
      .prepare("SELECT session_id FROM sessions WHERE parent IS NULL")
      .all()
      .map((row) => String(row["session_id"]));
    db.close();
  });
  afterAll(() => of.remove());

  test("shows the most important finding first, as text", async () => {
    const text = await explained(of.places, "22530e1c");
    const lines = text.split("\n");
    expect(lines[0]).toMatch(/^Claude Code 2\.1\.\d+ · 22530e1c-\S+ · started 2026-/);
    expect(lines[2]).toBe("- Turn 1 cost $0.02, 92% of ≥$0.03, in 2 calls.");
    expect(text).toContain("- Tools waited 7.9 s, 65% of 12.1 s at work, before they ran: permission or hooks.");
    expect(text).toContain("- The slowest call was Bash in turn 1: 8.0 s, 7.9 s of it before it ran.");
    expect(text).toMatch(/^tools waiting +7\.9 s +43% +█+/m);
    expect(text).toMatch(/^turn +1 +\$0\.02 +11\.0k→103 +92% +█+/m);
    expect(text).toMatch(/^ +2 +>\$0 +5,707→≥3 +8%/m);
    expect(text).toMatch(/^output is a lower bound: 1 answer was cut short$/m);
    expect(text).toMatch(/^after +the prompt +≥\$0\.02/m);
    expect(text).toMatch(/^list prices of genai-prices\/\d/m);
    expect(text).not.toMatch(/should|consider|try /i);
  });

  test("fits on one screen, and is never wider than the terminal", async () => {
    for (const id of ids) {
      for (const columns of [80, 50, 20, 3, 1]) {
        const text = (await explained(of.places, id, false, { columns })).replaceAll(SGR, "");
        for (const line of text.split("\n"))
          expect(columnsOf(line), `${columns}: ${line}`).toBeLessThanOrEqual(columns);
        if (columns === 80) expect(text.split("\n").length, text).toBeLessThanOrEqual(SCREEN);
      }
    }
  });

  test("shares of the total time add up to all of it", async () => {
    for (const id of ids) {
      const { time } = JSON.parse(await explained(of.places, id, true)) as { time: Record<string, number> | null };
      const parts = ["model_ms", "tool_ms", "held_ms", "between_calls_ms", "user_ms", "closed_ms"];
      const sum = parts.reduce((ms, part) => ms + (time?.[part] ?? 0), 0);
      expect(sum).toBeCloseTo(time?.["whole_ms"] ?? 0, 6);
    }
  });

  test("reports a call that took longer than any wait for the model", async () => {
    const agents = await allAgents();
    const db = openDatabase(of.places.storePath);
    try {
      const stored = findSessions(db, "claude-code/1989bcb3", 1)[0];
      if (stored === undefined) throw new Error("not there");
      const found = explanationOf(db, viewOf(db, stored, { agents }, spanSettings(await of.deps())), { agents });
      if (found.time === undefined) throw new Error("nothing is timed");
      const words = (modelMs: number): string => {
        const time = { ...found.time, parts: { ...found.time?.parts, model: modelMs } } as typeof found.time;
        return [...timeTable({ ...found, time }, { columns: 200, colour: false })].join("\n");
      };
      expect(words(found.time.parts.model)).toMatch(/waiting for the model .* calls, slowest \S+ m?s$/m);
      expect(words(1)).toMatch(/waiting for the model .* calls; the slowest took \S+ m?s, not all of it waited for$/m);
    } finally {
      db.close();
    }
    expect(describeCause({ kind: "other" })).toBe("an unknown step");
  });

  test.each([
    // Bash waited longest, and ran least
    [{ Bash: [1_000, 20_000], Read: [16_000, 0], Grep: [14_000, 0] }, "most of it, 16.0 s, Read."],
    [{ Bash: [1_000, 20_000], Read: [12_000, 0], Grep: [11_000, 0] }, "the largest part, 12.0 s, Read."],
    [{ Bash: [0, 5_000], Read: [16_000, 0] }, "all of it Read."],
  ] as const)("names the tool that ran longest: %o", async (ran, words) => {
    const agents = await allAgents();
    const db = openDatabase(of.places.storePath);
    const [stored] = findSessions(db, "claude-code/1989bcb3", 1);
    if (stored === undefined) throw new Error("not there");
    const found = explanationOf(db, viewOf(db, stored, { agents }, spanSettings(await of.deps())), { agents });
    db.close();
    if (found.time === undefined) throw new Error("nothing is timed");
    const tools = Object.entries(ran).map(([name, [toolMs, heldMs]]) => {
      return { name, toolMs, heldMs, measured: 1, besideSubagentsMs: 0 };
    });
    const sumOf = (key: "toolMs" | "heldMs"): number => tools.reduce((sum, one) => sum + one[key], 0);
    const parts = { ...found.time.parts, model: 0, agent: 0, tool: sumOf("toolMs"), held: sumOf("heldMs") };
    const texts = findingsOf({ ...found, time: { ...found.time, tools, parts } }).map(({ text }) => text);
    expect(texts.find((text) => text.startsWith("Tools took "))).toMatch(new RegExp(`at work; ${words}$`));
  });

  test("shows the cost, also of a single call; an unreported cost is not 0", async () => {
    let [single, unmeasured] = [0, 0];
    for (const id of ids) {
      const { totals, time, slowest } = JSON.parse(await explained(of.places, id, true)) as {
        totals: { model_calls: number | null; cost_usd: number | null };
        time: { measured_tool_calls: number; tools: { held_ms: number | null }[] } | null;
        slowest: { kind: string; held_ms: number | null }[];
      };
      if (totals.model_calls === 0) expect(totals.cost_usd, id).toBe(0);
      if (totals.model_calls === 1) single++;
      if (totals.model_calls !== null && totals.model_calls > 0)
        expect(await explained(of.places, id), id).toMatch(/^by .* cost +tokens +share$/m);
      if (time === null || time.measured_tool_calls > 0) continue;
      const held = [...time.tools, ...slowest.filter(({ kind }) => kind === "tool")].map(({ held_ms }) => held_ms);
      unmeasured += held.length;
      expect(held.filter((ms) => ms !== null)).toEqual([]);
    }
    expect(Math.min(single, unmeasured)).toBeGreaterThan(0);
  });

  test("reports what is unknown", async () => {
    const unknown = JSON.parse(await explained(of.places, "64edee75", true)) as Record<string, unknown>;
    expect(unknown).toMatchObject({ repeats: null, comparable_calls: 0 });
    expect(unknown["unknown"]).toContain("repeated calls are unknown: inputs are not kept");
    const opencode = ids.find((id) => id.startsWith("ses_")) ?? "";
    const text = await explained(of.places, opencode);
    expect(text).toMatch(/^by +cost unknown +cost +tokens +share/m);
    expect(text).toMatch(/^turn +3 +\? +8,700→35 +41% /m);
    expect(text).toMatch(/^price unknown: 5 calls, acme-coder-1 \(5\): the model is not in genai-prices/m);
    // Only one of two models has a price, so shares of the cost are unknown
    expect(await explained(of.places, "1989bcb3")).toMatch(/^ +claude-haiku-5-5 +\? +\S+→\S+ +\? +\d+ call/m);
    const unreported = JSON.parse(await explained(of.places, await unreportedId(), true)) as Record<string, unknown>;
    expect(unreported).toMatchObject({ totals: { input: null, cost_usd: null }, time: { model_ms: null } });
    expect(await explained(of.places, await unreportedId())).toContain("tokens and cost are unknown");
  });

  test("shows a running session; without a name, the newest", async () => {
    const newest = JSON.parse(await explained(of.places, undefined, true)) as { session_id: string };
    expect(ids).toContain(newest.session_id);
    expect(await explained(of.places, "1989bcb3")).toMatch(/in all +time +share/);
  });

  test("prints plain text without a colour terminal", async () => {
    expect(await explained(of.places, "22530e1c")).not.toMatch(CONTROL);
    expect(await explained(of.places, "22530e1c", false, { columns: 100 })).toMatch(SGR);
    expect(await explained(of.places, "22530e1c", false, { env: { LC_ALL: "POSIX" } })).toMatch(/^[\n\x20-\x7e]+$/);
  });

  test("refuses a name that no session has, or several, and lists sessions", async () => {
    await expect(explained(of.places, "zzz")).rejects.toThrow(/no session begins with "zzz"; .*the newest is "/);
    const error = await explained(of.places, "").catch((thrown: Error) => thrown.message);
    expect(error).toMatch(/matches several sessions: \S+, .*and more$/);
  });

  async function unreportedId(): Promise<string> {
    const recorded = new Replay("claude-code", "basic", { withTranscripts: false });
    recorded.remove();
    return String(recorded.calls[0]?.stdin?.["session_id"]);
  }
});

describe("stores of other kinds", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-explain-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const places = () => placesOf({ env: {}, home, platform: "linux" });

  test("without a store or a session it says so; a session without activity has no times", async () => {
    await expect(explained(places())).rejects.toThrow("no sessions yet");
    const db = openDatabase(places().storePath);
    await expect(explained(places())).rejects.toThrow("no sessions yet");
    ensureSession(db, "\u001b[31mevil", "a\u0007b", Date.now());
    db.close();
    const text = await explained(places());
    expect(text).not.toMatch(CONTROL);
    expect(text).toContain("a\\x07b");
    expect(JSON.parse(await explained(places(), "a", true))).toMatchObject({ time: null, turns: [], findings: [] });
  });
});
