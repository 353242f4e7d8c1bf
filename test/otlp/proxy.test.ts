import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { spanRecord } from "./records.ts";

/** Only the proxy can resolve it. */
const HOST = "collector.example";
const VARIABLES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);

const certificates = useCertificates();
const open: (Receiver | TestProxy)[] = [];
beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function started(
  scheme: "http" | "https",
  options?: Parameters<typeof startProxy>[1],
): Promise<{ readonly receiver: Receiver; readonly proxy: TestProxy }> {
  const receiver = await startReceiver(scheme === "https" ? { tls: certificates.otherHost } : {});
  const proxy = await startProxy(Number(new URL(receiver.url).port), options);
  open.push(proxy, receiver);
  return { receiver, proxy };
}

async function send(url: string, signal: Partial<OtlpSignalSettings> = {}, times = 1): Promise<ExportOutcome> {
  const settings = otlpSettings({ url }, { certificatePath: certificates.ca.certPath, timeoutMs: 30_000, ...signal });
  const sender = createSender(settings, { version: "0.1.0" });
  let outcome = await sender.sendSpans([spanRecord()]);
  for (let sent = 1; sent < times; sent++) outcome = await sender.sendSpans([spanRecord()]);
  sender.close();
  return outcome;
}

test.each([
  ["https", "HTTPS_PROXY"],
  ["https", "https_proxy"],
  ["https", "ALL_PROXY"],
  ["http", "HTTP_PROXY"],
  ["http", "http_proxy"],
  ["http", "all_proxy"],
] as const)("%s: spans are delivered through the proxy in %s", async (scheme, variable) => {
  const { receiver, proxy } = await started(scheme);
  vi.stubEnv(variable, proxy.url);
  expect(await send(`${scheme}://${HOST}`, {}, 2)).toEqual({ status: "ok", rejected: 0 });
  expect(receiver.spans).toHaveLength(2);
  const targets = new Set(proxy.seen.map(({ target }) => target));
  expect([...targets]).toEqual([scheme === "https" ? `CONNECT ${HOST}:443` : `POST http://${HOST}/v1/traces`]);
});

test("otlp.proxy wins over the variables, and direct switches both off", async () => {
  const { receiver, proxy } = await started("https");
  vi.stubEnv("HTTPS_PROXY", "http://127.0.0.1:9");
  expect(await send(`https://${HOST}`, { proxy: proxy.url })).toMatchObject({ status: "ok" });
  expect(receiver.spans).toHaveLength(1);
  vi.stubEnv("HTTPS_PROXY", proxy.url);
  expect(await send(`https://${HOST}`, { proxy: "direct" })).toMatchObject({
    status: "retry",
    reason: expect.stringContaining(`host name of https://${HOST}`),
  });
  expect(proxy.seen).toHaveLength(1);
});

test.each([HOST, ".example", "*.example", "other.example,collector.example", "*"])(
  "NO_PROXY=%s: the host is reached directly",
  async (list) => {
    const { proxy } = await started("https");
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    vi.stubEnv("NO_PROXY", list);
    expect(await send(`https://${HOST}`)).toMatchObject({ status: "retry" });
    expect(proxy.seen).toEqual([]);
  },
);

test("addresses of this machine are never reached through a proxy", async () => {
  const { receiver, proxy } = await started("http");
  for (const name of VARIABLES) if (!/^no/i.test(name)) vi.stubEnv(name, proxy.url);
  const { port } = new URL(receiver.url);
  expect(await send(receiver.url)).toMatchObject({ status: "ok" });
  expect(await send(`http://localhost:${port}`, { proxy: proxy.url })).toMatchObject({ status: "ok" });
  expect(receiver.spans).toHaveLength(2);
  expect(proxy.seen).toEqual([]);
});

test("a proxy that is not HTTP is ignored", async () => {
  vi.stubEnv("ALL_PROXY", "socks5://127.0.0.1:1080");
  expect(await send(`https://${HOST}`)).toMatchObject({ reason: expect.stringContaining(`https://${HOST}`) });
});

test("user and password are sent to the proxy only, and no message contains them", async () => {
  const { receiver, proxy } = await started("http");
  const withPassword = proxy.url.replace("//", "//ada:s3cret%40x@");
  vi.stubEnv("HTTP_PROXY", withPassword);
  expect(await send(`http://${HOST}`)).toMatchObject({ status: "ok" });
  expect(proxy.seen[0]?.authorization).toBe(`Basic ${Buffer.from("ada:s3cret@x").toString("base64")}`);
  expect(JSON.stringify(receiver.requests[0]?.headers)).not.toContain("s3cret");
  await proxy.close();
  open.splice(open.indexOf(proxy), 1);
  const outcome = await send(`http://${HOST}`);
  expect(outcome).toMatchObject({ status: "retry", reason: expect.stringMatching(/^proxy http:\/\/127.*HTTP_PROXY/) });
  expect(JSON.stringify(outcome)).not.toMatch(/s3cret|ada/);
});

test.each(["http", "https"] as const)(
  "%s: a proxy that wants credentials is named, and the spans stay queued",
  async (scheme) => {
    const { receiver, proxy } = await started(scheme, { refuse: 407 });
    vi.stubEnv(`${scheme.toUpperCase()}_PROXY`, proxy.url);
    expect(await send(`${scheme}://${HOST}`)).toEqual({
      status: "retry",
      reason: `proxy ${proxy.url} (${scheme.toUpperCase()}_PROXY) refused the connection to ${HOST} (407)`,
      remedy: "put user and password into the proxy's address: http://user:password@host:port",
    });
    expect(receiver.requests).toEqual([]);
  },
);

test("a proxy that does not allow the backend is named, and the spans stay queued", async () => {
  const { proxy } = await started("https", { refuse: 403 });
  vi.stubEnv("HTTPS_PROXY", proxy.url);
  expect(await send(`https://${HOST}:4318`)).toMatchObject({
    status: "retry",
    reason: expect.stringContaining(`refused the connection to ${HOST}:4318 (403)`),
    remedy: expect.stringContaining("operator"),
  });
});

test("the proxy's own connection can be TLS, with the authority of otlp.certificate", async () => {
  const { receiver, proxy } = await started("https", { tls: certificates.server });
  vi.stubEnv("HTTPS_PROXY", proxy.url);
  expect(await send(`https://${HOST}`)).toMatchObject({ status: "ok" });
  expect(receiver.spans).toHaveLength(1);
});

test("through a proxy too, a backend with a certificate of an unknown authority is refused", async () => {
  const { receiver, proxy } = await started("https");
  vi.stubEnv("HTTPS_PROXY", proxy.url);
  expect(await send(`https://${HOST}`, { certificatePath: certificates.stranger.certPath })).toMatchObject({
    status: "retry",
    reason: expect.stringContaining(`the certificate of https://${HOST}/v1/traces is not signed`),
  });
  expect(receiver.requests).toEqual([]);
});
