import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findAgent } from "#agents/registry.ts";
import { nativeRecords } from "#collect/native/records.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { NativeIdKind, NativeRecord } from "#core/model/native.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { locateAll } from "../support/located.ts";
import { removeFolder } from "../support/remove.ts";
import { RECORDINGS, unpack } from "./recorded.ts";

const root = mkdtempSync(join(tmpdir(), "openhook-native-"));
afterAll(() => removeFolder(root));

/** Agents whose session files have ids of model calls that their telemetry has too. */
const WITH_ANSWERS = ["claude-code", "copilot", "qwen-code", "goose"];

describe.each(RECORDINGS.filter(({ name }) => name === "parallel-tools"))("$source", ({ source, folder, bodies }) => {
  test("every tool call, and every answer where there are ids, joins by its id", async () => {
    const home = join(root, source);
    unpack(join(folder, "transcripts"), home);
    const { sessions, entries } = await readHome(source, home);
    const records = (await Promise.all(bodies.map((body) => nativeRecords(source, body)))).flatMap(
      (one) => one.records,
    );

    expect(new Set(records.map(({ sessionId }) => sessionId))).toEqual(new Set(sessions));
    const calls = idsOf(entries, "callId");
    expect(calls.size).toBe(7);
    expect(joined(records, "callId")).toEqual(calls);
    const answers = joined(records, source === "claude-code" ? "requestId" : "responseId");
    const known = idsOf(entries, source === "claude-code" ? "requestId" : "responseId");
    expect(answers).toEqual(WITH_ANSWERS.includes(source) ? known : new Set());
    if (WITH_ANSWERS.includes(source)) expect(known.size).toBe(3);
    for (const id of joined(records, "promptId")) expect(idsOf(entries, "promptKey")).toContain(id);
    const spans = new Set(records.flatMap(({ span }) => (span === undefined ? [] : [span.spanId])));
    for (const id of joined(records, "spanId")) expect(spans).toContain(id);
  });
});

// --- internal ---

async function readHome(source: string, home: string) {
  const reader = (await (await findAgent(source))?.transcript?.())?.default;
  if (reader === undefined) throw new Error(`${source} has no reader`);
  const roots = reader.roots(home, {});
  const { sessions } = await locateAll(reader, home, roots);
  const entries: TranscriptEntry[] = [];
  for (const { parts: _, ...query } of sessions)
    for (const file of await reader.files({ ...query, roots }))
      for await (const batch of reader.read(file, INITIAL_OFFSET)) entries.push(...batch.entries);
  return { sessions: sessions.map(({ sessionId }) => sessionId), entries };
}

const idsOf = (entries: readonly TranscriptEntry[], member: string): ReadonlySet<unknown> =>
  new Set(
    entries.map((entry) => (entry as unknown as Record<string, unknown>)[member]).filter((id) => id !== undefined),
  );

const joined = (records: readonly NativeRecord[], kind: NativeIdKind): ReadonlySet<unknown> =>
  new Set(records.flatMap(({ ids }) => ids.filter((id) => id.kind === kind).map(({ id }) => id)));
