import { MAX_RETRY_AFTER_MS } from "./transport-response.ts";

/** The message of a google.rpc.Status; `undefined` if there is none. */
export function messageOfStatus(status: Uint8Array | undefined): string | undefined {
  const message = fieldsOf(status).find(({ number, bytes }) => number === 2 && bytes !== undefined)?.bytes;
  return message === undefined || message.length === 0 ? undefined : Buffer.from(message).toString();
}

/**
 * The delay that a google.rpc.RetryInfo among the status's details requests, in milliseconds, at most an hour; `undefined` without one.
 *
 * @see OTLP specification, OTLP/gRPC throttling
 */
export function retryDelayMs(status: Uint8Array | undefined): number | undefined {
  for (const detail of fieldsOf(status).filter(({ number }) => number === 3)) {
    const any = fieldsOf(detail.bytes);
    const type = Buffer.from(any.find(({ number }) => number === 1)?.bytes ?? []).toString();
    if (!type.endsWith("/google.rpc.RetryInfo")) continue;
    const info = fieldsOf(any.find(({ number }) => number === 2)?.bytes);
    const delay = fieldsOf(info.find(({ number }) => number === 1)?.bytes);
    const part = (field: number): number => Number(delay.find(({ number }) => number === field)?.value ?? 0n);
    return Math.min(Math.max(0, part(1) * 1000 + Math.ceil(part(2) / 1e6)), MAX_RETRY_AFTER_MS);
  }
  return undefined;
}

// --- internal ---

interface Field {
  readonly number: number;
  /** Of a varint. */
  readonly value?: bigint;
  /** Of a text, bytes or message. */
  readonly bytes?: Uint8Array;
}

/** The fields of a protobuf message; those before the first unreadable byte. The SDK has no decoder for a status. */
function fieldsOf(message: Uint8Array | undefined): readonly Field[] {
  const fields: Field[] = [];
  const bytes = message ?? new Uint8Array();
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = Number(varint() ?? -1n);
    const number = tag >> 3;
    const wire = tag & 7;
    if (tag < 0) return fields;
    if (wire === 0) {
      const value = varint();
      if (value === undefined) return fields;
      fields.push({ number, value });
    } else {
      const length = wire === 2 ? Number(varint() ?? -1n) : (FIXED_BYTES[wire] ?? -1);
      if (length < 0 || at + length > bytes.length) return fields;
      fields.push({ number, bytes: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

/** By wire type. */
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
