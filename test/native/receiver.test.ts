import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_BODY_BYTES, readBodyFileName } from "#collect/native/body-file.ts";
import { CHALLENGE, NATIVE_LIMITS, proofOf, receiverServer } from "#collect/native/receiver.ts";
import type { Receiver } from "#collect/native/receiver-file.ts";
import { sizeOf } from "#collect/native/room.ts";

const TOKEN = "t0ken_".padEnd(43, "-");
let dir: string;
let receiver: Receiver | undefined;
let server: ReturnType<typeof receiverServer>;
let kept = 0;
let used = 0;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "receiver-"));
  [kept, used] = [0, 0];
  const count = { onKept: () => kept++, onUse: () => used++, onAsked: () => {} };
  server = receiverServer({ dir, allowed: () => receiver, ...count });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  receiver = { port, token: TOKEN, agents: ["claude-code", "goose"], forwards: ["goose"] };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}, method = "POST") =>
  new Promise<Answer>((resolve, reject) => {
    const all = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers };
    const port = receiver?.port ?? (server.address() as AddressInfo).port;
    const sent = request({ port, host: "127.0.0.1", method, path, headers: all }, (response) => {
      let text = "";
      response.setEncoding("latin1").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: text, headers: response.headers }));
    });
    sent.on("error", reject);
    sent.end(body);
  });

const names = (): readonly string[] => readdirSync(dir).sort();

describe("what is kept", () => {
  const packed = gzipSync("{}");
  const bodies: readonly (readonly [string, string | Buffer, Record<string, string>, string, string])[] = [
    ["/claude-code/v1/traces", '{"a":1}', {}, ".claude-code.traces.json", "{}"],
    ["/claude-code/v1/logs", packed, { "content-encoding": "gzip" }, ".claude-code.logs.json.gz", "{}"],
    ["/goose/v1/traces", "\0\x01", { "content-type": "application/x-protobuf" }, ".goose.traces.proto", ""],
    ["/goose/v1/metrics", "{}", { "content-type": "Application/JSON; charset=utf-8" }, ".goose.metrics.json", "{}"],
    [`/goose/${TOKEN}/v1/logs`, "{}", { authorization: "" }, ".goose.logs.json", "{}"],
    ["/goose/v1/logs", "{}", { "content-encoding": "identity" }, ".goose.logs.json", "{}"],
  ];
  test.each(bodies)("%s: byte for byte, whatever it contains", async (path, body, headers, ending, answer) => {
    const { status, body: text } = await send(path, body, headers);
    expect({ status, text }).toEqual({ status: 200, text: answer });
    const [name = ""] = names();
    expect(name.slice(30)).toBe(ending);
    expect(readBodyFileName(name)?.receivedMs).toBeGreaterThan(Date.now() - 60_000);
    expect(readFileSync(join(dir, name))).toEqual(Buffer.from(body));
    expect([kept, used]).toEqual([1, 1]);
  });

  test("metrics that nobody reads, and empty bodies, are accepted and forgotten", async () => {
    expect((await send("/claude-code/v1/metrics", "{}")).status).toBe(200);
    expect((await send("/claude-code/v1/traces", "", { "content-type": "application/x-protobuf" })).status).toBe(200);
    expect(names()).toEqual([]);
    expect([kept, used]).toEqual([0, 2]);
  });

  test("names sort by time, and never collide", async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => send("/goose/v1/logs", `${i}`)));
    expect(names()).toHaveLength(40);
  });
});

