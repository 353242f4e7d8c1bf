import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sessions } from "#commands/sessions.ts";
import { type ShowOptions, show } from "#commands/show.ts";
import { placesOf } from "#config/places.ts";
import { Envelope } from "#core/model/envelope.ts";
import { SpanRecord } from "#core/model/telemetry.ts";
import { NO_CALLS, sumOfCalls } from "#core/rules/call-sums.ts";
import { UserError } from "#kit/errors.ts";
import { sumsJson } from "#show/report/session-json.ts";
import { openDatabase } from "#store/database.ts";
import { addEvents, eventsOf } from "#store/facts.ts";
import { settledCalls, settledSums } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { ensureSession, setParent, updateSession } from "#store/sessions.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { CASES, Replay } from "../support/replay.ts";
import { by, type Expected, type ExpectedSession } from "../support/summary.ts";
import { chosenRecordings } from "../support/whole.ts";

// One agent, whose sessions have every shape; other tests check that the figures of all agents are right
const cases = chosenRecordings(
  readdirSync(join(CASES, "claude-code"))
    .filter((name) => existsSync(join(CASES, "claude-code", name, "expected.json")))
    .map((name) => ({ source: "claude-code", name })),
);

let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** A store after the given recording. */
async function collected(source: string, name: string): Promise<Replay> {
  replay = new Replay(source, name);
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  return replay;
}

async function shown(of: Replay, session?: string, options: Partial<ShowOptions> = {}, world: ContextOptions = {}) {
  const { context, out } = contextAt(of.places, world);
  expect(await show(session, { json: false, envelopes: false, ...options }, context)).toBe(0);
  return out();
}
const asJson = async (of: Replay, session?: string): Promise<Document> =>
  JSON.parse(await shown(of, session, { json: true })) as Document;

/** The parts of `--json` that the tests check. */
interface Document {
  readonly source: string;
  readonly session_id: string;
  readonly agent_version: string | null;
  readonly end: string | null;
  readonly prompts: number;
  readonly segments: readonly Record<string, unknown>[];
  readonly turns: readonly Record<string, unknown>[];
  readonly model_calls: readonly Record<string, unknown>[];
  readonly tool_calls: readonly Record<string, unknown>[];
  readonly subagents: readonly Record<string, unknown>[];
  readonly by_model: Readonly<Record<string, Record<string, unknown>>>;
  readonly totals: Readonly<Record<string, number | null>>;
  readonly spans: readonly SpanRecord[];
  readonly open_spans: readonly SpanRecord[];
}

test("without a call, usage is 0 if the agent reports its calls, and unknown if it does not", () => {
  expect(sumsJson(NO_CALLS)).toMatchObject({ model_calls: 0, input: 0, output: 0 });
  expect(sumsJson(NO_CALLS, { usageUnknown: true })).toMatchObject({ model_calls: null, input: null, output: null });
  const unreported = { ...NO_CALLS, modelCalls: 1, callsWithoutUsage: 1 };
  expect(sumsJson(unreported)).toMatchObject({ model_calls: 1, input: null, output: null });
  expect(sumsJson({ ...NO_CALLS, aggregateRecords: 1, input: 7, output: 0 })).toMatchObject({
    model_calls: null,
    input: 7,
  });
});

