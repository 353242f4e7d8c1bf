// node bench/lib/native-agent.mjs <base address> <token>
// A program that exports its own telemetry as agents do: 600 spans in about 1.5 s, in batches over OTLP/HTTP, the last one at its end.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { tracing } from "@opentelemetry/sdk-node";

const [base, token] = process.argv.slice(2);
const exporter = new OTLPTraceExporter({
  url: `${base}/v1/traces`,
  headers: { authorization: `Bearer ${token}` },
  timeoutMillis: 5_000,
});
const batches = new tracing.BatchSpanProcessor(exporter, { scheduledDelayMillis: 100, maxExportBatchSize: 100 });
const provider = new tracing.BasicTracerProvider({ spanProcessors: [batches] });
const tracer = provider.getTracer("agent");
for (let i = 0; i < 300; i++) {
  const call = tracer.startSpan("llm_request", {
    attributes: { "session.id": "s", request_id: `req_${i}`, ttft_ms: i },
  });
  await new Promise((done) => setTimeout(done, 4));
  tracer.startSpan("tool", { attributes: { "session.id": "s", tool_use_id: `toolu_${i}` } }).end();
  call.end();
}
await provider.shutdown().catch(() => {});
