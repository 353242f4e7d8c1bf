/**
 * A google.rpc.Status in protobuf, as servers put it into `grpc-status-details-bin`, with a google.rpc.RetryInfo if there is a delay.
 *
 * @param message shorter than 100 bytes
 */
export function statusBytes(code: number, message: string, retryMs?: number): Uint8Array {
  const parts = [Uint8Array.of(8, code), field(2, Buffer.from(message))];
  if (retryMs !== undefined) {
    const duration = [Uint8Array.of(8, ...varint(Math.floor(retryMs / 1000)))];
    if (retryMs % 1000 > 0) duration.push(Uint8Array.of(16, ...varint((retryMs % 1000) * 1e6)));
    const retryInfo = field(1, Buffer.concat(duration));
    const typeUrl = field(1, Buffer.from("type.googleapis.com/google.rpc.RetryInfo"));
    parts.push(field(3, Buffer.concat([typeUrl, field(2, retryInfo)])));
  }
  return Buffer.concat(parts);
}

// --- internal ---

const field = (number: number, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.of((number << 3) | 2, ...varint(bytes.length)), bytes]);

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}
