import { createServer as createTcpServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { startGrpcReceiver, statusBytes } from "../receiver/grpc-receiver.ts";
import { type Receiver, type ReceiverOptions, type Reply, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { spanRecord, sumPoint } from "./records.ts";

const certificates = useCertificates();
const open: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  for (const name of ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "grpc_proxy"]) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toUpperCase(), undefined);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function started(options?: Parameters<typeof startGrpcReceiver>[0]): Promise<Receiver> {
  const receiver = await startGrpcReceiver(options);
  open.push(receiver);
  return receiver;
}

const settingsFor = (url: string, signal: Partial<OtlpSignalSettings>) => {
  const { traces, metrics, ...rest } = otlpSettings({ url }, { protocol: "grpc", timeoutMs: 30_000, ...signal });
  return { ...rest, ...(traces && { traces: { ...traces, url } }), ...(metrics && { metrics: { ...metrics, url } }) };
};

async function sendSpan(url: string, signal: Partial<OtlpSignalSettings> = {}): Promise<ExportOutcome> {
  const sender = createSender(settingsFor(url, signal), { version: "0.1.0" });
  const outcome = await sender.sendSpans([spanRecord()]);
  sender.close();
  return outcome;
}

async function sendPoint(url: string, signal: Partial<OtlpSignalSettings> = {}): Promise<ExportOutcome> {
  const sender = createSender(settingsFor(url, signal), { version: "0.1.0" });
  const outcome = await sender.sendMetrics([sumPoint(1)]);
  sender.close();
  return outcome;
}

describe("an accepted request", () => {
  test("has the configured headers as metadata; those of the protocol cannot be changed", async () => {
    const receiver = await started();
    const headers = {
      Authorization: "Bearer s3cret",
      "X-Scope-OrgID": "a",
      "grpc-timeout": "1n",
      TE: "x",
      "k-bin": "AQI=",
    };
    expect(await sendSpan(receiver.url, { headers })).toEqual({ status: "ok", rejected: 0 });
    expect(receiver.requests[0]?.headers).toMatchObject({
      authorization: "Bearer s3cret",
      "x-scope-orgid": "a",
      "k-bin": "\u0001\u0002",
      "user-agent": expect.stringMatching(/^openhook-otel\/0\.1\.0 /),
    });
  });

  test("shares its connection with the next request", async () => {
    const receiver = await started();
    const sender = createSender(settingsFor(receiver.url, {}), { version: "0.1.0" });
    for (let n = 0; n < 3; n++) await sender.sendSpans([spanRecord(n)]);
    sender.close();
    expect(receiver.spans).toHaveLength(3);
    expect(new Set(receiver.requests.map(({ clientPort }) => clientPort)).size).toBe(1);
  });
});

