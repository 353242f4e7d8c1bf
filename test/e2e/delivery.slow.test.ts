// Slow: only `npm run test:all` runs it. Backends that fail, with the built program; e2e/run.test.ts delivers once.
//
// Failing backends: unreachable, overloaded, refusing, hanging; and a drain that is killed while it sends.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { GEN_AI_USAGE_INPUT_TOKENS, OPENHOOK_SPAN_KIND, OPENHOOK_TOKEN_TYPE } from "#core/telemetry/semconv.ts";
import { type ReceivedSpan, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RECORDINGS, RecordedAgent, sleep, until } from "../support/program.ts";
import type { Expected } from "../support/summary.ts";

const NAME = "parallel-tools";
const EXPECTED: Expected = JSON.parse(readFileSync(join(RECORDINGS, NAME, "expected.json"), "utf8"));
const INPUT_TOKENS = EXPECTED.sessions[0]?.totals["input"];
/** One session, one turn, three model calls, six tool calls. */
const SPANS = 11;
/** Upper bound for anything an agent waits for, whatever the backend does. Usually 5 ms. */
const MUCH_TOO_LONG_MS = 2_000;

/** Tests in parallel on a busy machine. */

beforeAll(ensureBuilt);

/** A machine with a recorded session in its inbox, and a receiver; both are removed afterwards. */
async function withSession(work: (machine: Machine, receiver: Receiver, env: Env) => Promise<void>): Promise<void> {
  const [machine, receiver] = [new Machine(), await startReceiver()];
  try {
    await new RecordedAgent(machine, NAME).work(HOOK_ALONE);
    await work(machine, receiver, { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
  } finally {
    await machine.remove();
    await receiver.close();
  }
}
type Env = Readonly<Record<string, string>>;

const ids = (spans: readonly ReceivedSpan[]): readonly string[] => spans.map((span) => span.spanId);
const tokensInSpans = (spans: readonly ReceivedSpan[]): number =>
  spans
    .filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "model_call")
    .reduce((sum, span) => sum + Number(span.attributes[GEN_AI_USAGE_INPUT_TOKENS]), 0);
const tokensInMetrics = (receiver: Receiver): number =>
  receiver
    .latestPoints()
    .filter((p) => p.name === "openhook.token.usage" && p.attributes[OPENHOOK_TOKEN_TYPE] === "input")
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

function expectAllOnce(receiver: Receiver): void {
  expect(receiver.spans).toHaveLength(SPANS);
  expect(new Set(ids(receiver.spans)).size).toBe(SPANS);
  expect(tokensInSpans(receiver.spans)).toBe(INPUT_TOKENS);
  expect(tokensInMetrics(receiver)).toBe(INPUT_TOKENS);
}

// With the tests' own `expect`: the assertions of concurrent tests are counted apart
describe.concurrent("a backend that does not accept", () => {
  test("unreachable: spans are kept, delivered once when it is back, and never again", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      await receiver.close();
      expect(await machine.drain([], env)).toMatchObject({
        spans: SPANS,
        sent: 0,
        waiting: SPANS,
        problems: [expect.stringContaining("traces: "), expect.stringContaining("metrics: ")],
      });
      const back = await startReceiver({ port: receiver.port });
      try {
        expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0, problems: [] });
        expectAllOnce(back);
        expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: 0, problems: [] });
        expectAllOnce(back);
      } finally {
        await back.close();
      }
    }));

  test.for([503, 429])("%i with Retry-After: not retried earlier", (status, { expect }) =>
    withSession(async (machine, receiver, env) => {
      receiver.setBehaviour(() => ({ status, headers: { "retry-after": "3600" } }));
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
      const requestCount = receiver.requests.length;
      expect(requestCount).toBeGreaterThan(0);
      receiver.setBehaviour(undefined);
      for (const _ of ["again", "and again"]) {
        expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
        expect(receiver.requests).toHaveLength(requestCount);
      }
    }),
  );

  test("503 with Retry-After: delivered once afterwards", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      receiver.setBehaviour(() => ({ status: 503, headers: { "retry-after": "1" } }));
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
      receiver.setBehaviour(undefined);
      await sleep(1_100);
      expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
      expectAllOnce(receiver);
    }));

  test("503 without Retry-After: the next drain delivers", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      receiver.setBehaviour(() => ({ status: 503 }));
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: SPANS });
      receiver.setBehaviour(undefined);
      expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
      expectAllOnce(receiver);
    }));

  test("400: kept with its reason, delivered once the backend accepts", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      receiver.setBehaviour(() => ({ status: 400, body: "spans of this shape are not for us" }));
      const report = await machine.drain([], env);
      expect(report).toMatchObject({ sent: 0, waiting: SPANS });
      expect(String(report["problems"])).toContain("spans of this shape are not for us");
      receiver.setBehaviour(undefined);
      expect(await machine.drain([], env)).toMatchObject({ sent: SPANS, waiting: 0 });
      expectAllOnce(receiver);
    }));

  test("partial success: spans rejected permanently are counted, reported and not sent again", ({ expect }) =>
    withSession(async (machine, receiver, env) => {
      const partial = { rejected: 2, message: "two are older than my retention" };
      receiver.setBehaviour(({ path }) => (path === "/v1/traces" ? { partial } : undefined));
      const report = await machine.drain([], env);
      expect(report).toMatchObject({ rejected: 2, sent: SPANS - 2, waiting: 0 });
      expect(String(report["problems"])).toContain(partial.message);
      receiver.setBehaviour(undefined);
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, rejected: 0 });
      expect(receiver.spans).toHaveLength(SPANS - 2);
    }));

  test("hanging: no hook takes longer, everything is kept, and delivered once when it responds", async ({ expect }) => {
    const [machine, receiver] = [new Machine(), await startReceiver({ behaviour: () => ({ hang: true }) })];
    try {
      const registered = await machine.enable();
      await machine.ok(["config", "set", "otlp.endpoint", receiver.url]);
      await machine.ok(["config", "set", "otlp.timeoutMs", "2000"]);
      const tookMs = await new RecordedAgent(machine, NAME).work(registered);
      expect(Math.max(...tookMs)).toBeLessThan(MUCH_TOO_LONG_MS);
      await machine.quiet();
      expect(receiver.requests.length).toBeGreaterThan(0);
      expect(receiver.spans).toHaveLength(0);
      receiver.setBehaviour(undefined);
      expect(await machine.drain()).toMatchObject({ sent: SPANS, waiting: 0 });
      expectAllOnce(receiver);
    } finally {
      await machine.remove();
      await receiver.close();
    }
  });
});

