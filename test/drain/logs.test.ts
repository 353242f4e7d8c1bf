// Log records: each event of a session once, with the ids of its span, and what its level allows.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { openDatabase } from "#store/database.ts";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type ReceivedLog, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { firstOf } from "../support/whole.ts";

const PROMPT = "Look at src and tell me where to add a discount";

let receiver: Receiver;
let replay: Replay | undefined;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  replay?.remove();
  replay = undefined;
  await receiver.close();
});

describe("each event once", () => {
  test.each(
    firstOf(
      [
        ["claude-code", "parallel-tools"],
        ["claude-code", "api-error"],
        ["codex", "basic"],
        ["claude-code", "subagent"],
        ["gemini-cli", "basic"],
        ["claude-code", "compaction"],
      ] as const,
      3,
    ),
  )("%s %s: as many as were recorded", async (source, name) => {
    const of = replayOf(source, name);
    const report = await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    const { logs, spans } = receiver;
    expect(report.logs).toEqual({ sent: logs.length, rejected: 0, dropped: 0, waiting: 0 });
    const { sessions } = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;
    const sum = (count: (one: Expected["sessions"][number]) => number) =>
      sessions.reduce((n, one) => n + count(one), 0);
    expect(named(logs, "openhook.prompt").filter(isHuman)).toHaveLength(sum((one) => one.prompts));
    expect(named(logs, "gen_ai.client.inference.operation.details")).toHaveLength(sum((one) => one.model_calls.length));
    expect(named(logs, "openhook.tool_call")).toHaveLength(sum((one) => one.tool_calls.length));
    expect(named(logs, "openhook.session.end").length).toBeGreaterThanOrEqual(sessions.length);
    expect(new Set(logs.map(uidOf)).size).toBe(logs.length);
    // Each is on a span of the same trace
    const places = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    expect(logs.filter(({ traceId, spanId }) => !places.has(`${traceId} ${spanId}`))).toEqual([]);
    expect(logs.every((log) => log.resource["service.name"] === source && log.body === log.name)).toBe(true);
    await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    expect(receiver.logs).toHaveLength(logs.length);
  });

  test("a failed request is an exception with the severity of the conventions", async () => {
    await drainAt(replayOf("claude-code", "api-error"), { OPENHOOK_OTEL_LOGS: "events" });
    const failures = named(receiver.logs, "gen_ai.client.operation.exception");
    const events = receiver.spans.flatMap((span) => span.events).filter(({ name }) => name === "openhook.model_error");
    expect(failures.length).toBeGreaterThan(2);
    expect(failures.map(({ timeNs, attributes }) => [timeNs, attributes["exception.type"]]).sort()).toEqual(
      events.map(({ timeNs, attributes }) => [timeNs, attributes["error.type"]]).sort(),
    );
    expect(new Set(failures.map(({ severity }) => severity))).toEqual(new Set(["WARN"]));
  });

  test("a compaction, with what started it, is there once; also if the session is drained event by event", async () => {
    const of = new Replay("claude-code", "compaction");
    replay = of;
    for (const call of of.calls) {
      of.put(call);
      await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" }, false);
    }
    await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    expect(
      named(receiver.logs, "openhook.compaction").map((log) => log.attributes["openhook.compaction.trigger"]),
    ).toEqual(["manual"]);
    expect(new Set(receiver.logs.map(uidOf)).size).toBe(receiver.logs.length);
  });
});

test("the older spelling also has the name as an attribute, the latest has it only in its own field", async () => {
  await drainAt(replayOf("claude-code", "basic"), { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_SEMCONV: "latest" });
  expect(receiver.logs.length).toBeGreaterThan(3);
  expect(receiver.logs.filter(({ attributes }) => "event.name" in attributes)).toEqual([]);
  replay?.remove();
  receiver.clear();
  await drainAt(replayOf("claude-code", "basic"), { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_SEMCONV: "v1.41" });
  expect(receiver.logs.map(({ attributes }) => attributes["event.name"])).toEqual(
    receiver.logs.map(({ name }) => name),
  );
});

