import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, Machine } from "../support/program.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

let machine: Machine;
let receiver: Receiver;
let proxy: TestProxy;
beforeAll(async () => {
  await ensureBuilt();
  machine = new Machine();
  receiver = await startReceiver();
  proxy = await startProxy(Number(new URL(receiver.url).port));
});
afterAll(async () => {
  await Promise.all([proxy.close(), receiver.close()]);
  await machine.remove();
});

test("doctor reaches the backend through the proxy and names it; no output contains the password, whatever DEBUG says", async () => {
  const env = {
    DEBUG: "*",
    HTTP_PROXY: proxy.url.replace("//", "//ada:s3cret@"),
    OPENHOOK_OTEL_OTLP_ENDPOINT: "http://collector.example",
  };
  const { stdout, stderr } = await machine.run(["doctor"], { env });
  expect(stdout).toContain(`http://collector.example/v1/traces answers 200`);
  expect(stdout).toMatch(new RegExp(` through proxy ${proxy.url}\\s+\\(HTTP_PROXY\\) in `));
  expect(receiver.requests.length).toBeGreaterThan(0);
  expect(proxy.seen.every(({ authorization }) => authorization?.startsWith("Basic "))).toBe(true);
  const config = await machine.run(["config", "set", "otlp.proxy", env.HTTP_PROXY], { env });
  const shown = await machine.run(["config"], { env });
  expect(shown.stdout).toContain("otlp.proxy");
  expect([stdout, stderr, config.stdout, config.stderr, shown.stdout].join("\n")).not.toContain("s3cret");
});
