// Payloads from documentation and public captures, with the expected event of each line
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import cursor from "#agents/cursor/index.ts";
import { detect } from "#agents/detect.ts";
import { allAgents } from "#agents/registry.ts";
import { decodePayload } from "#collect/intake/payload.ts";
import type { Envelope } from "#core/model/envelope.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { isEnvelope } from "#core/rules/event.ts";
import { mergeEntries } from "#core/rules/merge.ts";

interface Line {
  readonly type: string | null;
  readonly session_id: string | null;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  readonly status: string | null;
  readonly aux?: string;
  readonly duration_ms?: number;
  readonly failure_type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}
interface Truth {
  readonly expect: Readonly<Record<string, unknown>>;
  readonly lines: readonly Line[];
}
interface Call {
  readonly received_at: string;
  readonly argv: readonly string[];
  readonly stdin?: unknown;
  readonly stdin_raw?: string;
}

const here = fileURLToPath(new URL(".", import.meta.url));
const cases = readdirSync(here).filter((name) => !name.includes("."));
const agents = await allAgents();

describe.each(cases)("%s", (name) => {
  const text = readFileSync(join(here, name, "hooks.jsonl"), "utf8").trim();
  const calls = text.split("\n").map((line) => JSON.parse(line) as Call);
  const truth = JSON.parse(readFileSync(join(here, name, "truth.json"), "utf8")) as Truth;
  const mapped = calls.map((call) => {
    const decoded = decodePayload(Buffer.from(call.stdin_raw ?? JSON.stringify(call.stdin)));
    if (!decoded.ok) throw new Error(decoded.reason);
    const facts = factsOf(call);
    return { payload: decoded.value, facts, events: cursor.toEvents(decoded.value, facts) };
  });

  test("every line is recognised as Cursor's, independently of the command line", () => {
    for (const { payload, facts } of mapped) {
      for (const source of [facts.source, "claude-code", undefined]) {
        const { source: _, ...rest } = facts;
        expect(detect(agents, payload, source === undefined ? rest : { ...rest, source })?.source).toBe("cursor");
      }
    }
  });

  test("each line gives the expected event, or none", () => {
    const seen = new Set<string>();
    for (const [index, line] of truth.lines.entries()) {
      const isDuplicate = line.aux?.includes("drop as duplicate") === true;
      const events = mapped[index]?.events ?? [];
      const envelopes = events.filter(isEnvelope);
      if (isDuplicate) {
        for (const event of envelopes) expect(seen.has(event.id), `line ${index + 1}`).toBe(true);
        continue;
      }
      for (const event of events) expect(seen.has(event.id)).toBe(false);
      for (const event of events) seen.add(event.id);
      expect(
        envelopes.map((event) => event.type),
        `line ${index + 1}`,
      ).toEqual(line.type === null ? [] : [line.type]);
      for (const event of events) expect(event.session_id).toBe(line.session_id);
      for (const event of envelopes) compare(event, line);
    }
  });

  test("tokens, calls and sessions add up to the expected figures", () => {
    const entries = merged(mapped.flatMap(({ payload, facts }) => cursor.toEntries(payload, facts)));
    const usage = entries.flatMap((entry) => (entry.kind === "model_call" && entry.usage ? [entry.usage] : []));
    const sum = (field: "input" | "output" | "cacheRead") => usage.reduce((n, one) => n + (one[field] ?? 0), 0);
    const { input_tokens, output_tokens, cache_read_tokens } = truth.expect;
    if (input_tokens === undefined) expect(usage).toEqual([]);
    else expect([sum("input"), sum("output")]).toEqual([input_tokens, output_tokens]);
    if (cache_read_tokens !== undefined) expect(sum("cacheRead")).toBe(cache_read_tokens);

    const events = [...new Map(mapped.flatMap((one) => one.events).map((event) => [event.id, event])).values()];
    const starts = events.filter((event) => event.type === "tool.start");
    expect(starts).toHaveLength(Number(truth.expect["tool_spans"]));
    expect(new Set(events.map((event) => event.session_id)).size).toBe(truth.expect["sessions"]);
    const failed = events.filter((event) => event.type === "tool.end" && event.data?.status === "error");
    expect(failed).toHaveLength(Number(truth.expect["error_spans"] ?? 0));
  });

  test("events and entries have no content", () => {
    const secrets = /npm|rounding|price|checkout|Explore the|slow suite|provider error|timed out|dev@example/i;
    for (const { payload, facts, events } of mapped) {
      const text = JSON.stringify([events, cursor.toEntries(payload, facts)])
        .replaceAll(/"(?:transcript_path|cwd)":"[^"]*"/g, "")
        .replaceAll(/"executable":"npm"/g, "");
      expect(text).not.toMatch(secrets);
    }
  });
});

function factsOf(call: Call): IntakeFacts {
  const flag = call.argv.indexOf("--source");
  return {
    ...(flag !== -1 && { source: call.argv[flag + 1] ?? "" }),
    timeMs: Date.parse(call.received_at),
    env: {},
    payloadBytes: 100,
    truncated: false,
  };
}

function compare(event: Envelope, line: Line): void {
  const data = (event.data ?? {}) as Record<string, unknown>;
  expect(data["tool_call_id"] ?? null).toBe(line.tool_call_id);
  expect(data["tool_name"] ?? null).toBe(line.tool_name);
  expect(data["status"] ?? null).toBe(line.status);
  if (line.duration_ms !== undefined) expect(data["duration_ms"]).toBe(Math.round(line.duration_ms));
  if (line.failure_type !== undefined) expect(event.extensions?.["error_type"]).toBe(line.failure_type);
  for (const [field, value] of Object.entries(line.data ?? {})) {
    // A payload cannot have a session's sums
    if (!/_tokens$/.test(field)) expect(data[field], field).toBe(value);
  }
}

function merged(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}
