import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { useCertificates } from "../support/certificates.ts";
import { type Backend, type Gateway, post, RAW, shipped, startBackend, startGateway, TOKEN, until } from "./gateway.ts";
import { metrics, trace } from "./gateway-payload.ts";
import { type NativeBody, nativeBodies, sendNative } from "./native.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import { type Collector, startCollector } from "./servers.ts";

// collector-config/native.yaml with what the agents send themselves, in a Collector of a team's own and in our gateway.

const { collector } = await programs();
const BODIES = nativeBodies();
/** Each agent's own name of its service. */
const SERVICES = ["claude-code", "codex_exec", "gemini-cli", "github-copilot", "goose", "opencode", "qwen-code"];

describe.skipIf(collector === undefined)("the agents' own telemetry", () => {
  const certificates = useCertificates();
  let backend: Backend;
  const running: { remove(): Promise<void> }[] = [];
  beforeAll(async () => {
    backend = await startBackend();
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.remove();
  });
  afterAll(() => backend?.close());

  /** A Collector as its README tells: the file and pipelines with its two processors. */
  async function own(env: Readonly<Record<string, string>>, files = [shipped("native.yaml")]): Promise<string> {
    const port = await freePorts("http", "health");
    const used = files.length === 0 ? [] : ["transform/native"];
    const pipeline = { receivers: ["otlp"], processors: used, exporters: ["otlp_http/backend"] };
    const exporter = { endpoint: backend.url, ...RAW.exporters["otlp_http/backend"] };
    const yours = {
      extensions: { health_check: { endpoint: `127.0.0.1:${port.health}` } },
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port.http}` } } } },
      exporters: { "otlp_http/backend": { ...exporter, sending_queue: { enabled: false } } },
      service: {
        extensions: ["health_check"],
        telemetry: { metrics: { level: "none" } },
        pipelines: {
          traces: pipeline,
          logs: pipeline,
          metrics: { ...pipeline, processors: [...used, ...(used.length === 0 ? [] : ["filter/native"])] },
        },
      },
    };
    const readyUrl = `http://127.0.0.1:${port.health}/`;
    const started: Collector = await startCollector(collector ?? "", { configs: [...files, yours], readyUrl, env });
    running.push(started);
    return `http://127.0.0.1:${port.http}`;
  }

  /** What the backend gets of a body. Without a queue it is there when the request is answered. */
  async function passed(url: string, body: NativeBody): Promise<Passed> {
    const before = backend.bodies.length;
    expect(await sendNative(url, body), body.name).toBe(200);
    return passedOf(backend.bodies.slice(before));
  }

  test("apart: other services' names, gen_ai metrics under other names, everything else unchanged", async () => {
    const [plain, url] = [await own({}, []), await own({})];
    const services = new Set<string>();
    for (const body of BODIES) {
      const [sent, kept] = [await passed(plain, body), await passed(url, body)];
      for (const name of sent.services) services.add(name);
      expect(kept.services, body.name).toEqual(sent.services.map((name) => `${name}.native`));
      expect(kept.metrics, body.name).toEqual(
        sent.metrics.map((name) => (name.startsWith("gen_ai.") ? `native.${name}` : name)),
      );
      expect(ours(kept.metrics), body.name).toEqual([]);
      expect(asBefore(kept.text), body.name).toBe(sent.text);
    }
    expect([...services].sort()).toEqual(SERVICES);
  });

  test("twelve metrics of Copilot CLI have our names without the file", async () => {
    const body = BODIES.find(({ name }) => name === "copilot.metrics.json");
    if (body === undefined) throw new Error("the recording is not there");
    const { metrics: names } = await passed(await own({}, []), body);
    expect([names.length, ours(names).length]).toEqual([19, 12]);
  });

  test("drop: no tokens, no cost, no sessions, and the rest is apart", async () => {
    const url = await own({ OPENHOOK_NATIVE: "drop" });
    const dropped: string[] = [];
    const plain = await own({}, []);
    for (const body of BODIES) {
      const [sent, kept] = [await passed(plain, body), await passed(url, body)];
      expect(kept.services, body.name).toEqual(kept.text === "" ? [] : sent.services.map((name) => `${name}.native`));
      dropped.push(...sent.metrics.filter((name) => !kept.metrics.includes(name)));
      expect(kept.text, body.name).not.toContain("gen_ai.usage.");
    }
    expect(dropped.filter((name) => !name.startsWith("gen_ai.")).sort()).toEqual([
      "claude_code.cost.usage",
      "claude_code.session.count",
      "claude_code.token.usage",
      "codex.thread.started",
      "codex.turn.token_usage",
      "gemini_cli.session.count",
      "gemini_cli.token.usage",
      "goose.session_completions",
      "goose.session_duration_ms",
      "goose.session_starts",
      "goose.session_tokens",
      "qwen-code.session.count",
      "qwen-code.token.usage",
    ]);
    expect(dropped.filter((name) => name.startsWith("gen_ai."))).toHaveLength(17);
  });

  test.each(["apart", "drop"])("%s: ours and those of other services pass unchanged", async (mode) => {
    const [plain, url] = [await own({}, []), await own({ OPENHOOK_NATIVE: mode })];
    const ofOurs = { ...metrics(), resourceSpans: trace().resourceSpans };
    // An application with the same conventions, and a service whose name begins like an agent's
    const text = JSON.stringify(metrics()).replaceAll("openhook-otel", "shop.assistant");
    const others = text.replace('"claude-code"', '"goose-farm"').replace("openhook.token.usage", "gen_ai.client.cost");
    for (const [signal, json] of [
      ["metrics", JSON.stringify({ resourceMetrics: ofOurs.resourceMetrics })],
      ["traces", JSON.stringify({ resourceSpans: ofOurs.resourceSpans })],
      ["metrics", others],
    ] as const) {
      const body = { name: signal, signal, type: "application/json", bytes: Buffer.from(json) } as const;
      const [sent, kept] = [await passed(plain, body), await passed(url, body)];
      expect(sent.text).not.toBe("");
      expect(kept.text).toBe(sent.text);
    }
  });

  test("an agent that OTEL_SERVICE_NAME renames, and signals that pass two such Collectors", async () => {
    const url = await own({});
    for (const body of BODIES.filter(({ name }) => /^(claude|codex|copilot|qwen).*json/.test(name))) {
      const text = body.bytes.toString("utf8");
      const renamed = text.replaceAll(/("service\.name","value":\{"stringValue":")[^"]+/g, "$1our-agent");
      const twice = text.replaceAll(/("service\.name","value":\{"stringValue":")[^"]+/g, "$1codex.native");
      for (const [bytes, name] of [
        [renamed, "our-agent.native"],
        [twice, "codex.native"],
      ] as const) {
        const { services } = await passed(url, { ...body, bytes: Buffer.from(bytes) });
        expect(new Set(services), body.name).toEqual(new Set([name]));
      }
    }
  });

  test.each([
    ["without the file they pass our gateway under our names", [], "github-copilot", 12],
    ["with it, after redaction.yaml, they are apart", ["native.yaml"], "github-copilot.native", 0],
  ] as const)("%s", async (_, files, service, count) => {
    const outputs = [...files, "outputs/otlp.yaml"];
    const env = { OPENHOOK_BACKEND: backend.url };
    const gateway: Gateway = await startGateway(collector ?? "", certificates, outputs, env, RAW);
    running.push(gateway);
    const before = backend.bodies.length;
    for (const body of BODIES.filter(({ name }) => name.startsWith("copilot"))) {
      const sent = JSON.parse(body.bytes.toString("utf8"));
      const url = `${gateway.url}/v1/${body.signal}`;
      expect(await post(url, sent, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
    }
    const got = (): Passed => passedOf(backend.bodies.slice(before));
    await until("both have come", () => got().services.length >= 2);
    expect(new Set(got().services)).toEqual(new Set([service]));
    expect(ours(got().metrics)).toHaveLength(count);
    // Names that the gateway does not know never pass
    expect(got().metrics.filter((name) => name.startsWith("github."))).toEqual([]);
  });
});

if (collector === undefined) test.skip("not covered here: native.yaml with a real Collector");

// --- internal ---

interface Passed {
  readonly services: readonly string[];
  readonly metrics: readonly string[];
  /** The bodies; empty if nothing came. */
  readonly text: string;
}

interface Scopes {
  readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
  readonly scopeMetrics?: readonly { readonly metrics: readonly { readonly name: string }[] }[];
}

function passedOf(bodies: readonly string[]): Passed {
  const resources = bodies.flatMap((body): Scopes[] =>
    Object.values(JSON.parse(body) as Record<string, Scopes[]>).flat(),
  );
  return {
    services: resources.flatMap(({ resource }) =>
      resource.attributes.filter(({ key }) => key === "service.name").map(({ value }) => value.stringValue ?? ""),
    ),
    metrics: resources.flatMap((one) =>
      (one.scopeMetrics ?? []).flatMap((scope) => scope.metrics.map(({ name }) => name)),
    ),
    text: bodies.join("\n"),
  };
}

const ours = (names: readonly string[]): readonly string[] => names.filter((name) => METRIC_SHAPES.has(name));

const asBefore = (text: string): string =>
  text
    .replaceAll(/("service\.name","value":\{"stringValue":"[^"]+)\.native"/g, '$1"')
    .replaceAll('"name":"native.gen_ai.', '"name":"gen_ai.');
