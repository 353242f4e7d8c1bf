// Slow: only `npm run test:all` runs it. End to end as a user and an agent do it: enable, the registered command lines, drains
// that the hooks start, the configured endpoint. Every recorded run of Claude Code on one machine, several at the same time.
// agents/recordings.test.ts compares what the hook and the built program make of recordings, e2e/run.test.ts what is sent.
//
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as semconv from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { type ReceivedSpan, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, Machine, RECORDINGS, RecordedAgent } from "../support/program.ts";
import type { Expected, ExpectedSession } from "../support/summary.ts";

const NAMES = readdirSync(RECORDINGS).filter((name) => statSync(join(RECORDINGS, name)).isDirectory());
const SESSIONS = NAMES.flatMap((name) => {
  const { sessions }: Expected = JSON.parse(readFileSync(join(RECORDINGS, name, "expected.json"), "utf8"));
  return sessions.map((session) => ({ name, title: `${name} ${session.session_id.slice(0, 8)}`, ...session }));
});
const AGENTS_AT_ONCE = 4;
/** The one run whose agent was killed: it ends only through the user or the idle timeout. */
const NEVER_ENDED = new Set(SESSIONS.filter((s) => s.ended === "killed").map((s) => s.session_id));

let receiver: Receiver;
let machine: Machine;

beforeAll(async () => {
  await ensureBuilt();
  receiver = await startReceiver();
  machine = new Machine();
  const registered = await machine.enable();
  await machine.ok(["config", "set", "otlp.endpoint", receiver.url]);
  const agents = new PQueue({ concurrency: AGENTS_AT_ONCE });
  await agents.addAll(NAMES.map((name) => () => new RecordedAgent(machine, name).work(registered)));
});
afterAll(async () => {
  await machine?.remove();
  await receiver?.close();
});

const spansOf = (sessionId: string): readonly ReceivedSpan[] =>
  receiver.spans.filter((span) => span.attributes[semconv.GEN_AI_CONVERSATION_ID] === sessionId);
const kindOf = (span: ReceivedSpan): unknown => span.attributes[semconv.OPENHOOK_SPAN_KIND];
const ofKind = (spans: readonly ReceivedSpan[], kind: string) => spans.filter((span) => kindOf(span) === kind);

test("drains that the hooks started have delivered every session that ended", async () => {
  await machine.quiet();
  const roots = ofKind(receiver.spans, "session").map((span) => span.attributes[semconv.GEN_AI_CONVERSATION_ID]);
  const ended = SESSIONS.filter((session) => !NEVER_ENDED.has(session.session_id)).map((s) => s.session_id);
  expect(new Set(roots)).toEqual(new Set(ended));
});

test("when the user ends it, only the session of the killed agent is sent", async () => {
  const before = new Set(receiver.spans.map((span) => span.spanId));
  await machine.drain(["--end-idle"]);
  const news = receiver.spans.filter((span) => !before.has(span.spanId));
  expect(new Set(news.map((span) => span.attributes[semconv.GEN_AI_CONVERSATION_ID]))).toEqual(NEVER_ENDED);
});

/** Spans that the data places outside their parent, by recording: a background subagent outlives the call that starts it. */
const OUTLIVES_ITS_PARENT: Readonly<Record<string, readonly string[]>> = {
  "background-subagent": ["invoke_agent general-purpose ends after execute_tool Agent"],
};

