import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ReceivedLog, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { useCertificates } from "../support/certificates.ts";
import { Replay } from "../support/replay.ts";
import { type Backend, type Gateway, post, RAW, startBackend, startGateway, TOKEN, until } from "./gateway.ts";
import { metrics, trace } from "./gateway-payload.ts";
import { programs } from "./programs.ts";

// The gateway with logs.yaml: our records pass unchanged, and nothing else does.

const { collector } = await programs();
const certificates = useCertificates();

const SECRETS = {
  "a key of a model provider": `sk-ant-${"api03"}-${"Zx81k".repeat(6)}`,
  "a GitHub token": `ghp_${"a1B2".repeat(9)}`,
  "a password that is assigned": `password=${"correct-horse-battery"}`,
} as const;

describe.skipIf(collector === undefined)("a gateway with logs.yaml", () => {
  const started = (outputs: readonly string[], env: Record<string, string>, over = {}): Promise<Gateway> =>
    startGateway(collector ?? "", certificates, ["logs.yaml", ...outputs], env, over);

  describe("with recorded sessions", () => {
    let receiver: Receiver;
    let gateway: Gateway;
    beforeAll(async () => {
      receiver = await startReceiver();
      gateway = await started(["outputs/otlp.yaml", "outputs/otlp-logs.yaml"], { OPENHOOK_BACKEND: receiver.url });
    });
    afterAll(async () => {
      await gateway?.remove();
      await receiver?.close();
    });

    test.each([
      ["claude-code", "api-error"],
      ["claude-code", "compaction"],
      ["codex", "basic"],
    ])("%s %s: every record comes as a backend without a gateway gets it", async (source, name) => {
      const direct = await startReceiver();
      receiver.clear();
      try {
        for (const [url, more] of [
          [direct.url, {}],
          [
            gateway.url,
            {
              OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath,
              OPENHOOK_OTEL_OTLP_HEADERS: `authorization=Bearer ${TOKEN}`,
            },
          ],
        ] as const) {
          const of = new Replay(source, name);
          of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: url, OPENHOOK_OTEL_LOGS: "events", ...more };
          for (const call of of.calls) of.put(call);
          const { logs, problems } = await of.drain({ endIdle: true });
          of.remove();
          expect([logs?.waiting, problems]).toEqual([0, []]);
        }
        expect(direct.logs.length).toBeGreaterThan(5);
        await until("every record has come", () => receiver.logs.length >= direct.logs.length);
        expect(receiver.logs.map(comparable).sort()).toEqual(direct.logs.map(comparable).sort());
      } finally {
        await direct.close();
      }
    });
  });

  describe("forwards nothing that must be removed", () => {
    let backend: Backend;
    let gateway: Gateway;
    beforeAll(async () => {
      backend = await startBackend();
      gateway = await started(["outputs/otlp.yaml", "outputs/otlp-logs.yaml"], { OPENHOOK_BACKEND: backend.url }, RAW);
    });
    afterAll(async () => {
      await gateway?.remove();
      await backend?.close();
    });

    const sent = async (body: unknown): Promise<string> => {
      const before = backend.bodies.length;
      expect(await post(`${gateway.url}/v1/logs`, body, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
      await until("it has come", () => backend.bodies.length > before);
      return backend.bodies.slice(before).join("");
    };

    test.each(Object.entries(SECRETS))("a secret is masked in every place: %s", async (_, secret) => {
      const text = await sent(logWith(secret, "gen_ai.tool.name"));
      expect(text).not.toContain(secret);
      expect(text).toContain("****");
      expect(text).toContain("openhook.tool_call");
    });

    test("an unknown attribute and content are removed, and so is a body that is not ours", async () => {
      const text = await sent(logWith("an ordinary word", "somebody.elses"));
      expect(text).not.toMatch(/somebody\.elses|"body":\{"stringValue":"an|"severityText":"an/);
      expect(text).toContain('"body":{"stringValue":"openhook.tool_call"}');
      const attributes = { "gen_ai.input.messages": "[the prompt]", "gen_ai.tool.call.arguments": "{the arguments}" };
      expect(await sent(logs(log({ attributes })))).not.toMatch(/the prompt|the arguments/);
    });

    test("records of other senders and of other names are dropped", async () => {
      const others = [
        logs(log({ attributes: { "gen_ai.tool.name": "stranger" } }), { name: "somebody-elses-sdk" }),
        logs(log({ name: "shop.order", attributes: { "gen_ai.tool.name": "stranger" } })),
        logs(log({ name: "", attributes: { "gen_ai.tool.name": "stranger" } })),
      ].flatMap(({ resourceLogs }) => resourceLogs);
      const text = await sent({ resourceLogs: [...others, ...logs(log({})).resourceLogs] });
      expect(text).toContain("openhook.tool_call");
      expect(text).not.toContain("stranger");
    });
  });

  test("Loki gets them at its OTLP endpoint, and spans and metrics go elsewhere", async () => {
    const [loki, backend] = [await startBackend(), await startBackend()];
    const gateway = await started(["outputs/otlp.yaml", "outputs/loki.yaml"], {
      OPENHOOK_LOKI: loki.url,
      OPENHOOK_BACKEND: backend.url,
    });
    try {
      for (const [path, body] of Object.entries({
        "/v1/logs": logs(log({})),
        "/v1/traces": trace(),
        "/v1/metrics": metrics(),
      }))
        expect(await post(`${gateway.url}${path}`, body, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
      await until("all have come", () => loki.bodies.length > 0 && backend.bodies.length > 1);
      expect(loki.bodies).toHaveLength(1);
    } finally {
      await gateway.remove();
      await loki.close();
      await backend.close();
    }
  });
});

// --- internal ---

/** Without what differs between two machines. */
function comparable({ resource, scope, ...log }: ReceivedLog): string {
  const { "service.instance.id": _, ...rest } = resource;
  return JSON.stringify([log, sorted(rest), scope.name], (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : isPlain(value) ? Object.fromEntries(sorted(value)) : value,
  );
}

const sorted = (values: object) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Values = Readonly<Record<string, string>>;

const keyValues = (values: Values) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));

const log = ({ name = "openhook.tool_call", attributes = {} as Values, more = {} }) => ({
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  timeUnixNano: `${Date.now()}000000`,
  severityNumber: 9,
  severityText: "INFO",
  eventName: name,
  body: { stringValue: name },
  attributes: keyValues({ "openhook.span.kind": "tool_call", ...attributes }),
  ...more,
});

const logs = (one: unknown, scope: unknown = { name: "openhook-otel" }, resource: Values = {}, more = {}) => ({
  resourceLogs: [
    {
      resource: { attributes: keyValues({ "service.name": "claude-code", ...resource }) },
      scopeLogs: [{ scope, logRecords: [one], ...more }],
      ...more,
    },
  ],
});

/** A request with the text in every field that can contain one. */
function logWith(text: string, key: string) {
  const nested = { kvlistValue: { values: keyValues({ inner: text }) } };
  const one = log({ more: { body: { stringValue: text }, severityText: text } });
  const record = {
    ...one,
    attributes: [
      ...one.attributes,
      ...keyValues({ [key]: text }),
      { key: "gen_ai.response.finish_reasons", value: { arrayValue: { values: [{ stringValue: text }] } } },
      { key: "openhook.turn.state", value: nested },
    ],
  };
  const scope = { name: "openhook-otel", version: text, attributes: keyValues({ [key]: text }) };
  const more = { schemaUrl: `https://example.com/${text}` };
  const secretName = log({ name: `openhook.${text}` });
  const { resourceLogs } = logs(record, scope, { [key]: text, "host.name": text }, more);
  return { resourceLogs: [...resourceLogs, ...logs(secretName).resourceLogs] };
}
