import { expect } from "vitest";
import { booksOf, by, type Expected, type ExpectedSession, summaryOf } from "./summary.ts";

/** A call that was never answered stands in some agents' transcripts, and in others' hooks alone. */
export function isWrittenWhole(storePath: string, session: ExpectedSession): boolean {
  const got = summaryOf(storePath, session.session_id);
  return got?.tools.some((tool) => tool.status === "unfinished") === true;
}
export const finishedOf = (session: ExpectedSession): ExpectedSession => ({
  ...session,
  tool_calls: session.tool_calls.filter((tool) => tool.status !== "unfinished"),
});

/**
 * What a store holds against the right answer; and its counters against its rows.
 *
 * @param isEndTold whether a hook told how the session ended
 */
export function compareRecorded(storePath: string, expected: Expected, isEndTold = true): void {
  const books = booksOf(storePath);
  expect(books.counters).toEqual(books.rows);
  for (const session of expected.sessions) {
    const got = summaryOf(storePath, session.session_id);
    expect(got, `session ${session.session_id}`).toBeDefined();
    if (got === undefined) return;
    if (session.recoverable_as_reported === undefined) {
      expect(comparable(got.modelCalls, got.modelCalls)).toEqual(comparable(session.model_calls, got.modelCalls));
    }
    const sum = (key: string): number => got.modelCalls.reduce((n, call) => n + Number(call[key as "input"] ?? 0), 0);
    const found = session.recoverable_as_reported;
    expect(sum("output"), "output").toBe(found?.output_tokens ?? session.totals["output"]);
    expect(sum("input"), "input").toBe(found?.input_tokens ?? session.totals["input"]);
    expect(sum("cache_read"), "cache_read").toBe(found?.cache_read_tokens ?? session.totals["cache_read"]);
    expect(sum("cache_write"), "cache_write").toBe(session.totals["cache_write"]);
    if (found !== undefined) expect(got.incomplete).toBeGreaterThan(0);
    expect(toolsOf(got.tools, session)).toEqual(toolsOf(session.tool_calls, session));
    expect(got.prompts, "prompts").toBe(session.prompts);
    expect(got.segments.every((s) => s.ended)).toBe(true);
    if (isEndTold) expect(endOf(got, session), "end").toBe(endIn(session));
    expect(got.unsettled, "unsettled").toBe(0);
  }
}

type Call = Readonly<Record<string, unknown>>;

/** What both sides know: agents that write no ids, no cache writes or no reasoning down do not get them compared. */
function comparable(calls: readonly Call[], got: readonly Call[]): readonly Call[] {
  const told = ["response_id", "model", "subagent", "input", "output", "cache_read", "cache_write", "reasoning"].filter(
    (field) => field === "model" || got.some((call) => call[field] !== undefined),
  );
  const lifetimes = ["cache_write_5m", "cache_write_1h"];
  return calls
    .map((call) => Object.fromEntries([...told, ...lifetimes].map((field) => [field, call[field] ?? undefined])))
    .map((call) => ({ ...call, reasoning: call["reasoning"] ?? 0 }))
    .sort(byJson);
}

/** Ids only where the model server knew them. */
const toolsOf = (tools: readonly Call[], { tool_calls }: ExpectedSession): readonly Call[] =>
  tool_calls.every((tool) => tool.id !== null)
    ? [...tools].map(({ id, name, status, subagent }) => ({ id, name, status, subagent })).sort(by("id"))
    : [...tools].map(({ name, status, subagent }) => ({ name, status, subagent })).sort(byJson);

const byJson = (a: Call, b: Call): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

export const isClean = (session: ExpectedSession): boolean => /^clean|clean$/.test(session.ended);

const endIn = ({ ended }: ExpectedSession): string =>
  ended === "clean (api error)"
    ? "error"
    : ended === "cancelled"
      ? "interrupted"
      : (/clean$/.exec(ended)?.[0] ?? ended);

function endOf({ segments, lastTurn }: NonNullable<ReturnType<typeof summaryOf>>, session: ExpectedSession): string {
  const { ended, recoverable_as_reported: found } = session;
  const last = segments.at(-1);
  if (ended === "clear") return String(last?.native);
  if (lastTurn === "failed") return "error";
  if (lastTurn === "interrupted") return "interrupted";
  // An agent that never tells its end is ended by us
  if (last?.reason === "timeout") return lastTurn === "ended" ? "clean" : "killed";
  // An agent that tells no error, and leaves without the last word of its turn
  return lastTurn === "unfinished" && found === undefined ? "error" : "clean";
}