describe.each(SESSIONS)("$title", ({ name, ...session }) => {
  test("has the recorded model calls and tool calls, to the token", () => {
    const spans = spansOf(session.session_id);
    const calls = ofKind(spans, "model_call");
    const sum = (name: string): number => calls.reduce((n, call) => n + Number(call.attributes[name] ?? 0), 0);
    expect(calls.map((call) => call.attributes[semconv.GEN_AI_RESPONSE_ID]).sort()).toEqual(
      session.model_calls.map((call) => call["response_id"]).sort(),
    );
    expect({
      input: sum(semconv.GEN_AI_USAGE_INPUT_TOKENS),
      output: sum(semconv.GEN_AI_USAGE_OUTPUT_TOKENS),
      cache_read: sum(semconv.GEN_AI_USAGE_CACHE_READ),
      cache_write: sum(semconv.GEN_AI_USAGE_CACHE_WRITE),
      cache_write_5m: sum(semconv.OPENHOOK_CACHE_WRITE_5M),
      cache_write_1h: sum(semconv.OPENHOOK_CACHE_WRITE_1H),
    }).toEqual(totalsOf(session));
    const tools = ofKind(spans, "tool_call").map(({ attributes }) => [
      attributes[semconv.GEN_AI_TOOL_CALL_ID],
      attributes[semconv.GEN_AI_TOOL_NAME],
      attributes[semconv.OPENHOOK_TOOL_STATUS],
    ]);
    expect(tools.sort()).toEqual(session.tool_calls.map(({ id, name, status }) => [id, name, status]).sort());
    expect(
      ofKind(spans, "turn").filter((turn) => turn.attributes[semconv.OPENHOOK_TURN_ORIGIN] === "human"),
    ).toHaveLength(session.prompts);
  });

  test("each trace is one tree", () => {
    const spans = spansOf(session.session_id);
    for (const trace of grouped(spans, (span) => span.traceId).values()) {
      const byId = new Map(trace.map((span) => [span.spanId, span]));
      expect(trace.filter((span) => span.parentSpanId === undefined).map(kindOf)).toEqual(["session"]);
      const orphans = trace.filter((span) => span.parentSpanId !== undefined && !byId.has(span.parentSpanId));
      expect(orphans.map((span) => span.name)).toEqual([]);
      for (const span of trace) {
        const parents = new Set<string>();
        for (let at: ReceivedSpan | undefined = span; at !== undefined; at = byId.get(at.parentSpanId ?? "")) {
          expect(parents.has(at.spanId), `${span.name} is below itself`).toBe(false);
          parents.add(at.spanId);
        }
      }
    }
  });

  test("no span ends before it starts, and children are within their parents", () => {
    const byId = new Map(spansOf(session.session_id).map((span) => [span.spanId, span]));
    const outside = new Set<string>();
    for (const span of byId.values()) {
      expect(span.endNs >= span.startNs, span.name).toBe(true);
      const parent = byId.get(span.parentSpanId ?? "");
      if (parent === undefined) continue;
      if (span.startNs < parent.startNs) outside.add(`${span.name} starts before ${parent.name}`);
      if (span.endNs > parent.endNs) outside.add(`${span.name} ends after ${parent.name}`);
    }
    expect([...outside]).toEqual(OUTLIVES_ITS_PARENT[name] ?? []);
  });

  test("every span has the attributes of its kind", () => {
    for (const span of spansOf(session.session_id)) {
      expect(span.resource).toMatchObject({ "service.name": "claude-code", "telemetry.distro.name": "openhook-otel" });
      expect(span.attributes).toMatchObject({
        [semconv.SESSION_ID]: session.session_id,
        ...REQUIRED[String(kindOf(span))],
      });
      const operation = String(span.attributes[semconv.GEN_AI_OPERATION_NAME]);
      expect(span.name.startsWith(operation), span.name).toBe(true);
      expect(span.kind).toBe(kindOf(span) === "model_call" ? "client" : "internal");
      expect(span.status.code === "error", span.name).toBe(span.attributes[semconv.ERROR_TYPE] !== undefined);
    }
  });
});

