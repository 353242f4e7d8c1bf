// Slow: only `npm run test:all` runs it. Copies that have more than the original, in every order; import/copies.test.ts and
// model/merge.test.ts have the rules.
//
// A session, and another one that begins with a copy of it, whose records of the same answers differ.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Replay } from "../support/replay.ts";
import { claudePath, claudeSession, plus, sessionIdOf, type Totals, writeLines } from "./claude.ts";
import { importInto } from "./run.ts";
import { storedTotals } from "./totals.ts";

const SOURCE = "claude-code";
const DAY_MS = 24 * 3_600_000;
const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");

let at: Replay;
beforeEach(() => {
  at = new Replay(SOURCE, "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

const stored = (): Totals => storedTotals(at.places.storePath);
const [A, B] = [sessionIdOf(1), sessionIdOf(2)];
// Random ids, as the vendor's
const withRandomIds = (line: string): string =>
  line.replaceAll(/"id":"msg_([^"]*)"/g, (_, id) => `"id":"msg_01Xw3nPq7RtYkLmZb9${id}"`);
const first = claudeSession({ id: A, startMs: STARTED_MS, turns: 3 });
const own = claudeSession({ id: B, startMs: STARTED_MS + DAY_MS, turns: 2 });
const lines = first.lines.map(withRandomIds);
const copied = lines.map((line) => line.replaceAll(`"sessionId":"${A}"`, `"sessionId":"${B}"`));
const ownLines = own.lines.map(withRandomIds);
const BOTH = plus(first.totals, own.totals);

type Json = Record<string, unknown>;
const withoutRequest = (line: string): string => line.replace(/,"requestId":"[^"]*"/, "");
/** As written when the answer began. */
function begun(line: string): string {
  const o = JSON.parse(line) as Json & { message?: Json & { usage?: Json } };
  if (o["type"] !== "assistant" || o.message?.usage === undefined) return line;
  const usage = { ...o.message.usage, output_tokens: 1 };
  return JSON.stringify({ ...o, message: { ...o.message, usage, stop_reason: null } });
}

const write = (id: string, all: readonly string[]): void => writeLines(claudePath(at, id), all);
const imported = async (): Promise<void> => {
  expect(await importInto(at, SOURCE)).toMatchObject({ problems: [] });
};
async function hooks(id: string, timeMs: number): Promise<void> {
  const stdin = { session_id: id, transcript_path: claudePath(at, id), cwd: "/home/dev/acme-shop", reason: "other" };
  const received_at = new Date(timeMs).toISOString();
  at.put({ received_at, event: "SessionEnd", stdin: { hook_event_name: "SessionEnd", ...stdin } });
  await at.drain();
}

const SHAPES: Readonly<Record<string, readonly [a: readonly string[], b: readonly string[]]>> = {
  "no request in the copy": [lines, [...copied.map(withoutRequest), ...ownLines]],
  "no request in the original": [lines.map(withoutRequest), [...copied, ...ownLines]],
  "a request in every second line": [
    lines.map((line, n) => (n % 2 === 0 ? withoutRequest(line) : line)),
    [...copied.map((line, n) => (n % 2 === 0 ? line : withoutRequest(line))), ...ownLines],
  ],
  "the original ends where its answers began": [lines.map(begun), [...copied, ...ownLines]],
  "the copy ends where its answers began": [lines, [...copied.map(begun), ...ownLines]],
};

test("in each of these cases the original or the copy lacks something", () => {
  for (const [a, b] of Object.values(SHAPES)) expect([a, b]).not.toEqual([lines, [...copied, ...ownLines]]);
});

describe.each(Object.entries(SHAPES))("%s: each answer counts once, with its full figures", (_, [a, b]) => {
  const writeA = () => write(A, a);
  const writeB = () => write(B, b);
  const hooksA = () => hooks(A, STARTED_MS + 3_600_000);
  const hooksB = () => hooks(B, STARTED_MS + DAY_MS + 3_600_000);

  test.each<[string, readonly (() => unknown)[]]>([
    ["imported together", [writeA, writeB, imported]],
    ["the original first", [writeA, imported, writeB, imported]],
    ["the copy first", [writeB, imported, writeA, imported]],
    ["by hooks", [writeA, hooksA, writeB, hooksB]],
    ["by hooks, the copy first", [writeB, hooksB, writeA, hooksA]],
    ["the copy by hooks, the original imported", [writeB, hooksB, writeA, imported]],
    ["the original imported, the copy by hooks", [writeA, imported, writeB, hooksB]],
  ])("%s", async (_, steps) => {
    for (const step of steps) await step();
    expect(stored()).toEqual(BOTH);
  });
});
