import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { base64Encode } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** A field as in a `.proto` line: `["repeated", "KeyValue", 9]`. Dotted types are full names, others are in the same file. */
export type FieldSpec = readonly [
  rule: "one" | "repeated" | "optional" | `oneof ${string}`,
  type: string,
  number: number,
];

/** Messages of one `.proto` file by name; their fields by proto (snake case) name. */
export type FileSpec = Readonly<Record<string, Readonly<Record<string, FieldSpec>>>>;

/**
 * Builds the descriptor of one proto3 file from a table, like the output of a code generator.
 *
 * Enum fields are declared `int32`: the same bytes, and in JSON exactly what OTLP requires (numbers, not names).
 *
 * @param packageName e.g. `opentelemetry.proto.trace.v1`
 * @param messages in order; `messageDesc(file, n)` returns the n-th
 * @param imports files whose messages the table refers to
 */
export function protoFile(packageName: string, messages: FileSpec, imports: readonly DescFile[] = []): DescFile {
  const proto = create(FileDescriptorProtoSchema, {
    name: `${packageName.replaceAll(".", "/")}.proto`,
    package: packageName,
    syntax: "proto3",
    messageType: Object.entries(messages).map(([name, fields]) => message(packageName, name, fields)),
  });
  return fileDesc(base64Encode(toBinary(FileDescriptorProtoSchema, proto)), [...imports]);
}

// --- internal ---

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  double: FieldDescriptorProto_Type.DOUBLE,
  int64: FieldDescriptorProto_Type.INT64,
  int32: FieldDescriptorProto_Type.INT32,
  uint32: FieldDescriptorProto_Type.UINT32,
  fixed64: FieldDescriptorProto_Type.FIXED64,
  fixed32: FieldDescriptorProto_Type.FIXED32,
  sfixed64: FieldDescriptorProto_Type.SFIXED64,
  bool: FieldDescriptorProto_Type.BOOL,
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
};

function message(packageName: string, name: string, fields: Readonly<Record<string, FieldSpec>>): DescriptorProto {
  const oneofs: string[] = [];
  const oneofIndex = (oneof: string): number => {
    if (!oneofs.includes(oneof)) oneofs.push(oneof);
    return oneofs.indexOf(oneof);
  };
  const field = Object.entries(fields).map(([fieldName, [rule, type, number]]) => {
    const scalar = SCALARS[type];
    return {
      name: fieldName,
      number,
      label: rule === "repeated" ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
      ...(scalar === undefined
        ? {
            type: FieldDescriptorProto_Type.MESSAGE,
            typeName: type.includes(".") ? `.${type}` : `.${packageName}.${type}`,
          }
        : { type: scalar }),
      // proto3 `optional` is a oneof whose name begins with an underscore
      ...(rule === "optional" ? { proto3Optional: true, oneofIndex: oneofIndex(`_${fieldName}`) } : {}),
      ...(rule.startsWith("oneof ") ? { oneofIndex: oneofIndex(rule.slice("oneof ".length)) } : {}),
    };
  });
  return create(DescriptorProtoSchema, { name, field, oneofDecl: oneofs.map((oneof) => ({ name: oneof })) });
}
