import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { GEN_AI_USAGE_INPUT_TOKENS, OPENHOOK_SPAN_KIND, OPENHOOK_TOKEN_TYPE } from "#core/telemetry/semconv.ts";
import type { ReceivedLog, ReceivedPoint, ReceivedSpan, Receiver } from "../receiver/receiver.ts";
import { HOOK_ALONE, Machine, RECORDINGS, RecordedAgent, sleep } from "../support/program.ts";
import type { Expected } from "../support/summary.ts";
import type { BackendFault } from "./backend-faults.ts";
import type { FaultResult } from "./record.ts";

const NAME = "parallel-tools";
const EXPECTED: Expected = JSON.parse(readFileSync(join(RECORDINGS, NAME, "expected.json"), "utf8"));
/** One session, one turn, three model calls, six tool calls. */
export const SPANS = 11;
/** As many, and the turn's has two. */
const LOGS = 12;
export const INPUT_TOKENS = Number(EXPECTED.sessions[0]?.totals["input"]);

/** In a header and in the address; must never be printed. */
const SECRETS = ["s3cret-of-the-header", "s3cret-of-the-address"] as const;
export const HEADERS = `authorization=Bearer ${SECRETS[0]}`;
/** Settings for a backend at this address, with a secret. */
export const addressOf = (url: string): string => `${url}/?key=${SECRETS[1]}`;

/** Covers the timeouts of two requests (spans and metrics), the work around them, and a busy machine. */
const MUCH_TOO_LONG_MS = 30_000;

/** A machine with a recorded session in its inbox; removed afterwards. */
export async function withSession<T>(work: (machine: Machine) => Promise<T>): Promise<T> {
  const machine = new Machine();
  try {
    await new RecordedAgent(machine, NAME).work(HOOK_ALONE);
    return await work(machine);
  } finally {
    await machine.remove();
  }
}

/**
 * One fault, from a session in the inbox to the state of an undisturbed run.
 *
 * @returns the result; `undefined` if this machine cannot simulate the fault
 */
export async function undergo(fault: BackendFault): Promise<FaultResult | undefined> {
  const backend = await fault.start();
  if (backend === undefined) return undefined;
  try {
    return await withSession(async (machine) => {
      const { OPENHOOK_OTEL_OTLP_TIMEOUT_MS: quick, ...lasting } = fault.env ?? {};
      const env: Readonly<Record<string, string>> = {
        OPENHOOK_OTEL_OTLP_ENDPOINT: addressOf(backend.url),
        OPENHOOK_OTEL_OTLP_HEADERS: HEADERS,
        OPENHOOK_OTEL_LOGS: "events",
        ...lasting,
      };
      const beganMs = Date.now();
      // The short timeout is for the fault only: a healthy backend may take longer on a busy machine
      const report = await machine.drain([], { ...env, OPENHOOK_OTEL_OTLP_TIMEOUT_MS: quick });
      expect(Date.now() - beganMs).toBeLessThan(MUCH_TOO_LONG_MS);
      expect(report).toMatchObject({ spans: SPANS, ...EXPECTED_BY[fault.accepted ?? "none"] });
      const problems = (report["problems"] as string[]).join("\n");
      if (fault.says === undefined) expect(problems).toBe("");
      else expect(problems).toMatch(fault.says);
      const status = fault.says === undefined ? "" : await machine.ok(["status", "--json"], { env });
      expectNoSecret(machine, JSON.stringify(report), status);

      const before = {
        spans: [...(backend.ill?.spans ?? [])],
        points: [...(backend.ill?.metricPoints ?? [])],
        logs: [...(backend.ill?.logs ?? [])],
      };
      const well = fault.staysIll === true ? backend.ill : await backend.heal();
      if (well === undefined) throw new Error(`${fault.name}: no backend accepts anything`);
      await sleep(fault.waitMs ?? 0);
      const healedMs = Date.now();
      const last = await drains(machine, fault.drains ?? 1, env);
      const recoveryMs = Date.now() - healedMs;
      expect(last).toMatchObject({ waiting: 0, logs: { waiting: 0 } });
      const isSame = well === backend.ill;
      const spans = isSame ? well.spans : [...before.spans, ...well.spans];
      const points = isSame ? well.metricPoints : [...before.points, ...well.metricPoints];
      const logs = isSame ? well.logs : [...before.logs, ...well.logs];
      const repeats = expectAllById(spans, fault.isAmbiguous === true);
      expectAllLogs(logs, fault.isAmbiguous === true);
      if (env["OPENHOOK_OTEL_OTLP_METRICS_ENABLED"] !== "false") expectExactCounters(points);
      // Nothing more is sent
      expect(await machine.drain([], env)).toMatchObject({ sent: 0, waiting: 0, logs: { sent: 0, waiting: 0 } });
      expect(isSame ? well.spans : [...before.spans, ...well.spans]).toHaveLength(spans.length);
      const note = repeats === 0 ? {} : { note: `${repeats} sent again, identical in every attribute` };
      return {
        area: "backend",
        fault: fault.name,
        runs: 1,
        eventsIn: SPANS,
        lost: 0,
        duplicates: 0,
        recoveryMs,
        ...note,
      };
    });
  } finally {
    await backend.close();
  }
}

