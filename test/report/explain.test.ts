import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { ModelCall } from "#core/model/model-call.ts";
import type { ToolCall } from "#core/model/session.ts";
import { NO_CALLS, sumOfCalls } from "#core/rules/call-sums.ts";
import { type Explanation, explain } from "#show/report/explain.ts";
import { moneySpent, placedCalls, turnFinder, turnNumbers } from "#show/report/explain-money.ts";
import { TIME_PARTS, timeSpent } from "#show/report/explain-time.ts";
import { findingsOf } from "#show/report/findings.ts";
import { type SessionView, viewOf } from "#show/report/session-view.ts";
import { openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { importInto } from "../import/run.ts";
import { clockAt } from "../support/clock.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";
import { firstOf, runs } from "../support/whole.ts";
import { RECORDED, type Recorded } from "./filled.ts";

const agents = await allAgents();
let replay: Replay | undefined;
afterEach(() => {
  replay?.remove();
  replay = undefined;
});

/** The sessions of a recorded run, explained. */
async function recorded(
  source: string,
  name: string,
  env: Record<string, string> = {},
): Promise<readonly Explanation[]> {
  const of = new Replay(source, name);
  replay?.remove();
  replay = of;
  of.env = env;
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true }, clockAt(Math.max(...of.calls.map((call) => Date.parse(call.received_at)))));
  return explained(of);
}

/** The same for sessions that only an import finds. */
async function imported(source: string, name: string): Promise<readonly Explanation[]> {
  const of = new Replay(source, name);
  replay?.remove();
  replay = of;
  await importInto(of, source);
  return explained(of);
}

async function explained(of: Replay): Promise<readonly Explanation[]> {
  const settings = spanSettings(await of.deps());
  const db = openDatabase(of.places.storePath);
  try {
    return recentSessions(db, 100).map((stored) => explain(db, viewOf(db, stored, { agents }, settings), { agents }));
  } finally {
    db.close();
  }
}

const partsOf = ({ time }: Pick<Explanation, "time">): number =>
  TIME_PARTS.reduce((sum, part) => sum + (time?.parts[part] ?? 0), 0);

const CASES: readonly Recorded[] = [...RECORDED, ["claude-code", "killed-then-resumed"], ["claude-code", "mcp"]];

describe.each(firstOf(CASES, 5))("%s %s", (source, name) => {
  test("every moment is in one part, and every call in one group of each kind", async () => {
    const all = await recorded(source, name);
    expect(all.length).toBeGreaterThan(0);
    for (const explanation of all) {
      const { time, money, view } = explanation;
      expect(partsOf(explanation)).toBeCloseTo((time?.endMs ?? 0) - (time?.startMs ?? 0), 6);
      for (const part of TIME_PARTS) expect(time?.parts[part]).toBeGreaterThanOrEqual(0);
      const toolMs = (time?.tools ?? []).reduce((sum, tool) => sum + tool.toolMs + tool.heldMs, 0);
      expect(toolMs).toBeCloseTo((time?.parts.tool ?? 0) + (time?.parts.held ?? 0), 6);
      expect(money.total).toEqual(view.sums);
      for (const groups of [money.turns, money.models, money.threads, money.causes]) {
        const sums = groups.map((group) => group.sums);
        for (const key of ["modelCalls", "input", "output", "cacheRead", "costNanoUsd", "unpricedCalls"] as const)
          expect(
            sums.reduce((n, one) => n + (one[key] ?? 0), 0),
            key,
          ).toBe(money.total[key] ?? 0);
      }
    }
  });
});

test("failed turns are said first, and a model that did not answer is not said not to have been called", async () => {
  const texts = (await imported("claude-code", "api-error")).map((one) => findingsOf(one).map(({ text }) => text));
  expect(texts).toContainEqual(["The only turn failed.", "No model answered, and no tool was used."]);
});

/** The calls of a view without spans: each in the turn that was running when it ended. */
function placed(view: SessionView) {
  const turnOf = turnFinder(view, turnNumbers(view));
  return placedCalls(
    view,
    view.calls.map(({ segment, call: { endMs } }) => turnOf(segment, endMs)),
  );
}