test("they are off by default: nothing is queued and nothing is asked of the backend", async () => {
  const of = replayOf("claude-code", "basic");
  const report = await drainAt(of, {});
  expect(report).not.toHaveProperty("logs");
  expect(queued(of)).toBe(0);
  expect(receiver.requests.map(({ path }) => path)).not.toContain("/v1/logs");
  // What was settled before they are switched on is not sent
  await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
  expect(receiver.logs).toEqual([]);
});

test("a project cannot switch them on, and one that is disabled later sends none", async () => {
  const of = replayOf("claude-code", "basic");
  const cwd = String(of.calls[0]?.stdin?.["cwd"]);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, ".openhook-otel.json"), JSON.stringify({ logs: "events" }));
  await drainAt(of, {});
  expect(receiver.logs).toEqual([]);
  of.remove();
  const second = replayOf("claude-code", "basic");
  await drainAt(second, { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_DISABLED: "true" });
  expect(queued(second)).toBeGreaterThan(0);
  const folder = String(second.calls[0]?.stdin?.["cwd"]);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ".openhook-otel.json"), JSON.stringify({ disabled: true }));
  await drainAt(second, { OPENHOOK_OTEL_LOGS: "events" });
  expect([receiver.logs, queued(second)]).toEqual([[], 0]);
});

describe("the capture level", () => {
  test.each([
    ["none", false, false],
    ["metadata", false, true],
    ["full", true, true],
  ] as const)("%s: content %s, names %s", async (level, hasContent, hasNames) => {
    await drainAt(replayOf("claude-code", "mcp"), { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_CAPTURE: level });
    const text = JSON.stringify(receiver.logs.map(({ name, attributes }) => [name, attributes]));
    expect([...CONTENT_ATTRIBUTES].some((name) => text.includes(`"${name}"`))).toBe(hasContent);
    expect(text.includes("lookup_price")).toBe(hasNames);
  });

  test("if it is lowered before sending, no content is sent", async () => {
    const of = replayOf("claude-code", "basic");
    const full = { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_CAPTURE: "full", OPENHOOK_OTEL_DISABLED: "true" };
    await drainAt(of, full);
    expect(queued(of)).toBeGreaterThan(3);
    await drainAt(of, { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_CAPTURE: "metadata" });
    expect(receiver.logs.length).toBeGreaterThan(3);
    expect(JSON.stringify(receiver.logs.map(({ attributes }) => attributes))).not.toContain(PROMPT);
  });
});

describe("a backend that does not accept them", () => {
  const logsOnly = (status: number, path: string) => (path === "/v1/logs" ? { status } : undefined);

  test("503: spans and counters are delivered, log records later", async () => {
    const of = replayOf("claude-code", "basic");
    receiver.setBehaviour(({ path }) => logsOnly(503, path));
    const ill = await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    expect(ill).toMatchObject({ waiting: 0, metricsSent: true, logs: { sent: 0, waiting: queued(of) } });
    expect(ill.problems.join()).toMatch(/^logs: .*answered 503/);
    receiver.setBehaviour(undefined);
    const well = await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    expect(well.logs).toEqual({ sent: receiver.logs.length, rejected: 0, dropped: 0, waiting: 0 });
    expect(receiver.logs.length).toBeGreaterThan(3);
  });

  test("partial success: they leave the queue, and the rejected ones are counted, not sent again", async () => {
    const of = replayOf("claude-code", "parallel-tools");
    receiver.setBehaviour(({ path }) =>
      path === "/v1/logs" ? { partial: { rejected: 2, message: "too old" } } : undefined,
    );
    const report = await drainAt(of, { OPENHOOK_OTEL_LOGS: "events" });
    expect(report.logs).toEqual({ sent: receiver.logs.length, rejected: 2, dropped: 0, waiting: 0 });
    expect(report.problems.join()).toMatch(/logs: too old/);
  });

  test("413 for large requests: they are halved, and everything is delivered once", async () => {
    const of = replayOf("claude-code", "parallel-tools");
    receiver.setBehaviour(({ path, headers }) =>
      path === "/v1/logs" && Number(headers["content-length"]) > 2_500 ? { status: 413 } : undefined,
    );
    const report = await drainAt(of, { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_OTLP_COMPRESSION: "none" });
    expect(report.logs).toMatchObject({ sent: 12, waiting: 0 });
    expect(new Set(receiver.logs.map(uidOf)).size).toBe(12);
    expect(receiver.requests.filter(({ path, accepted }) => path === "/v1/logs" && accepted).length).toBeGreaterThan(2);
  });

  test("over the limit of age they are dropped and counted", async () => {
    const of = replayOf("claude-code", "basic");
    await drainAt(of, { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_OTLP_LOGS_ENABLED: "false" });
    const waiting = queued(of);
    expect(waiting).toBeGreaterThan(3);
    const late = { ...clockAt(Date.now() + 400 * 86_400_000) };
    const env = { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_OTLP_LOGS_ENABLED: "false" };
    of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...env };
    await of.drain({}, late);
    await of.drain({}, late);
    expect(queued(of)).toBe(0);
    expect(metaOf(of, "log_outbox.unclaimed_total")).toBe(String(waiting));
  });
});