describe.each(cases)("$source $name", ({ source, name }) => {
  const expected = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;
  let of: Replay;
  beforeAll(async () => {
    of = await collected(source, name);
    replay = undefined;
  });
  afterAll(() => of.remove());

  test("every figure matches the recording", async () => {
    for (const session of expected.sessions) {
      const got = await asJson(of, session.session_id);
      expect(got).toMatchObject({ source, session_id: session.session_id });
      expect(got.prompts).toBe(session.prompts);
      expect(got.tool_calls.map(pick("id", "name", "status", "subagent")).sort(by("id"))).toEqual(
        [...session.tool_calls].sort(by("id")),
      );
      expect(got.model_calls.map(figuresOf).sort(by("response_id"))).toEqual(callsOf(session, got));
      // An unknown price is null, and a call whose end was lost has less than the full usage
      const output = session.recoverable_as_reported?.output_tokens;
      expect(pick(...Object.keys(session.totals))(figuresOf(got.totals))).toEqual({
        ...session.totals,
        ...(output !== undefined && { output }),
      });
      expect(Object.keys(got.by_model).sort()).toEqual(Object.keys(modelsOf(session)).sort());
      for (const [model, figures] of Object.entries(modelsOf(session))) {
        const lost = output === undefined ? {} : { output: got.by_model[model]?.["output"] };
        expect(figuresOf(got.by_model[model] ?? {})).toEqual({ ...figures, ...lost });
      }
      expect(got.end).not.toBeNull();
      expect(got.open_spans).toEqual([]);
      const roots = got.spans.filter((span) => span.parentSpanId === undefined);
      expect(got.segments.map(pick("start", "end"))).toEqual(
        roots.map(({ startMs, endMs }) => ({
          start: new Date(startMs).toISOString(),
          end: new Date(endMs).toISOString(),
        })),
      );
      for (const span of got.spans) SpanRecord.parse(span);
      expect(new Set(got.spans.map((span) => span.spanId)).size).toBe(got.spans.length);
    }
  });

  test("the waterfall has a line for every span, fits any width, and uses colour only on a terminal", async () => {
    for (const { session_id: id } of expected.sessions) {
      const { spans, segments, totals } = await asJson(of, id);
      for (const columns of [30, 59, 80, 120]) {
        const text = await shown(of, id, {}, { columns });
        expect(text).toMatch(SGR);
        const lines = text.replaceAll(SGR, "").split("\n");
        for (const line of lines) expect(columnsOf(line), line).toBeLessThanOrEqual(columns);
        expect(lines.join("")).not.toMatch(CONTROL);
        expect(await shown(of, id, {}, { columns, env: { NO_COLOR: "1" } })).toBe(lines.join("\n"));
      }
      const piped = await shown(of, id);
      // Each has a bar
      const rows = piped.split("\n").filter((line) => /[━╸╺█▌▐]/.test(line));
      expect(rows).toHaveLength(spans.length);
      expect(piped.match(/^span +0 s/gm)).toHaveLength(segments.length);
      expect(piped).toContain(id);
      expect(piped).toContain(`${totals["model_calls"]} model call`);
    }
  });

  test("its envelopes are OpenHook v0.1, ordered by time", async () => {
    for (const { session_id: id } of expected.sessions) {
      const lines = (await shown(of, id, { envelopes: true })).split("\n").filter((line) => line !== "");
      const envelopes = lines.map((line) => Envelope.parse(JSON.parse(line)));
      expect(lines.length).toBeGreaterThan(0);
      for (const [i, line] of lines.entries()) expect(JSON.parse(line)).toEqual(envelopes[i]);
      const times = envelopes.map((envelope) => Date.parse(envelope.time));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(new Set(envelopes.map((envelope) => envelope.session_id))).toEqual(new Set([id]));
      const result = readStore(of.places.storePath, (db) =>
        // The text cwd, the default, has no file.write
        eventsOf(db, sessionNumber(of, id)).filter((event) => "openhook" in event && event.type !== "file.write"),
      );
      expect(envelopes).toHaveLength(result?.length ?? -1);
    }
  });

  test("the store's sums equal the sums of its calls, and sessions shows the same", async () => {
    const { context, out } = contextAt(of.places);
    await sessions({ limit: 10, json: true }, context);
    const list = JSON.parse(out()) as { session_id: string; totals: unknown; tool_calls: { total: number } }[];
    for (const { session_id: id } of expected.sessions) {
      const number = sessionNumber(of, id);
      const sums = readStore(of.places.storePath, (db) => [
        settledSums(db, number),
        sumOfCalls(settledCalls(db, number)),
      ]);
      expect({ ...NO_CALLS, ...sums?.[0] }).toEqual(sums?.[1]);
      const one = list.find((session) => session.session_id === id);
      const full = await asJson(of, id);
      expect(one?.totals).toEqual(full.totals);
      expect(one?.tool_calls.total).toBe(full.tool_calls.length);
    }
  });
});