describe("what is refused", () => {
  const refused: readonly (readonly [string, number, string, Record<string, string>, string?])[] = [
    ["no token", 401, "/goose/v1/traces", { authorization: "" }],
    ["another token", 401, "/goose/v1/traces", { authorization: `Bearer ${"x".repeat(43)}` }],
    ["another token in the path", 401, `/goose/${"x".repeat(43)}/v1/traces`, {}],
    ["an unknown path, without a token", 401, "/", { authorization: "" }],
    ["an unknown path", 404, "/", {}],
    ["a path with a query", 404, "/goose/v1/traces?x=1", {}],
    ["a path that leads up", 404, "/../v1/traces", {}],
    ["an agent that does not export", 404, "/codex/v1/traces", {}],
    ["another signal", 404, "/goose/v1/profiles", {}],
    ["GET", 405, "/goose/v1/traces", {}, "GET"],
    ["OPTIONS", 405, "/goose/v1/traces", {}, "OPTIONS"],
    ["a form", 415, "/goose/v1/traces", { "content-type": "application/x-www-form-urlencoded" }],
    ["another compression", 415, "/goose/v1/traces", { "content-encoding": "zstd" }],
    ["two compressions", 415, "/goose/v1/traces", { "content-encoding": "gzip, gzip" }],
    ["a web page", 403, "/goose/v1/traces", { origin: "http://127.0.0.1" }],
    ["a sandboxed web page", 403, "/goose/v1/traces", { origin: "null" }],
    ["a name that leads here", 403, "/goose/v1/traces", { host: "evil.example:80" }],
    ["a name that leads here and asks", 403, "/", { host: "evil.example:80", [CHALLENGE]: "x" }],
  ];
  const whole = refused.map(([what, status, path, headers, method = "POST"]) => ({
    what,
    status,
    path,
    headers,
    method,
  }));
  test.each(whole)("$what: $status", async ({ status, path, headers, method }) => {
    const answer = await send(path, "{}", headers, method);
    expect(answer.status).toBe(status);
    expect(answer.body).toBe("");
    expect(Object.keys(answer.headers).filter((name) => /^access-control|^location|^server/.test(name))).toEqual([]);
    expect([names(), kept]).toEqual([[], 0]);
  });

  test("everything, when no agent exports any more", async () => {
    receiver = undefined;
    expect((await send("/goose/v1/traces", "{}")).status).toBe(403);
  });

  test("a body beyond the limit: announced, and in pieces", async () => {
    const large = { "content-length": String(MAX_BODY_BYTES + 1) };
    expect((await send("/goose/v1/traces", "", large).catch(() => ({ status: 413 }))).status).toBe(413);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(receiver?.port ?? 0, "127.0.0.1");
      let text = "";
      const piece = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1 << 20), Buffer.from("\r\n")]);
      const more = (): void => {
        while (socket.write(piece));
      };
      socket.on("data", (chunk) => {
        text += chunk.toString();
      });
      socket.on("drain", more).on("error", () => resolve(text));
      socket.on("close", () => resolve(text));
      socket.write(head("transfer-encoding: chunked"));
      more();
    });
    expect(answer).toMatch(/^(HTTP\/1.1 413 |$)/);
    expect(names()).toEqual([]);
  });

  test("a full folder: 503 until a drain has read some of it", async () => {
    expect(NATIVE_LIMITS).toEqual({ files: 10_000, bytes: 512_000_000 });
    for (let i = 0; i < 3; i++) writeFileSync(join(dir, String(i)), "");
    server.closeAllConnections();
    server.close();
    const { port, ...rest } = receiver ?? { port: 0, token: "", agents: [], forwards: [] };
    server = receiverServer(
      { dir, allowed: () => receiver, onKept: () => {}, onUse: () => {}, onAsked: () => {} },
      { files: 4, bytes: 10 },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    receiver = { ...rest, port: (server.address() as AddressInfo).port };
    expect(receiver.port).not.toBe(port);
    expect((await send("/goose/v1/traces", "x".repeat(11))).status, "too many bytes").toBe(503);
    expect((await send("/goose/v1/traces", "{}")).status).toBe(200);
    const { status, headers } = await send("/goose/v1/traces", "{}");
    expect([status, headers["retry-after"]]).toEqual([503, "30"]);
    expect(sizeOf(dir), "nothing is left of it").toEqual({ files: 4, bytes: 2 });
    rmSync(join(dir, "0"));
    while ((await send("/goose/v1/traces", "{}")).status === 503) await new Promise((done) => setTimeout(done, 50));
  });

  test("a folder that is gone: 503, and it goes on when it is back", async () => {
    rmSync(dir, { recursive: true });
    expect((await send("/goose/v1/traces", "{}")).status).toBe(503);
    mkdirSync(dir);
    expect((await send("/goose/v1/traces", "{}")).status).toBe(200);
  });
});

const head = (line: string): string =>
  `POST /goose/v1/traces HTTP/1.1\r\nhost: 127.0.0.1:${receiver?.port}\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n${line}\r\n\r\n`;

test("of half a request nothing is left", async () => {
  const socket = connect(receiver?.port ?? 0, "127.0.0.1");
  socket.write(`${head("content-length: 100")}half`);
  while (names().length === 0) await new Promise((done) => setTimeout(done, 5));
  expect(names()[0]).toMatch(/^\.tmp-[0-9a-f]{16}$/);
  socket.destroy();
  while (names().length > 0) await new Promise((done) => setTimeout(done, 5));
  expect(kept).toBe(0);
});

test("only a program with the token can say that it is the receiver, and the answer does not tell the token", async () => {
  const { body } = await send("/", "", { [CHALLENGE]: "c1", authorization: "" }, "GET");
  expect(body).toBe(proofOf(TOKEN, "c1"));
  expect(body).not.toBe(proofOf(TOKEN, "c2"));
  expect(body).not.toContain(TOKEN);
});
