// The second check: a secret that an earlier station missed is not stored and not sent.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";

const SECRET = "AKIAKANARIENVOGEL";
const secret = (n: number): string => `${SECRET}${String(n).padStart(3, "0")}`;

let receiver: Receiver;
let inbox: InboxFixture;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.clear();
  inbox = new InboxFixture();
  return () => inbox.remove();
});

const time = (s: number) => new Date(Date.UTC(2026, 10, 1, 10, 0, s)).toISOString();
const event = (type: string, s: number, more: object = {}) => ({
  openhook: "0.1",
  id: `${type}-${s}`,
  source: "acme",
  type,
  time: time(s),
  session_id: "s-1",
  ...more,
});
const call = (n: number, tool: string) => [
  event("tool.start", n * 2, { data: { tool_name: tool, tool_call_id: `c${n}` } }),
  event("tool.end", n * 2 + 1, {
    data: { tool_name: tool, tool_call_id: `c${n}`, status: "error" },
    extensions: { error_type: `E ${secret(500 + n)}`, mcp_server: `server ${secret(600 + n)}` },
  }),
];

const sent = (): string => receiver.requests.map(({ body }) => body.toString("latin1")).join("\n");
const stored = (): string => {
  const db = openDatabase(inbox.places.storePath);
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return JSON.stringify(tables.flatMap(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all()));
  } finally {
    db.close();
  }
};

describe("a secret in a name that an agent sends", () => {
  test.each(["none", "metadata", "redacted"])("is neither stored nor sent at %s", async (capture) => {
    inbox.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_CAPTURE: capture };
    const events = [
      event("session.start", 0),
      ...call(1, `tool ${secret(1)}`),
      ...call(2, `tool ${secret(2)}`),
      event("session.end", 9, { data: { reason: "completed" }, extensions: { native_reason: `because ${secret(3)}` } }),
    ];
    inbox.put({ events });
    await inbox.drain({ endIdle: true });
    expect(receiver.spans.length).toBeGreaterThan(2);
    expect(sent()).not.toContain(SECRET);
    expect(stored()).not.toContain(SECRET);
  });

  test("makes one series with a name that is equal without it", async () => {
    inbox.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    inbox.put({
      events: [event("session.start", 0), ...call(1, `tool ${secret(1)}`), ...call(2, `tool ${secret(2)}`)],
    });
    await inbox.drain({ endIdle: true });
    const points = receiver
      .latestPoints()
      .filter(
        ({ name, attributes }) => name === "openhook.tool.call.count" && attributes["gen_ai.tool.name"] !== undefined,
      );
    expect(
      points.map(({ attributes, data }) => [
        attributes["gen_ai.tool.name"],
        data.kind === "sum" ? data.value : undefined,
      ]),
    ).toEqual([["tool [redacted:aws-key]", 2]]);
  });
});

describe("a secret that is in the store already", () => {
  test("is not sent: spans, links, events, resources, counters", async () => {
    inbox.put({ events: [event("session.start", 0), ...call(1, "Tool")] });
    await inbox.drain({ endIdle: true });
    const db = openDatabase(inbox.places.storePath);
    for (const { seq, record } of db.prepare("SELECT seq, record FROM spans").all()) {
      const span = JSON.parse(String(record)) as Record<string, unknown> & { attributes: object; resource: object };
      const spoilt = {
        ...span,
        name: `${String(span["name"])} ${secret(1)}`,
        attributes: { ...span.attributes, one: secret(2), list: [secret(3), "b"], "gen_ai.input.messages": secret(4) },
        resource: { ...span.resource, two: secret(5) },
        links: [{ traceId: "0".repeat(31) + 1, spanId: "0".repeat(15) + 1, attributes: { three: secret(6) } }],
        events: [{ name: secret(7), timeMs: 1, attributes: { four: secret(8) } }],
        status: { code: "error", message: secret(9) },
      };
      db.prepare("UPDATE spans SET record = ? WHERE seq = ?").run(JSON.stringify(spoilt), Number(seq));
    }
    db.prepare("UPDATE counters SET attributes = json_set(attributes, '$.five', ?)").run(secret(10));
    db.close();
    inbox.env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OPENHOOK_OTEL_CAPTURE: "redacted",
      OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: JSON.stringify({ mine: secret(11), contact: "team@example.org" }),
    };
    await inbox.drain({ isEager: true });
    expect(receiver.spans.length).toBeGreaterThan(1);
    expect(receiver.metricPoints.length).toBeGreaterThan(1);
    expect(sent()).not.toContain(SECRET);
    expect(sent()).toContain("[redacted:aws-key]");
    // Values that the user configured stay
    expect(receiver.spans[0]?.resource["contact"]).toBe("team@example.org");
  });

  test("is not sent if the rule was added later", async () => {
    inbox.put({ events: [event("session.start", 0), ...call(1, "ticket-4711")] });
    await inbox.drain({ endIdle: true });
    expect(stored()).toContain("ticket-4711");
    inbox.env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OPENHOOK_OTEL_REDACTION_RULES: JSON.stringify({ ticket: "ticket-[0-9]+" }),
    };
    await inbox.drain({ isEager: true });
    expect(receiver.spans.length).toBeGreaterThan(1);
    expect(sent()).not.toContain("ticket-4711");
    expect(sent()).toContain("[redacted:ticket]");
  });

  test("is not sent while a rule is invalid: nothing is", async () => {
    inbox.put({ events: [event("session.start", 0), ...call(1, "ticket-4711")] });
    inbox.env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OPENHOOK_OTEL_REDACTION_RULES: JSON.stringify({ ticket: "ticket-(?=4)" }),
    };
    const report = await inbox.drain({ endIdle: true });
    expect(receiver.requests).toEqual([]);
    expect(report.waiting).toBeGreaterThan(0);
  });
});