/** Checks that all spans arrived; repeated ones must be equal. @returns how many were repeated */
export function expectAllById(spans: readonly ReceivedSpan[], isAmbiguous: boolean): number {
  const byId = groupBy(spans, (span) => span.spanId);
  expect(byId.size).toBe(SPANS);
  for (const [first, ...again] of byId.values()) for (const span of again) expect(span).toEqual(first);
  if (!isAmbiguous) expect(spans).toHaveLength(SPANS);
  const once = [...byId.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  const tokens = once
    .filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "model_call")
    .reduce((sum, span) => sum + Number(span.attributes[GEN_AI_USAGE_INPUT_TOKENS]), 0);
  expect(tokens).toBe(INPUT_TOKENS);
  return spans.length - SPANS;
}

/** Checks that all log records of the session arrived; repeated ones must be equal. */
export function expectAllLogs(logs: readonly ReceivedLog[], isAmbiguous: boolean): void {
  const byId = groupBy(logs, (log) => log.attributes["log.record.uid"]);
  for (const [first, ...again] of byId.values()) for (const log of again) expect(log).toEqual(first);
  const names = [...byId.values()].map(([log]) => log?.name);
  expect(names.filter((name) => name === "gen_ai.client.inference.operation.details")).toHaveLength(3);
  expect(names.filter((name) => name === "openhook.tool_call")).toHaveLength(6);
  expect(byId.size).toBe(LOGS);
  if (!isAmbiguous) expect(logs).toHaveLength(LOGS);
}

/** Checks that the last point of each counter is right, its start never moves, and no time has two values. */
export function expectExactCounters(points: readonly ReceivedPoint[], inputTokens = INPUT_TOKENS): void {
  const streams = groupBy(
    points.filter(({ data }) => data.kind !== "gauge"),
    (point) => JSON.stringify([point.name, point.resource, point.attributes]),
  );
  let tokens = 0;
  for (const stream of streams.values()) {
    expect(new Set(stream.map((point) => point.startNs)).size).toBe(1);
    const values = groupBy(stream, (point) => point.timeNs);
    for (const same of values.values()) expect(new Set(same.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    const sorted = stream.toSorted((a, b) => (a.timeNs < b.timeNs ? -1 : 1));
    const sums = sorted.map(({ data }) =>
      data.kind === "sum" ? data.value : data.kind === "histogram" ? data.count : 0,
    );
    expect(sums).toEqual(sums.toSorted((a, b) => a - b));
    const last = sorted.at(-1);
    if (last?.name === "openhook.token.usage" && last.attributes[OPENHOOK_TOKEN_TYPE] === "input")
      tokens += sums.at(-1) ?? 0;
  }
  expect(tokens).toBe(inputTokens);
}

/** Drains until the queue is empty, at most this many times. */
async function drains(machine: Machine, most: number, env: Readonly<Record<string, string>>) {
  let report = await machine.drain([], env);
  for (let n = 1; n < most && hasMore(report); n++) report = await machine.drain([], env);
  return report;
}

const hasMore = (report: Readonly<Record<string, unknown>>): boolean =>
  report["waiting"] !== 0 || (report["logs"] as { readonly waiting: number }).waiting !== 0;

/** Checks output and log for secrets. */
export function expectNoSecret(machine: Machine, ...outputs: readonly string[]): void {
  const log = join(machine.places.stateDir, "drain.log");
  for (const text of [...outputs, existsSync(log) ? readFileSync(log, "utf8") : ""]) {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
}

/** Token counts in a receiver's counters. */
export const tokensOf = (receiver: Receiver): number =>
  receiver
    .latestPoints()
    .filter((p) => p.name === "openhook.token.usage" && p.attributes[OPENHOOK_TOKEN_TYPE] === "input")
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

// --- internal ---

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const EXPECTED_BY = {
  none: { sent: 0, waiting: SPANS },
  all: { sent: SPANS, waiting: 0 },
  some: { waiting: expect.toSatisfy((n: number) => n > 0 && n < SPANS) },
} as const;
