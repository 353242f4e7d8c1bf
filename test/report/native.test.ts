import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { explain } from "#commands/explain.ts";
import { show } from "#commands/show.ts";
import type { NativeFacts, NativeRecord } from "#core/model/native.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { isSameCost, nativeNotes, nativePairs } from "#show/report/native/notes.ts";
import { nativeSums, nativeSumsTexts } from "#show/report/native/sums.ts";
import { outlineOf, type SessionView, viewOf } from "#show/report/session-view.ts";
import { toDocument, toSpanDocument } from "#show/view/data/document.ts";
import { exportPage } from "#show/view/export.ts";
import { openDatabase } from "#store/database.ts";
import { putNative } from "#store/native.ts";
import { chosenSession } from "#store/sessions/find-session.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

// A recorded session with seven tool calls in one turn, first without and then with what the agent's own telemetry says of it

const SETTINGS = spanSettings({ loaded: { config: { traces: { scope: "session" } } } } as never);
const agents = await allAgents();
let replay: Replay;
let bare: Shown;
let joined: Shown;

interface Shown {
  readonly view: SessionView;
  readonly text: string;
  readonly json: Json;
  readonly explained: string;
  readonly explainedJson: Json;
}
type Json = Readonly<Record<string, unknown>>;

beforeAll(async () => {
  replay = new Replay("claude-code", "parallel-tools");
  for (const call of replay.calls) replay.put(call);
  await replay.drain();
  bare = await shown();
  const records = recordsFor(bare.view);
  const db = openDatabase(replay.places.storePath);
  db.transaction(() => putNative(db, "claude-code", records, Date.now()));
  db.close();
  joined = await shown();
});
afterAll(() => replay.remove());

describe("show", () => {
  test("says how long a call and its turn waited, when answers began, and what was sent again", () => {
    const line = (name: string): string => joined.text.split("\n").find((one) => one.includes(name)) ?? "";
    expect(line("Turn 1")).toContain("waited 1m 42s for you in 2 calls");
    expect(joined.text).toContain("waited 41.0 s for your permission");
    expect(joined.text).toContain("3 retries");
    expect(joined.text).toContain("refused: cyber");
    expect(joined.text).toContain("first token after 2.3 s");
    expect(joined.text).toContain(
      "the agent's telemetry: waited 1m 42s for your permission in 2 calls · first token after 2.3 s (median) · 3 retries",
    );
    expect(joined.text.replaceAll(/\s+/g, " ")).toContain("MCP server files failed");
  });

  test("a decision within milliseconds is nobody's wait", () => {
    expect(joined.text.match(/for your permission/g)).toHaveLength(3);
  });

  test("without telemetry there is no line of it, and `native` is null", () => {
    expect(bare.text).not.toMatch(/permission|first token|retr|telemetry/);
    const all = ["turns", "model_calls", "tool_calls", "segments"].flatMap((name) => bare.json[name] as Json[]);
    expect(all.length).toBeGreaterThan(5);
    expect(all.map(({ native }) => native)).toEqual(all.map(() => null));
    // Everything else is the same
    const without = (json: Json): unknown => JSON.parse(JSON.stringify(json, (key, v) => (key === "native" ? 0 : v)));
    expect(without(joined.json)).toEqual(without(bare.json));
  });

  test("--json has each fact as it was reported, and null for what was not", () => {
    const tools = joined.json["tool_calls"] as readonly Json[];
    expect(tools[0]?.["native"]).toMatchObject({
      permission_wait_ms: 41_000,
      decision: "allow",
      decided_by: "user_temporary",
      first_token_ms: null,
      reported_cost_usd: null,
      hooks: [],
    });
    const calls = joined.json["model_calls"] as readonly Json[];
    expect(calls[0]?.["native"]).toMatchObject({ first_token_ms: 2_300, attempts: 4 });
    expect((joined.json["segments"] as readonly Json[])[0]?.["native"]).toMatchObject({
      mcp_connections: [{ server: "files", state: "failed", duration_ms: 5_000, error_type: "timeout" }],
    });
    expect((joined.json["turns"] as readonly Json[])[0]?.["native"]).toMatchObject({
      hooks: [{ event: "PreToolUse", runs: 7, failures: 1, duration_ms: 310 }],
    });
  });
});