const FIGURES = ["input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h"];

/** In the terms of `expected.json`, which has 0 for reasoning tokens that the agent does not report. */
const figuresOf = (of: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...pick(...["response_id", "model", "subagent", "model_calls"].filter((key) => key in of))(of),
  ...pick(...FIGURES)(of),
  reasoning: of["reasoning"] ?? 0,
  ...(of["model_calls"] === 0 && Object.fromEntries(FIGURES.map((key) => [key, of[key] ?? 0]))),
});

function callsOf(session: ExpectedSession, got: Document): readonly Record<string, unknown>[] {
  if (session.recoverable_as_reported === undefined) return [...session.model_calls].sort(by("response_id"));
  const calls = [...got.model_calls].sort(by("response_id"));
  return [...session.model_calls].sort(by("response_id")).map((call, i) => ({ ...call, output: calls[i]?.["output"] }));
}

const modelsOf = (session: ExpectedSession): Readonly<Record<string, Record<string, unknown>>> =>
  (session as unknown as { by_model: Record<string, Record<string, unknown>> }).by_model;

const pick =
  (...keys: readonly string[]) =>
  (from: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(keys.map((key) => [key, from[key]]));

function sessionNumber(of: Replay, sessionId: string): number {
  const row = readStore(of.places.storePath, (db) =>
    db.prepare("SELECT id FROM sessions WHERE session_id = ?").get(sessionId),
  );
  return Number(row?.["id"]);
}

/** Replays up to and including the first call of an event, and drains at that moment. */
async function collectedUntil(name: string, event: string): Promise<Replay> {
  replay = new Replay("claude-code", name, { withTranscripts: false });
  let at = 0;
  for (const call of replay.calls) {
    if (call.event === event) break;
    const path = call.stdin?.["transcript_path"];
    if (typeof path === "string" && typeof call.transcript_lines === "number") {
      replay.writeTranscripts({ path, lines: call.transcript_lines });
    }
    replay.hook(call);
    at = Date.parse(call.received_at);
  }
  let nowMs = at;
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms;
  };
  await replay.drain({}, { now: () => nowMs, sleep });
  return replay;
}

