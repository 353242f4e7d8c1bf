/**
 * Counts the spans of an ExportTraceServiceRequest by field numbers, without decoding them.
 *
 * @param {Buffer} request protobuf, uncompressed
 * @throws if it is not protobuf
 */
export function spansIn(request) {
  let spans = 0;
  for (const resource of fieldsOf(request, RESOURCE_SPANS)) {
    for (const scope of fieldsOf(resource, SCOPE_SPANS)) {
      for (const _ of fieldsOf(scope, SPANS)) spans++;
    }
  }
  return spans;
}

// --- internal ---

// opentelemetry-proto 1.x: trace_service.proto and trace.proto
const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;

/** Bytes after a tag by wire type. Wire type 2 is followed by its length. */
const FIXED_BYTES = { 1: 8, 5: 4 };

function* fieldsOf(message, wanted) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      if (at >= message.length) break;
      const byte = message[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error("not a protobuf message");
  };
  while (at < message.length) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType === 0) {
      varint();
      continue;
    }
    const bytes = wireType === 2 ? varint() : FIXED_BYTES[wireType];
    if (bytes === undefined || at + bytes > message.length) throw new Error("not a protobuf message");
    if (wireType === 2 && Math.floor(tag / 8) === wanted) yield message.subarray(at, at + bytes);
    at += bytes;
  }
}
