// Public OTLP specification, opentelemetry-proto 1.x: metrics/v1/metrics.proto and collector/metrics/v1/metrics_service.proto.
// Left out: exponential histograms, summaries and exemplars, which this program never sends.
import type { Message } from "@bufbuild/protobuf";
import { type GenMessage, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { commonFile, type InstrumentationScope, type KeyValue, type Resource, resourceFile } from "./common.ts";
import { protoFile } from "./define.ts";

export type ResourceMetrics = Message<"opentelemetry.proto.metrics.v1.ResourceMetrics"> & {
  resource?: Resource;
  scopeMetrics: ScopeMetrics[];
  schemaUrl: string;
};
export type ScopeMetrics = Message<"opentelemetry.proto.metrics.v1.ScopeMetrics"> & {
  scope?: InstrumentationScope;
  metrics: Metric[];
  schemaUrl: string;
};
export type Metric = Message<"opentelemetry.proto.metrics.v1.Metric"> & {
  name: string;
  description: string;
  unit: string;
  data:
    | { case: "gauge"; value: Gauge }
    | { case: "sum"; value: Sum }
    | { case: "histogram"; value: Histogram }
    | { case: undefined; value?: undefined };
};
export type Gauge = Message<"opentelemetry.proto.metrics.v1.Gauge"> & { dataPoints: NumberDataPoint[] };
export type Sum = Message<"opentelemetry.proto.metrics.v1.Sum"> & {
  dataPoints: NumberDataPoint[];
  aggregationTemporality: number;
  isMonotonic: boolean;
};
export type Histogram = Message<"opentelemetry.proto.metrics.v1.Histogram"> & {
  dataPoints: HistogramDataPoint[];
  aggregationTemporality: number;
};
export type NumberDataPoint = Message<"opentelemetry.proto.metrics.v1.NumberDataPoint"> & {
  attributes: KeyValue[];
  startTimeUnixNano: bigint;
  timeUnixNano: bigint;
  value:
    | { case: "asDouble"; value: number }
    | { case: "asInt"; value: bigint }
    | { case: undefined; value?: undefined };
  flags: number;
};
export type HistogramDataPoint = Message<"opentelemetry.proto.metrics.v1.HistogramDataPoint"> & {
  attributes: KeyValue[];
  startTimeUnixNano: bigint;
  timeUnixNano: bigint;
  count: bigint;
  sum?: number;
  bucketCounts: bigint[];
  explicitBounds: number[];
  flags: number;
  min?: number;
  max?: number;
};

export type MetricsRequest = Message<"opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest"> & {
  resourceMetrics: ResourceMetrics[];
};
export type MetricsResponse = Message<"opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse"> & {
  partialSuccess?: MetricsPartialSuccess;
};
export type MetricsPartialSuccess = Message<"opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess"> & {
  rejectedDataPoints: bigint;
  errorMessage: string;
};

const KEY_VALUE = "opentelemetry.proto.common.v1.KeyValue";

const metricsFile = protoFile(
  "opentelemetry.proto.metrics.v1",
  {
    ResourceMetrics: {
      resource: ["one", "opentelemetry.proto.resource.v1.Resource", 1],
      scope_metrics: ["repeated", "ScopeMetrics", 2],
      schema_url: ["one", "string", 3],
    },
    ScopeMetrics: {
      scope: ["one", "opentelemetry.proto.common.v1.InstrumentationScope", 1],
      metrics: ["repeated", "Metric", 2],
      schema_url: ["one", "string", 3],
    },
    Metric: {
      name: ["one", "string", 1],
      description: ["one", "string", 2],
      unit: ["one", "string", 3],
      gauge: ["oneof data", "Gauge", 5],
      sum: ["oneof data", "Sum", 7],
      histogram: ["oneof data", "Histogram", 9],
    },
    Gauge: { data_points: ["repeated", "NumberDataPoint", 1] },
    Sum: {
      data_points: ["repeated", "NumberDataPoint", 1],
      aggregation_temporality: ["one", "int32", 2],
      is_monotonic: ["one", "bool", 3],
    },
    Histogram: {
      data_points: ["repeated", "HistogramDataPoint", 1],
      aggregation_temporality: ["one", "int32", 2],
    },
    NumberDataPoint: {
      start_time_unix_nano: ["one", "fixed64", 2],
      time_unix_nano: ["one", "fixed64", 3],
      as_double: ["oneof value", "double", 4],
      as_int: ["oneof value", "sfixed64", 6],
      attributes: ["repeated", KEY_VALUE, 7],
      flags: ["one", "uint32", 8],
    },
    HistogramDataPoint: {
      start_time_unix_nano: ["one", "fixed64", 2],
      time_unix_nano: ["one", "fixed64", 3],
      count: ["one", "fixed64", 4],
      sum: ["optional", "double", 5],
      bucket_counts: ["repeated", "fixed64", 6],
      explicit_bounds: ["repeated", "double", 7],
      attributes: ["repeated", KEY_VALUE, 9],
      flags: ["one", "uint32", 10],
      min: ["optional", "double", 11],
      max: ["optional", "double", 12],
    },
  },
  [commonFile, resourceFile],
);

const serviceFile = protoFile(
  "opentelemetry.proto.collector.metrics.v1",
  {
    ExportMetricsServiceRequest: {
      resource_metrics: ["repeated", "opentelemetry.proto.metrics.v1.ResourceMetrics", 1],
    },
    ExportMetricsServiceResponse: { partial_success: ["one", "ExportMetricsPartialSuccess", 1] },
    ExportMetricsPartialSuccess: { rejected_data_points: ["one", "int64", 1], error_message: ["one", "string", 2] },
  },
  [metricsFile],
);

export const MetricsRequestSchema: GenMessage<MetricsRequest> = messageDesc(serviceFile, 0);
export const MetricsResponseSchema: GenMessage<MetricsResponse> = messageDesc(serviceFile, 1);
