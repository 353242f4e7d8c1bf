// Public OTLP specification, opentelemetry-proto 1.x: logs/v1/logs.proto and collector/logs/v1/logs_service.proto.
import type { Message } from "@bufbuild/protobuf";
import { type GenMessage, messageDesc } from "@bufbuild/protobuf/codegenv2";
import {
  type AnyValue,
  commonFile,
  type InstrumentationScope,
  type KeyValue,
  type Resource,
  resourceFile,
} from "./common.ts";
import { protoFile } from "./define.ts";

export type ResourceLogs = Message<"opentelemetry.proto.logs.v1.ResourceLogs"> & {
  resource?: Resource;
  scopeLogs: ScopeLogs[];
  schemaUrl: string;
};
export type ScopeLogs = Message<"opentelemetry.proto.logs.v1.ScopeLogs"> & {
  scope?: InstrumentationScope;
  logRecords: LogRecord[];
  schemaUrl: string;
};
export type LogRecord = Message<"opentelemetry.proto.logs.v1.LogRecord"> & {
  timeUnixNano: bigint;
  severityNumber: number;
  severityText: string;
  body?: AnyValue;
  attributes: KeyValue[];
  droppedAttributesCount: number;
  flags: number;
  traceId: Uint8Array;
  spanId: Uint8Array;
  observedTimeUnixNano: bigint;
  eventName: string;
};

export type LogsRequest = Message<"opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest"> & {
  resourceLogs: ResourceLogs[];
};
export type LogsResponse = Message<"opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse"> & {
  partialSuccess?: LogsPartialSuccess;
};
export type LogsPartialSuccess = Message<"opentelemetry.proto.collector.logs.v1.ExportLogsPartialSuccess"> & {
  rejectedLogRecords: bigint;
  errorMessage: string;
};

const logsFile = protoFile(
  "opentelemetry.proto.logs.v1",
  {
    ResourceLogs: {
      resource: ["one", "opentelemetry.proto.resource.v1.Resource", 1],
      scope_logs: ["repeated", "ScopeLogs", 2],
      schema_url: ["one", "string", 3],
    },
    ScopeLogs: {
      scope: ["one", "opentelemetry.proto.common.v1.InstrumentationScope", 1],
      log_records: ["repeated", "LogRecord", 2],
      schema_url: ["one", "string", 3],
    },
    // Field 4 is reserved
    LogRecord: {
      time_unix_nano: ["one", "fixed64", 1],
      severity_number: ["one", "int32", 2],
      severity_text: ["one", "string", 3],
      body: ["one", "opentelemetry.proto.common.v1.AnyValue", 5],
      attributes: ["repeated", "opentelemetry.proto.common.v1.KeyValue", 6],
      dropped_attributes_count: ["one", "uint32", 7],
      flags: ["one", "fixed32", 8],
      trace_id: ["one", "bytes", 9],
      span_id: ["one", "bytes", 10],
      observed_time_unix_nano: ["one", "fixed64", 11],
      event_name: ["one", "string", 12],
    },
  },
  [commonFile, resourceFile],
);

const serviceFile = protoFile(
  "opentelemetry.proto.collector.logs.v1",
  {
    ExportLogsServiceRequest: { resource_logs: ["repeated", "opentelemetry.proto.logs.v1.ResourceLogs", 1] },
    ExportLogsServiceResponse: { partial_success: ["one", "ExportLogsPartialSuccess", 1] },
    ExportLogsPartialSuccess: { rejected_log_records: ["one", "int64", 1], error_message: ["one", "string", 2] },
  },
  [logsFile],
);

export const LogsRequestSchema: GenMessage<LogsRequest> = messageDesc(serviceFile, 0);
export const LogsResponseSchema: GenMessage<LogsResponse> = messageDesc(serviceFile, 1);
