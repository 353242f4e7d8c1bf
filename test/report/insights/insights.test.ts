// What costs money again and again: each rule finds what was planted and nothing in ordinary work, and sums add up.
import { describe, expect, test } from "vitest";
import type { ConfiguredAt } from "#core/model/configured.ts";
import type { RatedInsight } from "#show/report/insights/insights.ts";
import { insightsJson } from "#show/report/insights/insights-json.ts";
import { leastShare } from "#show/report/insights/rules/failing-tools.ts";
import { insightLines } from "#show/report/text/insights.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";
import { insightsOf, type MadeCall, type MadeSession, OPUS, SONNET } from "./history.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 30);
const PERIOD = { sinceMs: NOW_MS - 14 * DAY_MS, untilMs: NOW_MS };
const BEFORE_MS = PERIOD.sinceMs - 14 * DAY_MS;

/** Work as it should be: each call reads what the one before has written. */
const ordinary = (calls: number): readonly MadeCall[] =>
  Array.from({ length: calls }, (_, i) => ({
    read: i === 0 ? 0 : 20_000 + (i - 1) * 500,
    write: i === 0 ? 20_000 : 500,
    ...(i < calls - 1 && { tools: [["Read", false]] as const }),
  }));

const several = (
  count: number,
  turns: (n: number) => MadeSession["turns"],
  fromMs = PERIOD.sinceMs,
): readonly MadeSession[] =>
  Array.from({ length: count }, (_, n) => ({ atMs: fromMs + n * 3_600_000, turns: turns(n) }));

const named = (found: readonly RatedInsight[]): readonly string[] =>
  found.map(({ rule, subject }) => `${rule} ${subject}`);

const only = async (sessions: readonly MadeSession[], name: string): Promise<RatedInsight> => {
  const { insights } = await insightsOf(sessions, PERIOD);
  const found = insights.find(({ rule, subject }) => `${rule} ${subject}` === name);
  if (found === undefined) throw new Error(`${name} is not among ${named(insights).join(", ")}`);
  return found;
};

test("nothing stands out in ordinary work", async () => {
  const report = await insightsOf(
    several(12, () => [ordinary(6), ordinary(3)].slice(0, 1)),
    PERIOD,
  );
  expect(named(report.insights)).toEqual([]);
  expect(report).toMatchObject({ sessions: 12, readSessions: 12, gone: [], misses: [] });
  expect(report.before).toBeUndefined();
});

describe("a cache that was not read", () => {
  const pause = (pauseMs: number): MadeSession["turns"] => [[{ write: 60_000 }], [{ pauseMs, write: 61_000 }]];

  test("after a pause: what it cost more, where, and what to do", async () => {
    const found = await only(
      several(6, () => pause(20 * 60_000)),
      "cache expired",
    );
    expect(found).toMatchObject({ evidence: "derived", measure: "additional" });
    expect(found.tally).toMatchObject({ calls: 6, sessions: 6, tokens: 6 * 60_000, unpricedCalls: 0 });
    // $3.75 per million for a write, $0.30 for a read
    expect(found.tally.costNanoUsd).toBe(6 * 60_000 * (3750 - 300));
    expect(found.text).toBe(
      "360k tokens of 6 calls were not read from the cache, because the session had been idle for longer than the cache lasts: $1.24 more.",
    );
    expect(found.tally.examples(1)).toMatchObject([{ calls: 1, turn: 2 }]);
  });

  test("for a reason that the provider gives", async () => {
    const turns: MadeSession["turns"] = [[{ write: 60_000 }], [{ write: 61_000, missed: ["tools_changed", 60_000] }]];
    const found = await only(
      several(3, () => turns),
      "cache tools_changed_reported",
    );
    expect(found).toMatchObject({ evidence: "reported", tally: { calls: 3, tokens: 180_000 } });
  });

  test("for no known reason: that is in the sums, and no insight", async () => {
    const report = await insightsOf(
      several(6, () => pause(60_000)),
      PERIOD,
    );
    expect(named(report.insights)).toEqual([]);
    expect([...insightLines(report, 10, { columns: 200, colour: false })]).toContain(
      "360k tokens of 6 calls were not read from the cache, and nothing says why: $1.24 more",
    );
    expect(report.misses).toMatchObject([{ cause: "unknown", evidence: "unknown", calls: 6, tokens: 360_000 }]);
  });
});

