import { createGunzip } from "node:zlib";
import { findAgent } from "#agents/registry.ts";
import type { NativeRecord } from "#core/model/native.ts";
import { assertParsable } from "#kit/json-limits.ts";
import { IN_FILE, IN_REQUEST, JsonRecords } from "./json-records.ts";
import { keep } from "./keep.ts";
import type { NativeBody } from "./pending.ts";
import { protoRecords } from "./proto-records.ts";
import { rawRecord } from "./raw-record.ts";

/** What was received from an agent, or what its file exporter wrote. */
export type NativeBytes = Pick<NativeBody, "signal" | "encoding" | "isGzip" | "bytes">;

export interface DecodedNative {
  /** In the order of the body. The same record can come again, also within a body. */
  readonly records: readonly NativeRecord[];
  /** Spans and log records of which nothing is kept. */
  readonly dropped: number;
}

/** What an agent sent cannot be read. The message says what and where, without content. */
export class NativeFormatError extends Error {
  override readonly name = "NativeFormatError";
}

/**
 * The records of an agent's own telemetry, reduced to what its table of names allows. Metrics are dropped unread: their sums belong to
 * no session.
 *
 * @throws NativeFormatError if the body cannot be read
 */
export async function nativeRecords(source: string, body: NativeBytes): Promise<DecodedNative> {
  const table = body.signal === "metrics" ? undefined : (await (await findAgent(source))?.native?.())?.default;
  if (table === undefined) return { records: [], dropped: 0 };
  const records: NativeRecord[] = [];
  let [count, dropped] = [0, 0];
  try {
    for await (const json of recordsIn(body, (tooLarge) => (dropped += tooLarge))) {
      count++;
      const raw = rawRecord(json);
      const kept = raw === undefined ? [] : keep(raw, table);
      if (kept.length === 0) dropped++;
      else records.push(...kept);
    }
  } catch (error) {
    throw new NativeFormatError(`${body.signal} as ${body.encoding}: ${reasonOf(error)}, after ${count} records`);
  }
  return { records, dropped };
}

// --- internal ---

/** Of what is unpacked piece by piece, and of what must be in memory as a whole. */
const MAX_BYTES = { json: 256 << 20, file: 256 << 20, proto: 64 << 20 };

class LimitError extends Error {}

async function* recordsIn(body: NativeBytes, onDropped: (count: number) => void): AsyncGenerator<unknown> {
  if (body.encoding === "proto") {
    const pieces: Buffer[] = [];
    for await (const piece of piecesOf(body)) pieces.push(piece);
    yield* protoRecords(Buffer.concat(pieces), body.signal === "logs" ? "logs" : "traces");
    return;
  }
  const found = new JsonRecords(body.encoding === "file" ? IN_FILE : IN_REQUEST);
  for await (const piece of piecesOf(body)) for (const record of found.read(piece)) yield parsed(record, body.encoding);
  found.end();
  onDropped(found.dropped);
}

function parsed(record: Buffer, encoding: NativeBytes["encoding"]): unknown {
  try {
    assertParsable(record);
    return JSON.parse(record.toString());
  } catch (error) {
    // A file's other records are whole; what arrived in one request was written at once
    if (encoding === "file") return undefined;
    throw error;
  }
}

async function* piecesOf({ bytes, encoding, isGzip }: NativeBytes): AsyncGenerator<Buffer> {
  if (!isGzip) return yield bytes;
  const gunzip = createGunzip({ chunkSize: 256 << 10 });
  gunzip.end(bytes);
  let size = 0;
  for await (const piece of gunzip) {
    size += piece.length;
    if (size > MAX_BYTES[encoding]) throw new LimitError(`it is larger than ${MAX_BYTES[encoding] >> 20} MB unpacked`);
    yield piece;
  }
}

/** The parser's own messages quote what they cannot read. */
function reasonOf(error: unknown): string {
  if (error instanceof LimitError) return error.message;
  const isGzip = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
  return isGzip ? "it cannot be unpacked" : "it cannot be parsed";
}
