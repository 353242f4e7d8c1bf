import { createServer as createTcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { type Receiver, type Reply, startReceiver } from "../receiver/receiver.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { spanRecord, sumPoint } from "./records.ts";

const VERSION = "0.1.0";
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function sendSpan(
  signal: Partial<OtlpSignalSettings> = {},
  to: { url: string } = receiver,
): Promise<ExportOutcome> {
  const sender = createSender(otlpSettings(to, signal), { version: VERSION });
  const outcome = await sender.sendSpans([spanRecord()]);
  sender.close();
  return outcome;
}

async function sendPoint(signal: Partial<OtlpSignalSettings> = {}): Promise<ExportOutcome> {
  const sender = createSender(otlpSettings(receiver, signal), { version: VERSION });
  const outcome = await sender.sendMetrics([sumPoint(1)]);
  sender.close();
  return outcome;
}

const answering = (reply: Reply) => receiver.setBehaviour(() => reply);

describe("an accepted request", () => {
  test("has a user agent and the configured headers", async () => {
    await sendSpan({ headers: { Authorization: "Bearer s3cret-token", "X-Scope-OrgID": "team-a" } });
    expect(receiver.requests[0]?.headers).toMatchObject({
      "user-agent": "openhook-otel/0.1.0",
      authorization: "Bearer s3cret-token",
      "x-scope-orgid": "team-a",
      "content-type": "application/x-protobuf",
    });
    expect(receiver.requests[0]?.headers["content-length"]).toBe(String(receiver.requests[0]?.wireBytes));
  });

  test("keeps its framing headers with any configured headers", async () => {
    const headers = { "Content-Type": "text/plain", "Transfer-Encoding": "chunked", "Content-Length": "3" };
    expect(await sendSpan({ headers })).toEqual({ status: "ok", rejected: 0 });
    expect(receiver.requests[0]?.headers["content-type"]).toBe("application/x-protobuf");
  });

  test("sends the address's user and password", async () => {
    const url = `${receiver.url.replace("//", "//dev:pass%20word@")}/v1/traces`;
    await sendSpan({ url });
    const basic = Buffer.from("dev:pass word").toString("base64");
    expect(receiver.requests[0]?.headers.authorization).toBe(`Basic ${basic}`);
  });

  test("is compressed if configured", async () => {
    const sender = createSender(otlpSettings(receiver, { compression: "gzip" }), { version: VERSION });
    await sender.sendSpans(Array.from({ length: 100 }, (_, n) => spanRecord(n)));
    sender.close();
    const [request] = receiver.requests;
    expect(request?.headers["content-encoding"]).toBe("gzip");
    expect(request?.wireBytes).toBeLessThan((request?.body.length ?? 0) / 4);
    expect(receiver.spans).toHaveLength(100);
  });

  test("shares its connection with the next request", async () => {
    const sender = createSender(otlpSettings(receiver), { version: VERSION });
    for (let n = 0; n < 3; n++) await sender.sendSpans([spanRecord(n)]);
    sender.close();
    expect(new Set(receiver.requests.map((request) => request.clientPort)).size).toBe(1);
  });

  test("is not needed when there is nothing to send", async () => {
    const sender = createSender(otlpSettings(receiver), { version: VERSION });
    expect(await sender.sendSpans([])).toEqual({ status: "ok", rejected: 0 });
    expect(await sender.sendMetrics([])).toEqual({ status: "ok", rejected: 0 });
    sender.close();
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("a 2xx answer", () => {
  describe.each(["http/protobuf", "http/json"] as const)("%s", (protocol) => {
    test("with a partial success reports how many were rejected and why", async () => {
      answering({ partial: { rejected: 3, message: "attributes too long" } });
      const expected = { status: "ok", rejected: 3, message: "attributes too long" };
      expect(await sendSpan({ protocol })).toEqual(expected);
      expect(await sendPoint({ protocol })).toEqual(expected);
    });

    test("with only a warning rejects nothing", async () => {
      answering({ partial: { rejected: 0, message: "please upgrade" } });
      expect(await sendSpan({ protocol })).toEqual({ status: "ok", rejected: 0, message: "please upgrade" });
    });

    test.each([
      ["garbage", "\u0007\u00ff garbage"],
      ["words", "OK"],
      ["an array", "[]"],
    ])("with %s as the body is still a success", async (_what, body) => {
      answering({ body });
      expect(await sendSpan({ protocol })).toEqual({ status: "ok", rejected: 0, message: "unreadable answer" });
      expect(await sendPoint({ protocol })).toEqual({ status: "ok", rejected: 0, message: "unreadable answer" });
    });

    test("with an empty body, or 202 or 204, is a success", async () => {
      for (const reply of [{ body: "" }, { status: 202, body: "" }, { status: 204, body: "" }]) {
        answering(reply);
        expect(await sendSpan({ protocol })).toEqual({ status: "ok", rejected: 0 });
      }
    });
  });

  test.each([
    ["a page", "text/html; charset=utf-8", "Please sign in"],
    ["a page that calls itself something else", "application/x-protobuf", "\n<!DOCTYPE html><title>Grafana</title>"],
    ["a page of the backend's own interface", "", "<html><body>ok</body></html>"],
  ])("with %s is a failure: the response is not a backend's", async (_what, contentType, body) => {
    answering({ headers: { "content-type": contentType }, body, accepted: false });
    const reason = `${receiver.url}/v1/traces answered 200 with a web page, which no OTLP receiver does`;
    expect(await sendSpan()).toEqual({ status: "refused", httpStatus: 200, reason });
    expect(await sendPoint()).toMatchObject({ status: "refused", httpStatus: 200 });
  });

  test("that is compressed without being requested is still read", async () => {
    const answerText = Buffer.from('{"partialSuccess":{"rejectedSpans":1,"errorMessage":"old"}}');
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    answering({ headers, body: gzipSync(answerText) });
    expect(await sendSpan()).toEqual({ status: "ok", rejected: 1, message: "old" });
    for (const body of [answerText, gzipSync(answerText).subarray(0, 30), gzipSync(Buffer.alloc(8 << 20))]) {
      answering({ headers, body });
      expect(await sendSpan()).toEqual({ status: "ok", rejected: 0, message: "unreadable answer" });
    }
  });

  test("in JSON to a protobuf request is read as JSON, with counts as numbers or strings", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    answering({ headers, body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}' });
    expect(await sendSpan()).toEqual({ status: "ok", rejected: 2, message: "old" });
    answering({ headers: { "content-type": "" }, body: '{"partialSuccess":{"rejectedSpans":2}}' });
    expect(await sendSpan()).toEqual({ status: "ok", rejected: 2 });
  });

  test("in JSON with the names of the proto files is read too", async () => {
    const headers = { "content-type": "application/json" };
    answering({ headers, body: '{"partial_success":{"rejected_spans":"3","error_message":"old"}}' });
    expect(await sendSpan()).toEqual({ status: "ok", rejected: 3, message: "old" });
    answering({ headers, body: '{"partial_success":{"rejected_data_points":1}}' });
    expect(await sendPoint()).toEqual({ status: "ok", rejected: 1 });
  });

  test("with an invalid count is unreadable", async () => {
    answering({ body: '{"partialSuccess":{"rejectedSpans":"many"}}' });
    expect(await sendSpan({ protocol: "http/json" })).toEqual({
      status: "ok",
      rejected: 0,
      message: "unreadable answer",
    });
  });

  test("that breaks off, drips or never ends still counts as accepted", async () => {
    const expected = { status: "ok", rejected: 0, message: "unreadable answer" };
    answering({ reset: "within-answer" });
    expect(await sendSpan()).toEqual(expected);
    answering({ dripMs: 30, dripFrom: "body", body: "x".repeat(10_000) });
    expect(await sendSpan({ timeoutMs: 200 })).toEqual(expected);
    answering({ body: Buffer.alloc(3 * 1024 * 1024) });
    expect(await sendSpan()).toEqual(expected);
  });
});

describe("a response that asks for a retry", () => {
  test.each([429, 502, 503, 504])(
    "with status %d is retried, with the backend's message as the reason",
    async (status) => {
      answering({ status });
      const reason = `${receiver.url}/v1/traces answered ${status}: answered ${status} as requested`;
      expect(await sendSpan()).toEqual({ status: "retry", reason, httpStatus: status });
      expect(await sendSpan({ protocol: "http/json" })).toEqual({ status: "retry", reason, httpStatus: status });
    },
  );

  test("Retry-After in seconds is obeyed, for an hour at most", async () => {
    for (const [retryAfter, afterMs] of [
      ["7", 7000],
      ["0", 0],
      ["86400", 3_600_000],
    ] as const) {
      answering({ status: 429, headers: { "retry-after": retryAfter } });
      expect(await sendSpan()).toMatchObject({ status: "retry", afterMs });
    }
  });

  test("Retry-After as a date is obeyed, and a past one means immediately", async () => {
    answering({ status: 503, headers: { "retry-after": new Date(Date.now() + 60_000).toUTCString() } });
    const outcome = await sendSpan();
    const afterMs = outcome.status === "retry" ? (outcome.afterMs ?? 0) : 0;
    expect(afterMs).toBeGreaterThan(50_000);
    expect(afterMs).toBeLessThanOrEqual(60_000);
    answering({ status: 503, headers: { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" } });
    expect(await sendSpan()).toMatchObject({ status: "retry", afterMs: 0 });
  });

  test("an unreadable Retry-After is ignored", async () => {
    answering({ status: 503, headers: { "retry-after": "soon" } });
    expect(await sendSpan()).not.toHaveProperty("afterMs");
  });
});

describe("a response that rejects", () => {
  test.each([400, 401, 403, 404, 405, 415, 422, 500, 501])("with status %d is not retried", async (status) => {
    answering({ status });
    const reason = `${receiver.url}/v1/traces answered ${status}: answered ${status} as requested`;
    expect(await sendSpan()).toEqual({ status: "refused", reason, httpStatus: status });
  });

  test("413 is a separate outcome, because smaller requests may succeed", async () => {
    answering({ status: 413, body: "" });
    expect(await sendSpan()).toEqual({ status: "too-large", reason: `${receiver.url}/v1/traces answered 413` });
  });

  test.each([
    ["a text", "text/plain", "invalid API key\nsee the docs", "invalid API key see the docs"],
    ["JSON", "application/json", '{"message":"no such tenant"}', "no such tenant"],
    ["JSON of another form", "application/json", '{"error":{"message":"bad plan"}}', "bad plan"],
    ["JSON of FastAPI", "application/json", '{"detail":"no spans found"}', "no spans found"],
    ["JSON without a message", "application/json", '{"code":7}', undefined],
    ["a page", "text/html", "<!doctype html><h1>Sign in</h1>", undefined],
    ["a long text", "text/plain", "n".repeat(5000), `${"n".repeat(200)}…`],
  ])("the backend's message is reported: %s", async (_what, contentType, body, words) => {
    answering({ status: 401, headers: { "content-type": contentType }, body });
    const suffix = words === undefined ? "" : `: ${words}`;
    expect(await sendSpan()).toMatchObject({ reason: `${receiver.url}/v1/traces answered 401${suffix}` });
  });

  test("redirects are refused, and their target is reported without credentials and query", async () => {
    const other = await startReceiver();
    for (const [location, named] of [
      [`${other.url}/v1/traces?key=s3cret-key`, `${other.url}/v1/traces`],
      ["https://dev:s3cret-key@login.example:8443/sso", "https://login.example:8443/sso"],
      ["/elsewhere/", `${receiver.url}/elsewhere/`],
      [`/${"x".repeat(300)}`, `${receiver.url}/${"x".repeat(199)}…`],
      ["file:///etc/passwd", "a file: address"],
      ["http://[", "an address it does not name"],
    ] as const) {
      answering({ status: 307, headers: { location } });
      expect(await sendSpan()).toEqual({
        status: "refused",
        httpStatus: 307,
        reason: `${receiver.url}/v1/traces redirects to ${named} (307), and redirects are not followed`,
      });
    }
    answering({ status: 304 });
    expect(await sendSpan()).toMatchObject({ status: "refused", httpStatus: 304 });
    expect(other.requests).toHaveLength(0);
    await other.close();
  });
});

describe("no response", () => {
  test("a refused connection is retried, and the reason names the address", async () => {
    const gone = await startReceiver();
    await gone.close();
    expect(await sendSpan({}, gone)).toEqual({
      status: "retry",
      reason: `connection refused by ${gone.url}/v1/traces`,
    });
    const localhost = { url: `http://localhost:${gone.port}` };
    expect(await sendSpan({}, localhost)).toEqual({
      status: "retry",
      reason: `connection refused by ${localhost.url}/v1/traces`,
    });
  });

  test("a host name that does not exist is retried, and the reason says so", async () => {
    const outcome = await sendSpan({}, { url: "http://collector.invalid:4318" });
    expect(outcome).toMatchObject({
      status: "retry",
      reason: expect.stringContaining("http://collector.invalid:4318/v1/traces"),
    });
    expect(outcome).toMatchObject({ reason: expect.stringMatching(/^host name of /) });
  });

  test("a receiver that hangs ends in the timeout", async () => {
    answering({ hang: true });
    const reason = `no answer from ${receiver.url}/v1/traces within 150 ms`;
    expect(await sendSpan({ timeoutMs: 150 })).toEqual({ status: "retry", reason });
  });

  test("a slow response ends in the timeout, which bounds the whole exchange, not the pause between two bytes", async () => {
    answering({ dripMs: 20 });
    const begin = Date.now();
    expect(await sendSpan({ timeoutMs: 300 })).toMatchObject({
      status: "retry",
      reason: expect.stringContaining("within 300 ms"),
    });
    expect(Date.now() - begin).toBeLessThan(3000);
  });

  test("a server that accepts connections but never reads ends in the timeout", async () => {
    const silent = createTcpServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : 0;
    const outcome = await sendSpan({ timeoutMs: 150 }, { url: `http://127.0.0.1:${port}` });
    expect(outcome).toMatchObject({ status: "retry", reason: expect.stringContaining("within 150 ms") });
    silent.close();
  });

  test("a broken connection is retried with the same ids, whether the request was read or not", async () => {
    const reason = `connection broken by ${receiver.url}/v1/traces`;
    answering({ reset: "before-reading" });
    expect(await sendSpan()).toEqual({ status: "retry", reason });
    expect(receiver.spans).toHaveLength(0);
    answering({ reset: "after-reading", accepted: true });
    expect(await sendSpan()).toEqual({ status: "retry", reason });
    // Accepted by the backend without a response: the next attempt has the same ids
    receiver.setBehaviour(undefined);
    await sendSpan();
    expect(receiver.spans).toHaveLength(2);
    expect(receiver.spansById().size).toBe(1);
  });

  test("a kept connection that the backend has closed is replaced without an error", async () => {
    const sockets: Socket[] = [];
    let requests = 0;
    // Closes the connection when the second request arrives, like an idle timeout that expires at that moment
    const server = createTcpServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      let answered = false;
      socket.on("data", () => {
        requests++;
        if (answered) return socket.resetAndDestroy();
        answered = true;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const sender = createSender(otlpSettings({ url }), { version: VERSION });
    for (let n = 0; n < 3; n++) {
      expect(await sender.sendSpans([spanRecord(n)])).toEqual({ status: "ok", rejected: 0 });
    }
    sender.close();
    expect(sockets).toHaveLength(3);
    expect(requests).toBe(5);
    server.close();
  });

  test("a response that is not HTTP is retried, and the reason names the address", async () => {
    const parrot = createTcpServer((socket) => socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"));
    await new Promise<void>((resolve) => parrot.listen(0, "127.0.0.1", resolve));
    const address = parrot.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    expect(await sendSpan({}, { url })).toMatchObject({
      status: "retry",
      reason: expect.stringContaining(`${url}/v1/traces`),
    });
    parrot.close();
  });

  test("an abort ends requests in flight", async () => {
    answering({ hang: true });
    const controller = new AbortController();
    const sender = createSender(otlpSettings(receiver), { version: VERSION, signal: controller.signal });
    const sending = sender.sendSpans([spanRecord()]);
    setTimeout(() => controller.abort(), 50);
    const reason = `sending to ${receiver.url}/v1/traces was stopped`;
    expect(await sending).toEqual({ status: "retry", reason });
    expect(await sender.sendSpans([spanRecord()])).toEqual({ status: "retry", reason });
    sender.close();
  });

  test("after close nothing is sent", async () => {
    const sender = createSender(otlpSettings(receiver), { version: VERSION });
    sender.close();
    expect(await sender.sendSpans([spanRecord()])).toMatchObject({ status: "retry" });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("settings that cannot work", () => {
  test("a signal without settings is refused", async () => {
    const { resource, maxSpansPerRequest, maxBytesPerRequest, concurrency } = otlpSettings(receiver);
    const settings = { resource, maxSpansPerRequest, maxBytesPerRequest, concurrency };
    const sender = createSender(settings, { version: VERSION });
    expect(await sender.sendSpans([spanRecord()])).toEqual({
      status: "refused",
      reason: "no OTLP address is set for traces",
    });
    expect(await sender.sendMetrics([sumPoint(1)])).toEqual({
      status: "refused",
      reason: "no OTLP address is set for metrics",
    });
    sender.close();
  });

  test.each([
    ["dev:s3cret@nowhere", "the OTLP address begins with dev://, it must be http:// or https://"],
    ["http://", "the OTLP address is not a URL"],
    ["ftp://dev:s3cret@files.example/", "the OTLP address begins with ftp://, it must be http:// or https://"],
  ])("the address %s is refused, without its credentials in the reason", async (url, reason) => {
    expect(await sendSpan({ url })).toEqual({ status: "refused", reason });
  });

  test("a header that HTTP does not allow is refused, without its name and value in the reason", async () => {
    for (const headers of [{ authorization: "Bearer s3cret\nX: y" }, { "s3cret token": "x" }]) {
      const outcome = await sendSpan({ headers });
      expect(outcome).toMatchObject({ status: "refused", reason: expect.stringContaining("not a valid HTTP header") });
      expect(JSON.stringify(outcome)).not.toContain("s3cret");
    }
  });

  test("a body over the limit is not sent", async () => {
    const sender = createSender(otlpSettings(receiver, {}, { maxBytesPerRequest: 100 }), { version: VERSION });
    expect(await sender.sendSpans([spanRecord()])).toMatchObject({ status: "too-large" });
    expect(await sender.sendMetrics([sumPoint(1)])).toMatchObject({ status: "too-large" });
    sender.close();
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("no secret is ever reported", () => {
  const basic = Buffer.from("dev:basic-s3cret").toString("base64");
  const headers = {
    authorization: "Bearer s3cret-token",
    "x-api-key": "s3cret-key",
    "x-old": `Basic ${basic}`,
    "x-pin": "42",
  };

  test.each<[string, Reply]>([
    ["refused", { status: 401 }],
    ["asked to wait", { status: 429 }],
    ["too large", { status: 413 }],
    ["redirected", { status: 302, headers: { location: "http://dev:s3cret@sso.example/?token=s3cret" } }],
    ["reset", { reset: "after-reading" }],
    ["partially accepted", { status: 200 }],
  ])("%s", async (_what, reply) => {
    const echo = `no: s3cret-token s3cret-key pass word ${basic} basic-s3cret q-s3cret pin 42 in 4242 ways`;
    const echoBody =
      '{"message":' +
      JSON.stringify(echo) +
      ',"partialSuccess":{"rejectedSpans":1,"errorMessage":' +
      JSON.stringify(echo) +
      "}}";
    answering({ headers: { "content-type": "application/json" }, body: echoBody, ...reply });
    const url = `${receiver.url.replace("//", "//dev:pass%20word@")}/v1/traces?token=q-s3cret`;
    const outcome = JSON.stringify(await sendSpan({ url, headers }));
    for (const secret of ["s3cret", "pass word", "pass%20word", basic, "pin 42 "])
      expect(outcome).not.toContain(secret);
    if (!reply.reset && reply.status !== 302) expect(outcome).toContain("pin *** in 4242 ways");
  });
});
