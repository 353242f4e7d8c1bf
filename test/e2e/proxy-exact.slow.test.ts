// Slow: only `npm run test:all` runs it. Exactness through a proxy, with each protocol; otlp/proxy.test.ts has the outcomes.
//
// Through a proxy, as directly: kept while it cannot be reached, delivered once, repeated only where the answer is unknown.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { OPENHOOK_TOKEN_TYPE } from "#core/telemetry/semconv.ts";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RECORDINGS, RecordedAgent, until } from "../support/program.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import type { Expected } from "../support/summary.ts";

const NAME = "parallel-tools";
const EXPECTED: Expected = JSON.parse(readFileSync(join(RECORDINGS, NAME, "expected.json"), "utf8"));
const INPUT_TOKENS = EXPECTED.sessions[0]?.totals["input"];
/** One session, one turn, three model calls, six tool calls. */
const SPANS = 11;

const certificates = useCertificates();
beforeAll(ensureBuilt);

/** Only the proxy can resolve the host; what the proxy is asked for. */
const TRANSPORTS = {
  http: { scheme: "http", protocol: "http/protobuf", target: "POST http://collector.example/v1/traces" },
  https: { scheme: "https", protocol: "http/protobuf", target: "CONNECT collector.example:443" },
  grpc: { scheme: "http", protocol: "grpc", target: "CONNECT collector.example:4317" },
  "grpc with TLS": { scheme: "https", protocol: "grpc", target: "CONNECT collector.example:4317" },
} as const;

interface World {
  readonly machine: Machine;
  readonly receiver: Receiver;
  readonly proxy: TestProxy;
  readonly env: Readonly<Record<string, string>>;
}

/** A machine with a recorded session in its inbox, and a backend that only the proxy reaches. */
async function withSession(name: keyof typeof TRANSPORTS, work: (world: World) => Promise<void>): Promise<void> {
  const { scheme, protocol } = TRANSPORTS[name];
  const tls = scheme === "https" ? { tls: certificates.otherHost } : {};
  const receiver = await (protocol === "grpc" ? startGrpcReceiver(tls) : startReceiver(tls));
  const proxy = await startProxy(receiver.port);
  const machine = new Machine();
  try {
    await new RecordedAgent(machine, NAME).work(HOOK_ALONE);
    const env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: `${scheme}://collector.example${protocol === "grpc" ? ":4317" : ""}`,
      OPENHOOK_OTEL_OTLP_PROTOCOL: protocol,
      OPENHOOK_OTEL_OTLP_PROXY: proxy.url,
      OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath,
      OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "4",
      OPENHOOK_OTEL_OTLP_CONCURRENCY: "1",
    };
    await work({ machine, receiver, proxy, env });
  } finally {
    await machine.remove();
    await Promise.allSettled([proxy.close(), receiver.close()]);
  }
}

const tokensInMetrics = (receiver: Receiver): number =>
  receiver
    .latestPoints()
    .filter((p) => p.name === "openhook.token.usage" && p.attributes[OPENHOOK_TOKEN_TYPE] === "input")
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

/** Every span arrived, the `repeated` ones twice and the same, and the sums are those of the transcript. */
function expectExact(receiver: Receiver, repeated: Receiver["spans"] = []): void {
  expect(receiver.spansById().size).toBe(SPANS);
  expect(receiver.spans).toHaveLength(SPANS + repeated.length);
  for (const span of repeated) {
    expect(receiver.spans.filter(({ spanId }) => spanId === span.spanId)).toEqual([span, span]);
  }
  expect(tokensInMetrics(receiver)).toBe(INPUT_TOKENS);
}

describe.each(Object.entries(TRANSPORTS))("%s through a proxy", (name, { target }) => {
  const withOne = (work: (world: World) => Promise<void>) => withSession(name as keyof typeof TRANSPORTS, work);

  test("that is down: spans are kept, delivered once when it is back, and never again", () =>
    withOne(async ({ machine, receiver, proxy, env }) => {
      await proxy.close();
      const down = await machine.drain([], env);
      expect(down).toMatchObject({ sent: 0, waiting: SPANS });
      expect(String(down["problems"])).toContain(`proxy ${proxy.url}`);
      const back = await startProxy(receiver.port, { port: Number(new URL(proxy.url).port) });
      try {
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: 0, problems: [] });
        expect(back.seen.map((one) => one.target)).toContain(target);
        expectExact(receiver);
      } finally {
        await back.close();
      }
    }));

  test("that passes no answer on: only that request is repeated", () =>
    withOne(async ({ machine, receiver, env }) => {
      receiver.setBehaviour(({ index }) => (index === 1 ? { hang: true, accepted: true } : undefined));
      const short = { ...env, OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "3000" };
      const first = await machine.drain([], short);
      expect(first).toMatchObject({ waiting: expect.any(Number) });
      await machine.drain([], short);
      const [, unanswered] = receiver.requests;
      expect(unanswered?.spans.length).toBeGreaterThan(0);
      expectExact(receiver, unanswered?.spans);
      expect(await machine.drain([], short)).toMatchObject({ sent: 0, waiting: 0 });
    }));

  test("killed while sending: only the request in flight is repeated", () =>
    withOne(async ({ machine, receiver, env }) => {
      receiver.setBehaviour(({ index }) => (index === 1 ? { hang: true, accepted: true } : undefined));
      const killed = machine.start(["drain"], { env });
      await until("the second request has arrived", () => receiver.requests.length === 2);
      killed.kill("SIGKILL");
      await machine.quiet();
      expect(await machine.drain([], env)).toMatchObject({ sent: SPANS - 4, waiting: 0 });
      expectExact(receiver, receiver.requests[1]?.spans);
    }));
});