describe("exact results for recordings", () => {
  test("eight seconds of waiting for a permission are not the tool's time", async () => {
    const all = await recorded("claude-code", "interactive");
    const found = all.find(({ view }) => view.stored.sessionId.startsWith("22530e1c"));
    // From the recording: the call took 7987 ms, of which it ran for 125; 3717 ms belong to an answer that was stopped
    expect(found?.time).toMatchObject({
      parts: { model: 24 + 3 + 3717, tool: 125, held: 7987 - 125, away: 0 },
      tools: [{ name: "Bash", toolMs: 125, heldMs: 7862 }],
      measuredTools: 1,
    });
    expect(found?.money.turns.map(({ part, sums }) => [part, sums.modelCalls, sums.costNanoUsd])).toEqual([
      [1, 2, 24_144_000],
      [2, 1, 2_190_000],
    ]);
    expect(found?.habits.slowest[0]).toMatchObject({ name: "Bash", ms: 7987, heldMs: 7862, turn: 1 });
  });

  test("parallel tools: no second counts twice", async () => {
    const [only] = await recorded("claude-code", "parallel-tools");
    const tools = only?.view.toolCalls.map(({ tool }) => tool) ?? [];
    const added = tools.reduce((sum, tool) => sum + tool.endMs - tool.startMs, 0);
    const union = Math.max(...tools.map((t) => t.endMs)) - Math.min(...tools.map((t) => t.startMs));
    expect(tools.length).toBeGreaterThan(1);
    expect(added).toBeGreaterThan(union);
    expect((only?.time?.parts.tool ?? 0) + (only?.time?.parts.held ?? 0)).toBeLessThanOrEqual(union);
  });

  test("a subagent's work is not part of the time of the tool that started it", async () => {
    const all = await recorded("claude-code", "nested-subagents");
    const found = all.find(({ view }) => view.subagents > 0);
    expect(found?.time?.subagentMs).toBeGreaterThan(0);
    expect(found?.money.threads.length).toBeGreaterThan(1);
    const hosts = found?.view.toolCalls.filter(({ tool }) => tool.spawnedAgentId !== undefined) ?? [];
    const hostMs = hosts.reduce((sum, { tool }) => sum + tool.endMs - tool.startMs, 0);
    const onHosts = found?.time?.tools.filter(({ name }) => hosts.some(({ tool }) => tool.name === name)) ?? [];
    expect(hosts.length).toBeGreaterThan(0);
    expect(onHosts.reduce((sum, { toolMs }) => sum + toolMs, 0)).toBeLessThan(hostMs);
  });

  test("a tool that waits for subagents: its time shows that they worked", async () => {
    const [only] = await recorded("codex", "nested-subagents");
    const wait = only?.time?.tools.find(({ name }) => name.endsWith("wait_agent"));
    expect(wait?.besideSubagentsMs).toBeGreaterThan((wait?.toolMs ?? 0) * 0.8);
    const [none] = await recorded("codex", "parallel-tools");
    expect(none?.time?.tools.map((tool) => tool.besideSubagentsMs)).toEqual(none?.time?.tools.map(() => 0));
  });

  test("a closed and resumed session: the pause belongs to no part", async () => {
    const [only] = await recorded("claude-code", "killed-then-resumed");
    const [first, second] = only?.view.segments ?? [];
    expect(only?.time?.parts.away).toBe((second?.startMs ?? 0) - (first?.endMs ?? 0));
    expect(only?.time?.parts.away).toBeGreaterThan(0);
  });

  test("what a single result added to the context is the growth of the input less the answer before it", async () => {
    const found = (await recorded("claude-code", "multi-turn")).flatMap(({ view, habits }) => {
      const main = view.calls
        .map(({ call }) => call)
        .filter(({ agentId, purpose }) => (agentId ?? purpose) === undefined);
      return habits.context.largestResults.map((result) => {
        const after = main.findIndex(({ endMs }) => endMs > result.startMs);
        const [usage, previous] = [main[after]?.usage, main[after - 1]?.usage];
        return [result.tokens, (usage?.input ?? 0) - (previous?.input ?? 0) - (previous?.output ?? 0)];
      });
    });
    expect(found.length).toBeGreaterThan(0);
    for (const [tokens, grown] of found) expect(tokens).toBe(grown);
    const [parallel] = await recorded("claude-code", "parallel-tools");
    // Several results were read by one call
    expect(parallel?.habits.context.largestResults).toEqual([]);
  });

  test("the cost of an MCP server is that of the calls after its results", async () => {
    const all = await recorded("claude-code", "mcp");
    const found = all.find(({ money }) => money.mcpServers.length > 0);
    const [server] = found?.money.mcpServers ?? [];
    const own = found?.money.causes.filter(({ part }) => part.kind === "tool" && part.mcpServer === server?.part) ?? [];
    expect(server?.sums.modelCalls).toBeGreaterThan(0);
    expect(own.reduce((sum, { sums }) => sum + (sums.costNanoUsd ?? 0), 0)).toBe(server?.sums.costNanoUsd);
  });

  test.each(["drained", "imported"])(
    "the size of the context at each call, and its compaction, in a session that was %s",
    async (how) => {
      const all = await (how === "drained" ? recorded : imported)("claude-code", "compaction");
      const found = all.find(({ habits }) => habits.context.compactions > 0);
      expect(found?.habits.context.compactions).toBe(1);
      expect(found?.habits.context.compacted).toHaveLength(1);
      for (const { before, after } of found?.habits.context.compacted ?? []) expect(after).toBeLessThan(before);
      const points = found?.habits.context.points ?? [];
      expect(points.map(({ input }) => input)).toEqual(
        found?.view.calls.filter(({ call }) => call.agentId === undefined).map(({ call }) => call.usage?.input),
      );
      const steps = points.slice(1).map(({ input }, i) => input - (points[i]?.input ?? 0));
      expect(found?.habits.context.largestStep?.tokens).toBe(Math.max(...steps));
    },
  );

  test("tokens reported only per turn, or not at all: the model's time is unknown", async () => {
    for (const name of ["basic", "mcp"]) {
      const [{ time } = {}] = await recorded("cursor", name);
      expect(time, name).toMatchObject({ isModelTimed: false, parts: { model: 0 } });
    }
  });

  test("repeated calls are reported if inputs can be compared, and unknown otherwise", async () => {
    const [known] = await recorded("copilot", "parallel-tools");
    expect(known?.habits.comparableCalls).toBe(known?.view.toolCalls.length);
    const [unknown] = await recorded("claude-code", "parallel-tools");
    expect(unknown?.habits).toMatchObject({ comparableCalls: 0, repeats: [] });
    // Inputs that are kept can be compared
    const [kept] = await recorded("claude-code", "parallel-tools", { OPENHOOK_OTEL_CAPTURE: "full" });
    expect(kept?.habits.comparableCalls).toBe(kept?.view.toolCalls.length);
  });

  test("without a transcript: tools and the user are timed, the model is not", async () => {
    const of = new Replay("claude-code", "basic", { withTranscripts: false });
    replay = of;
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
    const db = openDatabase(of.places.storePath);
    const [stored] = recentSessions(db, 1);
    if (stored === undefined) throw new Error("the store is empty");
    const found = explain(db, viewOf(db, stored, { agents }, spanSettings(await of.deps())), { agents });
    db.close();
    expect(found.time?.isModelTimed).toBe(false);
    expect(found.time?.parts.model).toBe(0);
    expect(partsOf(found)).toBeCloseTo((found.time?.endMs ?? 0) - (found.time?.startMs ?? 0), 6);
    expect(found.money.total).toEqual(NO_CALLS);
  });
});

