import { describe, expect, test } from "vitest";
import type { MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { redactCounted, redactNames, redactPoint, redactSpan } from "#core/privacy/records.ts";

/** Replaces the rules: this tests where redaction is applied. */
const redact = (text: string): string => text.replaceAll("s3cret", "[redacted]");
const OURS = { "openhook.span.kind": "s3cret", "gen_ai.operation.name": "s3cret", "session.id": "s3cret" };
const NUMBERS = { "openhook.tool.execution_ms": 12, "openhook.subagent": false };
const ATTRIBUTES = {
  ...OURS,
  ...NUMBERS,
  "gen_ai.tool.name": "run s3cret",
  list: ["a", "s3cret"],
  [`${"n".repeat(48)}s3cret`]: 1,
};
const CLEAN = {
  ...{ ...OURS, ...NUMBERS, "gen_ai.tool.name": "run [redacted]", list: ["a", "[redacted]"] },
  [`${"n".repeat(48)}[redacted]`]: 1,
};
const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const span: SpanRecord = {
  ...{ ...ids, name: "execute_tool s3cret", kind: "internal", startMs: 1, endMs: 2 },
  status: { code: "error", message: "no s3cret" },
  attributes: ATTRIBUTES,
  links: [{ ...ids, attributes: ATTRIBUTES }],
  events: [
    { name: "quiet", timeMs: 1, attributes: {} },
    { name: "s3cret", timeMs: 2, attributes: ATTRIBUTES },
  ],
  resource: { "service.name": "s3cret", "service.instance.id": "s3cret" },
};

describe("reported texts are redacted; ids, numbers and our own words stay", () => {
  test("of a span", () => {
    expect(redactSpan(span, redact)).toEqual({
      ...span,
      name: "execute_tool [redacted]",
      status: { code: "error", message: "no [redacted]" },
      attributes: CLEAN,
      links: [{ ...ids, attributes: CLEAN }],
      events: [span.events[0], { name: "[redacted]", timeMs: 2, attributes: CLEAN }],
      resource: { "service.name": "[redacted]", "service.instance.id": "s3cret" },
    });
    const kept = redactSpan(span, redact, { attributes: new Set(["gen_ai.tool.name"]), redact: (text) => text });
    expect(kept.attributes["gen_ai.tool.name"]).toBe("run s3cret");
    expect(kept.attributes["list"]).toEqual(CLEAN.list);
  });

  test("of a counter, before and after it is counted", () => {
    const resource = { "service.name": "s3cret" };
    const increment = { metric: "openhook.tool.call.count", amount: 1, attributes: ATTRIBUTES, resource };
    const counted = { key: "k", increments: [{ ...increment, attributes: {} }, increment] };
    expect(redactCounted(counted, redact)).toEqual({
      key: "k",
      increments: [counted.increments[0], { ...increment, attributes: CLEAN }],
    });
    const shape = { name: "n", description: "d", unit: "{call}", type: "counter", value: "int" } as const;
    const point: MetricPoint = {
      shape,
      attributes: ATTRIBUTES,
      resource,
      startMs: 0,
      timeMs: 1,
      data: { kind: "sum", value: 1 },
    };
    expect(redactPoint(point, redact)).toEqual({
      ...point,
      attributes: CLEAN,
      resource: { "service.name": "[redacted]" },
    });
  });

  test("of an event: ids, times and paths stay, because lookups need them", () => {
    const event = {
      id: "s3cret",
      time: "s3cret",
      cwd: "/s3cret",
      data: { tool_name: "s3cret", steps: ["s3cret", 1, null] },
    };
    expect(redactNames(event, redact)).toEqual({
      ...event,
      data: { tool_name: "[redacted]", steps: ["[redacted]", 1, null] },
    });
  });
});

test("without a secret the same object is returned, without a copy", () => {
  const none = (text: string): string => text;
  const counted = { key: "k", increments: [{ metric: "m", amount: 1, attributes: ATTRIBUTES, resource: {} }] };
  expect(redactSpan(span, none)).toBe(span);
  expect(redactCounted(counted, none)).toBe(counted);
  expect(redactNames(span, none)).toBe(span);
});
