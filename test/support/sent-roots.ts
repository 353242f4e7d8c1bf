import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { repairedSpans } from "#store/spans.ts";

/** What was queued for a backend: sums of all root spans of sessions, the same sums from the counters, and what is wrong. */
export function sentRoots(storePath: string) {
  const db = openDatabase(storePath);
  try {
    const spans = db
      .prepare("SELECT record FROM spans ORDER BY seq")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    const roots = spans.filter(({ attributes }) => attributes[semconv.OPENHOOK_SPAN_KIND] === "session");
    const sum = (name: string): number => roots.reduce((n, { attributes }) => n + Number(attributes[name] ?? 0), 0);
    const points = counterValues(db).filter(({ metric }) => !metric.startsWith("openhook.collector."));
    const counted = (metric: string, type?: string): number =>
      points
        .filter(
          (p) => p.metric === metric && (type === undefined || p.attributes[semconv.OPENHOOK_TOKEN_TYPE] === type),
        )
        .reduce((n, { value }) => n + value, 0);
    const { input, output, cacheRead, cacheWrite } = semconv.OPENHOOK_TOTAL;
    return {
      roots: {
        calls: sum(semconv.OPENHOOK_MODEL_CALLS),
        tools: sum(semconv.OPENHOOK_TOOL_CALLS),
        input: sum(input),
        output: sum(output),
        cacheRead: sum(cacheRead),
        cacheWrite: sum(cacheWrite),
        costNanoUsd: Math.round(sum(semconv.OPENHOOK_COST_USD) * 1e9),
      },
      counters: {
        calls: counted("openhook.model.call.count"),
        tools: counted("openhook.tool.call.count"),
        input: counted("openhook.token.usage", "input"),
        output: counted("openhook.token.usage", "output"),
        cacheRead: counted("openhook.token.usage", "cache_read"),
        cacheWrite: counted("openhook.token.usage", "cache_write"),
        costNanoUsd: counted("openhook.cost.usage"),
      },
      strays: straysIn(spans),
      repaired: repairedSpans(db),
      open: db.prepare("SELECT 1 FROM segments WHERE delivered = 0").all().length,
    };
  } finally {
    db.close();
  }
}

/** Spans whose parent is not in their trace. */
export function straysIn(spans: readonly SpanRecord[]): readonly string[] {
  const here = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  const ids = new Map(spans.map((span) => [span.spanId, span.name]));
  return spans.flatMap(({ traceId, parentSpanId, name }) =>
    parentSpanId === undefined || here.has(`${traceId} ${parentSpanId}`)
      ? []
      : [
          `${name}: its parent is in ${ids.has(parentSpanId) ? `the trace of another ${ids.get(parentSpanId)}` : "no trace"}`,
        ],
  );
}
