// Slow: only `npm run test:all` runs it. Rows of every recording and of random sessions add up; view/waterfall.test.ts has the
// rules.
//
// The rows of one level add up to the row above, up to the report: on the page, in `show`, in `explain`, in exported files.

import { rmSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { explain } from "#show/report/explain.ts";
import { questionOf } from "#show/report/question.ts";
import { summarise } from "#show/report/session-summary.ts";
import { outlineOf, viewOf } from "#show/report/session-view.ts";
import { rowJson } from "#show/report/usage-data.ts";
import { usageReport } from "#show/report/usage-report.ts";
import { toDocument } from "#show/view/data/document.ts";
import { readSpans, type Spans } from "#show/view/page/session/spans.ts";
import type { Database } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { whenReleased } from "#store/release.ts";
import type { StoredSession } from "#store/sessions.ts";
import { recordedCases, recordedHome } from "../import/home.ts";
import { importInto } from "../import/run.ts";
import { clockAt } from "../support/clock.ts";
import { MadeSession } from "../support/made-session.ts";
import fc from "../support/properties.ts";
import { chosenRecordings, runs } from "../support/whole.ts";

const agents = await allAgents();
const made: { remove(): void }[] = [];
afterEach(() => {
  for (const one of made.splice(0)) one.remove();
});

test.each(chosenRecordings(await recordedCases()))("$source $name", async (of) => {
  const { replay, calls } = await recordedHome(of);
  made.push(replay);
  const { stateDir, storePath } = replay.places;
  const times = calls.map((call) => Date.parse(call.received_at));
  const half = Math.ceil(calls.length / 2);
  for (const call of calls.slice(0, half)) replay.put(call);
  await replay.drain({}, clockAt(times[half - 1] ?? 0));
  expectSums(storePath);
  for (const call of calls.slice(half)) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(Math.max(...times)));
  expectSums(storePath);
  await whenReleased(() => rmSync(stateDir, { recursive: true }));
  await importInto(replay, of.source);
  expectSums(storePath);
});

/** What happens next in a session: the user or the agent does something, a process ends, a drain runs. */
const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({ do: "prompt" as const }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("answer" as const),
        by: fc.nat(3),
        output: fc.nat(900),
        model: fc.constantFrom("claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "acme-model-1"),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("subagent" as const), by: fc.nat(3), named: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("resume" as const), ends: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("revise" as const), back: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.constant({ do: "drain" as const }) },
  ),
  { minLength: 4, maxLength: 30 },
);

/** A subagent answers after the part of the session that it belongs to has ended. */
const SUBAGENT_GOES_ON: typeof steps extends fc.Arbitrary<infer All> ? All : never = [
  { do: "subagent", by: 0, named: false },
  { do: "subagent", by: 3, named: false },
  { do: "resume", ends: false },
  { do: "answer", by: 1, output: 0, model: "claude-sonnet-4-5-20250929" },
  { do: "drain" },
];

test("any session: subagents in subagents, without a call, after a resumption; unknown prices; revised answers", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom("session", "turn"), async (all, traceScope) => {
      const session = new MadeSession({ OPENHOOK_OTEL_TRACES_SCOPE: traceScope });
      made.push(session);
      let [prompts, spawned] = [0, 0];
      const helpers: (string | undefined)[] = [undefined];
      const answers: { readonly id: string; readonly agentId: string | undefined; readonly output: number }[] = [];
      await session.hook("SessionStart", { source: "startup" });
      for (const [n, step] of all.entries()) {
        if (step.do === "prompt") {
          await session.hook("UserPromptSubmit", { prompt_id: `p${prompts}`, prompt: "go on" });
          await session.user(`p${prompts++}`);
        } else if (step.do === "answer") {
          const agentId = helpers[step.by % helpers.length];
          const usage = { fresh: n + 1, output: step.output };
          await session.answer({ id: `msg_${n}`, model: step.model, usage, ...(agentId !== undefined && { agentId }) });
          answers.push({ id: `msg_${n}`, agentId, output: step.output });
        } else if (step.do === "subagent") {
          const agentId = helpers[step.by % helpers.length];
          const [callId, helper] = [`toolu_${n}`, `helper${spawned++}`];
          await session.answer({
            id: `msg_${n}`,
            calls: [[callId, "Agent"]],
            ...(agentId !== undefined && { agentId }),
          });
          if (step.named) session.startedBy(helper, callId);
          await session.user(undefined, helper);
          await session.answer({ id: `msg_${n}_h`, agentId: helper });
          if (step.named) await session.result(callId, helper, agentId);
          helpers.push(helper);
        } else if (step.do === "resume") {
          if (step.ends) await session.hook("SessionEnd", { reason: "other" });
          await session.pause(60_000);
          await session.hook("SessionStart", { source: "resume" });
        } else if (step.do === "revise") {
          const one = answers.at(-1 - step.back);
          const usage = { fresh: 1, output: (one?.output ?? 0) + 1_000 };
          if (one !== undefined)
            await session.answer({ id: one.id, usage, ...(one.agentId !== undefined && { agentId: one.agentId }) });
        } else await session.drain();
      }
      await session.drain();
      expectSums(session.storePath, traceScope);
      await session.hook("SessionEnd", { reason: "other" });
      await session.drain();
      expectSums(session.storePath, traceScope);
      made.pop()?.remove();
    }),
    { numRuns: runs(24), examples: [[SUBAGENT_GOES_ON, "session"]] },
  );
});