describe("an open session", () => {
  test("shows settled and open parts, and stores nothing", async () => {
    const of = await collectedUntil("subagent", "SubagentStop");
    const before = dump(of);
    const doc = await asJson(of);
    expect(doc.end).toBeNull();
    expect(doc.spans).toEqual([]);
    expect(doc.tool_calls).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "Agent", status: "open", open: true, end: null })]),
    );
    const text = await shown(of);
    expect(text).toMatch(/· open$/m);
    expect(text).toMatch(/^… Session · open/m);
    expect(text).toMatch(/└─ … Turn 1 · open/);
    expect(text).toMatch(/─ … Agent · open/);
    expect(dump(of)).toEqual(before);

    const { context, out } = contextAt(of.places);
    await sessions({ limit: 1, json: false }, context);
    expect(out()).toMatch(/open$/m);

    // What it showed is what is delivered later
    of.writeTranscripts();
    for (const call of of.calls) of.hook(call);
    await of.drain({ endIdle: true });
    const after = await asJson(of);
    const ids = new Set(after.spans.map((span) => span.spanId));
    for (const span of doc.open_spans) expect(ids).toContain(span.spanId);
    expect(after.open_spans).toEqual([]);
  });

  test("the figures of both parts add up", async () => {
    const of = await collectedUntil("interactive", "SessionEnd");
    const doc = await asJson(of);
    expect(doc.end).toBeNull();
    const sum = (key: string): number => doc.model_calls.reduce((n, call) => n + Number(call[key] ?? 0), 0);
    for (const key of ["input", "output", "cache_read"]) expect(doc.totals[key]).toBe(sum(key));
    expect(doc.totals["model_calls"]).toBe(doc.model_calls.length);
    expect(doc.model_calls.length).toBeGreaterThan(0);
    // Closed turns are stored, the session's root span is not
    const root = doc.open_spans.find((span) => span.parentSpanId === undefined);
    expect(root?.attributes["openhook.span.kind"]).toBe("session");
    for (const span of doc.spans) {
      expect([...doc.spans, ...doc.open_spans].map((other) => other.spanId)).toContain(span.parentSpanId);
    }
    expect(doc.spans.length).toBeGreaterThan(0);
  });

  test("one trace per turn makes the same tree", async () => {
    const of = await collected("claude-code", "subagent");
    const tree = (text: string): string[] =>
      text.split("\n").flatMap((line) => /^[ │├└─]*(?:Session|Turn|Subagent|claude-|[A-Z])\S*/.exec(line)?.[0] ?? []);
    const whole = tree(await shown(of));
    of.remove();
    replay = new Replay("claude-code", "subagent");
    replay.env = { OPENHOOK_OTEL_TRACES_SCOPE: "turn" };
    for (const call of replay.calls) replay.hook(call);
    await replay.drain({ endIdle: true });
    expect(tree(await shown(replay))).toEqual(whole);
    expect(new Set((await asJson(replay)).spans.map((span) => span.traceId)).size).toBeGreaterThan(1);
  });
});

/** Everything in the store, row by row. */
function dump(of: Replay): unknown {
  return readStore(of.places.storePath, (db) =>
    db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => [name, db.prepare(`SELECT * FROM ${String(name)}`).all()]),
  );
}

describe("which session", () => {
  test("without a name, the session with the latest activity; otherwise by id or prefix", async () => {
    const of = await collected("claude-code", "two-sessions-at-once");
    const [a, b] = ["142d231f-3010-4cf4-a206-8a1b376499e0", "2864f2de-1b72-4439-92ef-1fb76b73e433"] as const;
    expect([a, b]).toContain((await asJson(of)).session_id);
    expect((await asJson(of, a)).session_id).toBe(a);
    expect((await asJson(of, "1")).session_id).toBe(a);
    expect((await asJson(of, "2864")).session_id).toBe(b);
    expect((await asJson(of, `claude-code/${b.slice(0, 8)}`)).session_id).toBe(b);
  });

  test("no such session, and an ambiguous name: one line with a remedy", async () => {
    const of = await collected("claude-code", "two-sessions-at-once");
    await expect(failure(of, "nope\u001b[31m")).resolves.toMatch(
      /^no session begins with "nope\\x1b\[31m"; .*the newest is "/,
    );
    // % and _ are ordinary characters
    await expect(failure(of, "%")).resolves.toMatch(/^no session/);
    const db = openDatabase(of.places.storePath);
    for (let i = 0; i < 9; i++) ensureSession(db, "cursor", `many-${i}`, 1_000 + i);
    ensureSession(db, "gemini-cli", "many-1", 1_000);
    db.close();
    await expect(failure(of, "many-")).resolves.toBe(
      '"many-" matches several sessions: many-8, many-7, many-6, many-5, many-4 and more',
    );
    await expect(failure(of, "many-1")).resolves.toBe(
      '"many-1" matches several sessions: cursor/many-1, gemini-cli/many-1',
    );
    expect((await asJson(of, "gemini-cli/many-1")).source).toBe("gemini-cli");
    await expect(failure(of, "many-2", { json: true, envelopes: true })).resolves.toMatch(/^choose one/);
  });

  test("subagent ids that begin with their session's id name that session, at any depth", async () => {
    const of = await collected("claude-code", "two-sessions-at-once");
    const db = openDatabase(of.places.storePath);
    const family = ["01a1fcb5-e46d", "01a1fcb5-e50c", "01a1fcb5-e5ff"].map((id, i) =>
      ensureSession(db, "codex", id, 1_000 + i),
    );
    for (const [i, child] of family.entries()) {
      const parent = family[i - 1];
      if (parent !== undefined) setParent(db, child, parent);
    }
    ensureSession(db, "codex", "01a1fcb5-f000", 1_000);
    db.close();
    for (const name of ["01a1fcb5-e", "01a1fcb5-e50c", "01a1fcb5-e5ff", "codex/01a1fcb5-e5"]) {
      expect((await asJson(of, name)).session_id, name).toBe("01a1fcb5-e46d");
    }
    await expect(failure(of, "01a1fcb5-")).resolves.toBe(
      '"01a1fcb5-" matches several sessions: 01a1fcb5-e46d, 01a1fcb5-f000',
    );
  });

  async function failure(of: Replay, name: string, options: Partial<ShowOptions> = {}): Promise<string> {
    const error = await shown(of, name, options).catch((thrown: unknown) => thrown);
    if (!(error instanceof UserError)) throw new Error(`expected a UserError, got ${String(error)}`);
    expect(error.message).not.toMatch(/\n/);
    return error.message;
  }
});

