import { describe, expect, test } from "vitest";
import { NOTHING_SETTLED, type SessionContext, type SettledTurn } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { joinPrompts, withLatePrompts } from "#core/session/prompts.ts";
import { NOON_MS, prompted } from "./events.ts";

const SECOND = 1_000;

const written = (key: string, ms: number, length: number | "unknown" = 12): TranscriptEntry => ({
  kind: "prompt",
  key,
  timeMs: NOON_MS + ms,
  origin: "human",
  ...(length !== "unknown" && { length }),
});
const hookOnly = (ms: number, promptLength = 12): SettledTurn => ({
  segment: 0,
  startMs: NOON_MS + ms,
  endMs: NOON_MS + ms,
  state: "ended",
  parts: 1,
  promptLength,
  hasHook: true,
  hookOnly: true,
});
const settled = (turns: Readonly<Record<string, SettledTurn>>): SessionContext => ({
  ...NOTHING_SETTLED,
  turns: new Map(Object.entries(turns)),
  subagents: new Map([
    ["a1", { segment: 0, parts: 1, turnKey: "hook-1" }],
    ["a2", { segment: 0, parts: 1, turnKey: "another" }],
    ["a3", { segment: 0, parts: 1 }],
  ]),
});

describe("a turn that only hooks reported", () => {
  const context = settled({ "hook-1": hookOnly(0) });

  test("takes the key of its transcript line, and so do its subagents", () => {
    const late = withLatePrompts(context, [], [written("line-1", SECOND)]);
    expect([...late.turns.keys()]).toEqual(["line-1"]);
    expect(late.turns.get("line-1")).toMatchObject({ parts: 1 });
    expect(late.turns.get("line-1")?.hookOnly).toBeUndefined();
    expect([...late.subagents].map(([id, { turnKey }]) => [id, turnKey])).toEqual([
      ["a1", "line-1"],
      ["a2", "another"],
      ["a3", undefined],
    ]);
  });

  test("keeps its key if the line belongs to another prompt: another length, or more than a minute away", () => {
    for (const line of [written("line-1", SECOND, 13), written("line-1", 61 * SECOND)]) {
      expect(withLatePrompts(context, [], [line])).toBe(context);
    }
    expect(withLatePrompts(context, [], [written("line-1", 60 * SECOND)]).renamed?.get("hook-1")).toBe("line-1");
  });

  test("takes the key of a line without a length within two seconds, not further away", () => {
    const renamed = (ms: number) => withLatePrompts(context, [], [written("line-1", ms, "unknown")]).renamed;
    expect(renamed(2 * SECOND)?.get("hook-1")).toBe("line-1");
    expect(renamed(3 * SECOND)).toBeUndefined();
  });

  test("keeps its key if later prompts are nearer to the lines", () => {
    const events = [prompted("hook-2", 30 * SECOND), prompted("hook-3", 40 * SECOND)];
    const lines = [written("line-2", 31 * SECOND), written("line-3", 41 * SECOND)];
    expect(withLatePrompts(context, events, lines)).toBe(context);
    const all = withLatePrompts(context, events, [written("line-1", SECOND), ...lines]);
    expect([...(all.renamed ?? [])]).toEqual([["hook-1", "line-1"]]);
  });

  test("if two prompts are equal, each takes the nearest line", () => {
    const two = settled({ "hook-1": hookOnly(0), "hook-2": hookOnly(20 * SECOND) });
    const late = withLatePrompts(two, [], [written("line-2", 21 * SECOND), written("line-1", 2 * SECOND)]);
    expect([...(late.renamed ?? [])].sort()).toEqual([
      ["hook-1", "line-1"],
      ["hook-2", "line-2"],
    ]);
    const { renamed, turns } = withLatePrompts(two, [], [written("line-2", 21 * SECOND)]);
    expect([...(renamed ?? [])]).toEqual([["hook-2", "line-2"]]);
    expect(turns.get("hook-1")?.hookOnly).toBe(true);
  });
});

describe("a turn that only the transcript reported, settled before its hook is read", () => {
  const { hookOnly: _, promptLength: __, ...unreported } = hookOnly(0);
  const known = settled({ "line-1": { ...unreported, hasHook: false } });
  const keysOf = (ms: number) => joinPrompts([prompted("hook-1", ms)], [], known).map(({ key }) => key);

  test("takes the hook of a prompt within two seconds if the transcript contains no length", () => {
    expect(keysOf(-1 * SECOND)).toEqual([]);
    expect(keysOf(-3 * SECOND)).toEqual([prompted("hook-1", 0).id]);
  });
});