describe("a long context", () => {
  test("costs what is read again beyond 100,000 tokens", async () => {
    const long = Array.from({ length: 5 }, (_, i) => ({
      read: i === 0 ? 0 : 180_000,
      write: i === 0 ? 180_000 : 0,
      ...(i < 4 && { tools: [["Read", false]] as const }),
    }));
    const found = await only(
      several(3, () => [long]),
      "context long",
    );
    // Four calls of each session; the first one writes and reads nothing again
    expect(found.tally).toMatchObject({ calls: 12, tokens: 12 * 80_003, costNanoUsd: 12 * 80_003 * 300 });
  });

  test("one large new input is no long context", async () => {
    const report = await insightsOf(
      several(6, () => [[{ write: 190_000 }]]),
      PERIOD,
    );
    expect(named(report.insights)).toEqual([]);
  });
});

describe("tools", () => {
  const turn = (tools: readonly (readonly [string, boolean])[]): readonly MadeCall[] => [
    { write: 20_000, tools: [tools[0] ?? ["Read", false]] },
    ...tools.slice(1).map((tool, i) => ({ read: 20_000 + i * 100, write: 100, tools: [tool] })),
    { read: 20_000 + tools.length * 100, write: 100 },
  ];

  test("one that fails more often than the others", async () => {
    const work = (n: number): MadeSession["turns"] => [
      turn([
        ["Read", false],
        ["Edit", n % 2 === 0],
        ["Read", false],
        ["Edit", true],
        ["Read", false],
        ["Read", false],
      ]),
    ];
    const found = await only(several(8, work), "failing_tool claude-code/Edit");
    expect(found.text).toBe("Edit of Claude Code failed in 12 of 16 calls (75%; its other tools: 0%).");
    expect(found.tally).toMatchObject({ calls: 12, sessions: 8 });
  });

  test("failures in one session only, few of them, or the same share in all tools are none", async () => {
    const once = several(8, (n) => [turn(Array.from({ length: 12 }, (_, i) => ["Edit", n === 0 && i % 2 === 0]))]);
    const few = several(8, (n) => [
      turn([
        ["Edit", n < 4],
        ["Read", false],
      ]),
    ]);
    const all = several(8, (n) => [turn(["Edit", "Read", "Bash", "Grep"].map((name, i) => [name, (n + i) % 2 === 0]))]);
    for (const sessions of [once, few, all]) {
      const { insights } = await insightsOf(sessions, PERIOD);
      expect(named(insights).filter((name) => name.startsWith("failing_tool"))).toEqual([]);
    }
  });

  test("the same failure three times in a row counts from the third on; parallel failures are one", async () => {
    const again = several(4, () => [
      turn([
        ["Bash", true],
        ["Bash", true],
        ["Bash", true],
        ["Bash", true],
      ]),
    ]);
    const found = await only(again, "failure_streak again");
    expect(found.text).toContain("failed at least 3 times in a row 4 times, most often Bash (4); 8 calls");
    expect(found.tally).toMatchObject({ calls: 8, sessions: 4 });
    const parallel = several(4, () => [
      [
        {
          write: 20_000,
          tools: [
            ["Bash", true],
            ["Bash", true],
            ["Bash", true],
          ] as const,
        },
        { read: 20_000 },
      ],
    ]);
    const { insights } = await insightsOf(parallel, PERIOD);
    expect(named(insights)).not.toContain("failure_streak again");
  });

  test("what a share of few calls is at least", () => {
    expect([leastShare(0, 0), leastShare(0, 10)]).toEqual([0, 0]);
    // (0.5 + z²/40 − z·√(0.0125 + z²/1600)) / (1 + z²/20) for z = 1.96
    expect(leastShare(10, 20)).toBeCloseTo(0.2993, 3);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (whole, some) => {
        const part = Math.min(some, whole);
        expect(leastShare(part, whole)).toBeLessThanOrEqual(part / whole);
        expect(leastShare(part, whole)).toBeLessThanOrEqual(leastShare(part * 10, whole * 10));
      }),
    );
  });
});

test("turns that the user interrupted, with all their calls", async () => {
  const stopped = several(3, () => [ordinary(2), [{ write: 21_000, tools: [["Bash", false]] }]]).map((session) => ({
    ...session,
    isInterrupted: true as const,
  }));
  const found = await only([...stopped, ...several(3, () => [ordinary(3)])], "failed_turns interrupted");
  expect(found.text).toBe("3 turns were interrupted, after 3 model calls.");
  expect(found).toMatchObject({ measure: "spent", evidence: "reported", tally: { calls: 3, sessions: 3 } });
});

