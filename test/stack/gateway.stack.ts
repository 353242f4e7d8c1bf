import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { type ReceivedPoint, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import {
  type Backend,
  type Gateway,
  OTHER_TOKEN,
  post,
  RAW,
  startBackend,
  startGateway,
  TOKEN,
  until,
} from "./gateway.ts";
import { programs } from "./programs.ts";
import { recordings, Team, type Truth } from "./sessions.ts";

const { collector } = await programs();
const OUTPUT = ["outputs/otlp.yaml"];

/** Invented secrets in the formats of real ones. */
const SECRETS = {
  "a key of a model provider": `sk-ant-${"api03"}-${"Zx81k".repeat(6)}`,
  "a GitHub token": `ghp_${"a1B2".repeat(9)}`,
  "an AWS key": `AKIA${"QX7Z".repeat(4)}`,
  "a password that is assigned": `password=${"correct-horse-battery"}`,
  "a password in an address": `https://ada:${"s3cr3t"}@db.example.com/x`,
  "a private key": `-----BEGIN RSA PRIVATE KEY-----${"MIIE".repeat(10)}`,
} as const;

describe.skipIf(collector === undefined)("the gateway", () => {
  const certificates = useCertificates();

  const started = (backend: string, env = {}, over = {}): Promise<Gateway> =>
    startGateway(collector ?? "", certificates, OUTPUT, { OPENHOOK_BACKEND: backend, ...env }, over);

  describe("authenticates senders", () => {
    let backend: Backend;
    let gateway: Gateway;
    beforeAll(async () => {
      backend = await startBackend();
      gateway = await started(backend.url);
    });
    afterAll(async () => {
      await gateway?.remove();
      await backend?.close();
    });
    const send = (token?: string, path = "/v1/traces"): Promise<number> =>
      post(`${gateway.url}${path}`, traces(span({ name: "chat" })), {
        ca: certificates.ca.cert,
        ...(token !== undefined && { token }),
      });

    test("a missing token, a wrong one and the beginning of one are refused", async () => {
      expect(await send()).toBe(401);
      expect(await send("a-token-of-nobody")).toBe(401);
      expect(await send(TOKEN.slice(0, -1))).toBe(401);
      expect(await send("")).toBe(401);
    });

    test("each line of the file is a token", async () => {
      expect(await send(TOKEN)).toBe(200);
      expect(await send(OTHER_TOKEN)).toBe(200);
      expect(await send("# payments")).toBe(401);
    });

    test("logs are refused, because they have no pipeline", async () => {
      expect(await send(TOKEN, "/v1/logs")).toBe(404);
    });

    test("requests without TLS are refused", async () => {
      const { port } = new URL(gateway.url);
      const status = await new Promise<number | string>((done) => {
        const sent = request({ host: "127.0.0.1", port, path: "/v1/traces", method: "POST" }, (answer) => {
          answer.resume();
          done(answer.statusCode ?? 0);
        });
        sent.on("error", (error) => done(error.message));
        sent.end("{}");
      });
      expect(status).toBe(400);
    });

    test("clients with another certificate authority are refused", async () => {
      const sent = post(`${gateway.url}/v1/traces`, traces(), { ca: certificates.stranger.cert, token: TOKEN });
      await expect(sent).rejects.toThrow(/certificate/);
    });
  });

  describe("with all recorded sessions", () => {
    let receiver: Receiver;
    let gateway: Gateway;
    let team: Team;
    let truth: Truth;
    beforeAll(async () => {
      receiver = await startReceiver();
      gateway = await started(receiver.url);
      // Two recordings per agent contain all of its attributes. Another test sends all recordings.
      const seen = new Map<string, number>();
      const some = (await recordings()).filter(({ source }) => {
        seen.set(source, (seen.get(source) ?? 0) + 1);
        return (seen.get(source) ?? 0) <= 2;
      });
      team = await Team.at(some);
      await team.drain({
        OPENHOOK_OTEL_OTLP_ENDPOINT: gateway.url,
        OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath,
        OPENHOOK_OTEL_OTLP_HEADERS: `authorization=Bearer ${TOKEN}`,
      });
      truth = team.truth();
      await until("every span has come", () => receiver.spansById().size >= truth.spans.length);
    });
    afterAll(async () => {
      team?.remove();
      await gateway?.remove();
      await receiver?.close();
    });

    test("forwards every span unchanged", () => {
      expect(truth.spans.length).toBeGreaterThan(50);
      const come = receiver.spansById();
      for (const { spanId, name, attributes, events, links, status, resource } of truth.spans) {
        const found = come.get(spanId);
        const { code, message } = { message: undefined, ...found?.status };
        expect({ name: found?.name, attributes: found?.attributes }).toEqual({ name, attributes });
        expect(found?.events.map(({ name, attributes }) => ({ name, attributes }))).toEqual(
          events.map(({ name, attributes }) => ({ name, attributes })),
        );
        expect({ code, ...(message !== undefined && { message }) }).toEqual(status);
        expect(found?.resource).toMatchObject(resource);
        expect(found?.scope.name).toBe("openhook-otel");
        expect(found?.links).toEqual(links);
      }
    });

    test("forwards every counter, to the token", async () => {
      const points = (): readonly string[] =>
        receiver
          .latestPoints()
          .filter(({ name }) => !name.startsWith("openhook.collector."))
          .map((point) => keyOf(point.name, point.attributes, numberOf(point)))
          .sort();
      const own = ({ metric }: { readonly metric: string }): boolean => !metric.startsWith("openhook.collector.");
      const wanted = truth.streams
        .filter(own)
        .map(({ metric, attributes, value }) => keyOf(metric, attributes, inUnits(metric, value)))
        .sort();
      expect(wanted.length).toBeGreaterThan(100);
      await until("every series has come", () => points().length >= wanted.length);
      expect(points()).toEqual(wanted);
      expect(wanted.filter((key) => key.includes("openhook.token.usage")).length).toBeGreaterThan(10);
      for (const { name, description, unit } of receiver.metricPoints) {
        const shape = METRIC_SHAPES.get(name);
        expect({ name, description, unit }).toEqual({ name, description: shape?.description, unit: shape?.unit });
      }
    });

    test("forwards the resource attributes of the machine and of the program", () => {
      const resource = receiver.spans[0]?.resource ?? {};
      expect(Object.keys(resource)).toEqual(
        expect.arrayContaining(["service.instance.id", "service.namespace", "telemetry.distro.version", "os.type"]),
      );
      expect(receiver.metricPoints.some(({ name }) => name === "openhook.collector.payload.count")).toBe(true);
    });
  });

  describe("forwards nothing that must be removed", () => {
    let backend: Backend;
    let gateway: Gateway;
    beforeAll(async () => {
      backend = await startBackend();
      gateway = await started(backend.url, { OPENHOOK_ALLOWED_KEYS: "squad|billing\\..+" }, RAW);
    });
    afterAll(async () => {
      await gateway?.remove();
      await backend?.close();
    });

    const sent = async (path: "/v1/traces" | "/v1/metrics", body: unknown): Promise<string> => {
      const before = backend.bodies.length;
      const status = await post(`${gateway.url}${path}`, body, { ca: certificates.ca.cert, token: TOKEN });
      expect(status).toBe(200);
      await until("it has come", () => backend.bodies.length > before);
      return backend.bodies.slice(before).join("");
    };

    test.each(Object.entries(SECRETS))("a secret is masked in every place: %s", async (_, secret) => {
      const text = await sent("/v1/traces", spanWith(secret, "gen_ai.tool.name"));
      expect(text).not.toContain(secret);
      expect(text).toContain("****");
      expect(text).toContain("claude-code");
      const metrics = await sent("/v1/metrics", metricWith(secret, "gen_ai.tool.name"));
      expect(metrics).not.toContain(secret);
      expect(metrics).toContain("****");
      expect(metrics).toContain("openhook.tool.call.count");
    });

    test("an unknown attribute is removed in every place", async () => {
      const text = await sent("/v1/traces", spanWith("an ordinary word", "somebody.elses"));
      expect(text).not.toContain("somebody.elses");
      expect(text).toContain('"name":"execute_tool an ordinary word"');
      const metrics = await sent("/v1/metrics", metricWith("an ordinary word", "somebody.elses"));
      expect(metrics).not.toContain("somebody.elses");
    });

    test("a span is dropped if its link can contain content that cannot be checked", async () => {
      const attributes = { "openhook.span.kind": "session" };
      const link = (text: string) => ({
        traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
        spanId: "00f067aa0ba902b8",
        attributes: keyValues({ "openhook.link.kind": text }),
      });
      const of = (scope: string, links: readonly unknown[], values: Values = attributes) =>
        sent("/v1/traces", {
          resourceSpans: [
            ...traces(span({ name: "linked", attributes: values, more: { links } }), {}, { name: scope }).resourceSpans,
            ...traces(span({ name: "witness" })).resourceSpans,
          ],
        });
      const kept = await of("openhook-otel", [link("resumes")]);
      expect(kept).toContain("linked");
      expect(kept).toContain("resumes");
      // A subagent that outlives its session is in another trace than the call that started it
      expect(await of("openhook-otel", [link("started_by")], { "openhook.span.kind": "subagent" })).toContain("linked");
      const planted = SECRETS["a GitHub token"];
      for (const text of [
        await of("somebody-elses-sdk", [link(planted)]),
        await of("openhook-otel", [link("resumes"), link(planted)]),
        await of("openhook-otel", [link(planted)], { "openhook.span.kind": "tool_call" }),
        await of("openhook-otel", [link(planted)], {}),
      ]) {
        expect(text).toContain("witness");
        expect(text).not.toContain("linked");
        expect(text).not.toContain(planted);
      }
    });

    test("content is removed, unless its attributes are allowed by name", async () => {
      const attributes = { "gen_ai.input.messages": "[the prompt]", "gen_ai.tool.call.arguments": "{the arguments}" };
      const text = await sent("/v1/traces", traces(span({ attributes })));
      expect(text).not.toMatch(/the prompt|the arguments/);
    });

    test("allowed names are forwarded, and their values are still redacted", async () => {
      const attributes = { squad: "red", "billing.code": `password=${"hunter2hunter2"}`, squadron: "blue" };
      const text = await sent("/v1/traces", traces(span({ attributes })));
      expect(text).toContain('"squad"');
      expect(text).toContain("billing.code");
      expect(text).not.toMatch(/squadron|hunter2/);
    });

    test("an unknown metric is dropped", async () => {
      const own = metric({ name: "openhook.turn.count" });
      const text = await sent("/v1/metrics", metrics(metric({ name: "shop.orders" }), own));
      expect(text).toContain("openhook.turn.count");
      expect(text).not.toContain("shop.orders");
    });

    test("addresses and users' names are removed, and the user's own address stays where it is configured", async () => {
      const attributes = {
        "vcs.ref.head.name": "users/ada@example.com/fix",
        "gen_ai.tool.name": "/home/ada/bin/deploy",
      };
      const resource = { "user.email": "grace@example.com" };
      const text = await sent("/v1/traces", traces(span({ attributes }), resource));
      expect(text).not.toMatch(/ada/);
      expect(text).toContain("grace@example.com");
    });

    test("numbers stay numbers, also of attributes with the word token in their names", async () => {
      const attributes = { "gen_ai.usage.input_tokens": 24_873, "openhook.cost.usd": 0.032 };
      const text = await sent("/v1/traces", traces(span({ attributes })));
      expect(text).toContain('"intValue":"24873"');
      expect(text).toContain('"doubleValue":0.032');
    });
  });

  test("accepted data survives kill -9 while the backend is down, and is delivered once", async () => {
    const receiver = await startReceiver({ behaviour: () => ({ status: 503 }) });
    const gateway = await started(receiver.url);
    try {
      const ids = Array.from({ length: 50 }, (_, i) => `${i}`.padStart(16, "a")).sort();
      for (const spanId of ids) {
        const body = traces(span({ spanId, name: "chat" }));
        expect(await post(`${gateway.url}/v1/traces`, body, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
      }
      const counts = metrics(metric({ name: "openhook.turn.count", value: 7 }));
      expect(await post(`${gateway.url}/v1/metrics`, counts, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
      await gateway.collector.server.kill();
      receiver.setBehaviour(undefined);
      await gateway.collector.server.start();
      await until("all spans have come", () => receiver.spansById().size === ids.length);
      await until("the count has come", () => receiver.metricPoints.length > 0);
      // Long enough for a second delivery to arrive
      await new Promise((done) => setTimeout(done, 2_000));
      expect(receiver.spans.map(({ spanId }) => spanId).sort()).toEqual(ids);
      expect(receiver.metricPoints.map(numberOf)).toEqual([7]);
    } finally {
      await gateway.remove();
      await receiver.close();
    }
  });
});

// --- internal ---

type Values = Readonly<Record<string, string | number | readonly string[]>>;

interface SpanParts {
  readonly spanId?: string;
  readonly name?: string;
  readonly attributes?: Values;
  readonly more?: Readonly<Record<string, unknown>>;
}

const span = ({ spanId = "00f067aa0ba902b7", name = "chat", attributes = {}, more = {} }: SpanParts) => ({
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId,
  name,
  kind: 1,
  startTimeUnixNano: "1700000000000000000",
  endTimeUnixNano: "1700000001000000000",
  attributes: keyValues(attributes),
  status: {},
  ...more,
});

const traces = (one: unknown = span({}), resource: Values = {}, scope: unknown = {}, more = {}) => ({
  resourceSpans: [
    {
      resource: { attributes: keyValues({ "service.name": "claude-code", ...resource }) },
      scopeSpans: [{ scope, spans: [one], ...more }],
      ...more,
    },
  ],
});

interface MetricParts {
  readonly name: string;
  readonly value?: number;
  readonly attributes?: Values;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly point?: Readonly<Record<string, unknown>>;
}

const metric = ({ name, value = 1, attributes = {}, more = {}, point = {} }: MetricParts) => ({
  name,
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [
      {
        startTimeUnixNano: "1700000000000000000",
        timeUnixNano: "1700000001000000000",
        asInt: `${value}`,
        attributes: keyValues(attributes),
        ...point,
      },
    ],
  },
  ...more,
});

const metrics = (...all: readonly unknown[]) => ({
  resourceMetrics: [
    { resource: { attributes: keyValues({ "service.name": "claude-code" }) }, scopeMetrics: [{ metrics: all }] },
  ],
});

/** A request with the text in every field that can contain one. */
function spanWith(text: string, key: string) {
  const attributes = { [key]: text, "gen_ai.response.finish_reasons": ["end_turn", text] };
  return traces(
    span({
      name: `execute_tool ${text}`,
      attributes,
      more: {
        traceState: `x=${text}`,
        events: [{ name: `event ${text}`, timeUnixNano: "1700000000500000000", attributes: keyValues(attributes) }],
        status: { code: 2, message: `failed: ${text}` },
      },
    }),
    { [key]: text, "host.name": text },
    { name: `scope ${text}`, version: text, attributes: keyValues(attributes) },
    { schemaUrl: `https://example.com/${text}` },
  );
}

function metricWith(text: string, key: string) {
  const attributes = { [key]: text };
  const exemplar = { timeUnixNano: "1700000000500000000", asInt: "1", filteredAttributes: keyValues(attributes) };
  const one = metric({
    name: "openhook.tool.call.count",
    attributes,
    more: { description: text, unit: text, metadata: keyValues(attributes) },
    point: { exemplars: [exemplar] },
  });
  const scope = { name: `scope ${text}`, version: text, attributes: keyValues(attributes) };
  const schemaUrl = `https://example.com/${text}`;
  const other = metric({ name: `openhook.${text}` });
  const resource = { attributes: keyValues({ "service.name": "claude-code", "host.name": text, [key]: text }) };
  return { resourceMetrics: [{ resource, schemaUrl, scopeMetrics: [{ scope, schemaUrl, metrics: [one, other] }] }] };
}

const keyValues = (values: Values) => Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

function anyValue(value: Values[string]): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value !== "number") return { arrayValue: { values: value.map(anyValue) } };
  return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
}

const keyOf = (name: string, attributes: object, value: number): string =>
  JSON.stringify([name, Object.entries(attributes).sort(), value]);

/** The value of a point; for a histogram its count, as in the store's streams. */
const numberOf = ({ data }: ReceivedPoint): number => (data.kind === "histogram" ? data.count : data.value);

/** The store has costs in billionths of a dollar. */
const inUnits = (name: string, value: number): number =>
  METRIC_SHAPES.get(name)?.value === "nano" ? value / 1e9 : value;