describe("a status", () => {
  const RETRY_INFO = statusBytes(8, "slow down", 1500);
  test.each<[string, NonNullable<Reply["grpc"]>, object]>([
    ["UNAVAILABLE", { code: 14, details: "restarting" }, { status: "retry", reason: "UNAVAILABLE (14): restarting" }],
    [
      "UNAVAILABLE with RetryInfo",
      { code: 14, statusDetails: statusBytes(14, "restarting", 2000) },
      { status: "retry", reason: "UNAVAILABLE (14): restarting", afterMs: 2000 },
    ],
    [
      "RESOURCE_EXHAUSTED with RetryInfo",
      { code: 8, details: "quota", statusDetails: RETRY_INFO },
      { status: "retry", reason: "RESOURCE_EXHAUSTED (8): slow down", afterMs: 1500 },
    ],
    [
      "RESOURCE_EXHAUSTED without RetryInfo",
      { code: 8, details: "quota" },
      { status: "refused", reason: "RESOURCE_EXHAUSTED (8): quota", httpStatus: 429 },
    ],
    [
      "RESOURCE_EXHAUSTED for the size, in Go",
      { code: 8, details: "grpc: received message larger than max (5000000 vs. 4194304)" },
      { status: "too-large" },
    ],
    [
      "RESOURCE_EXHAUSTED for the unpacked size, in Go",
      { code: 8, details: "grpc: received message after decompression larger than max 4194304" },
      { status: "too-large" },
    ],
    [
      "RESOURCE_EXHAUSTED for the unpacked size, in Node",
      { code: 8, details: "Received message that decompresses to a size larger than 4194304" },
      { status: "too-large" },
    ],
    [
      "RESOURCE_EXHAUSTED for the size, in Java",
      { code: 8, details: "gRPC message exceeds maximum size 4194304: 5000000" },
      { status: "too-large" },
    ],
    [
      "OUT_OF_RANGE for the size, in Rust",
      { code: 11, details: "Error, message length too large: found 5 bytes, the limit is: 4 bytes" },
      { status: "too-large" },
    ],
    ["CANCELLED", { code: 1 }, { status: "retry" }],
    ["DEADLINE_EXCEEDED", { code: 4 }, { status: "retry" }],
    ["ABORTED", { code: 10 }, { status: "retry" }],
    ["OUT_OF_RANGE", { code: 11 }, { status: "retry" }],
    ["DATA_LOSS", { code: 15 }, { status: "retry" }],
    ["UNKNOWN", { code: 2 }, { status: "refused", httpStatus: 500 }],
    ["INVALID_ARGUMENT", { code: 3, details: "bad span" }, { status: "refused", httpStatus: 400 }],
    ["NOT_FOUND", { code: 5 }, { status: "refused", httpStatus: 404 }],
    ["ALREADY_EXISTS", { code: 6 }, { status: "refused", httpStatus: 500 }],
    ["PERMISSION_DENIED", { code: 7 }, { status: "refused", httpStatus: 403 }],
    ["FAILED_PRECONDITION", { code: 9 }, { status: "refused", httpStatus: 500 }],
    ["UNIMPLEMENTED", { code: 12, details: "unknown service" }, { status: "refused", httpStatus: 404 }],
    [
      "UNIMPLEMENTED compression",
      { code: 12, details: 'grpc: Decompressor is not installed for grpc-encoding "gzip"' },
      { status: "refused", httpStatus: 415 },
    ],
    ["INTERNAL", { code: 13 }, { status: "refused", httpStatus: 500 }],
    ["UNAUTHENTICATED", { code: 16 }, { status: "refused", httpStatus: 401 }],
  ])("%s", async (_name, grpc, expected) => {
    const receiver = await started({ behaviour: () => ({ grpc }) });
    const { reason, ...rest } = { reason: "", ...expected };
    for (const outcome of [await sendSpan(receiver.url), await sendPoint(receiver.url)]) {
      expect(outcome).toMatchObject(rest);
      if (reason !== "") expect(outcome).toMatchObject({ reason: `${receiver.url} answered ${reason}` });
      if (!("afterMs" in rest)) expect(outcome).not.toHaveProperty("afterMs");
    }
    expect(receiver.requests).toHaveLength(2);
  });

  test("partial success: how many were rejected and why", async () => {
    const receiver = await started({ behaviour: () => ({ partial: { rejected: 3, message: "attributes too long" } }) });
    const expected = { status: "ok", rejected: 3, message: "attributes too long" };
    expect(await sendSpan(receiver.url)).toEqual(expected);
    expect(await sendPoint(receiver.url)).toEqual(expected);
  });

  test.each([
    ["is unreadable", Buffer.from([7, 255, 1])],
    ["is longer than 1 MiB", Buffer.alloc(1_100_000)],
  ])("OK is a success even if the message %s", async (_what, body) => {
    const receiver = await started({ behaviour: () => ({ body }) });
    expect(await sendSpan(receiver.url)).toEqual({ status: "ok", rejected: 0, message: "unreadable answer" });
  });

  test("a delay beyond an hour is shortened, and an unreadable status is none", async () => {
    let statusDetails = statusBytes(8, "", 86_400_000);
    const receiver = await started({ behaviour: () => ({ grpc: { code: 8, details: "later", statusDetails } }) });
    expect(await sendSpan(receiver.url)).toMatchObject({ status: "retry", afterMs: 3_600_000 });
    statusDetails = statusBytes(8, "cut", 86_400_000).subarray(0, 30);
    expect(await sendSpan(receiver.url)).toMatchObject({ status: "refused", reason: expect.stringMatching(/: cut$/) });
  });

  test("does not repeat a secret in its reason", async () => {
    const receiver = await started({
      behaviour: () => ({ grpc: { code: 16, details: "no user Bearer s3cret-token" } }),
    });
    const outcome = await sendSpan(receiver.url, { headers: { authorization: "Bearer s3cret-token" } });
    expect(outcome).toMatchObject({ status: "refused", reason: expect.stringContaining("no user ***") });
  });

  test("a message beyond the server's limit is too large, compressed or not", async () => {
    const receiver = await started({ maxBodyBytes: 50 });
    expect(await sendSpan(receiver.url)).toMatchObject({ status: "too-large" });
    expect(await sendSpan(receiver.url, { compression: "gzip" })).toMatchObject({ status: "too-large" });
    expect(receiver.spans).toHaveLength(0);
  });

  test("a server without the metrics service: the endpoint is missing", async () => {
    const receiver = await started({ services: ["traces"] });
    expect(await sendSpan(receiver.url)).toMatchObject({ status: "ok" });
    expect(await sendPoint(receiver.url)).toMatchObject({ status: "refused", httpStatus: 404 });
  });
});

