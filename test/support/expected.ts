import { expect } from "vitest";
import { by, countersAndRows, type Expected, type ExpectedSession, summaryOf } from "./summary.ts";

/** Whether the store has the unfinished calls: some agents record them in transcripts, others only in hooks. */
export function hasUnfinishedCalls(storePath: string, session: ExpectedSession): boolean {
  const got = summaryOf(storePath, session.session_id);
  return got?.tools.some((tool) => tool.status === "unfinished") === true;
}
export const finishedOf = (session: ExpectedSession): ExpectedSession => ({
  ...session,
  tool_calls: session.tool_calls.filter((tool) => tool.status !== "unfinished"),
});

/**
 * Compares a store with the expected result, and its counters with its rows.
 *
 * @param isEndReported whether a hook reported how the session ended
 */
export function compareRecorded(storePath: string, expected: Expected, isEndReported = true): void {
  const { counters, rows } = countersAndRows(storePath);
  expect(counters).toEqual(rows);
  for (const session of expected.sessions) {
    const got = summaryOf(storePath, session.session_id);
    expect(got, `session ${session.session_id}`).toBeDefined();
    if (got === undefined) return;
    // Of an agent that reports sums, only the totals are known; beside a sum, calls can be missing
    if (session.recoverable_as_reported === undefined && !got.hasOnlySums) {
      const known = got.modelCalls.filter((call) => hasUsage(call) && !call.is_sum);
      const calls = comparable(session.model_calls.filter(hasUsage), known);
      if (got.modelCalls.some((call) => call.is_sum))
        expect(calls).toEqual(expect.arrayContaining([...comparable(known, known)]));
      else expect(comparable(known, known)).toEqual(calls);
    }
    // An agent that records no tokens: its calls are compared by what it does record
    if (Object.keys(session.totals).length === 0) {
      expect(got.modelCalls.map(kindOf).sort()).toEqual(session.model_calls.map(kindOf).sort());
    }
    const sum = (key: string): number => got.modelCalls.reduce((n, call) => n + Number(call[key as "input"] ?? 0), 0);
    const found = session.recoverable_as_reported;
    expect(sum("output"), "output").toBe(found?.output_tokens ?? session.totals["output"] ?? 0);
    expect(sum("input"), "input").toBe(found?.input_tokens ?? session.totals["input"] ?? 0);
    expect(sum("cache_read"), "cache_read").toBe(found?.cache_read_tokens ?? session.totals["cache_read"] ?? 0);
    expect(sum("cache_write"), "cache_write").toBe(session.totals["cache_write"] ?? 0);
    if (got.hasOnlySums && got.modelCalls.some((call) => call.reasoning !== undefined)) {
      expect(sum("reasoning"), "reasoning").toBe(found?.reasoning_tokens ?? session.totals["reasoning"]);
    }
    // The agent says how many calls its sums are of: as many as the model server answered
    if (got.modelCalls.some((call) => call.is_sum && call.calls !== undefined)) {
      expect(sum("calls"), "model calls").toBe(found?.llm_calls ?? session.totals["model_calls"]);
    }
    if (found !== undefined) expect(got.incomplete).toBeGreaterThan(0);
    expect(toolsOf(got.tools, session)).toEqual(toolsOf(session.tool_calls, session));
    expect(got.prompts, "prompts").toBe(session.prompts);
    expect(got.segments.every((s) => s.ended)).toBe(true);
    if (isEndReported) expect(endOf(got, session), "end").toBe(endIn(session));
    expect(got.unsettled, "unsettled").toBe(0);
  }
}

type Call = Readonly<Record<string, unknown>>;

const kindOf = ({ model, subagent }: Call): string => JSON.stringify([model, subagent]);

/** Calls whose usage the provider did not report are not in the recordings' lists. */
const hasUsage = (call: Call): boolean => typeof call["input"] === "number" || typeof call["output"] === "number";

/**
 * The members that both sides have: cache writes and reasoning are compared only if the agent records them, ids if it records that
 * call's id.
 */
function comparable(calls: readonly Call[], got: readonly Call[]): readonly Call[] {
  const ids = new Set(got.map((call) => call["response_id"]));
  const recorded = ["model", "subagent", "input", "output", "cache_read", "cache_write", "reasoning"].filter(
    (field) => field === "model" || got.some((call) => call[field] !== undefined),
  );
  const lifetimes = ["cache_write_5m", "cache_write_1h"];
  return calls
    .map((call) => Object.fromEntries([...recorded, ...lifetimes].map((field) => [field, call[field] ?? undefined])))
    .map((fields, index) => ({
      ...fields,
      reasoning: fields["reasoning"] ?? 0,
      response_id: ids.has(calls[index]?.["response_id"]) ? calls[index]?.["response_id"] : undefined,
    }))
    .sort(byJson);
}

/** Compares ids only if the recording's model server knew them. */
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
  // A timeout ends the session of an agent that never reports its end
  if (last?.reason === "timeout") return lastTurn === "ended" ? "clean" : "killed";
  // The agent reports no error and exits without ending its turn
  return lastTurn === "unfinished" && found === undefined ? "error" : "clean";
}
