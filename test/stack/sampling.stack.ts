import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { type Gateway, ownMetrics, post, shipped, startGateway, TOKEN, until } from "./gateway.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import { type Collector, startCollector } from "./servers.ts";

const { collector } = await programs();

/** How long the second tier waits in this test, instead of an hour and a minute; its clock has steps of one second. */
const WAIT_S = 6;
const WAIT_AFTER_END_S = 2;

describe.skipIf(collector === undefined)("two tiers", () => {
  const certificates = useCertificates();
  let first: Gateway;
  let second: readonly Instance[] = [];
  beforeAll(async () => {
    second = await Promise.all([startInstance(), startInstance()]);
    const addresses = second.map(({ address }) => address).join(", ");
    first = await startGateway(collector ?? "", certificates, ["gateway-scaled/tier-1.yaml"], {
      OPENHOOK_TIER_2: `[${addresses}]`,
    });
  });
  afterAll(async () => {
    await first?.remove();
    for (const instance of second) await instance.remove();
  });

  const send = async (path: string, body: unknown): Promise<void> => {
    expect(await post(`${first.url}${path}`, body, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
  };
  const sendSpans = (...spans: readonly object[]): Promise<void> => send("/v1/traces", traces(spans));
  const allSpans = () => second.flatMap(({ receiver }) => receiver.spans);
  const namesOf = (trace: number): readonly string[] =>
    allSpans()
      .filter(({ traceId }) => traceId === idOf(trace))
      .map(({ name }) => name)
      .sort();
  const instancesWith = (trace: number): number =>
    second.filter(({ receiver }) => receiver.spans.some(({ traceId }) => traceId === idOf(trace))).length;

  const CHEAP = Array.from({ length: 300 }, (_, index) => 1_000 + index);
  const KEPT = { error: 1, expensive: 2, unpriced: 3, slow: 4 };
  const UNFINISHED = 6;
  let unfinishedAt = 0;
  const whole = ["chat", "chat late in the turn", "session", "turn"];

  beforeAll(async () => {
    unfinishedAt = Date.now();
    await sendSpans(turnOf(UNFINISHED), modelCallOf(UNFINISHED, "chat"));
    // Each session arrives in three parts: a turn, more of it, the end
    for (const part of ["begin", "middle", "end"] as const) {
      const of = (trace: number, special: Special = {}) => partOf(part, trace, special);
      await sendSpans(
        ...CHEAP.flatMap((trace) => of(trace)),
        ...of(KEPT.error, { late: { status: { code: 2 } } }),
        ...of(KEPT.expensive, { root: { "openhook.cost.usd": 2.5 } }),
        ...of(KEPT.unpriced, {
          root: { "openhook.cost.unpriced_calls": 3, "openhook.session.input_tokens": 2_000_000 },
        }),
        ...of(KEPT.slow, { turnSeconds: 700 }),
      );
    }
    await until("a decision has fallen", () => allSpans().length > 0);
    await until("all kept ones have come", () => isQuiet(() => allSpans().length));
  });

  test.each(Object.entries(KEPT))("a session is kept completely: %s", (_, trace) => {
    expect(namesOf(trace)).toEqual(whole);
    expect(instancesWith(trace)).toBe(1);
  });

  test("a share of the others is kept, each completely and by one of both instances", () => {
    const kept = CHEAP.filter((trace) => namesOf(trace).length > 0);
    // 20 % of 300; the ids are the same in every run, so the number does not vary
    expect(kept.length).toBeGreaterThan(30);
    expect(kept.length).toBeLessThan(90);
    for (const trace of kept) {
      expect(namesOf(trace)).toEqual(whole);
      expect(instancesWith(trace)).toBe(1);
    }
    for (const { receiver } of second) expect(receiver.spans.length).toBeGreaterThan(20);
  });

  test("spans that arrive after the decision follow it", async () => {
    const kept = CHEAP.find((trace) => namesOf(trace).length > 0) ?? 0;
    const dropped = CHEAP.find((trace) => namesOf(trace).length === 0) ?? 0;
    const failed = { status: { code: 2 } };
    await sendSpans(modelCallOf(kept, "afterwards"), modelCallOf(KEPT.error, "afterwards"));
    // In a trace without a decision, an error would be kept
    await sendSpans(modelCallOf(dropped, "afterwards", failed));
    await until("the late ones have come", () => namesOf(kept).length + namesOf(KEPT.error).length === 10);
    await until("nothing comes any more", () => isQuiet(() => allSpans().length, (WAIT_S + 2) * 1_000));
    expect(namesOf(kept)).toEqual(["afterwards", ...whole].sort());
    expect(namesOf(dropped)).toEqual([]);
  });

  test("a session without an end is kept after the waiting time, and its end too", async () => {
    await until("it has been kept", () => namesOf(UNFINISHED).length > 0, (WAIT_S + 20) * 1_000);
    expect(Date.now() - unfinishedAt).toBeGreaterThan(WAIT_AFTER_END_S * 1_000);
    await sendSpans(rootOf(UNFINISHED, {}));
    await until("its end has come", () => namesOf(UNFINISHED).includes("session"));
    expect(namesOf(UNFINISHED)).toEqual(["chat", "session", "turn"]);
    expect(instancesWith(UNFINISHED)).toBe(1);
  });

  test("metrics are not sampled: every series arrives, each from one instance, in order", async () => {
    const machines = Array.from({ length: 40 }, (_, index) => `machine-${index}`);
    for (const value of [10, 20, 30]) await send("/v1/metrics", metrics(machines, value));
    const points = () => second.flatMap(({ receiver }) => receiver.metricPoints);
    await until("all have come", () => points().length >= 3 * machines.length);
    for (const machine of machines) {
      const holders = second.filter(({ receiver }) => receiver.metricPoints.some((point) => isOf(point, machine)));
      expect(holders).toHaveLength(1);
      const values = holders[0]?.receiver.metricPoints.filter((point) => isOf(point, machine)).map(({ data }) => data);
      expect(values?.map((data) => (data.kind === "sum" ? data.value : undefined))).toEqual([10, 20, 30]);
    }
    for (const { receiver } of second) expect(receiver.metricPoints.length).toBeGreaterThan(0);
  });

  test("no trace was dropped without a decision", async () => {
    for (const { metricsUrl } of second) {
      const text = await (await fetch(metricsUrl)).text();
      expect(text).toContain("otelcol_processor_tail_sampling_global_count_traces_sampled");
      const early = text.match(/^otelcol_processor_tail_sampling_sampling_trace_dropped_too_early\S* (\S+)$/m)?.[1];
      expect(Number(early ?? "0")).toBe(0);
    }
  });

  test("a restart of the second tier keeps undecided traces", async () => {
    const trace = 7;
    await sendSpans(turnOf(trace), modelCallOf(trace, "chat"));
    // No longer on the first tier's disk, but with an instance of the second
    await until("it waits", () => isQuiet(() => allSpans().length, 2_500));
    for (const { instance } of second) {
      await instance.server.stop();
      await instance.server.start();
    }
    await until("it has come", () => namesOf(trace).length > 0);
    expect(namesOf(trace)).toEqual(["chat", "turn"]);
  });
});

// --- internal ---

interface Instance {
  readonly instance: Collector;
  readonly receiver: Receiver;
  /** The address to which the first tier sends. */
  readonly address: string;
  readonly metricsUrl: string;
  remove(): Promise<void>;
}

async function startInstance(): Promise<Instance> {
  const receiver = await startReceiver();
  const port = await freePorts("grpc", "health", "metrics");
  const address = `127.0.0.1:${port.grpc}`;
  const health = `127.0.0.1:${port.health}`;
  const instance = await startCollector(collector ?? "", {
    configs: [
      ...["gateway-scaled/tier-2.yaml", "outputs/otlp.yaml"].map(shipped),
      {
        receivers: { otlp: { protocols: { grpc: { endpoint: address } } } },
        extensions: {
          health_check: { endpoint: health },
          file_storage: { directory: "queue", compaction: { directory: "queue" } },
        },
        service: { telemetry: ownMetrics(port.metrics) },
      },
    ],
    readyUrl: `http://${health}/`,
    env: {
      OPENHOOK_BACKEND: receiver.url,
      OPENHOOK_DECISION_WAIT: `${WAIT_S}s`,
      OPENHOOK_DECISION_WAIT_AFTER_END: `${WAIT_AFTER_END_S}s`,
    },
  });
  return {
    instance,
    receiver,
    address,
    metricsUrl: `http://127.0.0.1:${port.metrics}/metrics`,
    async remove() {
      await instance.remove();
      await receiver.close();
    },
  };
}

/** Whether a number stays the same for some time. */
async function isQuiet(read: () => number, forMs = 3_000): Promise<boolean> {
  const before = read();
  await new Promise((done) => setTimeout(done, forMs));
  return read() === before;
}

interface Special {
  readonly root?: Readonly<Record<string, number>>;
  readonly late?: Readonly<Record<string, unknown>>;
  readonly turnSeconds?: number;
}

function partOf(part: "begin" | "middle" | "end", trace: number, special: Special): readonly object[] {
  if (part === "begin") return [turnOf(trace, special.turnSeconds), modelCallOf(trace, "chat")];
  if (part === "middle") return [modelCallOf(trace, "chat late in the turn", special.late)];
  return [rootOf(trace, special.root ?? {})];
}

/** Random like real ids, because consistent hashing uses all of it. */
const idOf = (trace: number): string => {
  let hash = BigInt(trace) + 0x9e3779b97f4a7c15n;
  const half = (): string => {
    hash = BigInt.asUintN(64, (hash ^ (hash >> 30n)) * 0xbf58476d1ce4e5b9n);
    hash = BigInt.asUintN(64, (hash ^ (hash >> 27n)) * 0x94d049bb133111ebn);
    return hash.toString(16).padStart(16, "0");
  };
  return half() + half();
};

const ROOT_ID = "aaaaaaaaaaaaaaaa";
const START_S = 1_700_000_000n;
let spanIds = 0;

function spanOf(
  trace: number,
  name: string,
  kind: string,
  seconds: number,
  more: Readonly<Record<string, unknown>> = {},
) {
  const { attributes = [], ...rest } = more;
  return {
    traceId: idOf(trace),
    spanId: `${++spanIds}`.padStart(16, "b"),
    parentSpanId: ROOT_ID,
    name,
    kind: 1,
    startTimeUnixNano: `${START_S}000000000`,
    endTimeUnixNano: `${START_S + BigInt(seconds)}000000000`,
    status: {},
    attributes: [attribute("openhook.span.kind", kind), ...(Array.isArray(attributes) ? attributes : [])],
    ...rest,
  };
}

const turnOf = (trace: number, seconds = 30): object => spanOf(trace, "turn", "turn", seconds);

const modelCallOf = (trace: number, name: string, more: Readonly<Record<string, unknown>> = {}): object =>
  spanOf(trace, name, "model_call", 2, more);

/** A root span of two hours: a session that was left open does not count as slow. */
const rootOf = (trace: number, values: Readonly<Record<string, number>>): object => ({
  ...spanOf(trace, "session", "session", 7_200, {
    attributes: Object.entries({ "openhook.cost.usd": 0.02, ...values }).map(([key, value]) => attribute(key, value)),
  }),
  spanId: ROOT_ID,
  parentSpanId: "",
});

const attribute = (key: string, value: string | number) => ({
  key,
  value:
    typeof value === "string"
      ? { stringValue: value }
      : Number.isInteger(value)
        ? { intValue: `${value}` }
        : { doubleValue: value },
});

const traces = (spans: readonly object[]) => ({
  resourceSpans: [
    { resource: { attributes: [attribute("service.name", "claude-code")] }, scopeSpans: [{ scope: {}, spans }] },
  ],
});

const metrics = (machines: readonly string[], value: number) => ({
  resourceMetrics: machines.map((machine) => ({
    resource: { attributes: [attribute("service.name", "claude-code"), attribute("service.instance.id", machine)] },
    scopeMetrics: [
      {
        metrics: [
          {
            name: "openhook.turn.count",
            sum: {
              aggregationTemporality: 2,
              isMonotonic: true,
              dataPoints: [
                {
                  startTimeUnixNano: `${START_S}000000000`,
                  timeUnixNano: `${START_S + BigInt(value)}000000000`,
                  asInt: `${value}`,
                  attributes: [],
                },
              ],
            },
          },
        ],
      },
    ],
  })),
});

const isOf = ({ resource }: { readonly resource: Readonly<Record<string, unknown>> }, machine: string): boolean =>
  resource["service.instance.id"] === machine;
