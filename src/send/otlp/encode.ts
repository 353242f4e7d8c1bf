import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import type { logs, metrics, tracing } from "@opentelemetry/sdk-node";
import type { OtlpSignalSettings } from "#core/model/settings.ts";

type Protocol = OtlpSignalSettings["protocol"];

/** The body of one trace request, before compression. */
export function encodeSpans(spans: tracing.ReadableSpan[], protocol: Protocol): Uint8Array {
  const serializer = protocol === "http/json" ? JsonTraceSerializer : ProtobufTraceSerializer;
  return serializer.serializeRequest(spans) ?? new Uint8Array();
}

/** The body of one logs request, before compression. */
export function encodeLogs(records: logs.ReadableLogRecord[], protocol: Protocol): Uint8Array {
  const serializer = protocol === "http/json" ? JsonLogsSerializer : ProtobufLogsSerializer;
  return serializer.serializeRequest(records) ?? new Uint8Array();
}

/**
 * The body of one metrics request, before compression.
 *
 * The SDK's serializers take one resource. We put several into one request, because a request is accepted or refused as a whole: with
 * one request per resource, a second one that fails would cause deltas of the first to be counted twice.
 */
export function encodeMetrics(resourceMetrics: readonly metrics.ResourceMetrics[], protocol: Protocol): Uint8Array {
  if (protocol === "http/json") {
    const parts = resourceMetrics.map((one) => JsonMetricsSerializer.serializeRequest(one) ?? new Uint8Array());
    return parts.length === 1 && parts[0] ? parts[0] : joinJson(parts);
  }
  // Protobuf messages merge when they are concatenated
  return Buffer.concat(
    resourceMetrics.map((one) => ProtobufMetricsSerializer.serializeRequest(one) ?? new Uint8Array()),
  );
}

// --- internal ---

function joinJson(requests: readonly Uint8Array[]): Uint8Array {
  const all = requests.flatMap((request) => JSON.parse(Buffer.from(request).toString()).resourceMetrics);
  return Buffer.from(JSON.stringify({ resourceMetrics: all }));
}
