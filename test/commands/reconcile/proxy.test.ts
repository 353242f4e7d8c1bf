import { afterEach, expect, test, vi } from "vitest";
import { Backend } from "#check/reconcile/backend.ts";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { startProxy, type TestProxy } from "../../support/proxy.ts";

let receiver: Receiver;
let proxy: TestProxy | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await proxy?.close();
  await receiver?.close();
});

test("a backend is queried through the proxy in HTTP_PROXY, and a proxy that does not respond is named", async () => {
  receiver = await startReceiver();
  proxy = await startProxy(Number(new URL(receiver.url).port));
  for (const name of ["http_proxy", "no_proxy", "NO_PROXY"]) vi.stubEnv(name, undefined);
  vi.stubEnv("HTTP_PROXY", proxy.url);
  const backend = new Backend("prometheus", "http://prometheus.example", {});
  // The receiver is no Prometheus: it has no such path
  expect(await backend.query("/api/v1/query")).toBeUndefined();
  expect(proxy.seen.map(({ target }) => target)).toEqual(["GET http://prometheus.example/api/v1/query"]);
  await proxy.close();
  const { url } = proxy;
  proxy = undefined;
  await expect(backend.query("/api/v1/query")).rejects.toThrow(`proxy ${url} (HTTP_PROXY): connection refused`);
});
