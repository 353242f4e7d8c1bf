// Slow: only `npm run test:all` runs it. Imports that are exported; otlp/deliver.test.ts and import/same.test.ts have the
// parts.
//
// What is exported of imported sessions: everything once if requested, otherwise nothing.
import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportPacked } from "#collect/import/export.ts";
import { type ImportCommandOptions, importPast } from "#commands/import.ts";
import { GEN_AI_USAGE_INPUT_TOKENS, OPENHOOK_SPAN_KIND, OPENHOOK_TOKEN_TYPE } from "#core/telemetry/semconv.ts";
import { VERSION } from "#kit/version.ts";
import { type ReceivedSpan, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";
import { claudePath, claudeSession, plus, sessionIdOf, writeLines } from "./claude.ts";
import { recordedCases } from "./home.ts";
import { importInto } from "./run.ts";
import { packedCount, storedTotals } from "./totals.ts";

const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
const DAY_MS = 24 * 3_600_000;

const NOW_MS = STARTED_MS + 60 * DAY_MS;
let nowMs = NOW_MS;
let receiver: Receiver;
let at: Replay;
beforeEach(async () => {
  receiver = await startReceiver();
  at = new Replay("claude-code", "basic", { withTranscripts: false });
  nowMs = NOW_MS;
});
afterEach(async () => {
  await receiver.close();
  at.remove();
});

async function exported(options: Partial<ImportCommandOptions>, of = at) {
  const { context, out } = contextAt(of.places, {
    now: () => nowMs,
    env: { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url },
  });
  const stop = new AbortController().signal;
  const code = await importPast([], { dryRun: false, export: true, json: true, stop, ...options }, context);
  return { code, out: out() };
}

/** The same as text. */
const textOf = async (): Promise<string> => (await exported({ json: false })).out;

async function run(options: Partial<ImportCommandOptions> = {}, of = at) {
  const { code, out } = await exported(options, of);
  return { code, ...JSON.parse(out) } as {
    readonly code: number;
    readonly stopped: boolean;
    readonly exported: Readonly<Record<"sessions" | "spans" | "sent" | "waiting", number>> | null;
    readonly problems: readonly string[];
  };
}

const SESSIONS = [1, 2, 3].map((n) =>
  claudeSession({ id: sessionIdOf(n), startMs: STARTED_MS + n * DAY_MS, turns: n }),
);
const TOTALS = plus(...SESSIONS.map(({ totals }) => totals));
/** One root, and one span per turn, call and tool. */
const SPANS = TOTALS.sessions + TOTALS.turns + TOTALS.calls + TOTALS.tools;

const writeSessions = (): void => {
  for (const [i, { lines }] of SESSIONS.entries()) writeLines(claudePath(at, sessionIdOf(i + 1)), lines);
};

const inputInSpans = (spans: readonly ReceivedSpan[]): number =>
  spans
    .filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "model_call")
    .reduce((sum, span) => sum + Number(span.attributes[GEN_AI_USAGE_INPUT_TOKENS]), 0);
const inputInMetrics = (): number =>
  receiver
    .latestPoints()
    .filter((p) => p.name === "openhook.token.usage" && p.attributes[OPENHOOK_TOKEN_TYPE] === "input")
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

function expectAllOnce(): void {
  expect(receiver.spans).toHaveLength(SPANS);
  expect(receiver.spansById().size).toBe(SPANS);
  expect(inputInSpans(receiver.spans)).toBe(TOTALS.input);
  expect(inputInMetrics()).toBe(TOTALS.input);
  expect(storedTotals(at.places.storePath)).toEqual(TOTALS);
}