describe("without an answer", () => {
  test("the deadline covers the whole call", async () => {
    const receiver = await started({ behaviour: () => ({ hang: true }) });
    const beganMs = performance.now();
    const outcome = await sendSpan(receiver.url, { timeoutMs: 300 });
    // The server knows the deadline too, and can be the first to end the call
    expect([
      { status: "retry", reason: `no answer from ${receiver.url} within 300 ms` },
      { status: "retry", reason: `${receiver.url} answered DEADLINE_EXCEEDED (4): Deadline exceeded` },
    ]).toContainEqual(outcome);
    expect(performance.now() - beganMs).toBeLessThan(PATIENCE_MS);
  });

  test("a closed sender and an aborted one return retry immediately", async () => {
    const receiver = await started({ behaviour: () => ({ hang: true }) });
    const stopped = { status: "retry", reason: `sending to ${receiver.url} was stopped` };
    const abort = new AbortController();
    const sender = createSender(settingsFor(receiver.url, { timeoutMs: 60_000 }), {
      version: "0.1.0",
      signal: abort.signal,
    });
    const sending = sender.sendSpans([spanRecord()]);
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), PATIENCE_MS);
    abort.abort();
    expect(await sending).toEqual(stopped);
    const other = createSender(settingsFor(receiver.url, { timeoutMs: 60_000 }), { version: "0.1.0" });
    const hanging = other.sendMetrics([sumPoint(1)]);
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), PATIENCE_MS);
    other.close();
    expect(await hanging).toEqual(stopped);
    expect(await other.sendSpans([spanRecord()])).toEqual(stopped);
    sender.close();
  });

  test("a refused connection is reported with the address", async () => {
    expect(await sendSpan("http://127.0.0.1:9")).toEqual({
      status: "retry",
      reason: "connection refused by http://127.0.0.1:9/",
    });
  });

  test("a receiver of OTLP over HTTP is named, with both remedies", async () => {
    const expected = (url: string) => ({
      status: "retry",
      reason: `${url}/ responds in HTTP/1.1 only, and gRPC needs HTTP/2`,
      remedy: expect.stringMatching(/otlp\.protocol to http\/protobuf, or otlp\.endpoint .* 4317/),
    });
    const plain = await startReceiver();
    const secured = await startReceiver({ tls: certificates.server });
    open.push(plain, secured);
    expect(await sendSpan(plain.url)).toEqual(expected(plain.url));
    expect(await sendSpan(secured.url, { certificatePath: certificates.ca.certPath })).toEqual(expected(secured.url));
  });

  test.each([
    ["closes the connection", (end: () => void) => end(), /closed without an answer|connection broken/],
    ["speaks another protocol", (_end: () => void, write: (text: string) => void) => write("220 mail ESMTP\r\n"), /./],
  ])("a server that %s is tried again", async (_what, respond, reason) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        respond(
          () => socket.end(),
          (text) => socket.end(text),
        ),
      );
    });
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      }),
    );
    const outcome = await sendSpan(`http://127.0.0.1:${port}`, { timeoutMs: 1000 });
    server.close();
    expect(outcome).toMatchObject({ status: "retry", reason: expect.stringMatching(reason) });
  });
});

describe("TLS", () => {
  const tls = (options: ReceiverOptions["tls"]) => started(options === undefined ? {} : { tls: options });

  test("a server with a certificate of the configured authority is trusted, of another one not", async () => {
    const receiver = await tls(certificates.server);
    expect(await sendSpan(receiver.url, { certificatePath: certificates.ca.certPath })).toMatchObject({ status: "ok" });
    const untrusted = await sendSpan(receiver.url, { certificatePath: certificates.stranger.certPath });
    expect(untrusted).toEqual({
      status: "retry",
      reason: `the certificate of ${receiver.url}/ is not signed by an authority known here`,
      remedy: expect.stringMatching(/otlp\.certificate/),
    });
    vi.stubEnv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", certificates.ca.certPath);
    expect(await sendSpan(receiver.url)).toMatchObject({ status: "retry" });
    expect(receiver.spans).toHaveLength(1);
  });

  test("a certificate for another host is refused", async () => {
    const receiver = await tls(certificates.otherHost);
    expect(await sendSpan(receiver.url, { certificatePath: certificates.ca.certPath })).toMatchObject({
      status: "retry",
      reason: `the certificate of ${receiver.url}/ is for another host name`,
    });
  });

  test("a client certificate is sent if required", async () => {
    const receiver = await tls({ ...certificates.server, clientCa: certificates.ca.cert });
    const { client, ca } = certificates;
    const pair = { clientCertificatePath: client.certPath, clientKeyPath: client.keyPath };
    expect(await sendSpan(receiver.url, { certificatePath: ca.certPath, ...pair })).toMatchObject({ status: "ok" });
    expect(await sendSpan(receiver.url, { certificatePath: ca.certPath })).toMatchObject({ status: "retry" });
    expect(receiver.spans).toHaveLength(1);
  });

  test("https to a server without TLS is reported as such", async () => {
    const receiver = await started();
    const url = receiver.url.replace("http:", "https:");
    expect(await sendSpan(url)).toEqual({
      status: "retry",
      reason: `the TLS handshake with ${url}/ failed`,
      remedy: "if the backend has no TLS, begin otlp.endpoint with http://",
    });
  });

  test("a missing certificate file is named, and nothing is sent", async () => {
    const receiver = await tls(certificates.server);
    expect(await sendSpan(receiver.url, { certificatePath: "/nowhere.pem" })).toEqual({
      status: "refused",
      reason: 'cannot read the CA certificate "/nowhere.pem": there is no such file',
    });
  });

  test("a header that gRPC cannot send is refused without its value", async () => {
    const receiver = await started();
    const outcome = await sendSpan(receiver.url, { headers: { "x-name": "Größe" } });
    expect(outcome).toEqual({ status: "refused", reason: "one of the headers set for OTLP cannot be sent over gRPC" });
  });
});