describe("synthetic sessions", () => {
  const BEGIN = Date.parse("2026-11-21T08:00Z");
  const call = (startMs: number, endMs: number, agentId?: string): ModelCall => ({
    key: `${startMs}-${endMs}-${agentId}`,
    startMs: BEGIN + startMs,
    endMs: BEGIN + endMs,
    complete: true,
    usage: { input: 100, output: 10 },
    ...(agentId !== undefined && { agentId }),
  });
  const tool = (name: string, startMs: number, endMs: number, more: Partial<ToolCall> = {}): ToolCall => ({
    callId: `${name}-${startMs}`,
    name,
    startMs: BEGIN + startMs,
    endMs: BEGIN + endMs,
    status: "success",
    ...more,
  });
  const turn = (startMs: number, endMs: number): SessionView["turnList"][number] => ({
    key: `turn-${startMs}`,
    segment: 0,
    origin: "human",
    state: "ended",
    startMs: BEGIN + startMs,
    endMs: BEGIN + endMs,
    open: false,
  });

  interface Made {
    readonly turns: readonly SessionView["turnList"][number][];
    readonly calls?: readonly ModelCall[];
    readonly tools?: readonly ToolCall[];
    readonly segments?: readonly (readonly [number, number])[];
    readonly subagents?: SessionView["subagentList"];
  }
  function viewWith({ turns, calls = [], tools = [], segments = [[0, 1000]], subagents = [] }: Made): SessionView {
    const settled = calls.map((one) => ({ segment: 0, call: one, open: false, costNanoUsd: 1_000 }));
    return {
      stored: { id: 1, source: "claude-code", sessionId: "made", fork: "no", firstMs: BEGIN, lastMs: BEGIN + 1000 },
      facts: { source: "claude-code", sessionId: "made" },
      segments: segments.map(([startMs, endMs], ordinal) => ({
        ordinal,
        startMs: BEGIN + startMs,
        endMs: BEGIN + endMs,
        lastActivityMs: BEGIN + endMs,
        uses: [],
      })),
      turns: turns.length,
      prompts: turns.length,
      children: [],
      subagents: subagents.length,
      sums: sumOfCalls(settled),
      tools: new Map(),
      workMs: 0,
      turnList: turns,
      calls: settled,
      toolCalls: tools.map((one) => ({ segment: 0, tool: one, open: false })),
      subagentList: subagents,
      native: new Map(),
      openCompactions: [],
      openSpans: [],
      isPacked: false,
      unseen: [],
      covered: [],
    };
  }

  test("a turn to the millisecond: model, permission, tool, model, user", () => {
    const view = viewWith({
      turns: [turn(100, 700)],
      calls: [call(110, 300), call(620, 690)],
      tools: [tool("Bash", 310, 610, { executionMs: 50 })],
    });
    expect(timeSpent(view)).toMatchObject({
      parts: { model: 190 + 70, tool: 50, held: 250, agent: 10 + 10 + 10 + 10, user: 100 + 300, away: 0 },
    });
  });

  test("what precedes a call: the prompt, one tool, several, none; late results count for later calls", () => {
    const view = viewWith({
      turns: [turn(0, 500), turn(600, 900)],
      calls: [call(0, 100), call(200, 250), call(300, 350), call(400, 450), call(600, 700), call(800, 850)],
      tools: [
        tool("Read", 100, 200, { mcpServer: "files" }),
        tool("Bash", 251, 299),
        tool("Grep", 251, 290),
        tool("Watch", 110, 380),
      ],
    });
    expect(
      placed(view).map(({ turn: number, cause }) => [number, cause.kind, "name" in cause ? cause.name : ""]),
    ).toEqual([
      [1, "prompt", ""],
      [1, "tool", "Read"],
      [1, "several", ""],
      [1, "tool", "Watch"],
      [2, "prompt", ""],
      [2, "other", ""],
    ]);
    expect(moneySpent(view, placed(view)).mcpServers).toMatchObject([
      { part: "files", sums: { modelCalls: 1, input: 100 } },
    ]);
  });

  test("with any overlaps, the parts add up to the whole", () => {
    const span = fc.tuple(fc.integer({ min: -100, max: 1400 }), fc.integer({ min: 0, max: 400 }));
    const spans = fc.array(span, { maxLength: 8 });
    fc.assert(
      fc.property(spans, spans, spans, spans, spans, (turns, calls, tools, subagents, segments) => {
        const view = viewWith({
          turns: turns.map(([at, ms]) => turn(at, at + ms)),
          calls: calls.map(([at, ms], i) => call(at, at + ms, i % 3 === 0 ? `agent-${i % 2}` : undefined)),
          tools: tools.map(([at, ms], i) =>
            tool(`tool-${i % 3}`, at, at + ms, i % 2 === 0 ? { executionMs: ms / 2 } : {}),
          ),
          subagents: subagents.map(([at, ms], i) => ({
            agentId: `agent-${i}`,
            segment: 0,
            startMs: BEGIN + at,
            endMs: BEGIN + at + ms,
            open: false,
            ...(tools[i] !== undefined && { parentCallId: `tool-${i % 3}-${tools[i][0]}` }),
          })),
          segments: [[0, 500], ...segments.map(([at, ms]): [number, number] => [at, at + ms])],
        });
        const time = timeSpent(view);
        expect(partsOf({ time })).toBeCloseTo((time?.endMs ?? 0) - (time?.startMs ?? 0), 6);
        for (const part of TIME_PARTS) expect(time?.parts[part]).toBeGreaterThanOrEqual(0);
        const money = moneySpent(view, placed(view));
        for (const groups of [money.turns, money.models, money.threads, money.causes])
          expect(groups.reduce((sum, { sums }) => sum + sums.modelCalls, 0)).toBe(calls.length);
      }),
      { numRuns: runs(200) },
    );
  });

  test("a session without activity has no times and no calls", () => {
    expect(timeSpent(viewWith({ turns: [], segments: [] }))).toBeUndefined();
    expect(moneySpent(viewWith({ turns: [] }), []).total).toEqual(NO_CALLS);
  });
});
