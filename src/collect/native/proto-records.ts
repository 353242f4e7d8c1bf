import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * The spans or log records of an OTLP request in protobuf, each as OTLP's JSON has it, with the members that are needed.
 *
 * @throws Error if it is no such request
 */
export function* protoRecords(request: Uint8Array, signal: "traces" | "logs"): Generator<Record<string, unknown>> {
  // Requests, resources and scopes have the same numbers in both signals
  for (const group of messagesOf(request, 1))
    for (const scope of messagesOf(group, 2))
      for (const record of messagesOf(scope, 2)) yield membersOf(record, signal === "traces" ? SPAN : LOG_RECORD);
}

// --- internal ---

type Value = "hex" | "text" | "time" | "int" | "double" | "bool";
/** By field number, from opentelemetry-proto 1.x. A message that may come several times is in brackets. */
type Message = { readonly [field: number]: readonly [name: string, value: Value | Message | readonly [Message]] };

const ANY_VALUE: Message = {
  1: ["stringValue", "text"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int"],
  4: ["doubleValue", "double"],
};
const ATTRIBUTES: readonly [Message] = [{ 1: ["key", "text"], 2: ["value", ANY_VALUE] }];
const SPAN: Message = {
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  4: ["parentSpanId", "hex"],
  5: ["name", "text"],
  7: ["startTimeUnixNano", "time"],
  8: ["endTimeUnixNano", "time"],
  9: ["attributes", ATTRIBUTES],
  11: ["events", [{ 1: ["timeUnixNano", "time"], 2: ["name", "text"], 3: ["attributes", ATTRIBUTES] }]],
};
const LOG_RECORD: Message = {
  1: ["timeUnixNano", "time"],
  6: ["attributes", ATTRIBUTES],
  9: ["traceId", "hex"],
  10: ["spanId", "hex"],
  11: ["observedTimeUnixNano", "time"],
  12: ["eventName", "text"],
};

const WIRE_TYPES: Readonly<Record<Value, WireType>> = {
  hex: WireType.LengthDelimited,
  text: WireType.LengthDelimited,
  time: WireType.Bit64,
  double: WireType.Bit64,
  int: WireType.Varint,
  bool: WireType.Varint,
};

function* messagesOf(bytes: Uint8Array, field: number): Generator<Uint8Array> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) yield reader.bytes();
    else reader.skip(type, number);
  }
}

function membersOf(bytes: Uint8Array, message: Message): Record<string, unknown> {
  const reader = new BinaryReader(bytes);
  const members: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const [name, value] = message[number] ?? [];
    if (name === undefined || value === undefined) reader.skip(type, number);
    else if (typeof value === "string" && type === WIRE_TYPES[value]) members[name] = scalarOf(reader, value);
    else if (typeof value === "string" || type !== WireType.LengthDelimited) reader.skip(type, number);
    else if (!isRepeated(value)) members[name] = membersOf(reader.bytes(), value);
    else addTo(members, name, membersOf(reader.bytes(), value[0]));
  }
  return members;
}

function addTo(members: Record<string, unknown>, name: string, item: unknown): void {
  const list = members[name];
  if (Array.isArray(list)) list.push(item);
  else members[name] = [item];
}

const isRepeated = (value: Message | readonly [Message]): value is readonly [Message] => Array.isArray(value);

function scalarOf(reader: BinaryReader, value: Value): unknown {
  switch (value) {
    case "hex":
      return Buffer.from(reader.bytes()).toString("hex");
    case "text":
      return reader.string();
    case "time":
      return String(reader.fixed64());
    case "int":
      return String(reader.int64());
    case "double":
      return reader.double();
    case "bool":
      return reader.bool();
  }
}
