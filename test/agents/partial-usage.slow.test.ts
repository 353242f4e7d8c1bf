// Slow: only `npm run test:all` runs it. Each token figure missing in a recording of each agent; model/merge.test.ts and
// telemetry/cost.test.ts have the rules.
//
// One token figure of one call is missing in a recording: that figure is unknown, nothing else changes, and 0 appears nowhere.
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, describe, expect, test } from "vitest";
import type { TokenUsage } from "#core/model/transcript.ts";
import { tokensText } from "#kit/text/figures.ts";
import { openDatabase } from "#store/database.ts";
import { settledSums } from "#store/queries.ts";
import { importInto } from "../import/run.ts";
import { CASES, Replay } from "../support/replay.ts";
import { countersAndRows } from "../support/summary.ts";

type Figure = keyof TokenUsage;

/** By the name that an agent gives a figure: our figures that are unknown without it; none if others show them. */
type Fields = Readonly<Record<string, readonly Figure[]>>;

const CLAUDE: Fields = {
  input_tokens: ["input"],
  output_tokens: ["output"],
  cache_read_input_tokens: ["input", "cacheRead"],
  cache_creation_input_tokens: [],
};
const CODEX: Fields = {
  input_tokens: ["input"],
  output_tokens: ["output"],
  cached_input_tokens: ["cacheRead"],
  reasoning_output_tokens: ["reasoning"],
};
const COPILOT: Fields = {
  inputTokens: ["input"],
  outputTokens: ["output"],
  cacheReadTokens: ["cacheRead"],
  cacheWriteTokens: ["cacheWrite"],
};

interface Case {
  readonly source: string;
  readonly name: string;
  /** The member that holds the figures. */
  readonly within: string;
  readonly fields: Fields;
}

const CASES_OF: readonly Case[] = [
  { source: "claude-code", name: "basic", within: "usage", fields: CLAUDE },
  { source: "claude-code", name: "parallel-tools", within: "usage", fields: CLAUDE },
  { source: "codex", name: "basic", within: "usage", fields: CODEX },
  {
    source: "codex",
    name: "old-0.110",
    within: "last_token_usage",
    fields: { input_tokens: [], output_tokens: [] },
  },
  {
    source: "codex",
    name: "old-0.110",
    within: "total_token_usage",
    fields: { input_tokens: [], output_tokens: [] },
  },
  {
    source: "codex",
    name: "ephemeral",
    within: "token_usage",
    fields: { input_tokens: ["input"], output_tokens: ["output"] },
  },
  { source: "copilot", name: "anthropic-provider", within: "usage", fields: COPILOT },
  {
    source: "gemini-cli",
    name: "basic",
    within: "tokens",
    fields: { input: ["input"], output: ["output"], cached: ["cacheRead"], thoughts: ["output", "reasoning"] },
  },
  {
    source: "opencode",
    name: "reasoning",
    within: "tokens",
    fields: { input: ["input"], output: ["output"], reasoning: ["output", "reasoning"] },
  },
  {
    source: "cline",
    name: "basic",
    within: "metrics",
    fields: { inputTokens: ["input"], outputTokens: ["output"], cacheReadTokens: ["cacheRead"] },
  },
  {
    source: "cursor",
    name: "basic",
    within: "stdin",
    // The turn's other event has the same figures
    fields: { input_tokens: [], output_tokens: [], cache_read_tokens: [] },
  },
];

const replays: Replay[] = [];
afterEach(() => {
  for (const replay of replays.splice(0)) replay.remove();
});

describe.each(CASES_OF)("$source $name: without one figure in $within", ({ source, name, within, fields }) => {
  const all = Object.entries(fields);
  test.each(all)("%s: only the figures that need it are unknown", async (field, lost) => {
    const { whole, removed } = await drained(source, name, { within, field });
    expect(Object.keys(removed.calls)).toEqual(Object.keys(whole.calls));
    const changed = Object.keys(whole.calls).filter((key) => differs(whole.calls[key], removed.calls[key]));
    // The figure was 0 in the recording, or another record of the call has it
    if (lost.length > 0) expect(changed).toHaveLength(1);
    const key = changed[0] ?? "";
    const [before, after] = [whole.calls[key] ?? {}, removed.calls[key] ?? {}];
    for (const figure of FIGURES) {
      if (!lost.includes(figure)) expect([figure, after[figure]]).toEqual([figure, before[figure]]);
      else expect([figure, after[figure]]).toEqual([figure, undefined]);
      const rest = sumOf(whole, figure, key) ?? undefined;
      expect([figure, removed.sums[figure]]).toEqual([figure, lost.includes(figure) ? rest : whole.sums[figure]]);
    }
    const isPartial = lost.includes("input") || lost.includes("output");
    expect(removed.sums.callsWithoutUsage).toBe(whole.sums.callsWithoutUsage + (isPartial ? 1 : 0));
    if (isPartial) expect(removed.costs[key]).toBeNull();
    if (isPartial && !/\?/.test(tokensText(removed.sums))) expect(tokensText(removed.sums)).toContain("≥");
    expect(zeros(removed.spans)).toBeLessThanOrEqual(zeros(whole.spans));
    expect(removed.root["openhook.session.input_tokens"]).toBe(removed.sums.input);
    expect(removed.root["openhook.session.output_tokens"]).toBe(removed.sums.output);
    expect(removed.totals.counters).toEqual(removed.totals.rows);
    if (removed.packed !== undefined) expect(removed.packed).toEqual({ ...removed.sums, ...unshared(removed) });
  });
});

