import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type NativeBytes, NativeFormatError, nativeRecords } from "#collect/native/records.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { type Json, recording } from "./recorded.ts";

const json = (bytes: Buffer | string, more: Partial<NativeBytes> = {}): NativeBytes => ({
  ...{ signal: "logs", encoding: "json", isGzip: false, bytes: Buffer.from(bytes) },
  ...more,
});
const MESSAGE =
  /^(?:traces|logs|file) as (?:json|proto|file): it (?:cannot be (?:parsed|unpacked)|is larger than \d+ MB unpacked), after \d+ records$/;

/** @returns the message of a NativeFormatError; `undefined`: it was read */
async function refusal(source: string, body: NativeBytes): Promise<string | undefined> {
  try {
    await nativeRecords(source, body);
    return undefined;
  } catch (error) {
    if (error instanceof NativeFormatError) return error.message;
    throw error;
  }
}

describe("a body that was cut", () => {
  test.each([
    ["claude-code", "json"],
    ["goose", "proto"],
  ])("of %s, anywhere, is refused without its content, or read as far as it is whole", async (source, encoding) => {
    const body = recording(source, "parallel-tools").bodies.find((one) => one.signal === "traces");
    if (body === undefined) throw new Error("no body");
    const whole = await nativeRecords(source, body);
    const cut = fc.asyncProperty(
      fc.integer({ min: 1, max: body.bytes.length - 1 }),
      fc.boolean(),
      async (at, isGzip) => {
        const bytes = isGzip ? gzipSync(body.bytes).subarray(0, -Math.min(at, 20)) : body.bytes.subarray(0, at);
        const message = await refusal(source, { ...body, bytes, isGzip });
        if (message !== undefined) expect(message).toMatch(MESSAGE);
        // A request in protobuf can end where a resource ends
        else
          expect(
            encoding === "proto" && (await nativeRecords(source, { ...body, bytes, isGzip })).records.length,
          ).toBeLessThan(whole.records.length);
      },
    );
    await fc.assert(cut, { numRuns: runs(200) });
  });

  test.each(["gemini-cli", "copilot"])("a file of %s gives all records but the last", async (source) => {
    const [body] = recording(source, source === "copilot" ? "file" : "denied").bodies;
    if (body === undefined) throw new Error("no body");
    const whole = await nativeRecords(source, body);
    const cut = await nativeRecords(source, { ...body, bytes: body.bytes.subarray(0, -20) });
    expect(cut.records.length + cut.dropped).toBe(whole.records.length + whole.dropped);
    const keys = new Set(whole.records.map(({ key }) => key));
    expect(cut.records.filter(({ key }) => !keys.has(key))).toEqual([]);
  });
});

test("random bytes are refused or give nothing, in every encoding", async () => {
  const random = fc.asyncProperty(
    fc.uint8Array({ maxLength: 400 }),
    fc.constantFrom("json", "proto", "file" as const),
    fc.boolean(),
    async (bytes, encoding, isGzip) => {
      const body = json(Buffer.from(bytes), { encoding, isGzip } as Partial<NativeBytes>);
      const message = await refusal("claude-code", body);
      if (message !== undefined) expect(message).toMatch(MESSAGE);
      else expect((await nativeRecords("claude-code", body)).records).toEqual([]);
    },
  );
  await fc.assert(random, { numRuns: runs(400) });
});

test.each([
  ["a text", "hello"],
  ["nothing", ""],
  ["100,000 brackets", "[".repeat(100_000)],
  ["100,000 brackets in a record", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${"[".repeat(100_000)}`],
  ["something behind it", '{"resourceLogs":[]} and more'],
])("%s is refused", async (_, text) => expect(await refusal("claude-code", json(text))).toMatch(MESSAGE));

test.each(["{}", '{"resourceLogs":[]}', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}'])(
  "%s is a request without anything",
  async (text) => expect((await nativeRecords("claude-code", json(text))).records).toEqual([]),
);

test("what unpacks to more than the limit is refused, in constant memory", async () => {
  const gzip = createGzip({ level: 1 });
  const parts: Buffer[] = [];
  gzip.on("data", (part: Buffer) => parts.push(part));
  gzip.write('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":"');
  const megabyte = Buffer.alloc(1 << 20, "a");
  for (let i = 0; i < 257; i++) gzip.write(megabyte);
  await new Promise((done) => gzip.end(done));
  const before = process.memoryUsage().rss;
  const bomb = json(Buffer.concat(parts), { isGzip: true });
  expect(await refusal("claude-code", bomb)).toBe("logs as json: it is larger than 256 MB unpacked, after 0 records");
  expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
});

test("a record that is too large is dropped, the others are kept", async () => {
  const [, logs] = recording("claude-code", "parallel-tools").bodies;
  if (logs === undefined) throw new Error("no body");
  const request = JSON.parse(logs.bytes.toString());
  const whole = await nativeRecords("claude-code", logs);
  request.resourceLogs[0].scopeLogs[0].logRecords.unshift({ body: { stringValue: "x".repeat(9 << 20) } });
  const large = await nativeRecords("claude-code", { ...logs, bytes: Buffer.from(JSON.stringify(request)) });
  expect(large).toEqual({ records: whole.records, dropped: whole.dropped + 1 });
});

test("ids in base64, as proto3's JSON has them, are read like those in hex", async () => {
  const [traces] = recording("claude-code", "parallel-tools").bodies;
  if (traces === undefined) throw new Error("no body");
  const request = JSON.parse(traces.bytes.toString(), (name, value: Json) =>
    /^(?:traceId|spanId|parentSpanId)$/.test(name) ? Buffer.from(value, "hex").toString("base64") : value,
  );
  const inBase64 = await nativeRecords("claude-code", { ...traces, bytes: Buffer.from(JSON.stringify(request)) });
  expect(inBase64).toEqual(await nativeRecords("claude-code", traces));
});

test("metrics, and what agents without a table send, are not even parsed", async () => {
  expect(await nativeRecords("claude-code", json("rubbish", { signal: "metrics" }))).toEqual({
    records: [],
    dropped: 0,
  });
  expect(await nativeRecords("cursor", json("rubbish"))).toEqual({ records: [], dropped: 0 });
  expect(await nativeRecords("no-such-agent", json("rubbish"))).toEqual({ records: [], dropped: 0 });
});
