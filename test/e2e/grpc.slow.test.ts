// Slow: only `npm run test:all` runs it. OTLP over gRPC with the built program; otlp/grpc.test.ts has the outcomes.
//
// OTLP over gRPC with the built program: kept while there is no backend, delivered once, repeated only after a kill.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { OPENHOOK_TOKEN_TYPE } from "#core/telemetry/semconv.ts";
import { startGrpcReceiver, statusBytes } from "../receiver/grpc-receiver.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RECORDINGS, RecordedAgent, until } from "../support/program.ts";
import type { Expected } from "../support/summary.ts";

const NAME = "parallel-tools";
const EXPECTED: Expected = JSON.parse(readFileSync(join(RECORDINGS, NAME, "expected.json"), "utf8"));
const INPUT_TOKENS = EXPECTED.sessions[0]?.totals["input"];
/** One session, one turn, three model calls, six tool calls. */
const SPANS = 11;

const certificates = useCertificates();
beforeAll(ensureBuilt);

type Env = Readonly<Record<string, string>>;

/** A machine with a recorded session in its inbox, and a receiver of gRPC; both are removed afterwards. */
async function withSession(
  work: (machine: Machine, receiver: Receiver, env: Env) => Promise<void>,
  options?: Parameters<typeof startGrpcReceiver>[0],
): Promise<void> {
  const [machine, receiver] = [new Machine(), await startGrpcReceiver(options)];
  try {
    await new RecordedAgent(machine, NAME).work(HOOK_ALONE);
    await work(machine, receiver, {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc",
    });
  } finally {
    await machine.remove();
    await receiver.close();
  }
}

const tokensInMetrics = (receiver: Receiver): number =>
  receiver
    .latestPoints()
    .filter((p) => p.name === "openhook.token.usage" && p.attributes[OPENHOOK_TOKEN_TYPE] === "input")
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

function expectAllOnce(receiver: Receiver): void {
  expect(receiver.spans).toHaveLength(SPANS);
  expect(receiver.spansById().size).toBe(SPANS);
  expect(tokensInMetrics(receiver)).toBe(INPUT_TOKENS);
}

// With the tests' own `expect`: the assertions of concurrent tests are counted apart
describe.concurrent("gRPC", () => {
  test("unreachable: spans are kept, delivered once when it is back, and never again", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      await receiver.close();
      expect(await machine.drain([], env)).toMatchObject({
        sent: 0,
        waiting: SPANS,
        problems: [
          expect.stringContaining(`traces: connection refused by ${receiver.url}`),
          expect.stringContaining(`metrics: connection refused by ${receiver.url}`),
        ],
      });
      const back = await startGrpcReceiver({ port: receiver.port });
      try {
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: 0, problems: [] });
        expectAllOnce(back);
      } finally {
        await back.close();
      }
    }));

  test("RESOURCE_EXHAUSTED with RetryInfo: not retried earlier", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      const statusDetails = statusBytes(8, "quota", 3_600_000);
      receiver.setBehaviour(() => ({ grpc: { code: 8, statusDetails } }));
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
      const requestCount = receiver.requests.length;
      expect(requestCount).toBeGreaterThan(0);
      receiver.setBehaviour(undefined);
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
      expect(receiver.requests).toHaveLength(requestCount);
    }));

  test("a small limit of the server: requests are split until they fit, everything arrives once", ({ expect }) =>
    withSession(
      async (machine, receiver, env) => {
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expectAllOnce(receiver);
        expect(receiver.requests.length).toBeGreaterThan(2);
      },
      { maxBodyBytes: 6_000 },
    ));

  test("killed while sending: only the request in flight is repeated", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      const small = { ...env, OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "4", OPENHOOK_OTEL_OTLP_CONCURRENCY: "1" };
      receiver.setBehaviour(({ index }) => (index === 1 ? { hang: true, accepted: true } : undefined));
      const killed = machine.start(["drain"], { env: small });
      await until("the second request has arrived", () => receiver.requests.length === 2);
      killed.kill("SIGKILL");
      await machine.quiet();
      const interrupted = receiver.requests[1]?.spans ?? [];
      expect(await machine.drain([], small)).toMatchObject({ sent: SPANS - 4, waiting: 0 });
      expect(receiver.spans).toHaveLength(SPANS + interrupted.length);
      for (const span of interrupted) {
        expect(receiver.spans.filter(({ spanId }) => spanId === span.spanId)).toEqual([span, span]);
      }
      expect(receiver.spansById().size).toBe(SPANS);
      expect(tokensInMetrics(receiver)).toBe(INPUT_TOKENS);
    }));

  test("with TLS, a token and OpenTelemetry's variables alone", async ({ expect }) => {
    const env = (receiver: Receiver) => ({
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.replace("https://", ""),
      OTEL_EXPORTER_OTLP_CERTIFICATE: certificates.ca.certPath,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20s3cret",
    });
    await withSession(
      async (machine, receiver) => {
        expect(await machine.drain([], env(receiver))).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expectAllOnce(receiver);
        expect(receiver.requests[0]?.headers["authorization"]).toBe("Bearer s3cret");
      },
      { tls: certificates.server },
    );
  });

  test("a receiver of HTTP at the address: kept, with the remedy, and a drain prints nothing of the library's", ({
    expect,
  }) =>
    withSession(async (machine, _receiver, env) => {
      const http = await startReceiver();
      try {
        const wrong = { ...env, OPENHOOK_OTEL_OTLP_ENDPOINT: http.url, GRPC_TRACE: "all", GRPC_VERBOSITY: "DEBUG" };
        const report = await machine.drain([], wrong);
        expect(report).toMatchObject({ sent: 0, waiting: SPANS });
        expect(String(report["problems"])).toMatch(/HTTP\/1\.1 only.*set otlp\.protocol to http\/protobuf/);
        const doctor = await machine.ok(["drain"], { env: { ...env, GRPC_TRACE: "all", GRPC_VERBOSITY: "DEBUG" } });
        expect(doctor).not.toMatch(/subchannel|resolv/i);
      } finally {
        await http.close();
      }
    }));
});
