// Public OTLP specification, opentelemetry-proto 1.x: common/v1/common.proto and resource/v1/resource.proto.
import type { Message } from "@bufbuild/protobuf";
import { type GenMessage, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { protoFile } from "./define.ts";

export type AnyValue = Message<"opentelemetry.proto.common.v1.AnyValue"> & {
  value:
    | { case: "stringValue"; value: string }
    | { case: "boolValue"; value: boolean }
    | { case: "intValue"; value: bigint }
    | { case: "doubleValue"; value: number }
    | { case: "arrayValue"; value: ArrayValue }
    | { case: "kvlistValue"; value: KeyValueList }
    | { case: "bytesValue"; value: Uint8Array }
    | { case: undefined; value?: undefined };
};
export type ArrayValue = Message<"opentelemetry.proto.common.v1.ArrayValue"> & { values: AnyValue[] };
export type KeyValueList = Message<"opentelemetry.proto.common.v1.KeyValueList"> & { values: KeyValue[] };
export type KeyValue = Message<"opentelemetry.proto.common.v1.KeyValue"> & { key: string; value?: AnyValue };
export type InstrumentationScope = Message<"opentelemetry.proto.common.v1.InstrumentationScope"> & {
  name: string;
  version: string;
  attributes: KeyValue[];
  droppedAttributesCount: number;
};
export type Resource = Message<"opentelemetry.proto.resource.v1.Resource"> & {
  attributes: KeyValue[];
  droppedAttributesCount: number;
};

export const commonFile = protoFile("opentelemetry.proto.common.v1", {
  AnyValue: {
    string_value: ["oneof value", "string", 1],
    bool_value: ["oneof value", "bool", 2],
    int_value: ["oneof value", "int64", 3],
    double_value: ["oneof value", "double", 4],
    array_value: ["oneof value", "ArrayValue", 5],
    kvlist_value: ["oneof value", "KeyValueList", 6],
    bytes_value: ["oneof value", "bytes", 7],
  },
  ArrayValue: { values: ["repeated", "AnyValue", 1] },
  KeyValueList: { values: ["repeated", "KeyValue", 1] },
  KeyValue: { key: ["one", "string", 1], value: ["one", "AnyValue", 2] },
  InstrumentationScope: {
    name: ["one", "string", 1],
    version: ["one", "string", 2],
    attributes: ["repeated", "KeyValue", 3],
    dropped_attributes_count: ["one", "uint32", 4],
  },
});

export const resourceFile = protoFile(
  "opentelemetry.proto.resource.v1",
  {
    Resource: {
      attributes: ["repeated", "opentelemetry.proto.common.v1.KeyValue", 1],
      dropped_attributes_count: ["one", "uint32", 2],
    },
  },
  [commonFile],
);

/** google/rpc/status.proto without `details`: the body of every OTLP/HTTP error answer. */
export type RpcStatus = Message<"google.rpc.Status"> & { code: number; message: string };
export const RpcStatusSchema: GenMessage<RpcStatus> = messageDesc(
  protoFile("google.rpc", { Status: { code: ["one", "int32", 1], message: ["one", "string", 2] } }),
  0,
);