describe("explain", () => {
  test("says how much of the time was waiting for permission, and still fits a screen", () => {
    expect(joined.explained).toContain("It waited 1m 42s for your permission in 2 calls.");
    expect(joined.explained).toContain("first token after 2.3 s");
    expect(joined.explained.split("\n").length).toBeLessThanOrEqual(31);
    expect(bare.explained).not.toMatch(/your permission|first token/);
  });

  test("--json has the sums, and the parts of the time still add up to the whole", () => {
    expect(bare.explainedJson["native"]).toBe(null);
    expect(joined.explainedJson["native"]).toEqual({
      permission_waits: 2,
      permission_wait_ms: 102_000,
      median_first_token_ms: 2_300,
      retries: 3,
      refusals: 1,
      reported_cost_usd: 0.5,
      cost_of_these_calls_usd: expect.any(Number),
      hook_runs: 7,
      hook_failures: 1,
      hook_ms: 310,
      failed_mcp_servers: ["files"],
    });
    for (const { explainedJson } of [bare, joined]) {
      const time = explainedJson["time"] as unknown as Readonly<Record<string, number | null>>;
      const parts = ["model_ms", "tool_ms", "held_ms", "between_calls_ms", "user_ms", "closed_ms"];
      expect(parts.reduce((sum, part) => sum + (time[part] ?? 0), 0)).toBeCloseTo(time["whole_ms"] ?? 0, 6);
      expect(time["permission_ms"] ?? 0).toBeLessThanOrEqual(time["held_ms"] ?? 0);
    }
  });
});

describe("the page", () => {
  test("rows and details have the same facts", () => {
    const { db, stored, view } = opened();
    const idle = { nowMs: Date.now(), idleTimeoutMs: 1 };
    const { spans } = toDocument(db, outlineOf(db, stored, { agents }, SETTINGS), { agents, idle });
    expect(spans.strings.join("\n")).toMatch(/waited 1m.42s for you in 2 calls/);
    expect(spans.strings.join("\n")).toMatch(/waited 41\.0 s for your permission/);
    const [{ tool } = { tool: undefined }] = view.toolCalls;
    const details = (
      subject: "tool_call" | "model_call" | "turn" | "session",
      key = "",
    ): Readonly<Record<string, string>> =>
      Object.fromEntries(
        toSpanDocument(db, stored, spanIdOf(view.facts, subject, key), { agents, settings: SETTINGS })?.native ?? [],
      );
    expect(details("tool_call", tool?.callId)).toEqual({ Permission: "allowed by user_temporary, waited 41.0 s" });
    expect(details("model_call", view.calls[0]?.call.key)).toEqual({
      "First token": "after 2.3 s",
      Requests: "4",
      Refused: "cyber",
      "Agent’s own cost": "$0.4933",
    });
    // The second one costs what we say
    expect(details("model_call", view.calls[1]?.call.key)).toEqual({});
    expect(details("turn", view.turnList[0]?.key)).toEqual({ "PreToolUse hooks": "7 runs, 310 ms, 1 failed" });
    expect(details("session", "0")).toEqual({ "MCP server files": "failed after 5.0 s (timeout)" });
    db.close();
  });

  test("an exported page has it from the level of names on", () => {
    const { db, stored } = opened();
    const files = new Map(["page.js", "page.css"].map((name) => [name, { body: "" }])) as never;
    const protection = { redact: (text: string) => text, redactName: (text: string) => text };
    const page = (level: "none" | "metadata"): string =>
      exportPage(db, stored, {
        agents,
        files,
        level,
        protection,
        settings: SETTINGS,
        idle: { nowMs: Date.now(), idleTimeoutMs: 1 },
      });
    expect(page("metadata")).toContain("allowed by user_temporary, waited 41.0 s");
    expect(page("none")).not.toMatch(/user_temporary|MCP server files/);
    db.close();
  });
});