test("killed while sending: only the request in flight is repeated, byte for byte", () =>
  withSession(async (machine, receiver, env) => {
    const small = { ...env, OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "4", OPENHOOK_OTEL_OTLP_CONCURRENCY: "1" };
    // The second request is accepted and never answered: the sender cannot know
    receiver.setBehaviour(({ index }) => (index === 1 ? { hang: true, accepted: true } : undefined));
    const killed = machine.start(["drain"], { env: small });
    await until("the second request has arrived", () => receiver.requests.length === 2);
    killed.kill("SIGKILL");
    await machine.quiet();
    expect(ids(receiver.spans)).toHaveLength(8);
    const interrupted = receiver.requests[1]?.spans ?? [];

    expect(await machine.drain([], small)).toMatchObject({ sent: SPANS - 4, waiting: 0 });
    const twice = ids(receiver.spans).filter((id, i, all) => all.indexOf(id) !== i);
    expect([...twice].sort()).toEqual([...ids(interrupted)].sort());
    for (const span of interrupted) {
      expect(receiver.spans.filter(({ spanId }) => spanId === span.spanId)).toEqual([span, span]);
    }
    const [once] = [[...receiver.spansById().values()]];
    expect(once).toHaveLength(SPANS);
    expect(tokensInSpans(once)).toBe(INPUT_TOKENS);
    expect(tokensInMetrics(receiver)).toBe(INPUT_TOKENS);
  }));

test("killed while sending metrics: the sums stay exact", () =>
  withSession(async (machine, receiver, env) => {
    receiver.setBehaviour(({ path }) => (path === "/v1/metrics" ? { hang: true, accepted: true } : undefined));
    const killed = machine.start(["drain"], { env });
    await until("the metrics have arrived", () => receiver.metricPoints.length > 0);
    killed.kill("SIGKILL");
    await machine.quiet();
    receiver.setBehaviour(undefined);
    expect(await machine.drain([], env)).toMatchObject({ sent: 0, metricsSent: true });
    expectAllOnce(receiver);
  }));
