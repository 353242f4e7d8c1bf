import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SpanRecord } from "#core/model/telemetry.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";

// Everything sent for a recorded session, as text: the diff shows what a change adds, renames or removes.

const CASES = [
  ["claude-code", "api-error"],
  ["claude-code", "background-subagent"],
  ["cline", "tool-errors"],
  ["codex", "parallel-tools"],
  ["copilot", "subagent"],
  ["cursor", "failure"],
  ["gemini-cli", "subagent"],
  ["opencode", "parallel-tools"],
] as const;

let replay: Replay | undefined;
afterEach(() => replay?.remove());

test.each(CASES)("%s: %s", async (source, name) => {
  // A prompt names a file below the folder of the project: its length must not depend on where the tests run
  const edit = (text: string): string => text.replaceAll(/(claude-1001\/)[^/]+/g, "$1-home-dev-acme-shop");
  replay = new Replay(source, name, { edit });
  makeRepository(join(replay.home, "acme-shop"));
  for (const call of replay.calls) replay.put(call);
  const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  await replay.drain({ endIdle: true }, clockAt(lastMs));
  await expect(sentOf(replay.places.storePath)).toMatchFileSnapshot(`sent/${source}-${name}.txt`);
});

/** The folder of all recordings. */
function makeRepository(path: string): void {
  mkdirSync(join(path, ".git"), { recursive: true });
  writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(path, ".git", "config"), '[remote "origin"]\n\turl = https://git.example/acme/acme-shop.git\n');
}

/** Spans as a tree with all attributes, times relative to the first; below them the counters. */
function sentOf(storePath: string): string {
  const db = openDatabase(storePath);
  try {
    const spans = db
      .prepare("SELECT record FROM spans")
      .all()
      .map(({ record }) => SpanRecord.parse(JSON.parse(String(record))));
    const fromMs = Math.min(...spans.map((span) => span.startMs));
    const nameOf = (id: string): string => spans.find((span) => span.spanId === id)?.name ?? "elsewhere";
    const lines = (span: SpanRecord, indent: string): readonly string[] => [
      `${indent}${span.name} (${span.kind}, ${span.startMs - fromMs} to ${span.endMs - fromMs} ms)`,
      ...(span.status.code === "error" ? [`${indent}    ! ${span.status.message ?? ""}`] : []),
      ...named(withoutSession(span)).map((line) => `${indent}    ${line}`),
      ...span.events.map((e) => `${indent}    @ ${e.timeMs - fromMs} ms ${e.name}: ${named(e.attributes).join(", ")}`),
      ...span.links.map((link) => `${indent}    -> ${nameOf(link.spanId)}: ${named(link.attributes).join(", ")}`),
      ...below(span.spanId, `${indent}  `),
    ];
    const below = (parent: string | undefined, indent: string): readonly string[] =>
      spans
        .filter((span) => span.parentSpanId === parent)
        .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.spanId < b.spanId ? -1 : 1))
        .flatMap((span) => lines(span, indent));
    const counters = db
      .prepare("SELECT metric, attributes, resource, coalesce(value, histogram) AS total FROM counters")
      .all()
      .map(({ metric, attributes, resource, total }) => {
        const of = named(JSON.parse(String(resource))).join(", ");
        return `${of} ${metric}{${named(JSON.parse(String(attributes))).join(", ")}} ${total}`;
      })
      // The drain's metrics about itself depend on the machine's speed
      .filter((line) => !line.startsWith('service.name="openhook-otel"'));
    const resources = new Set(spans.map((span) => named(span.resource).join(", ")));
    return `${[...resources, ...below(undefined, ""), "", ...counters.sort()].join("\n")}\n`;
  } finally {
    db.close();
  }
}

/** Every span has its session's id, twice: shown only on the root. */
function withoutSession({ attributes, parentSpanId }: SpanRecord): Readonly<Record<string, unknown>> {
  const { "session.id": id, "gen_ai.conversation.id": conversation, ...others } = attributes;
  expect([typeof id, id]).toEqual(["string", conversation]);
  return parentSpanId === undefined ? attributes : others;
}

const named = (attributes: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .sort();
