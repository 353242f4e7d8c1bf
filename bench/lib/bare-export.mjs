// node bare-export.cjs <url> <spans>: only the OpenTelemetry SDK's exporter, from memory, in batches of our size.
import { SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPExporterBase } from "@opentelemetry/otlp-exporter-base";
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";

const BATCH_SPANS = 512;
const [, , url, count] = process.argv;
const resource = resourceFromAttributes({ "service.name": "claude-code", "service.namespace": "openhook" });
const settings = { url: `${url}/v1/traces`, compression: "gzip" };
const headers = { "Content-Type": "application/x-protobuf" };
// The SDK's protobuf exporter consists of exactly these parts
const exporter = new OTLPExporterBase(
  createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(settings, "TRACES", "v1/traces", headers),
    ProtobufTraceSerializer,
    "otlp_http_span_exporter",
    TraceExporterMetricsHelper,
  ),
);

async function send() {
  for (let sent = 0; sent < Number(count); sent += BATCH_SPANS) {
    const spans = Array.from({ length: Math.min(BATCH_SPANS, Number(count) - sent) }, (_, n) => spanOf(sent + n));
    await new Promise((done, fail) =>
      exporter.export(spans, ({ error }) => (error === undefined ? done() : fail(error))),
    );
  }
  await exporter.shutdown();
}

/** A span with as many attributes of each type as ours have. */
function spanOf(n) {
  const id = (n + 1).toString(16);
  const context = { traceId: "a".repeat(32), spanId: id.padStart(16, "0"), traceFlags: TraceFlags.SAMPLED };
  const startTime = [1_795_000_000 + n, 0];
  return {
    name: "execute_tool Bash",
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    parentSpanContext: { ...context, spanId: "f".repeat(16) },
    startTime,
    endTime: [startTime[0], 5e8],
    duration: [0, 5e8],
    ended: true,
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "Bash",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": `toolu_01${id}`,
      "gen_ai.conversation.id": "5f0e2c1a-3b1c-4c52-a5a5-0d0a4b7f9f11",
      "gen_ai.agent.name": "claude-code",
      "openhook.source": "claude-code",
      "openhook.tool.status": "success",
      "openhook.tool.executable": "git",
      "openhook.duration_ms": 500 + n,
      "openhook.subagent": false,
      "openhook.payload_bytes": 1_700 + n,
    },
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: "bare" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

send();
