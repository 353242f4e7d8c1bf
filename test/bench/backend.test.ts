import { spawn } from "node:child_process";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeSpans } from "#send/otlp/encode.ts";
import { scopeOf, toReadableSpans } from "#send/otlp/readable.ts";
import { resourcesOver } from "#send/otlp/resource.ts";
import { spanRecord } from "../otlp/records.ts";
import { ROOT } from "../support/replay.ts";

const backend = spawn(process.execPath, ["bench/lib/backend.mjs", "--serve"], { cwd: ROOT });
let url = "";
beforeAll(async () => {
  const port = await new Promise((done) => backend.stdout.once("data", (data) => done(Number(data))));
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  backend.kill();
});

const counts = async (): Promise<unknown> => (await fetch(`${url}/counts`)).json();

test("the benchmarks' backend counts the spans of our own encoder's requests, compressed or not", async () => {
  // Two resources, every field that a span can have
  const records = Array.from({ length: 300 }, (_, n) =>
    spanRecord(n + 1, {
      parentSpanId: "b".repeat(16),
      resource: { "service.name": `shop-${n % 2}` },
      status: { code: "error", message: "m" },
      attributes: { s: "ü", i: -3, d: 0.1, b: false, l: ["x", "y"] },
      links: [{ traceId: "c".repeat(32), spanId: "d".repeat(16), attributes: { k: 1 } }],
      events: [{ name: "e", timeMs: 1_760_000_000_001, attributes: { k: true } }],
    }),
  );
  const body = encodeSpans(toReadableSpans(records, resourcesOver({}), scopeOf("1")), "http/protobuf");
  const post = (path: string, bytes: Uint8Array) =>
    fetch(`${url}${path}`, { method: "POST", body: Buffer.from(bytes) });

  expect((await post("/v1/traces", body)).status).toBe(200);
  expect(await counts()).toEqual({ requests: 1, spans: 300, bytes: body.length });
  const packed = gzipSync(body);
  await post("/v1/traces", packed);
  await post("/v1/metrics", body);
  expect(await counts()).toEqual({ requests: 3, spans: 600, bytes: 2 * body.length + packed.length });
});