describe("single questions", () => {
  const question = (more: Partial<MadeCall> = {}): MadeSession["turns"] => [
    [{ fresh: 4_000, output: 100, model: OPUS, ...more }],
  ];
  const other = several(4, () => [ordinary(6)], PERIOD.sinceMs + 5 * DAY_MS);

  test("to a dear model, if the user also works with a cheaper one", async () => {
    const found = await only([...several(5, () => question()), ...other], `single_question ${OPUS} → ${SONNET}`);
    // $15 and $75 per million instead of $3 and $15
    expect(found.tally).toMatchObject({ calls: 5, sessions: 5, costNanoUsd: 5 * (4_000 * 12_000 + 100 * 60_000) });
  });

  test("not with tools, not with a long answer, not within a longer session, not without another model", async () => {
    const cases = [
      [...several(5, () => question({ output: 2_000 })), ...other],
      [
        ...several(5, () => [[...(question({ tools: [["Read", false]] })[0] ?? []), { fresh: 100, model: OPUS }]]),
        ...other,
      ],
      [...several(5, () => [...question(), ...question()]), ...other],
      several(5, () => question()),
    ];
    for (const sessions of cases) {
      const { insights } = await insightsOf(sessions, PERIOD);
      expect(named(insights).filter((name) => name.startsWith("single"))).toEqual([]);
    }
  });
});

describe("MCP servers in the settings", () => {
  const server = (name: string, more: Partial<ConfiguredAt> = {}): ConfiguredAt => ({
    ...{ kind: "mcp", name, file: "/home/dev/.claude.json", agent: "claude-code", isNamedInCalls: true },
    ...more,
  });
  const work = several(6, () => [
    [
      { write: 20_000, tools: [["mcp__tracker__find", false]] as const },
      { read: 20_000, write: 100 },
    ],
  ]);
  const unused = async (servers: readonly ConfiguredAt[], sessions = work) =>
    (await insightsOf(sessions, PERIOD, servers)).insights.filter(({ rule }) => rule === "unused_servers");

  test("those without a call, at a cost that nobody knows", async () => {
    const [found, another] = await unused([server("tracker"), server("wiki"), server("calendar")]);
    expect(found).toMatchObject({
      subject: "claude-code",
      text: "2 MCP servers of Claude Code had no call in this time: calendar, wiki.",
      tally: { calls: 12, sessions: 6, costNanoUsd: undefined },
    });
    expect(found).not.toHaveProperty("share");
    expect(another).toBeUndefined();
  });

  test("not of agents whose calls name none, that did not work, or worked in few sessions", async () => {
    expect(await unused([server("wiki", { isNamedInCalls: false })])).toEqual([]);
    expect(await unused([server("wiki", { agent: "codex" })])).toEqual([]);
    expect(await unused([server("wiki")], work.slice(0, 4))).toEqual([]);
  });
});

test("costs of agents that run on a subscription are said to be list prices", async () => {
  const from = async (sinceMs: number) => {
    const report = await insightsOf(
      several(3, () => [ordinary(3)]),
      PERIOD,
      [],
      new Map([["claude-code", sinceMs]]),
    );
    return [...insightLines(report, 10, { columns: 200, colour: false })].filter((line) => line.includes("your bill"));
  };
  expect(await from(PERIOD.sinceMs)).toEqual(["list price, not your bill: Claude Code runs on a subscription"]);
  expect(await from(PERIOD.untilMs)).toEqual([]);
});

describe("an updated agent", () => {
  const updated = (more: number): readonly MadeSession[] =>
    several(24, (n) => [ordinary(4 + (n % 3)), ordinary(n >= 12 ? 4 + more : 4)]).map((session, n) => ({
      ...session,
      version: n < 12 ? "2.1.331" : "2.1.332",
    }));

  test("does worse than before: by how much, and what its sessions cost", async () => {
    const found = await only(updated(9), "worse_version claude-code 2.1.332");
    expect(found.text).toMatch(
      /^Claude Code 2\.1\.332, in 12 sessions, costs \d+% more per turn \(\d+% to \d+%\); it works \d+% longer .* than 2\.1\.331, in 12\.$/,
    );
    expect(found).toMatchObject({ evidence: "derived", measure: "spent", tally: { sessions: 12 } });
  });

  test("does the same, or cannot be compared", async () => {
    for (const sessions of [updated(0), updated(9).slice(6)]) {
      const { insights } = await insightsOf(sessions, PERIOD);
      expect(named(insights).filter((name) => name.startsWith("worse"))).toEqual([]);
    }
  });
});

