// Public OTLP specification, opentelemetry-proto 1.x: trace/v1/trace.proto and collector/trace/v1/trace_service.proto.
import type { Message } from "@bufbuild/protobuf";
import { type GenMessage, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { commonFile, type InstrumentationScope, type KeyValue, type Resource, resourceFile } from "./common.ts";
import { protoFile } from "./define.ts";

export type ResourceSpans = Message<"opentelemetry.proto.trace.v1.ResourceSpans"> & {
  resource?: Resource;
  scopeSpans: ScopeSpans[];
  schemaUrl: string;
};
export type ScopeSpans = Message<"opentelemetry.proto.trace.v1.ScopeSpans"> & {
  scope?: InstrumentationScope;
  spans: Span[];
  schemaUrl: string;
};
export type Span = Message<"opentelemetry.proto.trace.v1.Span"> & {
  traceId: Uint8Array;
  spanId: Uint8Array;
  traceState: string;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  startTimeUnixNano: bigint;
  endTimeUnixNano: bigint;
  attributes: KeyValue[];
  droppedAttributesCount: number;
  events: SpanEvent[];
  droppedEventsCount: number;
  links: SpanLink[];
  droppedLinksCount: number;
  status?: SpanStatus;
  flags: number;
};
export type SpanEvent = Message<"opentelemetry.proto.trace.v1.Event"> & {
  timeUnixNano: bigint;
  name: string;
  attributes: KeyValue[];
  droppedAttributesCount: number;
};
export type SpanLink = Message<"opentelemetry.proto.trace.v1.Link"> & {
  traceId: Uint8Array;
  spanId: Uint8Array;
  traceState: string;
  attributes: KeyValue[];
  droppedAttributesCount: number;
  flags: number;
};
export type SpanStatus = Message<"opentelemetry.proto.trace.v1.Status"> & { message: string; code: number };

export type TraceRequest = Message<"opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest"> & {
  resourceSpans: ResourceSpans[];
};
export type TraceResponse = Message<"opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse"> & {
  partialSuccess?: TracePartialSuccess;
};
export type TracePartialSuccess = Message<"opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess"> & {
  rejectedSpans: bigint;
  errorMessage: string;
};

const KEY_VALUE = "opentelemetry.proto.common.v1.KeyValue";

const traceFile = protoFile(
  "opentelemetry.proto.trace.v1",
  {
    ResourceSpans: {
      resource: ["one", "opentelemetry.proto.resource.v1.Resource", 1],
      scope_spans: ["repeated", "ScopeSpans", 2],
      schema_url: ["one", "string", 3],
    },
    ScopeSpans: {
      scope: ["one", "opentelemetry.proto.common.v1.InstrumentationScope", 1],
      spans: ["repeated", "Span", 2],
      schema_url: ["one", "string", 3],
    },
    Span: {
      trace_id: ["one", "bytes", 1],
      span_id: ["one", "bytes", 2],
      trace_state: ["one", "string", 3],
      parent_span_id: ["one", "bytes", 4],
      name: ["one", "string", 5],
      kind: ["one", "int32", 6],
      start_time_unix_nano: ["one", "fixed64", 7],
      end_time_unix_nano: ["one", "fixed64", 8],
      attributes: ["repeated", KEY_VALUE, 9],
      dropped_attributes_count: ["one", "uint32", 10],
      events: ["repeated", "Event", 11],
      dropped_events_count: ["one", "uint32", 12],
      links: ["repeated", "Link", 13],
      dropped_links_count: ["one", "uint32", 14],
      status: ["one", "Status", 15],
      flags: ["one", "fixed32", 16],
    },
    // Nested in Span in the original, with the same encoding
    Event: {
      time_unix_nano: ["one", "fixed64", 1],
      name: ["one", "string", 2],
      attributes: ["repeated", KEY_VALUE, 3],
      dropped_attributes_count: ["one", "uint32", 4],
    },
    Link: {
      trace_id: ["one", "bytes", 1],
      span_id: ["one", "bytes", 2],
      trace_state: ["one", "string", 3],
      attributes: ["repeated", KEY_VALUE, 4],
      dropped_attributes_count: ["one", "uint32", 5],
      flags: ["one", "fixed32", 6],
    },
    // Field 1 is reserved
    Status: { message: ["one", "string", 2], code: ["one", "int32", 3] },
  },
  [commonFile, resourceFile],
);

const serviceFile = protoFile(
  "opentelemetry.proto.collector.trace.v1",
  {
    ExportTraceServiceRequest: { resource_spans: ["repeated", "opentelemetry.proto.trace.v1.ResourceSpans", 1] },
    ExportTraceServiceResponse: { partial_success: ["one", "ExportTracePartialSuccess", 1] },
    ExportTracePartialSuccess: { rejected_spans: ["one", "int64", 1], error_message: ["one", "string", 2] },
  },
  [traceFile],
);

export const TraceRequestSchema: GenMessage<TraceRequest> = messageDesc(serviceFile, 0);
export const TraceResponseSchema: GenMessage<TraceResponse> = messageDesc(serviceFile, 1);