// --- internal ---

const FIGURES = ["input", "output", "cacheRead", "cacheWrite", "cacheWrite5m", "cacheWrite1h", "reasoning"] as const;

type Read = Awaited<ReturnType<typeof readStore>>;

const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

/** Imports know transcripts only. */
const unshared = ({ packed }: Read) => ({ incompleteCalls: packed?.incompleteCalls });

/** The sum of a figure over all other calls. */
const sumOf = ({ calls }: Read, figure: Figure, without: string): number | undefined =>
  Object.entries(calls)
    .filter(([key]) => key !== without)
    .map(([, usage]) => usage[figure])
    .filter((tokens) => tokens !== undefined)
    .reduce<number | undefined>((sum, tokens) => (sum ?? 0) + tokens, undefined);

/** Number of figures of calls that are 0. */
const zeros = (spans: readonly Readonly<Record<string, unknown>>[]): number =>
  spans
    .filter((attributes) => attributes["openhook.span.kind"] === "model_call")
    .flatMap((attributes) => Object.entries(attributes))
    .filter(([name, n]) => n === 0 && /tokens/.test(name)).length;

interface Removed {
  readonly within: string;
  readonly field: string;
}

async function drained(source: string, name: string, what: Removed) {
  const target = targetIn(source, name, what);
  const read = async (edit: (text: string) => string): Promise<Read> => {
    const replay = new Replay(source, name, { edit: (text, path) => editLines(text, path, edit) });
    replays.push(replay);
    if (source === "opencode") editDatabase(replay, edit);
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true });
    const past = new Replay(source, name, { edit: (text, path) => editLines(text, path, edit) });
    replays.push(past);
    if (source === "opencode") editDatabase(past, edit);
    if (past.hasTranscripts) await importInto(past, source);
    return readStore(replay, past.hasTranscripts ? past : undefined);
  };
  const without = (text: string): string => withoutField(text, what, target);
  return { whole: await read((text) => text), removed: await read(without) };
}

/** Figures of the first call that has a number other than 0 in this field; lines of one answer repeat them. */
function targetIn(source: string, name: string, { within, field }: Removed): string {
  const found: string[] = [];
  const see = (text: string): string => {
    walk(JSON.parse(text), within, (figures) => {
      if (Number(figures[field] ?? 0) > 0) found.push(JSON.stringify(figures));
    });
    return text;
  };
  const replay = new Replay(source, name, { edit: (text, path) => editLines(text, path, see) });
  if (source === "opencode") editDatabase(replay, see);
  replay.remove();
  if (found[0] === undefined) throw new Error(`no ${field} in ${join(CASES, source, name)}`);
  return found[0];
}

type Members = Record<string, unknown>;

function walk(value: unknown, within: string, see: (figures: Members) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === within && typeof member === "object" && member !== null) see(member as Members);
    walk(member, within, see);
  }
}

function withoutField(text: string, { within, field }: Removed, target: string): string {
  const value: unknown = JSON.parse(text);
  walk(value, within, (figures) => {
    if (JSON.stringify(figures) === target) delete figures[field];
  });
  return JSON.stringify(value);
}

/** Edits each JSON value of a file. */
function editLines(text: string, path: string, edit: (text: string) => string): string {
  if (path.endsWith(".json")) return edit(text);
  if (!path.endsWith(".jsonl")) return text;
  return text
    .split("\n")
    .map((line) => (line === "" ? line : edit(line)))
    .join("\n");
}

function editDatabase(replay: Replay, edit: (text: string) => string): void {
  const db = new Libsql(join(replay.home, ".local", "share", "opencode", "opencode.db"), {});
  for (const table of ["message", "part"]) {
    for (const { id, data } of db.prepare(`SELECT id, data FROM ${table}`).all() as { id: string; data: string }[]) {
      db.prepare(`UPDATE ${table} SET data = ? WHERE id = ?`).run(edit(data), id);
    }
  }
  db.close();
}

async function readStore(replay: Replay, past: Replay | undefined) {
  const db = openDatabase(replay.places.storePath);
  try {
    const rows = db.prepare("SELECT session, body, cost_nano_usd FROM model_calls ORDER BY end_ms, key").all();
    // By place, because keys can contain the figures
    const bodies = rows.map(
      (row, at) => [`call ${at}`, JSON.parse(String(row["body"])), row["cost_nano_usd"]] as const,
    );
    const records = db.prepare("SELECT record FROM spans").all();
    const spans = records.map((row) => JSON.parse(String(row["record"])).attributes as Members);
    const root = spans.find((attributes) => attributes["openhook.span.kind"] === "session");
    if (rows.length === 0 || root === undefined) throw new Error("the store has no call or no session");
    return {
      calls: Object.fromEntries(bodies.map(([key, call]) => [key, (call.usage ?? {}) as TokenUsage])),
      costs: Object.fromEntries(bodies.map(([key, , cost]) => [key, cost])),
      sums: settledSums(db, Number(rows[0]?.["session"])),
      spans,
      root,
      totals: countersAndRows(replay.places.storePath),
      packed: past === undefined ? undefined : packedSums(past),
    };
  } finally {
    db.close();
  }
}

function packedSums(past: Replay) {
  const db = openDatabase(past.places.storePath);
  try {
    const [row] = db.prepare("SELECT session FROM packed").all();
    if (row === undefined) throw new Error("nothing was imported");
    return settledSums(db, Number(row["session"]));
  } finally {
    db.close();
  }
}
