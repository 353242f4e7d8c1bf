import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { CASES as RECORDINGS, type RecordedCall, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { firstOf, firstRecordings } from "../support/whole.ts";
import { promptsOf, WRITTEN } from "../support/written.ts";

// A selection: each agent, and each case in which content could be misplaced or duplicated
const CASES = [
  { source: "claude-code", name: "parallel-tools" },
  { source: "claude-code", name: "older-version-2.0.77" },
  { source: "claude-code", name: "fork" },
  { source: "codex", name: "subagent" },
  { source: "codex", name: "old-0.110" },
  { source: "gemini-cli", name: "subagent" },
  { source: "copilot", name: "nested-subagents" },
  { source: "cline", name: "parallel-tools" },
  { source: "opencode", name: "parallel-tools" },
  { source: "kilo", name: "parallel-tools" },
  { source: "pi", name: "subagent" },
];

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(firstOf(firstRecordings(CASES), 3))("$source $name", ({ source, name }) => {
  test("full: every prompt, argument, result and answer is on its span once, also with hooks duplicated and shuffled", async () => {
    const of = at("full", source, name);
    for (const call of shuffled([...of.calls, ...of.calls])) of.put(call);
    await of.drain({ endIdle: true }, clockAt(lastMs(of)));
    const spans = spansOf(of);
    const written = WRITTEN[source]?.(of);
    if (written === undefined) throw new Error(`test/support/written.ts does not parse ${source}`);

    expect(answersIn(spans).sort(), "answers").toEqual([...written.answers].sort());
    const counted = callIdsOf(source, name);
    const ids = counted.length > 0 ? counted : [...written.calls.keys()];
    for (const callId of ids) {
      const { given, result } = written.calls.get(callId) ?? {};
      const [span, ...more] = spans.filter(({ attributes }) => attributes["gen_ai.tool.call.id"] === callId);
      expect(more, callId).toEqual([]);
      const recorded = span?.attributes["gen_ai.tool.call.arguments"];
      if (typeof given === "string") expect(recorded, callId).toBe(given);
      else if (hasArguments(given)) expect(JSON.parse(String(recorded)), callId).toEqual(given);
      if (result !== undefined) expect(span?.attributes["gen_ai.tool.call.result"], callId).toBe(result);
    }
    const calls = spans.filter(({ attributes }) => attributes["openhook.span.kind"] === "tool_call");
    expect(calls.length, "tool calls").toBe(ids.length);
    const requested = messagesIn(spans, "gen_ai.output.messages").flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])),
    );
    expect(new Set(requested).size, "each call appears in one answer").toBe(requested.length);
    const prompts = messagesIn(spans, "gen_ai.input.messages").map(({ role, parts }) => [role, parts[0]?.content]);
    expect(prompts.sort()).toEqual(
      promptsOf(of)
        .map((prompt) => ["user", prompt])
        .sort(),
    );
    expect(contentLeft(of), "content is stored only in spans").toBe(0);
  });

  test("numbers are equal at all levels, and levels below redacted store no content", async () => {
    const figures: unknown[] = [];
    for (const level of CAPTURE_LEVELS) {
      const of = at(level, source, name);
      for (const call of of.calls) of.put(call);
      await of.drain({ endIdle: true }, clockAt(lastMs(of)));
      const spans = spansOf(of);
      figures.push({ spans: spans.map(bare).sort(byId), counters: sums(of) });
      const held = spans.filter(({ attributes }) =>
        [...CONTENT_ATTRIBUTES].some((one) => attributes[one] !== undefined),
      );
      if (level === "none" || level === "metadata") {
        expect(held).toEqual([]);
        expect(contentLeft(of)).toBe(0);
      } else expect(held.length).toBeGreaterThan(0);
      if (level === "none") expectNoNames(of, spans);
      of.remove();
    }
    const [none, metadata, redacted, full] = figures;
    expect(metadata).toEqual(none);
    expect(redacted).toEqual(none);
    expect(full).toEqual(none);
  });
});

test("Cursor, which has only hooks: the answer is on its turn", async () => {
  const of = at("full", "cursor", "basic");
  for (const call of [...of.calls, ...of.calls].reverse()) of.put(call);
  await of.drain({ endIdle: true }, clockAt(lastMs(of)));
  const spans = spansOf(of);
  const [prompt, answer] = ["gen_ai.input.messages", "gen_ai.output.messages"].map((one) => messagesIn(spans, one));
  expect(prompt).toEqual([{ role: "user", parts: [{ type: "text", content: "Fix the failing price rounding test" }] }]);
  expect(answer).toEqual([
    {
      role: "assistant",
      parts: [{ type: "text", content: "The rounding is fixed; all tests pass." }],
      finish_reason: "unknown",
    },
  ]);
  const tools = spans.filter(({ attributes }) => attributes["openhook.span.kind"] === "tool_call");
  expect(tools.length).toBeGreaterThan(0);
  for (const { attributes } of tools) {
    expect(attributes["gen_ai.tool.call.arguments"]).toBeDefined();
    expect(attributes["gen_ai.tool.call.result"]).toBeDefined();
  }
});