// --- internal ---

type Figures = readonly [calls: number, input: number, output: number, costNanoUsd: number];

const NOTHING: Figures = [0, 0, 0, 0];
const sum = (all: readonly Figures[]): Figures =>
  all.reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]], NOTHING);

function expectSums(storePath: string, traceScope: "session" | "turn" = "session"): void {
  readStore(storePath, (db) => {
    const question = questionOf(["session"], { since: "2020-01-01", json: true, csv: false }, Date.now());
    const rows = usageReport(db, agents, question, Date.now(), true)?.rows.map(rowJson) ?? [];
    const reported = rows.map((row) => figures(row.model_calls, row.input, row.output, nanoUsd(row.cost_usd)));
    const shown = recentSessions(db, 100).map((stored) => expectSessionSums(db, stored, traceScope));
    expect(sum(shown), "the sessions are the report").toEqual(sum(reported));
  });
}

/** @returns the figures of the session */
function expectSessionSums(db: Database, stored: StoredSession, traceScope: "session" | "turn"): Figures {
  const settings = { semconv: "both", traceScope } as const;
  const deps = { agents, idle: { nowMs: stored.lastMs, idleTimeoutMs: 1e9 } };
  const view = viewOf(db, stored, { agents }, settings);
  const document = toDocument(db, view, deps);
  // Of a packed session the page shows the view
  const outline = view.isPacked ? view : outlineOf(db, stored, { agents }, settings);
  expect(toDocument(db, outline, deps).spans).toEqual(document.spans);
  const spans = readSpans(document.spans);
  const all = Array.from({ length: spans.count }, (_, i) => i);
  const { model_calls, input, output, cost_usd } = document.row.totals;
  const head = figures(model_calls, input, output, nanoUsd(cost_usd));
  expect(sum(all.filter((i) => spans.parentOf(i) < 0).map((i) => rowOf(spans, i)))).toEqual(head);
  const withoutCalls = view.calls.filter(({ call }) => call.covers !== undefined);
  for (const i of all) {
    const inside = childrenOf(spans, i);
    if (inside.length === 0) continue;
    const [row, below] = [rowOf(spans, i), sum(inside.map((child) => rowOf(spans, child)))];
    // Usage that was reported without its calls is in the row of its run
    if (withoutCalls.length === 0) expect(below, spans.labelOf(i)).toEqual(row);
    else for (const [n, figure] of row.entries()) expect(figure).toBeGreaterThanOrEqual(below[n] ?? 0);
    if (inside.some((child) => spans.has(child, "unknownCost") || spans.has(child, "costIsLowerBound")))
      expect(spans.has(i, "unknownCost") || spans.has(i, "costIsLowerBound"), spans.labelOf(i)).toBe(true);
  }
  // Time at work is the same in lists and explanations
  const explanation = explain(db, view, { agents });
  const { model = 0, tool = 0, held = 0, agent = 0 } = explanation.time?.parts ?? {};
  expect(view.workMs).toBeCloseTo(model + tool + held + agent, 3);
  expect(summarise(db, stored, { agents }).workMs).toBeCloseTo(view.workMs ?? 0, 3);
  const turns = all.filter((i) => /^Turn \d+$/.test(spans.labelOf(i)));
  const explained = explanation.money.turns.map(
    ({ part, sums }) => [part, figures(sums.modelCalls, sums.input, sums.output, sums.costNanoUsd)] as const,
  );
  const rowsOfTurns = turns.map((i) => [Number(spans.labelOf(i).slice(5)), rowOf(spans, i)] as const);
  const isUsed = ([turn, row]: readonly [number, Figures]): boolean => turn > 0 && sum([row]).some((n) => n > 0);
  expect(explained.filter(isUsed)).toEqual(rowsOfTurns.filter(isUsed));
  const ofTurns = withoutCalls.filter(({ call }) => call.covers === "turn" && (call.usage?.input ?? 0) > 0);
  if (ofTurns.length > 0) expect(rowsOfTurns.filter(isUsed).length, "turns with their own sums").toBeGreaterThan(0);
  return head;
}

const figures = (...all: readonly (number | null | undefined)[]): Figures =>
  all.map((n) => n ?? 0) as unknown as Figures;
const rowOf = (spans: Spans, i: number): Figures =>
  figures(spans.callsOf(i), spans.inputOf(i), spans.outputOf(i), nanoUsd(spans.costOf(i)));
const nanoUsd = (usd: number | null | undefined): number => Math.round((usd ?? 0) * 1e9);
function childrenOf(spans: Spans, index: number): readonly number[] {
  const all: number[] = [];
  for (let i = index + 1; i < index + (spans.size[index] ?? 1); i += spans.size[i] ?? 1) all.push(i);
  return all;
}