/** Required attributes by kind of span. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  session: { [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent", [semconv.GEN_AI_AGENT_NAME]: "claude-code" },
  turn: { [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent", [semconv.GEN_AI_AGENT_NAME]: "claude-code" },
  subagent: {
    [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent",
    [semconv.GEN_AI_AGENT_NAME]: expect.any(String),
    [semconv.OPENHOOK_SUBAGENT_ID]: expect.any(String),
  },
  model_call: {
    [semconv.GEN_AI_OPERATION_NAME]: "chat",
    [semconv.GEN_AI_PROVIDER_NAME]: "anthropic",
    [semconv.GEN_AI_REQUEST_MODEL]: expect.stringMatching(/^claude-/),
    [semconv.GEN_AI_RESPONSE_MODEL]: expect.stringMatching(/^claude-/),
    [semconv.GEN_AI_RESPONSE_ID]: expect.stringMatching(/^msg_/),
  },
  tool_call: {
    [semconv.GEN_AI_OPERATION_NAME]: "execute_tool",
    [semconv.GEN_AI_TOOL_NAME]: expect.any(String),
    [semconv.GEN_AI_TOOL_TYPE]: "function",
    [semconv.GEN_AI_TOOL_CALL_ID]: expect.any(String),
  },
};

describe("all sessions together", () => {
  test("no span is sent twice, however many drains run", () => {
    const ids = receiver.spans.map((span) => span.spanId);
    expect(ids.length).toBeGreaterThan(200);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("the received metrics equal the store's, stream by stream", () => {
    const db = openDatabase(machine.places.storePath);
    try {
      const key = (metric: string, attributes: object): string =>
        JSON.stringify([metric, Object.entries(attributes).sort()]);
      // What a drain counts about itself while it sends is sent by the next one
      const isAgents = (metric: string): boolean => !metric.startsWith("openhook.collector.");
      const arrived = receiver
        .latestPoints()
        .filter(({ name }) => isAgents(name))
        .map(({ name, attributes, data }) => [
          key(name, attributes),
          data.kind === "histogram" ? data.count : data.value,
        ]);
      const stored = counterValues(db)
        .filter(({ metric }) => isAgents(metric))
        .map(({ metric, attributes, value }) => [
          key(metric, attributes),
          METRIC_SHAPES.get(metric)?.value === "nano" ? value / 1e9 : value,
        ]);
      expect(arrived.sort()).toEqual(stored.sort());
    } finally {
      db.close();
    }
  });

  test("metric sums are the recorded totals", () => {
    const sum = (metric: string, attributes: Readonly<Record<string, string>> = {}): number =>
      receiver
        .latestPoints()
        .filter((p) => p.name === metric && Object.entries(attributes).every(([k, v]) => p.attributes[k] === v))
        .reduce((n, { data }) => n + (data.kind === "sum" ? data.value : 0), 0);
    const expected = (kind: keyof ReturnType<typeof totalsOf>): number =>
      SESSIONS.reduce((n, session) => n + (totalsOf(session)[kind] ?? 0), 0);
    for (const kind of ["input", "output", "cache_read", "cache_write"] as const) {
      expect(sum("openhook.token.usage", { [semconv.OPENHOOK_TOKEN_TYPE]: kind }), kind).toBe(expected(kind));
    }
    expect(sum("gen_ai.client.inference.usage.input_tokens")).toBe(expected("input"));
    expect(sum("gen_ai.client.inference.usage.output_tokens")).toBe(expected("output"));
    expect(sum("openhook.model.call.count")).toBe(SESSIONS.flatMap((s) => s.model_calls).length);
    for (const status of ["success", "error", "denied", "unfinished"]) {
      expect(sum("openhook.tool.call.count", { [semconv.OPENHOOK_TOOL_STATUS]: status }), status).toBe(
        SESSIONS.flatMap((s) => s.tool_calls).filter((call) => call.status === status).length,
      );
    }
    expect(sum("openhook.session.count")).toBe(ofKind(receiver.spans, "session").length);
  });

  test("points of a stream never decrease, in time or in value", () => {
    const streams = grouped(receiver.metricPoints, (p) =>
      JSON.stringify([p.name, Object.entries(p.attributes).sort(), Object.entries(p.resource).sort()]),
    );
    for (const [stream, points] of streams) {
      // A gauge has no start time
      if (points[0]?.data.kind !== "gauge") expect(new Set(points.map((p) => p.startNs)).size, stream).toBe(1);
      for (const [i, { timeNs, data }] of points.slice(1).entries()) {
        const before = points[i];
        expect(timeNs > (before?.timeNs ?? 0n), stream).toBe(true);
        if (data.kind !== "sum" || before?.data.kind !== "sum") continue;
        expect(data.value, stream).toBeGreaterThanOrEqual(before.data.value);
      }
    }
  });

  test("another drain sends no span again, and leaves the queue empty", async () => {
    const before = receiver.spans.length;
    const report = await machine.drain();
    expect(report).toMatchObject({ files: 0, spans: 0, sent: 0, waiting: 0, quarantined: 0, problems: [] });
    expect(receiver.spans).toHaveLength(before);
  });
});

/** If the agent lost the end of an answer, its output is what the transcript contains. */
function totalsOf(session: ExpectedSession) {
  const { input, output, cache_read, cache_write, cache_write_5m = 0, cache_write_1h = 0 } = session.totals;
  return {
    input,
    output: session.recoverable_as_reported?.output_tokens ?? output,
    cache_read,
    cache_write,
    cache_write_5m,
    cache_write_1h,
  };
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
