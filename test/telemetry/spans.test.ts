import { describe, expect, test } from "vitest";
import type { ModelCall } from "#core/model/model-call.ts";
import { SpanRecord } from "#core/model/telemetry.ts";
import type { KeyedSpan } from "#core/telemetry/make-span.ts";
import { runCounts } from "#core/telemetry/metrics.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import { defined } from "#kit/objects.ts";
import { recordedSession, recordedSessions } from "../session/recorded.ts";
import { endedSession, spansOf } from "./records.ts";

const sessions = await recordedSessions();
const SETTINGS: SpanSettings = { semconv: "both", traceScope: "session" };

const NAMES = [/^invoke_agent [a-zA-Z0-9:_-]+$/, /^chat( [a-zA-Z0-9.[\]-]+)?$/, /^execute_tool [\w-]+( [\w.+-]+)?$/];

describe.each(["session", "turn"] as const)("traces per %s", (traceScope) => {
  describe.each(sessions.map((s) => [s.name, s] as const))("%s", (_, recorded) => {
    const session = endedSession(recorded);
    const spans = spansOf(session, { ...SETTINGS, traceScope });
    const records = spans.map((s) => s.record);

    test("are complete: unique ids, parents in the same trace, one root each", () => {
      expect(new Set(records.map((r) => r.spanId)).size).toBe(records.length);
      expect(new Set(spans.map((s) => s.key)).size).toBe(spans.length);
      const here = new Set(records.map((r) => `${r.traceId} ${r.spanId}`));
      const lost = records.filter((r) => r.parentSpanId !== undefined && !here.has(`${r.traceId} ${r.parentSpanId}`));
      expect(lost.map((r) => r.name)).toEqual([]);
      for (const traceId of new Set(records.map((r) => r.traceId))) {
        expect(records.filter((r) => r.traceId === traceId && r.parentSpanId === undefined).length).toBe(1);
      }
    });

    test("contain every model call and tool call once, with a descriptive name", () => {
      const of = (kind: string) => records.filter((r) => r.attributes["openhook.span.kind"] === kind);
      const runs = [...session.turns, ...session.subagents];
      expect(
        of("model_call")
          .map((r) => r.attributes["gen_ai.response.id"])
          .sort(),
      ).toEqual(runs.flatMap((run) => run.modelCalls.map((c) => c.responseId)).sort());
      expect(
        of("tool_call")
          .map((r) => r.attributes["gen_ai.tool.call.id"])
          .sort(),
      ).toEqual(runs.flatMap((run) => run.toolCalls.map((c) => c.callId)).sort());
      expect(of("turn").length).toBe(session.turns.filter((t) => t.origin !== "none").length);
      expect(of("subagent").length).toBe(session.subagents.length);
      expect(of("session").length).toBe(session.segments.length);
      expect(records.filter((r) => !NAMES.some((name) => name.test(r.name))).map((r) => r.name)).toEqual([]);
    });

    test("are valid for every backend", () => {
      for (const record of records) {
        expect(SpanRecord.safeParse(record).error).toBeUndefined();
        expect(record.endMs).toBeGreaterThanOrEqual(record.startMs);
        for (const [name, value] of Object.entries(record.attributes)) {
          expect(name).toMatch(/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/);
          if (typeof value === "number") expect(Number.isFinite(value), name).toBe(true);
        }
        expect(record.resource).toEqual({ "service.name": "claude-code", "service.version": "2.1.329" });
        expect(record.attributes["gen_ai.conversation.id"]).toBe(recorded.sessionId);
        expect(record.attributes["error.type"] !== undefined).toBe(record.status.code === "error");
      }
    });

    test("contain nothing about this machine", () => {
      expect(records.map((r) => JSON.stringify(r)).filter((text) => /\/home\/|\/Users\//.test(text))).toEqual([]);
    });
  });
});

test.each(["subagent", "nested-subagents", "permission-denied"])("the tree of %s", async (name) => {
  const spans = spansOf(endedSession(await recordedSession(name)), SETTINGS);
  await expect(`${treeOf(spans).join("\n")}\n`).toMatchFileSnapshot(`trees/${name}.txt`);
});

describe("the attribute names of the GenAI conventions", () => {
  const CASES = [
    ["both", 5210, 5210],
    ["latest", 5210, undefined],
    ["v1.41", undefined, 5210],
  ] as const;

  test.each(CASES)("%s", async (semconv, write, creation) => {
    const session = endedSession(await recordedSession("basic"));
    const call = spansOf(session, { ...SETTINGS, semconv }).find((s) => s.record.name.startsWith("chat "));
    expect(call?.record.attributes["gen_ai.usage.cache_write.input_tokens"]).toBe(write);
    expect(call?.record.attributes["gen_ai.usage.cache_creation.input_tokens"]).toBe(creation);
    expect(call?.record.attributes["gen_ai.usage.input_tokens"]).toBe(5222);
  });

  // The latest ones have no cache figures on `invoke_agent`
  const OF_TURN = [CASES[0], ["latest", undefined, undefined], CASES[2]] as const;

  test.each(OF_TURN)("%s, for a turn whose calls are reported as one sum", async (semconv, write, creation) => {
    const session = endedSession(await recordedSession("basic"));
    const turns = session.turns.map((turn) => ({
      ...turn,
      modelCalls: turn.modelCalls.slice(0, 1).map((call) => ({ ...call, covers: "turn" as const })),
    }));
    const spans = spansOf({ ...session, turns }, { ...SETTINGS, semconv });
    const turn = spans.find((s) => s.record.attributes["openhook.span.kind"] === "turn");
    expect(turn?.record.attributes["gen_ai.usage.cache_write.input_tokens"]).toBe(write);
    expect(turn?.record.attributes["gen_ai.usage.cache_creation.input_tokens"]).toBe(creation);
  });
});

test.each([
  [3, 3],
  [undefined, undefined],
])("a turn with a sum over %s calls says %s", async (coveredCalls, expected) => {
  const session = endedSession(await recordedSession("basic"));
  const turns = session.turns.map((turn) => ({
    ...turn,
    modelCalls: turn.modelCalls
      .slice(0, 1)
      .map((call) => defined<ModelCall>({ ...call, covers: "turn", coveredCalls })),
  }));
  const spans = spansOf({ ...session, turns }, SETTINGS);
  const turn = spans.find((s) => s.record.attributes["openhook.span.kind"] === "turn");
  expect(turn?.record.attributes["openhook.model_calls"]).toBe(expected);
  const steps = turns.flatMap((one) => runCounts(one, session.facts)).flatMap((one) => one.increments);
  const amounts = (metric: string) => steps.filter((one) => one.metric === metric).map(({ amount }) => amount);
  const known = expected === undefined ? [] : [expected];
  expect(amounts("openhook.model.call.count")).toEqual(known);
  expect(amounts("gen_ai.invoke_agent.inference_calls")).toEqual(known);
  expect(amounts("gen_ai.client.inference.duration")).toEqual([]);
});

test("ids depend only on the session", async () => {
  const session = endedSession(await recordedSession("basic"));
  const ids = (facts = session.facts) => spansOf(session, SETTINGS, facts).map((s) => s.record.spanId);
  expect(ids({ source: session.facts.source, sessionId: session.facts.sessionId })).toEqual(ids());
  const another = ids({ ...session.facts, sessionId: "another" });
  expect(another.filter((id) => ids().includes(id))).toEqual([]);
});

/** Names by depth, in order of time; with the status if it is not the default. */
function treeOf(spans: readonly KeyedSpan[]): string[] {
  const records = spans.map((s) => s.record);
  const below = (parent: string | undefined, depth: number): string[] =>
    records
      .filter((r) => r.parentSpanId === parent)
      .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.spanId < b.spanId ? -1 : 1))
      .flatMap((r) => [
        `${"  ".repeat(depth)}${r.attributes["openhook.span.kind"]}: ${r.name}${r.status.code === "error" ? ` !${r.attributes["error.type"]}` : ""}`,
        ...below(r.spanId, depth + 1),
      ]);
  return below(undefined, 0);
}
