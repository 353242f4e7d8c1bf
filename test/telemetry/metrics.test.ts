import { describe, expect, test } from "vitest";
import type { ModelCall, PricedCall } from "#core/model/model-call.ts";
import type { SessionFacts, ToolCall } from "#core/model/session.ts";
import type { Counted, Increment } from "#core/model/telemetry.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import { modelCallRevision, runCounts, segmentCounts } from "#core/telemetry/metrics.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { defined } from "#kit/objects.ts";
import { recordedSessions } from "../session/recorded.ts";
import fc from "../support/properties.ts";
import { endedSession } from "./records.ts";

const sessions = await recordedSessions();
const PREFIX = "gen_ai.client.inference.usage.";

describe.each(sessions.map((s) => [s.name, s] as const))("%s", (_, recorded) => {
  const session = endedSession(recorded);
  const runs = [...session.turns, ...session.subagents];
  const counts = [
    ...runs.flatMap((run) => runCounts(run, session.facts)),
    ...session.segments.map((segment) => segmentCounts(segment, session.facts)),
  ];
  const steps = counts.flatMap((c) => c.increments);
  const calls = runs.flatMap((run) => run.modelCalls);
  const tools = runs.flatMap((run) => run.toolCalls);
  const total = (pick: (usage: TokenUsage) => number | undefined): number =>
    calls.reduce((sum, call) => sum + (call.usage === undefined ? 0 : (pick(call.usage) ?? 0)), 0);

  test("sums equal those of the model calls, to the token", () => {
    expect(sum(steps, `${PREFIX}input_tokens`)).toBe(total((u) => u.input));
    expect(sum(steps, `${PREFIX}output_tokens`)).toBe(total((u) => u.output));
    expect(sum(steps, `${PREFIX}cache_read.input_tokens`)).toBe(total((u) => u.cacheRead));
    expect(sum(steps, `${PREFIX}cache_write.input_tokens`)).toBe(total((u) => u.cacheWrite));
    expect(sum(steps, `${PREFIX}reasoning.output_tokens`)).toBe(total((u) => u.reasoning));
    for (const [type, pick] of Object.entries(KINDS)) {
      expect(sum(steps, "openhook.token.usage", { "openhook.token.type": type }), type).toBe(total(pick));
    }
    expect(sum(steps, "openhook.model.call.count")).toBe(calls.length);
    const costs = calls.map((call) => callPrice(call, "anthropic").costNanoUsd);
    expect(sum(steps, "openhook.cost.usage")).toBe(costs.reduce<number>((a, b) => a + (b ?? 0), 0));
    expect(sum(steps, "openhook.cost.unpriced.count")).toBe(costs.filter((cost) => cost === undefined).length);
    expect(sum(steps, "openhook.usage.incomplete.count")).toBe(calls.filter((call) => !call.complete).length);
  });

  test("sums per model equal those of its calls", () => {
    const models = [...new Set(calls.map((c) => c.model))];
    const named = (model: string | undefined) => (model === undefined ? {} : { "gen_ai.response.model": model });
    expect(models.map((model) => sum(steps, `${PREFIX}output_tokens`, named(model)))).toEqual(
      models.map((model) => calls.filter((c) => c.model === model).reduce((n, c) => n + (c.usage?.output ?? 0), 0)),
    );
  });

  test("a subagent that continues after it was settled is not counted again", () => {
    const goneOn = session.subagents.map((subagent) => ({ ...subagent, key: `${subagent.agentId}~1` }));
    const later = goneOn.flatMap((run) => runCounts(run, session.facts)).flatMap((c) => c.increments);
    expect(sum(steps, "openhook.subagent.count")).toBe(session.subagents.length);
    expect(sum(later, "openhook.subagent.count")).toBe(0);
  });

  test("tool calls by name and status; only those that ran have a duration", () => {
    for (const { name, status } of tools) {
      const attributes = { "gen_ai.tool.name": name, "openhook.tool.status": status };
      const same = tools.filter((t) => t.name === name && t.status === status);
      expect(sum(steps, "openhook.tool.call.count", attributes)).toBe(same.length);
    }
    expect(sum(steps, "openhook.tool.call.count")).toBe(tools.length);
    expect(steps.filter((s) => s.metric === "gen_ai.execute_tool.duration").length).toBe(
      tools.filter((t) => t.status === "success" || t.status === "error").length,
    );
    expect(sum(steps, "openhook.code.lines")).toBe(
      tools.reduce((n, t) => n + (t.linesAdded ?? 0) + (t.linesRemoved ?? 0), 0),
    );
  });

  test("tool calls of an MCP server have its name, in count and duration", () => {
    const server = (name: string): string | undefined => /^mcp__(.+?)__/.exec(name)?.[1];
    const named = steps.filter((step) => step.attributes["gen_ai.tool.name"] !== undefined);
    expect(named.map(({ attributes }) => attributes["openhook.mcp.server.name"])).toEqual(
      named.map(({ attributes }) => server(String(attributes["gen_ai.tool.name"]))),
    );
  });

  test("turns, tool calls that ran, cost and cache reads by version; nothing without one", () => {
    const at = { "openhook.source.version": session.facts.agentVersion };
    const ran = (status: string) => tools.filter((tool) => tool.status === status).length;
    const cached = calls.filter(({ usage }) => usage?.cacheRead !== undefined && usage.input !== undefined);
    const ofCached = (pick: (u: TokenUsage) => number | undefined) =>
      cached.reduce((n, { usage = {} }) => n + (pick(usage) ?? 0), 0);
    const figures = (among: readonly Increment[], more: object) => [
      sum(among, "openhook.version.turn.count", { ...more }),
      sum(among, "openhook.version.cost.usage", { ...more }),
      sum(among, "openhook.version.tool.call.count", { ...more, "openhook.tool.status": "success" }),
      sum(among, "openhook.version.tool.call.count", { ...more, "openhook.tool.status": "error" }),
      sum(among, "openhook.version.token.usage", { ...more, "openhook.token.type": "input" }),
      sum(among, "openhook.version.token.usage", { ...more, "openhook.token.type": "cache_read" }),
    ];
    expect(figures(steps, at)).toEqual([
      sum(steps, "openhook.turn.count"),
      sum(steps, "openhook.cost.usage"),
      ran("success"),
      ran("error"),
      ofCached((u) => u.input),
      ofCached((u) => u.cacheRead),
    ]);
    const { agentVersion: _, ...unknown } = session.facts;
    const without = runs.flatMap((run) => runCounts(run, unknown)).flatMap((c) => c.increments);
    expect(without.filter(({ metric }) => metric.startsWith("openhook.version."))).toEqual([]);
    expect(without.length).toBeGreaterThan(0);
  });

  test("every increment has a known metric, a non-negative amount, and a key unique to its fact", () => {
    for (const step of steps) {
      const shape = METRIC_SHAPES.get(step.metric);
      expect(shape, step.metric).toBeDefined();
      expect(step.amount).toBeGreaterThanOrEqual(0);
      if (shape?.value !== "double") expect(Number.isSafeInteger(step.amount), step.metric).toBe(true);
      expect(step.resource).toEqual({ "service.name": "claude-code" });
    }
    expect(new Set(counts.map((c) => c.key)).size).toBe(counts.length);
  });

  test("no attribute is specific to a session", () => {
    const ids = [recorded.sessionId, ...tools.map((t) => t.callId), ...calls.map((c) => c.responseId ?? "")];
    const values = steps.flatMap((s) => Object.values(s.attributes));
    expect(values.filter((v) => typeof v === "string" && ids.includes(v))).toEqual([]);
  });
});