describe("any store", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-show-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

  const places = () => placesOf({ env: {}, home, platform: "linux" });
  const run = async (options: Partial<ShowOptions> = {}, session?: string, world: ContextOptions = {}) => {
    const { context, out } = contextAt(places(), world);
    await show(session, { json: false, envelopes: false, ...options }, context);
    return out();
  };

  test("no store: prints a remedy, exits with 1 and creates nothing", async () => {
    await expect(run()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/^no sessions yet: run openhook-otel start/),
    });
    await expect(run({ json: true })).rejects.toBeInstanceOf(UserError);
    expect(readdirSync(home)).toEqual([]);
  });

  test("no store, but queued events: suggests a drain, and creates no store", async () => {
    const of = new Replay("claude-code", "basic");
    for (const call of of.calls.slice(0, 3)) of.hook(call);
    await expect(shown(of)).rejects.toThrow("no sessions yet, but 3 queued events: run openhook-otel drain");
    expect(existsSync(of.places.storePath)).toBe(false);
    of.remove();
  });

  test("an empty store: says that there are no sessions", async () => {
    openDatabase(places().storePath).close();
    await expect(run()).rejects.toThrow(/^no sessions yet/);
  });

  test("a damaged store, and one of a later version: one line with a remedy; the file stays unchanged", async () => {
    const { storePath } = places();
    openDatabase(storePath).close();
    const later = openDatabase(storePath);
    later.prepare("PRAGMA user_version = 999").run();
    later.close();
    await expect(run()).rejects.toMatchObject({ code: "E_STORE_NEWER", exitCode: 1 });
    for (const suffix of ["-wal", "-shm"]) rmSync(`${storePath}${suffix}`, { force: true });
    writeFileSync(storePath, "this is no database, whatever its name says. ".repeat(100));
    const before = readFileSync(storePath);
    await expect(run()).rejects.toMatchObject({ code: "E_STORE_DAMAGED", message: expect.stringMatching(/drain/) });
    expect(readFileSync(storePath)).toEqual(before);
  });

  test("does not wait for a running drain, and does not see what it has not committed", async () => {
    const db = openDatabase(places().storePath);
    ensureSession(db, "cursor", "first", 1_000);
    db.prepare("BEGIN IMMEDIATE").run();
    ensureSession(db, "cursor", "second", 2_000);
    expect(JSON.parse(await run({ json: true })).session_id).toBe("first");
    db.prepare("COMMIT").run();
    expect(JSON.parse(await run({ json: true })).session_id).toBe("second");
    db.close();
  });

  test("a session that reported only its start is shown, with unknown tokens", async () => {
    const db = openDatabase(places().storePath);
    const session = ensureSession(db, "nobody", "quiet", 1_000);
    addEvents(db, session, [envelope("quiet", "session.start", 1_000)]);
    db.close();
    expect(await run()).toMatch(
      /nobody · quiet\nstarted .* · open\n0 turns · 0 tool calls · tokens unknown\n\nno turn yet\n$/,
    );
    const doc = JSON.parse(await run({ json: true })) as Document;
    expect(doc.totals).toMatchObject({ model_calls: null, input: null, output: null, cost_usd: null });
  });

  test("control characters in names are escaped", async () => {
    const db = openDatabase(places().storePath);
    const evil = "\u001b]0;owned\u0007\u001b[2J\r\n\u202e";
    const session = ensureSession(db, "evil-agent", `id${evil}`, 1_000);
    updateSession(db, session.id, {
      timeMs: 1_000,
      agentVersion: evil,
      branch: evil,
      repository: { name: evil, branch: evil },
    });
    addEvents(db, session, [
      envelope(`id${evil}`, "prompt.submit", 1_000),
      envelope(`id${evil}`, "tool.start", 2_000, { tool_name: evil, tool_call_id: "c1" }),
      envelope(`id${evil}`, "tool.end", 3_000, { tool_name: evil, tool_call_id: "c1", status: "error" }),
    ]);
    db.close();
    for (const columns of [40, 80]) {
      const text = await run({}, undefined, { columns });
      expect(text.replaceAll(SGR, "")).not.toMatch(CONTROL);
      expect(text).toContain("\\x1b]0;owned\\x07");
    }
    const { context, out } = contextAt(places());
    await sessions({ limit: 5, json: false }, context);
    expect(out()).not.toMatch(CONTROL);
  });

  test("ten thousand spans are shown", async () => {
    const db = openDatabase(places().storePath);
    const session = ensureSession(db, "cursor", "long", 0);
    db.prepare(
      `INSERT INTO segments (session, ordinal, start_ms, end_ms, reason, last_activity_ms, totals, delivered)
       VALUES (?, 0, 0, 20000000, 'completed', 20000000, '{}', 1)`,
    ).run(session.id);
    const insert = db.prepare("INSERT INTO spans (key, session, segment, record) VALUES (?, ?, 0, ?)");
    db.transaction(() => {
      for (let i = 0; i < 10_000; i++) {
        const spanId = i.toString(16).padStart(16, "0");
        insert.run(String(i), session.id, JSON.stringify(longSpan(i, spanId)));
      }
    });
    db.close();
    const text = await run({}, undefined, { columns: 100 });
    expect(text.split("\n").length).toBeGreaterThan(10_000);
    expect(JSON.parse(await run({ json: true })).spans).toHaveLength(10_000);
  });

  function longSpan(i: number, spanId: string): SpanRecord {
    return SpanRecord.parse({
      traceId: "1".repeat(32),
      spanId,
      ...(i > 0 && { parentSpanId: "0".repeat(16) }),
      name: i === 0 ? "invoke_agent cursor" : `execute_tool Bash ${i}`,
      kind: "internal",
      startMs: i * 1_000,
      endMs: i * 1_000 + 1_500,
      status: { code: "unset" },
      attributes: { "openhook.span.kind": i === 0 ? "session" : "tool_call" },
      links: [],
      events: [],
      resource: {},
    });
  }
});

function envelope(
  sessionId: string,
  type: Envelope["type"],
  timeMs: number,
  data: Record<string, string> = {},
): Envelope {
  return Envelope.parse({
    openhook: "0.1",
    id: `${type}-${timeMs}`,
    source: "evil-agent",
    type,
    time: new Date(timeMs).toISOString(),
    session_id: sessionId,
    data,
  });
}