describe("a proxy", () => {
  /** Only the proxy can resolve it. */
  const HOST = "collector.example";
  const through = async (scheme: "http" | "https", options?: Parameters<typeof startProxy>[1]) => {
    const receiver = await started(scheme === "https" ? { tls: certificates.otherHost } : {});
    const proxy: TestProxy = await startProxy(receiver.port, options);
    open.push(proxy);
    return { receiver, proxy };
  };
  const trusted = () => ({ certificatePath: certificates.ca.certPath });

  test.each([
    ["https", "HTTPS_PROXY", 443],
    ["https", "all_proxy", 443],
    ["http", "HTTP_PROXY", 80],
  ] as const)("%s: calls go through the proxy in %s, by CONNECT", async (scheme, variable, port) => {
    const { receiver, proxy } = await through(scheme);
    vi.stubEnv(variable, proxy.url.replace("//", "//dev:pass%20word@"));
    expect(await sendSpan(`${scheme}://${HOST}`, trusted())).toEqual({ status: "ok", rejected: 0 });
    expect(receiver.spans).toHaveLength(1);
    const basic = `Basic ${Buffer.from("dev:pass word").toString("base64")}`;
    expect(proxy.seen).toEqual([{ target: `CONNECT ${HOST}:${port}`, authorization: basic }]);
  });

  test("otlp.proxy wins, NO_PROXY and direct switch it off, and grpc_proxy is not read", async () => {
    const { receiver, proxy } = await through("https");
    vi.stubEnv("grpc_proxy", "http://127.0.0.1:9");
    vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:9");
    expect(await sendSpan(`https://${HOST}`, { ...trusted(), proxy: proxy.url })).toMatchObject({ status: "ok" });
    expect(receiver.spans).toHaveLength(1);
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    const direct = { status: "retry", reason: expect.stringContaining(`host name of https://${HOST}`) };
    expect(await sendSpan(`https://${HOST}`, { ...trusted(), proxy: "direct" })).toMatchObject(direct);
    vi.stubEnv("NO_PROXY", HOST);
    expect(await sendSpan(`https://${HOST}`, trusted())).toMatchObject(direct);
    expect(proxy.seen).toHaveLength(1);
  });

  test("that refuses is named, without its password", async () => {
    const { proxy } = await through("https", { refuse: 407 });
    vi.stubEnv("HTTPS_PROXY", proxy.url.replace("//", "//dev:s3cret@"));
    expect(await sendSpan(`https://${HOST}`, trusted())).toEqual({
      status: "retry",
      reason: `proxy ${proxy.url} (HTTPS_PROXY) refused the connection to ${HOST}:443 (407)`,
      remedy: expect.stringContaining("put user and password into the proxy's address"),
    });
  });

  test("that does not run is named", async () => {
    const outcome = await sendSpan(`https://${HOST}`, { ...trusted(), proxy: "http://127.0.0.1:9" });
    expect(outcome).toMatchObject({
      status: "retry",
      reason: expect.stringMatching(/^proxy http:\/\/127\.0\.0\.1:9 .*refused/),
    });
  });

  test("whose address is https is refused with the remedy", async () => {
    const outcome = await sendSpan(`https://${HOST}`, { ...trusted(), proxy: "https://127.0.0.1:9" });
    expect(outcome).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("set otlp.protocol to http/protobuf"),
    });
  });
});