test("over gRPC they arrive the same, with messages as values that have a structure", async () => {
  const grpc = await startGrpcReceiver();
  const env = { OPENHOOK_OTEL_LOGS: "events", OPENHOOK_OTEL_CAPTURE: "full" };
  await drainAt(replayOf("claude-code", "basic"), env);
  replay?.remove();
  await drainAt(replayOf("claude-code", "basic"), {
    ...env,
    OPENHOOK_OTEL_OTLP_ENDPOINT: grpc.url,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc",
  });
  await grpc.close();
  expect(receiver.logs.length).toBeGreaterThan(3);
  expect(grpc.logs.map(uidOf)).toEqual(receiver.logs.map(uidOf));
  const [prompt] = grpc.logs.filter(({ name }) => name === "openhook.prompt");
  expect(prompt?.attributes["gen_ai.input.messages"]).toEqual([
    { role: "user", parts: [{ type: "text", content: PROMPT }] },
  ]);
});

test("they have an address of their own", async () => {
  const own = await startReceiver();
  await drainAt(replayOf("claude-code", "basic"), {
    OPENHOOK_OTEL_LOGS: "events",
    OPENHOOK_OTEL_OTLP_LOGS_ENDPOINT: `${own.url}/v1/logs`,
    OPENHOOK_OTEL_OTLP_LOGS_PROTOCOL: "http/json",
  });
  await own.close();
  expect([receiver.logs.length, own.spans.length, own.metricPoints.length]).toEqual([0, 0, 0]);
  expect(own.logs.length).toBeGreaterThan(3);
});

// --- internal ---

function replayOf(source: string, name: string): Replay {
  const of = new Replay(source, name);
  replay = of;
  for (const call of of.calls) of.put(call);
  return of;
}

async function drainAt(of: Replay, env: Readonly<Record<string, string>>, endIdle = true) {
  of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...env };
  return of.drain({ endIdle, isEager: true });
}

const named = (logs: readonly ReceivedLog[], name: string) => logs.filter((log) => log.name === name);
const isHuman = ({ attributes }: ReceivedLog): boolean => attributes["openhook.turn.origin"] === "human";
const uidOf = ({ attributes }: ReceivedLog): unknown => attributes["log.record.uid"];

function inStore<T>(of: Replay, sql: string, pick: (row: Readonly<Record<string, unknown>> | undefined) => T): T {
  const db = openDatabase(of.places.storePath);
  try {
    return pick(db.prepare(sql).get());
  } finally {
    db.close();
  }
}

const queued = (of: Replay): number => inStore(of, "SELECT count(*) AS n FROM log_outbox", (row) => Number(row?.["n"]));
const metaOf = (of: Replay, key: string): string =>
  inStore(of, `SELECT value FROM meta WHERE key = '${key}'`, (row) => String(row?.["value"]));
