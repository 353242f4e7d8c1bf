import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { NativeBytes } from "#collect/native/records.ts";
import { decodeSpans } from "../receiver/decode.ts";

/** Telemetry of one run of an agent, as it sent it, with long texts shortened. */
export interface Recording {
  readonly source: string;
  readonly name: string;
  readonly folder: string;
  /** In the order of arrival, unpacked. */
  readonly bodies: readonly NativeBytes[];
}

/** A span, an event of one, or a log record, read without any code of the program. */
export interface Raw {
  readonly kind: "span" | "event" | "log";
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly durationMs: number;
}

const HERE = join(dirname(fileURLToPath(import.meta.url)), "recordings");

export const RECORDINGS: readonly Recording[] = readdirSync(HERE).flatMap((source) =>
  readdirSync(join(HERE, source)).map((name) => {
    const folder = join(HERE, source, name);
    const files = readdirSync(folder).filter((file) => file.endsWith(".gz"));
    return { source, name, folder, bodies: files.sort().map((file) => bodyIn(folder, file)) };
  }),
);

export const recording = (source: string, name: string): Recording => {
  const found = RECORDINGS.find((one) => one.source === source && one.name === name);
  if (found === undefined) throw new Error(`no recording ${source}/${name}`);
  return found;
};

/** Writes the agent's own files of a recording into a home. @returns their paths */
export function unpack(from: string, to: string): readonly string[] {
  return readdirSync(from, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const packed = join(entry.parentPath, entry.name);
    const path = join(to, relative(from, packed).replace(/\.gz$/, ""));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gunzipSync(readFileSync(packed)));
    return [path];
  });
}

/** All records of a body, in its order; an event follows its span. */
export function rawRecordsOf({ bytes, encoding, signal }: NativeBytes): readonly Raw[] {
  if (encoding === "proto") {
    // Goose has no log records that are of use
    if (signal === "logs") return [];
    return decodeSpans(bytes, "protobuf").map(({ startNs, endNs, parentSpanId = "", ...span }) => ({
      ...{ kind: "span", name: span.name, attributes: span.attributes, parentSpanId },
      ...{ traceId: span.traceId, spanId: span.spanId },
      ...{ startMs: Number(startNs / 1_000_000n), durationMs: Number(endNs - startNs) / 1e6 },
    }));
  }
  if (encoding === "file") return documentsIn(bytes.toString()).flatMap(ofSdk);
  const request = JSON.parse(bytes.toString());
  return (request.resourceSpans ?? request.resourceLogs).flatMap((group: Json) =>
    (group.scopeSpans ?? group.scopeLogs).flatMap((scope: Json) => (scope.spans ?? scope.logRecords).flatMap(ofOtlp)),
  );
}

/** The JSON texts of a file in which they follow each other. */
export function documentsIn(text: string): readonly Json[] {
  const lines = text.split("\n");
  const documents: Json[] = [];
  let from = 0;
  for (const [index, line] of lines.entries()) {
    // Either one line each, or pretty-printed
    if (line !== "}" && !(line.startsWith("{") && line.length > 1)) continue;
    documents.push(JSON.parse(lines.slice(from, index + 1).join("\n")));
    from = index + 1;
  }
  return documents;
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON
export type Json = any;

// --- internal ---

function bodyIn(folder: string, file: string): NativeBytes {
  const [, signal, ending] = /-(\w+)\.(\w+)\.gz$/.exec(file) ?? [];
  const bytes = gunzipSync(readFileSync(join(folder, file)));
  const encoding = ending === "out" ? "file" : ending;
  return { signal, encoding, isGzip: false, bytes } as NativeBytes;
}

const scalar = (value: Json): unknown =>
  value?.intValue === undefined
    ? (value?.stringValue ?? value?.doubleValue ?? value?.boolValue)
    : Number(value.intValue);

/** Of two attributes with one name, the later one. */
const attributesOf = (list: readonly Json[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, scalar(value)]));

const msOf = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n);

function ofOtlp(record: Json): readonly Raw[] {
  const attributes = attributesOf(record.attributes);
  const ids = { traceId: record.traceId ?? "", spanId: record.spanId ?? "", parentSpanId: record.parentSpanId ?? "" };
  if (record.startTimeUnixNano === undefined) {
    const time = Number(record.timeUnixNano ?? 0) > 0 ? record.timeUnixNano : record.observedTimeUnixNano;
    const name = String(attributes["event.name"] ?? record.eventName);
    return [{ kind: "log", name, attributes, ...ids, startMs: msOf(String(time)), durationMs: 0 }];
  }
  const durationMs = Number(BigInt(record.endTimeUnixNano) - BigInt(record.startTimeUnixNano)) / 1e6;
  const span: Raw = {
    ...{ kind: "span", name: record.name, attributes, ...ids },
    ...{ startMs: msOf(String(record.startTimeUnixNano)), durationMs },
  };
  const events = (record.events ?? []).map((event: Json) => ({
    ...{ ...span, kind: "event", name: event.name, startMs: msOf(String(event.timeUnixNano)) },
    attributes: { ...attributes, ...attributesOf(event.attributes) },
  }));
  return [span, ...events];
}

const nanosOf = ([seconds, nanos]: readonly [number, number]): bigint =>
  BigInt(seconds) * 1_000_000_000n + BigInt(nanos);

function ofSdk(record: Json): readonly Raw[] {
  const { attributes = {} } = record;
  const { traceId = "", spanId = "" } = record._spanContext ?? record.spanContext ?? record;
  const ids = { traceId, spanId, parentSpanId: record.parentSpanId ?? record.parentSpanContext?.spanId ?? "" };
  if (record.hrTime !== undefined) {
    const startMs = Number(nanosOf(record.hrTime) / 1_000_000n);
    return [{ kind: "log", name: attributes["event.name"], attributes, ...ids, startMs, durationMs: 0 }];
  }
  if (record.startTime === undefined) return [];
  const start = nanosOf(record.startTime);
  const span: Raw = {
    ...{ kind: "span", name: record.name, attributes, ...ids },
    ...{ startMs: Number(start / 1_000_000n), durationMs: Number(nanosOf(record.endTime) - start) / 1e6 },
  };
  const events = (record.events ?? []).map((event: Json) => ({
    ...{ ...span, kind: "event", name: event.name, startMs: Number(nanosOf(event.time) / 1_000_000n) },
    attributes: { ...attributes, ...event.attributes },
  }));
  return [span, ...events];
}
