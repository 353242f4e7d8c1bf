// The log records of a span: a pure function of its record.
import { describe, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { recordAtLevel } from "#core/telemetry/level.ts";
import { LOG_EVENTS } from "#core/telemetry/log-events.ts";
import { logsOf } from "#core/telemetry/logs.lazy.ts";
import { spanRecord } from "../otlp/records.ts";
import fc from "../support/properties.ts";

const LATEST = { semconv: "latest" } as const;
const NAMES: ReadonlySet<string> = new Set(Object.values(LOG_EVENTS).map(({ name }) => name));

const kind = fc.constantFrom("session", "turn", "subagent", "model_call", "tool_call", "late_part");
const event = fc.record({
  name: fc.constantFrom("openhook.model_error", "openhook.native.hook", "openhook.native.late"),
  timeMs: fc.constant(1_760_000_000_100),
  attributes: fc.constantFrom<SpanRecord["attributes"]>(
    {},
    { "error.type": "529" },
    { "gen_ai.tool.call.decision": "allow", "gen_ai.tool.call.id": "toolu_1" },
  ),
});
const span = fc
  .record({ kind, events: fc.array(event, { maxLength: 4 }), isDenied: fc.boolean(), isLate: fc.boolean() })
  .map(({ kind: of, events, isDenied, isLate }) =>
    spanRecord(1, {
      events,
      attributes: {
        "openhook.span.kind": of,
        "session.id": "s",
        ...(!isLate && { "gen_ai.agent.name": "mine" }),
        ...(isDenied && of === "tool_call" && { "gen_ai.tool.call.decision": "deny" }),
        "gen_ai.input.messages": "[]",
        "vcs.repository.name": "acme",
      },
    }),
  );

describe("the log records of a span", () => {
  test("have parts of their own, documented names, the span's ids, and the same parts at every level", () => {
    fc.assert(
      fc.property(span, (record) => {
        const logs = logsOf(record, LATEST);
        expect(new Set(logs.map(({ part }) => part)).size).toBe(logs.length);
        expect(new Set(logs.map(({ attributes }) => attributes["log.record.uid"])).size).toBe(logs.length);
        for (const log of logs) {
          expect(NAMES).toContain(log.name);
          expect(log).toMatchObject({ traceId: record.traceId, spanId: record.spanId, resource: record.resource });
          expect(log.attributes).toMatchObject({ "session.id": "s" });
        }
        for (const level of ["none", "metadata", "full"] as const) {
          const leveled = logsOf(
            recordAtLevel(record, level, () => undefined),
            LATEST,
          );
          expect(leveled.map(({ part, name }) => [part, name])).toEqual(logs.map(({ part, name }) => [part, name]));
        }
      }),
    );
  });

  test("each event of the span is one, a failed request under the conventions' name", () => {
    fc.assert(
      fc.property(span, (record) => {
        const names = logsOf(record, LATEST).map(({ name }) => name);
        const count = (name: string) => names.filter((one) => one === name).length;
        const failed = record.events.filter(({ name }) => name === "openhook.model_error").length;
        expect(count("gen_ai.client.operation.exception")).toBe(failed);
        expect(count("openhook.native.hook")).toBe(record.events.filter(({ name }) => name.endsWith(".hook")).length);
      }),
    );
  });

  test("a decision is one if the agent reported it, also if it came late", () => {
    const attributes = {
      "openhook.span.kind": "tool_call",
      "openhook.tool.status": "denied",
      "gen_ai.tool.name": "Bash",
    };
    const decided = { "gen_ai.tool.call.decision": "deny", "openhook.permission.source": "user" };
    const of = (over: Partial<SpanRecord>) =>
      logsOf(spanRecord(1, over), LATEST)
        .filter(({ name }) => name === "openhook.tool_call.decision")
        .map(({ attributes: found }) => found["gen_ai.tool.call.decision"]);
    expect(of({ attributes })).toEqual([]);
    expect(of({ attributes: { ...attributes, ...decided } })).toEqual(["deny"]);
    const late = { name: "openhook.native.late", timeMs: 1_760_000_000_100, attributes: decided };
    expect(of({ attributes: { "openhook.span.kind": "late_part" }, events: [late] })).toEqual(["deny"]);
  });

  test("a turn is its prompt, without sums that nobody knew then, and its end, without the prompt", () => {
    const [prompt, end] = logsOf(
      spanRecord(1, {
        attributes: {
          "openhook.span.kind": "turn",
          "openhook.prompt.length": 5,
          "gen_ai.input.messages": "[the prompt]",
          "gen_ai.output.messages": "[the answer]",
          "gen_ai.usage.input_tokens": 7,
          squad: "red",
        },
      }),
      LATEST,
    );
    expect(prompt).toMatchObject({ name: "openhook.prompt", timeMs: 1_760_000_000_001 });
    expect(Object.keys(prompt?.attributes ?? {}).sort()).toEqual(
      ["gen_ai.input.messages", "log.record.uid", "openhook.prompt.length", "openhook.span.kind", "squad"].sort(),
    );
    expect(end).toMatchObject({ name: "openhook.turn.end", timeMs: 1_760_000_000_251 });
    expect(end?.attributes).toMatchObject({ "gen_ai.output.messages": "[the answer]", "openhook.duration_ms": 250 });
    expect(JSON.stringify(end)).not.toContain("the prompt");
  });
});