describe("modelCallRevision", () => {
  const facts: SessionFacts = {
    ...{ source: "claude-code", sessionId: "session-1", provider: "anthropic", agentVersion: "2.1.9" },
  };
  const count = fc.nat(100_000);
  const before = fc.record({ fresh: count, output: count, cacheRead: count, cacheWrite: count });
  const call = (u: { fresh: number; output: number; cacheRead: number; cacheWrite: number }, complete: boolean) =>
    ({
      key: "response:msg_1",
      model: "claude-sonnet-4-5-20250929",
      startMs: Date.UTC(2026, 9, 5),
      endMs: Date.UTC(2026, 9, 5, 0, 1),
      usage: {
        input: u.fresh + u.cacheRead + u.cacheWrite,
        output: u.output,
        cacheRead: u.cacheRead,
        cacheWrite: u.cacheWrite,
      },
      complete,
    }) satisfies ModelCall;
  const priced = (modelCall: ModelCall): PricedCall => ({ call: modelCall, ...callPrice(modelCall, facts.provider) });
  const revision = (was: ModelCall, is: ModelCall): Counted => modelCallRevision(priced(was), priced(is), facts);
  const countsOf = (modelCall: ModelCall): Counted => {
    const run = {
      key: "p1",
      origin: "human",
      segment: 0,
      state: "ended",
      hasHookPrompt: true,
      backgroundCount: 0,
    } as const;
    const turn = { ...run, startMs: 0, endMs: 1, toolCalls: [], errors: [], closed: true, uses: [] };
    const found = runCounts({ ...turn, modelCalls: [modelCall] }, facts).find((c) => c.key.includes("model_call"));
    if (found === undefined) throw new Error("the model call was not counted");
    return found;
  };

  test("counts plus revision equal the counts of the final call", () => {
    fc.assert(
      fc.property(before, before, (first, more) => {
        const grown = {
          fresh: first.fresh + more.fresh,
          output: first.output + more.output,
          cacheRead: first.cacheRead + more.cacheRead,
          cacheWrite: first.cacheWrite + more.cacheWrite,
        };
        const [was, is] = [call(first, false), call(grown, true)];
        const revised = [...countsOf(was).increments, ...revision(was, is).increments];
        const expected = countsOf(is).increments;
        for (const metric of new Set(expected.filter((s) => counted(s)).map((s) => s.metric))) {
          expect(byAttributes(revised, metric), metric).toEqual(byAttributes(expected, metric));
        }
        expect(sum(revised, "openhook.model.call.count")).toBe(1);
        expect(sum(revised, "openhook.usage.incomplete.count")).toBe(0);
        expect(revised.filter((s) => s.metric === "gen_ai.client.inference.duration").length).toBe(1);
      }),
    );
  });

  test("if a call was counted at another price, e.g. of an earlier version's table, the difference to that price counts", () => {
    const usage = { fresh: 100, output: 10, cacheRead: 0, cacheWrite: 0 };
    const [was, is] = [call(usage, false), call({ ...usage, output: 500 }, true)];
    const costs = (costNanoUsd: number | undefined): number =>
      sum(
        modelCallRevision(defined<PricedCall>({ call: was, costNanoUsd }), priced(is), facts).increments,
        "openhook.cost.usage",
      );
    const { costNanoUsd: cost = 0 } = priced(is);
    expect(costs(priced(was).costNanoUsd)).toBe(490 * 15_000);
    expect(costs(7)).toBe(cost - 7);
    expect(costs(undefined)).toBe(cost);
  });

  test("an identical revision adds nothing", () => {
    fc.assert(
      fc.property(before, (usage) => {
        expect(revision(call(usage, true), call(usage, true)).increments).toEqual([]);
      }),
    );
  });

  test("a decrease is a negative difference, which later increments offset", () => {
    const [more, less] = [
      { fresh: 10, output: 10, cacheRead: 10, cacheWrite: 10 },
      { fresh: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    ];
    const revised = revision(call(more, false), call(less, true)).increments;
    const expected = [...countsOf(call(less, true)).increments, ...countsOf(call(more, false)).increments.map(negated)];
    for (const metric of new Set(revised.map((step) => step.metric))) {
      expect(sum(revised, metric), metric).toBe(sum(expected, metric));
    }
    expect(sum(revised, "openhook.token.usage", { "openhook.token.type": "output" })).toBe(-9);
    expect(sum(revised, "openhook.usage.incomplete.count")).toBe(-1);
  });

  test("if the price was unknown when the call was counted, the count of calls without a price is reduced", () => {
    const usage = { fresh: 100, output: 10, cacheRead: 0, cacheWrite: 0 };
    const { usage: _, ...unknown } = call(usage, false);
    const revised = revision(unknown, call(usage, true)).increments;
    expect(sum(revised, "openhook.cost.unpriced.count")).toBe(-1);
    expect(sum(revised, "openhook.cost.usage")).toBe(priced(call(usage, true)).costNanoUsd);
  });

  test("two revisions of one call are two facts, and a repeated one is one", () => {
    const [a, b, c] = [1, 2, 3].map((n) => call({ fresh: n, output: n, cacheRead: 0, cacheWrite: 0 }, true));
    if (a === undefined || b === undefined || c === undefined) throw new Error("three calls");
    const keys = [countsOf(a), revision(a, b), revision(b, c)].map((f) => f.key);
    expect(new Set(keys).size).toBe(3);
    expect(revision(a, b).key).toBe(keys[1]);
    // Complete records, with other values for the same sums
    const kinds = call({ fresh: 1, output: 2, cacheRead: 1, cacheWrite: 0 }, true);
    expect(revision(a, { ...b, complete: false }).key).not.toBe(keys[1]);
    expect(revision(a, kinds).key).not.toBe(keys[1]);
  });
});

test("a call that loads a skill has its name, and no other one has the attribute", () => {
  const facts: SessionFacts = { source: "claude-code", sessionId: "session-1" };
  const tool = (callId: string, status: "success" | "error", skill?: string) =>
    defined<ToolCall>({ callId, name: skill === undefined ? "Bash" : "Skill", skill, status, startMs: 0, endMs: 5 });
  const toolCalls = [tool("1", "success", "pdf"), tool("2", "error", "pdf"), tool("3", "success")];
  const run = {
    key: "p1",
    origin: "human",
    segment: 0,
    state: "ended",
    hasHookPrompt: true,
    backgroundCount: 0,
  } as const;
  const turn = { ...run, startMs: 0, endMs: 9, modelCalls: [], toolCalls, errors: [], closed: true, uses: [] };
  const steps = runCounts(turn, facts).flatMap(({ increments }) => increments);
  const named = steps.filter(({ attributes }) => attributes["gen_ai.skill.name"] !== undefined);
  expect(named.map(({ metric, attributes }) => [metric, attributes])).toEqual(
    ["success", "error"].map((status) => [
      "openhook.tool.call.count",
      { "gen_ai.tool.name": "Skill", "gen_ai.skill.name": "pdf", "openhook.tool.status": status },
    ]),
  );
  expect(sum(steps, "openhook.tool.call.count")).toBe(3);
});

test("metrics follow OpenTelemetry's naming and units, and bounds ascend", () => {
  for (const shape of METRIC_SHAPES.values()) {
    expect(shape.name).toMatch(/^(gen_ai|openhook)(\.[a-z_]+)+$/);
    expect(shape.unit).toMatch(/^(\{[a-z_]+\}|1|s|By|USD)$/);
    expect(shape.description).toMatch(/^[A-Z].*[^.]$/);
    expect(shape.bounds !== undefined).toBe(shape.type === "histogram");
    const bounds = shape.bounds ?? [];
    expect([...new Set(bounds)].sort((a, b) => a - b)).toEqual(bounds);
  }
});

// --- internal ---

const KINDS: Readonly<Record<string, (u: TokenUsage) => number | undefined>> = {
  input: (u) => u.input,
  output: (u) => u.output,
  cache_read: (u) => u.cacheRead,
  cache_write: (u) => u.cacheWrite,
  reasoning: (u) => u.reasoning,
};

const negated = (step: Increment): Increment => ({ ...step, amount: -step.amount });

const counted = (s: Increment): boolean =>
  s.metric.startsWith(PREFIX) || /^openhook\.(version\.)?(token|cost)\.usage$/.test(s.metric);

const sum = (steps: readonly Increment[], metric: string, attributes: Readonly<Record<string, unknown>> = {}): number =>
  steps
    .filter((s) => s.metric === metric && Object.entries(attributes).every(([name, v]) => s.attributes[name] === v))
    .reduce((n, s) => n + s.amount, 0);

function byAttributes(steps: readonly Increment[], metric: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const s of steps.filter((step) => step.metric === metric)) {
    const key = JSON.stringify(Object.entries(s.attributes).sort());
    sums[key] = (sums[key] ?? 0) + s.amount;
  }
  return sums;
}