describe("since the period before", () => {
  const expired: MadeSession["turns"] = [[{ write: 60_000 }], [{ pauseMs: 1_200_000, write: 61_000 }]];
  const some = (bad: number, fromMs: number): readonly MadeSession[] =>
    several(10, (n) => (n < bad ? expired : [ordinary(6)]), fromMs);

  test.each([
    [2, 8, "worse"],
    [8, 2, "better"],
    [5, 5, "same"],
    [0, 5, "new"],
  ] as const)("%i of ten sessions, then %i: %s", async (before, now, trend) => {
    const report = await insightsOf([...some(before, BEFORE_MS), ...some(now, PERIOD.sinceMs)], PERIOD);
    expect(report.insights.filter(({ rule }) => rule === "cache")).toMatchObject([{ subject: "expired", trend }]);
    expect(report.gone).toEqual([]);
  });

  test("one that is no more is gone, with the figures of then", async () => {
    const report = await insightsOf([...some(5, BEFORE_MS), ...some(0, PERIOD.sinceMs)], PERIOD);
    expect(report.insights).toEqual([]);
    expect(report.gone).toMatchObject([{ rule: "cache", subject: "expired", trend: "gone", share: 0 }]);
    expect(report.gone[0]?.tally.calls).toBe(5);
  });

  test("a sum of a few cents is no insight", async () => {
    const small: MadeSession["turns"] = [[{ write: 2_000 }], [{ pauseMs: 1_200_000, write: 2_100 }]];
    expect(
      named(
        (
          await insightsOf(
            several(6, () => small),
            PERIOD,
          )
        ).insights,
      ),
    ).toEqual([]);
  });

  test("with too few sessions nothing is compared", async () => {
    const report = await insightsOf([...some(8, BEFORE_MS).slice(0, 4), ...some(5, PERIOD.sinceMs)], PERIOD);
    expect(report.before).toBeUndefined();
    expect(report.insights[0]).not.toHaveProperty("trend");
  });
});

test("sums add up: causes to all misses, no insight above the cost of everything, examples no more than their insight", async () => {
  const tokens = fc.constantFrom(0, 900, 20_000, 60_000, 150_000);
  const call: fc.Arbitrary<MadeCall> = fc.record({
    pauseMs: fc.constantFrom(2_000, 400_000, 4_000_000),
    fresh: fc.constantFrom(3, 5_000),
    read: tokens,
    write: tokens,
    model: fc.constantFrom(SONNET, OPUS, "no-price-1"),
    tools: fc.constantFrom(
      [],
      [["Bash", true]],
      [
        ["Bash", true],
        ["Read", false],
      ],
      [["Edit", false]],
    ) as fc.Arbitrary<NonNullable<MadeCall["tools"]>>,
    missed: fc.constantFrom(undefined, ["tools_changed", 9_000], ["unavailable", 0]) as fc.Arbitrary<
      readonly [string, number]
    >,
  });
  const sessions = fc.array(fc.array(fc.array(call, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(sessions, async (made) => {
      const report = await insightsOf(
        several(made.length, (n) => made[n] ?? []),
        PERIOD,
      );
      const json = insightsJson(report, 100);
      const total = report.total.costNanoUsd ?? 0;
      for (const { tally, rule } of report.insights) {
        expect(tally.costNanoUsd ?? 0, rule).toBeLessThanOrEqual(total);
        const parts = tally.examples(Number.POSITIVE_INFINITY);
        expect(parts.reduce((sum, { costNanoUsd = 0 }) => sum + costNanoUsd, 0)).toBe(tally.costNanoUsd ?? 0);
        expect(parts.reduce((sum, { calls }) => sum + calls, 0)).toBe(tally.calls);
      }
      for (const { cause, evidence, tokens: missed, cost_usd } of json.cache_misses) {
        const subject = evidence === "reported" ? `${cause}_reported` : cause;
        const found = json.insights.find((one) => one.rule === "cache" && one.subject === subject);
        if (found !== undefined) expect([found.tokens, found.cost_usd]).toEqual([missed, cost_usd]);
      }
      for (const line of insightLines(report, 10, { columns: 60, colour: false })) expect(line.length).toBeLessThan(61);
    }),
    { numRuns: runs(40) },
  );
});