describe("--export", () => {
  test("sends every span once, with its original time, and every count once", async () => {
    writeSessions();
    await run({ export: false });
    expect(receiver.requests).toEqual([]);
    expect(await run()).toMatchObject({
      code: 0,
      exported: { sessions: 3, spans: SPANS, sent: SPANS, waiting: 0 },
      problems: [],
    });
    expectAllOnce();
    const times = receiver.spans.map((span) => Number(span.startNs / 1_000_000n));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(STARTED_MS + DAY_MS);
    expect(Math.max(...times)).toBeLessThan(STARTED_MS + 4 * DAY_MS);
    expect(packedCount(at.places.storePath)).toBe(0);
    expect(await run()).toMatchObject({ code: 0, exported: { sessions: 0, spans: 0, sent: 0 } });
    expect(await textOf()).toContain("\nnothing left to export\n");
    expectAllOnce();
  });

  test("a session with unsettled hook events starts and ends as they report", async () => {
    const reported = new Replay("gemini-cli", "multi-turn");
    try {
      for (const call of reported.calls) reported.put(call);
      await run({}, reported);
      await reported.drain({ endIdle: true }, clockAt(NOW_MS));
      const starts = reported.calls.filter(({ event }) => event === "SessionStart");
      expect(receiver.spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toHaveLength(starts.length);
    } finally {
      reported.remove();
    }
  });

  test("a session that grew after it was sent: the drain sends only the new part", async () => {
    writeSessions();
    await run();
    const more = claudeSession({ id: sessionIdOf(1), startMs: STARTED_MS + DAY_MS, turns: 2 });
    writeLines(claudePath(at, sessionIdOf(1)), more.lines);
    const before = receiver.spans.length;
    await run();
    await at.drain({ endIdle: true }, clockAt(NOW_MS));
    expect(storedTotals(at.places.storePath).turns).toBe(TOTALS.turns + 1);
    expect(receiver.spansById().size).toBe(receiver.spans.length);
    expect(receiver.spans.length).toBeGreaterThan(before);
  });

  test("sessions older than the retention stay while packed; once sent, they are pruned like others, and reported", async () => {
    nowMs = STARTED_MS + 400 * DAY_MS;
    writeSessions();
    await run({ export: false });
    await at.drain({}, clockAt(nowMs));
    expect(storedTotals(at.places.storePath)).toEqual(TOTALS);
    expect(await run()).toMatchObject({ exported: { sent: SPANS, beyond_retention: 3 } });
    await at.drain({}, clockAt(nowMs + 2 * DAY_MS));
    expect(storedTotals(at.places.storePath).sessions).toBe(0);
    // Neither an import nor a drain treats it as new
    expect(await run()).toMatchObject({ exported: { sessions: 0, spans: 0 } });
    await at.drain({ endIdle: true, isEager: true }, clockAt(nowMs + 2 * DAY_MS));
    expect(receiver.spans).toHaveLength(SPANS);
    expect(storedTotals(at.places.storePath).sessions).toBe(0);
  });

  test("a backend that refuses: nothing is lost, and it is sent once the backend accepts", async () => {
    writeSessions();
    receiver.setBehaviour(() => ({ status: 503 }));
    const refused = await run();
    expect(refused).toMatchObject({ code: 1, exported: { sent: 0, waiting: SPANS } });
    expect(receiver.spans).toEqual([]);
    receiver.setBehaviour(undefined);
    await run();
    expectAllOnce();
  });

  test("with an unreachable backend, other sessions stay packed and none of them is tried", async () => {
    writeSessions();
    await run({ export: false });
    receiver.setBehaviour(() => ({ status: 503 }));
    at.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    const deps = await at.deps({ ...clockAt(NOW_MS), version: VERSION });
    const { signal } = new AbortController();
    const options = { agents: ["claude-code"], sinceMs: undefined, signal, onProgress: () => {}, spansPerDelivery: 4 };
    const sent = await exportPacked(deps, options);
    expect(sent).toMatchObject({ sessions: 1, sent: 0 });
    expect(sent?.queued).toBe(sent?.spans);
    expect(packedCount(at.places.storePath)).toBe(2);
    receiver.setBehaviour(undefined);
    expect(await exportPacked(deps, options)).toMatchObject({ sessions: 2, sent: SPANS, queued: 0 });
    expectAllOnce();
  });

  test("interrupted: exit 130; the rest stays packed and is sent next time", async () => {
    writeSessions();
    await run({ export: false });
    const before = new AbortController();
    before.abort();
    expect(await run({ stop: before.signal })).toMatchObject({ code: 130, stopped: true, exported: null });
    expect(packedCount(at.places.storePath)).toBe(3);
    // Ctrl-C while the first session is being sent
    const within = new AbortController();
    at.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    const options = { agents: ["claude-code"], sinceMs: undefined, signal: within.signal };
    const sent = await exportPacked(await at.deps({ ...clockAt(NOW_MS), version: VERSION }), {
      ...options,
      onProgress: () => within.abort(),
    });
    expect(sent).toMatchObject({ sessions: 1, queued: 0 });
    expect(packedCount(at.places.storePath)).toBe(2);
    expect(storedTotals(at.places.storePath)).toEqual(TOTALS);
    expect(await run()).toMatchObject({ code: 0 });
    expectAllOnce();
  });
});

describe("a packed session that a hook reports", () => {
  const CASES = [
    ["claude-code", "multi-turn"],
    ["claude-code", "subagent"],
    ["claude-code", "killed-then-resumed"],
    ["codex", "subagent"],
    ["gemini-cli", "basic"],
    ["opencode", "multi-turn"],
  ] as const;

  test.each(CASES)("%s %s: the backend receives the same as without an import", async (source, name) => {
    expect((await recordedCases()).some((one) => one.source === source && one.name === name)).toBe(true);
    const of = new Replay(source, name);
    try {
      of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
      const nowMs = endOf(of.calls);
      // The hooks were just installed: they reported nothing about the past
      const reported = of.calls.slice(Math.floor(of.calls.length / 2));
      const hooks = async (): Promise<readonly string[]> => {
        receiver.clear();
        for (const call of reported) of.put(call);
        await of.drain({ endIdle: true, isEager: true }, clockAt(nowMs));
        expect(receiver.spansById().size).toBe(receiver.spans.length);
        return receiver.spans.map(inWords).sort();
      };
      const alone = await hooks();
      expect(alone.length).toBeGreaterThan(3);
      const counted = sumsIn();

      rmSync(of.places.stateDir, { recursive: true });
      receiver.clear();
      await importInto(of, source);
      expect(receiver.requests).toEqual([]);
      expect(packedCount(of.places.storePath)).toBeGreaterThan(0);
      expect(await hooks()).toEqual(alone);
      expect(sumsIn()).toEqual(counted);
      // Another import and drain have nothing left to do
      receiver.clear();
      await importInto(of, source);
      await of.drain({ endIdle: true, isEager: true }, clockAt(nowMs));
      expect(receiver.spans).toEqual([]);
    } finally {
      of.remove();
    }
  });
});

test.each(["multi-turn", "killed-then-resumed", "subagent"])(
  "%s reported turn by turn, beside an imported session: exports the same as without that one",
  async (name) => {
    const leaves = async (isBeside: boolean): Promise<readonly string[]> => {
      const of = new Replay("claude-code", name, { withTranscripts: false });
      try {
        of.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
        receiver.clear();
        if (isBeside) {
          writeLines(claudePath(of, sessionIdOf(1)), SESSIONS[0]?.lines ?? []);
          await importInto(of, "claude-code");
          expect(packedCount(of.places.storePath)).toBe(1);
        }
        for (const call of of.calls) {
          of.put(call);
          if (!DRAINED.has(call.event)) continue;
          const untilMs = Date.parse(call.received_at) + 1_000;
          of.writeTranscripts({ untilMs });
          await of.drain({}, clockAt(untilMs));
        }
        of.writeTranscripts();
        await of.drain({ endIdle: true, isEager: true }, clockAt(endOf(of.calls)));
        return [...receiver.spans.map(inWords), ...sumsIn()].map((text) => text.replaceAll(of.home, "~")).sort();
      } finally {
        of.remove();
      }
    };
    const alone = await leaves(false);
    expect(alone.length).toBeGreaterThan(3);
    expect(await leaves(true)).toEqual(alone);
  },
);

// --- internal ---

/** A drain runs after each of these: within a turn, and after it. */
const DRAINED: ReadonlySet<string> = new Set(["UserPromptSubmit", "Stop", "SessionEnd"]);

const endOf = (calls: readonly RecordedCall[]): number =>
  Math.max(...calls.map((call) => Date.parse(call.received_at))) + 60_000;

/** A span's content, without its resource. */
const inWords = ({ resource: _, ...span }: ReceivedSpan): string =>
  JSON.stringify(span, (__, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** Sums of the streams about work, by name. */
const sumsIn = (): readonly string[] =>
  receiver
    .latestPoints()
    .filter(({ name }) => !name.startsWith("openhook.collector."))
    .map(({ name, attributes, data }) =>
      JSON.stringify([name, attributes, data.kind === "sum" ? data.value : "histogram"]),
    )
    .sort();
