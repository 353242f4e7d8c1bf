// Slow: only `npm run test:all` runs it. A large turn settled in parts, in any way; session/finished-part.test.ts has the
// rules.
//
// Turns with many calls are settled in parts while they are open: spans and counters are those of a turn settled as a whole.

import { afterEach, expect, test } from "vitest";
import type { PartLimits } from "#core/model/session.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { MadeSession } from "../support/made-session.ts";
import fc from "../support/properties.ts";
import { countersAndRows } from "../support/summary.ts";
import { runs } from "../support/whole.ts";

const SMALL: PartLimits = { openCalls: 8, keptCalls: 2, lateFactsMs: 4_000 };
const WHOLE: PartLimits = { openCalls: Number.POSITIVE_INFINITY, keptCalls: 0, lateFactsMs: 0 };

const made: MadeSession[] = [];
afterEach(() => {
  for (const session of made.splice(0)) session.remove();
});

/** One answer with its calls, by the main agent or its subagent. */
const steps = fc.array(
  fc.record({
    byAgent: fc.boolean(),
    calls: fc.nat(3),
    output: fc.nat(900),
    hooks: fc.boolean(),
    failed: fc.boolean(),
    drains: fc.boolean(),
    /** Fuller figures of an earlier answer. */
    revised: fc.option(fc.nat(30), { nil: undefined }),
  }),
  { minLength: 8, maxLength: 40 },
);
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

async function play(all: Steps, partLimits: PartLimits): Promise<MadeSession> {
  const session = new MadeSession();
  made.push(session);
  session.overrides = { partLimits };
  await session.hook("SessionStart", { source: "startup" });
  await session.hook("UserPromptSubmit", { prompt_id: "p", prompt: "go on" });
  await session.user("p");
  await session.answer({ calls: [["toolu_agent", "Agent"]] });
  await session.hook("PreToolUse", { prompt_id: "p", tool_name: "Agent", tool_use_id: "toolu_agent", tool_input: {} });
  session.startedBy("helper", "toolu_agent");
  await session.user(undefined, "helper");
  for (const [n, { byAgent, calls, output, hooks, failed, drains, revised }] of all.entries()) {
    const agent = byAgent ? { agentId: "helper" } : {};
    const ids = Array.from({ length: calls }, (_, k) => `toolu_${n}_${k}`);
    const asked = ids.map((id) => [id, "Bash"] as const);
    await session.answer({
      id: `msg_${n}`,
      usage: { fresh: n + 1, output },
      stopReason: "tool_use",
      calls: asked,
      ...agent,
    });
    for (const id of ids) {
      const call = { prompt_id: "p", tool_name: "Bash", tool_use_id: id, tool_input: { command: "ls" } };
      const from = byAgent ? { agent_id: "helper", agent_type: "Explore" } : {};
      if (hooks) await session.hook("PreToolUse", { ...call, ...from });
      await session.result(id, undefined, agent.agentId);
      if (hooks) await session.hook(failed ? "PostToolUseFailure" : "PostToolUse", { ...call, ...from, error: "no" });
    }
    const earlier = revised === undefined ? -1 : n - revised;
    if (earlier >= 0 && all[earlier]?.byAgent === byAgent) {
      const usage = { fresh: earlier + 1, output: (all[earlier]?.output ?? 0) + 1_000 };
      await session.answer({ id: `msg_${earlier}`, usage, stopReason: "tool_use", ...agent });
    }
    if (drains) await session.drain();
  }
  await session.answer({ id: "msg_helper_last", agentId: "helper" });
  await session.result("toolu_agent", "helper");
  await session.answer({ id: "msg_last" });
  await session.hook("Stop", { prompt_id: "p" });
  await session.hook("SessionEnd", { reason: "other" });
  await session.drain();
  return session;
}

/** Everything that leaves the machine, and the rows that reports add up. */
function resultOf(session: MadeSession) {
  const db = openDatabase(session.storePath);
  try {
    const counters = counterValues(db)
      .map(({ metric, attributes, value }) => JSON.stringify([metric, Object.entries(attributes).sort(), value]))
      .sort();
    expect(db.prepare("SELECT count(*) AS n FROM open_work").get()?.["n"]).toBe(0);
    const open = db.prepare(
      "SELECT (SELECT count(*) FROM entries WHERE settled = 0) + (SELECT count(*) FROM events WHERE settled = 0) AS n",
    );
    expect(open.get()?.["n"]).toBe(0);
    const spans = session
      .spans()
      .map((span) => JSON.stringify(span))
      .sort();
    const totals = db.prepare("SELECT totals FROM segments ORDER BY ordinal").all();
    return { spans, counters, totals: totals.map((row) => JSON.parse(String(row["totals"]))) };
  } finally {
    db.close();
  }
}

const settledParts = (session: MadeSession): number => {
  const db = openDatabase(session.storePath);
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM spans").get()?.["n"]);
  } finally {
    db.close();
  }
};

test("a turn and its subagent, settled in parts: the same spans, counters and sums as settled as a whole", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      // An answer that changes after its span is stored keeps its span; its figures change in rows and counters
      const stable = all.map((step) => ({ ...step, revised: undefined }));
      const inParts = resultOf(await play(stable, SMALL));
      const asWhole = resultOf(await play(stable, WHOLE));
      expect(inParts).toEqual(asWhole);
    }),
    { numRuns: runs(24) },
  );
});

test("an answer that changes after it was settled in a part: the spans of its run and session, counters and rows have the new figures", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const session = await play(all, SMALL);
      const { counters, rows } = countersAndRows(session.storePath);
      expect(counters).toEqual(rows);
      const whole = await play(all, WHOLE);
      expect(rows).toEqual(countersAndRows(whole.storePath).rows);
      const runSpans = (of: MadeSession) =>
        of
          .spans()
          .filter(({ attributes }) =>
            ["turn", "subagent", "session"].includes(String(attributes["openhook.span.kind"])),
          );
      expect(runSpans(session)).toEqual(runSpans(whole));
    }),
    { numRuns: runs(24) },
  );
});

test("the calls of a large open turn are settled before the turn ends", async () => {
  const session = new MadeSession();
  made.push(session);
  session.overrides = { partLimits: SMALL };
  await session.hook("UserPromptSubmit", { prompt_id: "p", prompt: "go on" });
  await session.user("p");
  for (let n = 0; n < 30; n++) {
    await session.answer({ id: `msg_${n}`, calls: [[`toolu_${n}`, "Bash"]] });
    await session.result(`toolu_${n}`);
    await session.drain();
  }
  expect(settledParts(session)).toBeGreaterThan(45);
});
