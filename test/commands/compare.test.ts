import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compare } from "#commands/compare.ts";
import { placesOf } from "#config/places.ts";
import { MODELS, PlantedSessions } from "../report/compare/planted.ts";
import { CONTROL, columnsOf, contextAt } from "../support/context.ts";

type Options = Partial<Parameters<typeof compare>[2]>;
type By = Parameters<typeof compare>[0];

let planted: PlantedSessions;

beforeAll(async () => {
  planted = await new PlantedSessions()
    .add(20, { version: "2.1.1", folder: "api" })
    .add(3, { version: "2.1.2", folder: "api" })
    .add(20, { version: "2.1.3", output: 3000, failing: true, folder: "web" })
    .add(10, { version: "2.1.3", models: [MODELS.b, MODELS.b], folder: "web" })
    .add(4, { models: [MODELS.a, MODELS.b], folder: "docs" })
    .add(2, { version: "2.1.3", usage: false, folder: "web" })
    .add(1, { version: "2.1.1", resumedBy: "2.1.3", folder: "docs" })
    .imported();
});
afterAll(() => planted.remove());

async function run(by: By, names: readonly string[], options: Options = {}, columns = 80): Promise<string> {
  const { context, out } = contextAt(planted.replay.places, { columns, env: { NO_COLOR: "1" } });
  expect(await compare(by, names, { json: false, ...options }, context)).toBe(0);
  return out();
}

const json = async (by: By, names: readonly string[], options: Options = {}) =>
  JSON.parse(await run(by, names, { ...options, json: true }));

type Json = Awaited<ReturnType<typeof json>>;
const measure = (found: Json, name: string) =>
  found.measures.find((one: { readonly measure: string }) => one.measure === name);

describe("versions", () => {
  test("without names: the newest with enough sessions, and the one before it", async () => {
    const found = await json("version", []);
    expect([found.agent, found.a.name, found.b.name]).toEqual(["claude-code", "2.1.1", "2.1.3"]);
    expect(found.a.sessions).toBe(24);
    expect(found.b).toMatchObject({ sessions: 32, sessions_without_cost: 2 });
    expect(found.left_out).toMatchObject({ resumed: 1 });
  });

  test("with the agent as the first word, as an option, or found by the versions", async () => {
    const whole = await json("version", ["claude-code", "2.1.1", "2.1.3"]);
    expect(await json("version", ["2.1.1", "2.1.3"], { agent: "claude" })).toEqual(whole);
    expect(await json("version", ["2.1.1", "2.1.3"])).toEqual(whole);
    expect(await json("version", ["claude"])).toEqual(whole);
  });

  test("the answer is the first line, and everything fits on a screen", async () => {
    const text = await run("version", []);
    const lines = text.trimEnd().split("\n");
    expect(lines.slice(0, 2).join(" ")).toMatch(
      /^claude-code 2\.1\.3 costs \d+% more per turn than 2\.1\.1 \(\d+% to \d+%\);/,
    );
    expect(text).toMatch(/^A: 2\.1\.1, 24 sessions, \d+ turns, 2026-/m);
    expect(text).toMatch(/^cost per turn +\$0\.0\d +\$0\.\d\d +\+\d+% +\+\d+% to \+\d+% +24\/30 +worse$/m);
    expect(text).toMatch(/^failed tool calls +0\.0% +\d+% +\+\d+ .* worse$/m);
    expect(text).toMatch(/^cost\/merged change +\? +\? +0\/0 +too few$/m);
    expect(text).toContain("0 (A) and 2 (B) sessions");
    expect(lines.length).toBeLessThanOrEqual(25);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(80);
    expect(text).not.toMatch(CONTROL);
  });

  test("a version without sessions, and one alone, are said", async () => {
    await expect(run("version", ["2.1.1", "9.9.9"], { agent: "claude-code" })).rejects.toThrow(
      'no session of version "9.9.9" of claude-code; known are 2.1.3, 2.1.2, 2.1.1',
    );
    await expect(run("version", [], { until: "2026-10-02T02:00Z" })).rejects.toThrow(
      "no two versions of claude-code with at least 8 sessions each; known are",
    );
  });
});

describe("models", () => {
  test("sessions with both count for what is known of calls only, and are named", async () => {
    const found = await json("model", [MODELS.a, MODELS.b]);
    expect(found.a.sessions).toBe(20 + 3 + 20 + 2 + 1);
    expect(found.b.sessions).toBe(10);
    expect(found.left_out).toEqual({ used_both: 4, used_as_helper: 0, resumed: 0 });
    expect(measure(found, "cache_read_share")).toMatchObject({
      a: { value: 0.9, sessions: 48 },
      b: { value: 0.9, sessions: 14 },
      change: 0,
      verdict: "none",
    });
    expect(measure(found, "cost_per_turn")).toMatchObject({ b: { sessions: 10 }, verdict: "more", better: false });
    expect(await run("model", [MODELS.a, MODELS.b])).toContain(
      "4 sessions used both models and count for the cache only",
    );
  });

  test("a model and itself do not differ", async () => {
    const found = await json("model", [MODELS.a, MODELS.a]);
    for (const { verdict } of found.measures) expect(["none", "few"]).toContain(verdict);
    expect(await run("model", [MODELS.a, MODELS.a])).toMatch(/^No difference between/);
  });

  test("an unknown one is refused, with those that there are", async () => {
    await expect(run("model", [MODELS.a, "claude-opus-9"])).rejects.toThrow(
      /no session of model "claude-opus-9".*in the store: /,
    );
  });
});

describe("repositories and agents", () => {
  test("exchanged names give the answer from the other side", async () => {
    const [found, back] = [await json("repository", ["api", "web"]), await json("repository", ["web", "api"])];
    for (const name of ["cost_per_turn", "tool_failure_share"]) {
      const [one, other] = [measure(found, name), measure(back, name)];
      expect([one.a, one.b, one.p_corrected]).toEqual([other.b, other.a, other.p_corrected]);
      expect([one.verdict, other.verdict]).toEqual(["more", "less"]);
    }
  });

  test("too few sessions are said with their number", async () => {
    expect(await run("repository", ["docs", "web"])).toMatch(
      /^Too few sessions to compare docs and web \(n = 5 and 32\): at least 8 on each side\nare needed\.$/m,
    );
    for (const one of (await json("repository", ["docs", "web"])).measures)
      expect(one).toMatchObject({ verdict: "few", change: null, interval: null, p: null, better: null });
  });

  test("wrong words are refused", async () => {
    await expect(run("agent", ["claude"])).rejects.toThrow("give two names to compare");
    await expect(run("agent", ["claude", "codex"])).rejects.toThrow(/no session of agent "codex"/);
    await expect(run("agent", ["claude", "codex"], { agent: "codex" })).rejects.toThrow("--agent cannot be combined");
    await expect(run("repository", ["api", "nothing"])).rejects.toThrow(/no session of repository "nothing"/);
  });

  test("without a store there is nothing to compare", async () => {
    const places = placesOf({ env: {}, home: `${planted.replay.home}/none`, platform: "linux" });
    const { context, out } = contextAt(places);
    expect(await compare("model", ["a", "b"], { json: true }, context)).toBe(0);
    expect(out()).toBe("null\n");
  });
});