test("costs that differ by a rounding are the same", () => {
  expect(isSameCost(12_346_000, 12_345_678)).toBe(true);
  expect(isSameCost(12_347_000, 12_345_678)).toBe(false);
  expect(isSameCost(12_346_000, undefined)).toBe(false);
  expect(isSameCost(38_348_000, 38_346_000, 3)).toBe(true);
});

test("nothing is said of what is not reported", () => {
  expect(nativeNotes(undefined)).toEqual([]);
  expect(nativeNotes({})).toEqual([]);
  expect(nativeNotes({ attempts: 1, permissionMs: 3 })).toEqual([]);
  expect(nativePairs({})).toEqual([]);
  expect(nativeSums({ native: new Map(), calls: [] })).toBe(undefined);
  const sums = nativeSums({ native: new Map([["turn 1", { firstTokenMs: 500 }]]), calls: [] });
  expect(sums).toEqual({ firstTokenMs: 500, failedServers: [] });
  expect(nativeSumsTexts(sums ?? { failedServers: [] })).toEqual(["first token after 500 ms (median)"]);
  expect(nativeSumsTexts({ failedServers: [undefined] })).toEqual(["an MCP server failed"]);
});

// --- internal ---

function opened() {
  const db = openDatabase(replay.places.storePath);
  const stored = chosenSession(db, undefined);
  if (stored === undefined) throw new Error("there is no session");
  return { db, stored, view: viewOf(db, stored, { agents }, SETTINGS) };
}

async function shown(): Promise<Shown> {
  const { db, view } = opened();
  db.close();
  const run = async (command: typeof show | typeof explain, json: boolean): Promise<string> => {
    const { context, out } = contextAt(replay.places, { columns: 160 });
    await (command as (id: undefined, options: object, at: typeof context) => Promise<number>)(
      undefined,
      { json, envelopes: false },
      context,
    );
    return out().replaceAll(SGR, "").replaceAll("\u202f", " ");
  };
  return {
    view,
    text: await run(show, false),
    json: JSON.parse(await run(show, true)),
    explained: await run(explain, false),
    explainedJson: JSON.parse(await run(explain, true)),
  };
}

function recordsFor({ stored, calls, toolCalls, turnList, segments }: SessionView): readonly NativeRecord[] {
  const [first, second] = calls;
  const timeMs = segments[0]?.startMs ?? 0;
  let number = 0;
  const record = (facts: NativeFacts, kind?: NativeRecord["ids"][number]["kind"], id = ""): NativeRecord => ({
    key: `record-${number++}`,
    sessionId: stored.sessionId,
    ids: kind === undefined ? [] : [{ kind, id }],
    timeMs,
    facts,
  });
  const tool = (i: number): string => toolCalls[i]?.tool.givenId ?? toolCalls[i]?.tool.callId ?? "";
  return [
    record({ permissionMs: 41_000, decision: "allow", decidedBy: "user_temporary" }, "callId", tool(0)),
    record({ permissionMs: 61_000, decision: "allow", decidedBy: "user_permanent" }, "callId", tool(1)),
    record({ permissionMs: 3, decision: "allow", decidedBy: "config" }, "callId", tool(2)),
    record(
      {
        firstTokenMs: 2_300,
        attempts: 4,
        refusal: "cyber",
        costNanoUsd: 500_000_000 - (second?.costNanoUsd ?? 0),
      },
      "responseId",
      first?.call.responseId,
    ),
    record({ costNanoUsd: second?.costNanoUsd ?? 0 }, "responseId", second?.call.responseId),
    record({ hook: { event: "PreToolUse", runs: 7, failures: 1, durationMs: 310 } }, "promptId", turnList[0]?.key),
    record({
      connection: { server: "files", state: "failed", durationMs: 5_000, errorType: "timeout" },
    }),
  ];
}