test("Codex without a session file: the answer comes from hooks", async () => {
  const of = at("full", "codex", "ephemeral");
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true }, clockAt(lastMs(of)));
  const last = of.calls.find(({ event }) => event === "Stop")?.stdin?.["last_assistant_message"];
  expect(last).toBeTypeOf("string");
  expect(answersIn(spansOf(of))).toEqual([last]);
});

/** The tool call ids of a recording, counted independently. */
const callIdsOf = (source: string, name: string): readonly string[] =>
  (JSON.parse(readFileSync(join(RECORDINGS, source, name, "expected.json"), "utf8")) as Expected).sessions.flatMap(
    ({ tool_calls }) => tool_calls.flatMap(({ id }) => id ?? []),
  );

// --- the stored result ---

interface Message {
  readonly role: string;
  readonly parts: readonly { readonly type: string; readonly content?: string; readonly id?: string }[];
}

const messagesIn = (spans: readonly SpanRecord[], name: string): readonly Message[] =>
  spans.flatMap(({ attributes }) =>
    attributes[name] === undefined ? [] : (JSON.parse(String(attributes[name])) as Message[]),
  );

const answersIn = (spans: readonly SpanRecord[]): string[] =>
  messagesIn(spans, "gen_ai.output.messages").flatMap(({ parts }) =>
    parts.flatMap(({ type, content }) => (type === "text" && content !== undefined ? [content] : [])),
  );

/** A call without arguments has no arguments attribute. */
const hasArguments = (given: unknown): boolean => given !== undefined && JSON.stringify(given) !== "{}";

/** The level `none` keeps no user-chosen names. */
function expectNoNames(of: Replay, spans: readonly SpanRecord[]): void {
  const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  for (const gone of ["vcs.repository.name", "process.executable.name", "openhook.mcp.server.name"]) {
    expect(names).not.toContain(gone);
  }
  const db = openDatabase(of.places.storePath);
  try {
    const held = db
      .prepare("SELECT cwd, repository, branch FROM sessions WHERE coalesce(cwd, repository, branch) IS NOT NULL")
      .all();
    expect(held).toEqual([]);
    const events = db.prepare("SELECT body FROM events").all();
    for (const { body } of events) expect(Object.keys(JSON.parse(String(body)) as object)).not.toContain("cwd");
  } finally {
    db.close();
  }
}

/** The span without names and content: numbers, ids, times and statuses. */
const bare = ({ traceId, spanId, parentSpanId, startMs, endMs, status, attributes }: SpanRecord) => ({
  spanId,
  traceId,
  parentSpanId,
  startMs,
  endMs,
  status,
  figures: Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) => typeof value !== "string" || /\.id$|\.state$|\.status$|error\.type|model/.test(name),
    ),
  ),
});

const byId = (a: { readonly spanId: string }, b: { readonly spanId: string }): number => (a.spanId < b.spanId ? -1 : 1);

/** Sums by metric, since some stream attributes are names. Without the program's own metrics. */
function sums(of: Replay): Readonly<Record<string, number>> {
  const db = openDatabase(of.places.storePath);
  try {
    const byMetric: Record<string, number> = {};
    for (const { metric, value } of counterValues(db)) {
      if (!/^openhook\.(collector|self)/.test(metric)) byMetric[metric] = (byMetric[metric] ?? 0) + value;
    }
    return byMetric;
  } finally {
    db.close();
  }
}

function spansOf(of: Replay): readonly SpanRecord[] {
  const db = openDatabase(of.places.storePath);
  try {
    return db
      .prepare("SELECT record FROM spans ORDER BY seq")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
  } finally {
    db.close();
  }
}

function contentLeft(of: Replay): number {
  const db = openDatabase(of.places.storePath);
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM content").get()?.["n"]);
  } finally {
    db.close();
  }
}

function at(level: string, source: string, name: string): Replay {
  replay = new Replay(source, name);
  replay.env = { OPENHOOK_OTEL_CAPTURE: level, OPENHOOK_OTEL_CAPTURE_MAX_BYTES: "1000000" };
  return replay;
}

const lastMs = (of: Replay): number => Math.max(...of.calls.map((call) => Date.parse(call.received_at)));

/** A fixed shuffle. */
function shuffled(calls: readonly RecordedCall[]): readonly RecordedCall[] {
  let state = 7;
  const random = (): number => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state;
  };
  return calls
    .map((call) => ({ call, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ call }) => call);
}
