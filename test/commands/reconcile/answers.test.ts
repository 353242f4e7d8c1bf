import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { namesOf, spansIn } from "#check/reconcile/fetch.ts";
import { reconcile } from "#commands/reconcile.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { contextAt } from "../../support/context.ts";
import { Replay } from "../../support/replay.ts";

// Responses of a real Jaeger and Prometheus about the recording `claude-code/subagent`, recorded by
// test/stack/reconcile.stack.ts. Ids are derived from content, so every replay has the same.
const recorded = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");
const V3 = recorded("jaeger-v3.json");
const UI = recorded("jaeger-ui.json");
const PROMETHEUS = recorded("prometheus.json");

let replay: Replay;
beforeAll(async () => {
  replay = new Replay("claude-code", "subagent");
  for (const call of replay.calls) replay.put(call);
  const receiver = await startReceiver();
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_SELF_TELEMETRY: "false" };
  await replay.drain({ endIdle: true, isEager: true });
  await receiver.close();
});
afterAll(() => replay.remove());

/** The result of `reconcile` with a backend that responds with this; `undefined` is 404. */
async function ask(name: "jaeger" | "tempo" | "prometheus", answer: (path: string) => string | undefined) {
  const server: Server = createServer((request, response) => {
    let form = "";
    request.on("data", (data) => {
      form += data;
    });
    request.on("end", () => {
      const body = answer(`${request.url} ${decodeURIComponent(form)}`);
      response.writeHead(body === undefined ? 404 : 200).end(body ?? "404 page not found");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const world = contextAt(replay.places, { env: replay.env });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { since: "2020-01-01", sampled: false, json: true, [name]: url };
  try {
    const code = await reconcile(undefined, options, world.context);
    return { code, ...JSON.parse(world.out()) };
  } finally {
    await new Promise((done) => server.close(done));
  }
}

const v3Alone = (text: string) => (path: string) => (path.startsWith("/api/v3/") ? text : undefined);
const queryAlone = (text: string) => (path: string) =>
  path.includes(",instance=") ? text : '{"status":"success","data":{"resultType":"vector","result":[]}}';

/** Replaces one part of the text. @throws if the text does not contain it */
function changed(text: string, from: string | RegExp, to: string): string {
  const after = text.replace(from, to);
  if (after === text) throw new Error(`${from} is not in the recorded answer`);
  return after;
}

describe("Jaeger", () => {
  test("reads API v3, and the format of Jaeger's UI where there is no v3", async () => {
    for (const answer of [v3Alone(V3), (path: string) => (path.startsWith("/api/traces/") ? UI : undefined)]) {
      const said = await ask("jaeger", answer);
      expect(said).toMatchObject({
        code: 0,
        differences: [],
        sessions: [{ verdict: "agree", spans: { store: 11, jaeger: 11 } }],
      });
      expect(said.tokens.jaeger).toEqual(said.tokens.store);
    }
  });

  test("both formats contain the same spans", () => {
    const sorted = (text: string) => [...spansIn(JSON.parse(text))].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
    expect(sorted(UI)).toEqual(sorted(V3));
    expect(sorted(V3).filter(({ parentSpanId }) => parentSpanId === "")).toHaveLength(1);
  });

  test("other tokens, another parent and a missing span are differences, in tree order", async () => {
    const tokens = await ask(
      "jaeger",
      v3Alone(changed(V3, /("gen_ai\.usage\.output_tokens",\s*"value": \{\s*"intValue": )"\d+"/, '$1"99999"')),
    );
    expect(tokens.code).toBe(1);
    expect(tokens.first_difference).toMatchObject({ what: "gen_ai.usage.output_tokens", right: 99999 });
    const parent = await ask(
      "jaeger",
      v3Alone(changed(V3, /"parentSpanId": "[0-9a-f]{16}"/, '"parentSpanId": "aaaaaaaaaaaaaaaa"')),
    );
    expect(parent.first_difference.what).toMatch(/^has parent aaaaaaaaaaaaaaaa instead of [0-9a-f]{16}$/);
    const missing = await ask(
      "jaeger",
      v3Alone(changed(V3, /"spanId": "[0-9a-f]{16}"/, '"spanId": "bbbbbbbbbbbbbbbb"')),
    );
    expect(missing.differences.map(({ what }: { what: string }) => what)).toContain("was delivered but is missing");
    // Reported as from another machine, because the recording has another instance id than the replay
    expect(missing.remarks.join("\n")).toContain("1 span of trace");
  });
});

describe("Tempo", () => {
  // Not recorded from a real Tempo: the wrapping and base64 ids follow its API documentation
  const base64 = (text: string): string =>
    text.replaceAll(
      /("(?:traceId|spanId|parentSpanId)": )"([0-9a-f]+)"/g,
      (_, name: string, id: string) => `${name}"${Buffer.from(id, "hex").toString("base64")}"`,
    );
  const { resourceSpans } = JSON.parse(base64(V3)).result;

  test("reads API v2 and v1", async () => {
    const v2 = await ask("tempo", (path) =>
      path.startsWith("/api/v2/") ? JSON.stringify({ trace: { resourceSpans } }) : undefined,
    );
    expect(v2).toMatchObject({ code: 0, differences: [], sessions: [{ spans: { tempo: 11 } }] });
    const v1 = await ask("tempo", (path) =>
      path.startsWith("/api/traces/") ? JSON.stringify({ batches: resourceSpans }) : undefined,
    );
    expect(v1).toMatchObject({ code: 0, differences: [], sessions: [{ spans: { tempo: 11 } }] });
  });

  test("a partial trace is unknown, not a difference", async () => {
    const half = { resourceSpans: resourceSpans.slice(0, 1), status: "PARTIAL" };
    half.resourceSpans[0].scopeSpans[0].spans = half.resourceSpans[0].scopeSpans[0].spans.slice(0, 1);
    const said = await ask("tempo", (path) =>
      path.startsWith("/api/v2/") ? JSON.stringify({ trace: half, status: "PARTIAL" }) : undefined,
    );
    expect(said).toMatchObject({ code: 0, differences: [] });
    expect(said.unknown.join("\n")).toContain("returned only part of trace");
  });
});

describe("Prometheus", () => {
  test("agrees with each sum, to the token", async () => {
    const said = await ask("prometheus", queryAlone(PROMETHEUS));
    expect(said).toMatchObject({ code: 0, differences: [] });
    for (const kind of ["input", "output", "cache_read", "cache_write"]) {
      const { store, prometheus } = said.counters.tokens[kind];
      expect([kind, prometheus]).toEqual([kind, store]);
      expect(store).toBeGreaterThan(0);
    }
  });

  test("another value and a missing series are differences, with both numbers", async () => {
    const answer = JSON.parse(PROMETHEUS);
    const named = (name: string) =>
      answer.data.result.filter(({ metric }: { metric: Record<string, string> }) => metric["__name__"] === name);
    const [one] = named("openhook_tool_call_count_total");
    one.value[1] = "41";
    const other = await ask("prometheus", queryAlone(JSON.stringify(answer)));
    expect(other.code).toBe(1);
    expect(other.differences).toHaveLength(1);
    expect(other.first_difference).toMatchObject({
      what: "has another value",
      right: 41,
      subject: expect.stringContaining("openhook.tool.call.count{"),
    });
    answer.data.result = answer.data.result.filter((series: unknown) => series !== one);
    const none = await ask("prometheus", queryAlone(JSON.stringify(answer)));
    expect(none.first_difference).toMatchObject({ what: "has no series", right: null });
  });

  test("ignores an older series of the same stream with a smaller value", async () => {
    const answer = JSON.parse(PROMETHEUS);
    const [first] = answer.data.result.filter(
      ({ metric }: { metric: Record<string, string> }) => metric["__name__"] === "openhook_token_usage_total",
    );
    answer.data.result.push({ metric: { ...first.metric, replica: "b" }, value: [first.value[0], "0"] });
    const said = await ask("prometheus", queryAlone(JSON.stringify(answer)));
    expect(said).toMatchObject({ code: 0, differences: [] });
    expect(said.remarks.join("\n")).toContain("Prometheus also has");
  });

  test.each([
    [
      "openhook.token.usage",
      "",
      ["openhook.token.usage", "openhook.token.usage_total", "openhook_token_usage", "openhook_token_usage_total"],
    ],
    [
      "gen_ai.invoke_agent.duration",
      "sum",
      [
        "gen_ai.invoke_agent.duration_sum",
        "gen_ai.invoke_agent.duration_seconds_sum",
        "gen_ai_invoke_agent_duration_sum",
        "gen_ai_invoke_agent_duration_seconds_sum",
      ],
    ],
  ] as const)("knows the names that %s %s can have", (name, suffix, names) => {
    const shape = METRIC_SHAPES.get(name);
    expect(shape && [...namesOf(shape, suffix)].sort()).toEqual([...names].sort());
  });
});
