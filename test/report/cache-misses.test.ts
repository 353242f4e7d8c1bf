// Why the cache was not read, and what that cost: what the provider said, what records show, and else that it is not known.
import { describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { ModelCall } from "#core/model/model-call.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import { defined } from "#kit/objects.ts";
import { type CacheMiss, cacheMisses, missSums } from "#show/report/cache-misses.ts";
import { explain } from "#show/report/explain.ts";
import { explainJson } from "#show/report/explain-json.ts";
import type { PlacedCall } from "#show/report/explain-money.ts";
import { viewOf } from "#show/report/session-view.ts";
import { openDatabase } from "#store/database.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { sessionById } from "#store/sessions.ts";
import { importInto } from "../import/run.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";
import { runs } from "../support/whole.ts";

const agents = await allAgents();
const MODEL = "claude-sonnet-4-5-20250929";
const MINUTE = 60_000;

/** A call; figures as Anthropic reports them: fresh input, cache reads and cache writes do not overlap. */
interface Told {
  readonly atMs?: number;
  readonly fresh?: number;
  readonly read?: number;
  readonly write?: number;
  /** The provider reports no writes. */
  readonly withoutWrites?: true;
  readonly write1h?: number;
  readonly model?: string;
  readonly agentId?: string;
  readonly purpose?: ModelCall["purpose"];
  readonly isBeside?: true;
  readonly covers?: ModelCall["covers"];
  readonly cacheMiss?: ModelCall["cacheMiss"];
}

function callsOf(all: readonly Told[]): readonly PlacedCall[] {
  let clockMs = Date.UTC(2026, 10, 1);
  return all.map((told, i): PlacedCall => {
    const { fresh = 3, read = 0, write = 0, write1h = 0, model = MODEL, withoutWrites, atMs, ...rest } = told;
    clockMs += atMs ?? 10_000;
    const cacheWrite = write + write1h;
    const writes = withoutWrites ? {} : { cacheWrite, cacheWrite5m: write, cacheWrite1h: write1h };
    const usage = { input: fresh + read + (withoutWrites ? 0 : cacheWrite), output: 20, cacheRead: read, ...writes };
    const call = defined<ModelCall>({
      ...{ key: `call ${i}`, model, startMs: clockMs - 2_000, endMs: clockMs, complete: true, usage },
      ...rest,
    });
    return { segment: 0, call, open: false, turn: 1, cause: { kind: "other" }, results: [] };
  });
}

const missesOf = (all: readonly Told[], compactions: Compactions = []): readonly CacheMiss[] =>
  cacheMisses(callsOf(all), compactions, "anthropic");
type Compactions = Parameters<typeof cacheMisses>[1];

const found = (all: readonly Told[], compactions: Compactions = []) =>
  missesOf(all, compactions).map(({ cause, evidence, tokens }) => [cause, evidence, tokens]);

describe("what the provider says", () => {
  const before: Told = { write: 20_000 };

  test.each(["tools_changed", "system_changed", "model_changed", "messages_changed"])("is the cause: %s", (reason) => {
    const after: Told = { read: 5_000, write: 18_000, cacheMiss: { reason, tokens: 15_000 } };
    expect(found([before, after])).toEqual([[reason, "reported", 15_000]]);
  });

  test("a reason of a later version is another one", () => {
    expect(found([before, { write: 21_000, cacheMiss: { reason: "images_changed", tokens: 9 } }])).toEqual([
      ["other", "reported", 9],
    ]);
  });

  test("is no cause if the server could not compare: then only the records count", () => {
    const miss: Told = { write: 21_000, cacheMiss: { reason: "previous_message_not_found" } };
    expect(found([before, miss])).toEqual([["unknown", "unknown", 20_000]]);
    expect(found([before, { read: 20_000, cacheMiss: { reason: "unavailable" } }])).toEqual([]);
  });

  test("is nothing that was paid if the cache was read nevertheless: the server compares requests", () => {
    const read: Told = { fresh: 0, read: 20_000, cacheMiss: { reason: "messages_changed", tokens: 300 } };
    expect(found([before, read])).toEqual([]);
    // An estimate; only what was not read has a cost
    const [miss] = missesOf([before, { ...read, fresh: 200 }]);
    expect(miss).toMatchObject({ cause: "messages_changed", tokens: 300, costNanoUsd: 200 * (3000 - 300) });
  });
});

describe("what the records show", () => {
  const before: Told = { read: 10_000, write: 20_000 };
  const lost: Told = { write: 31_000 };

  test("another model", () => {
    expect(found([before, { ...lost, model: "claude-opus-4-1-20250805" }])).toEqual([
      ["model_changed", "derived", 30_000],
    ]);
  });

  test("a compaction between the two calls", () => {
    const [first] = callsOf([before]);
    const at = (first?.call.endMs ?? 0) + 1_000;
    const after: Told = { fresh: 0, write: 12_000 };
    expect(found([before, after], [{ timeMs: at }])).toEqual([["compaction", "derived", 12_000]]);
    for (const other of [{ timeMs: at - 3_600_000 }, { timeMs: at, agentId: "a" }])
      expect(found([before, after], [other])).toEqual([["unknown", "unknown", 12_000]]);
  });

  test("a pause longer than the longest lifetime that was written", () => {
    expect(found([before, { ...lost, atMs: 6 * MINUTE }])).toEqual([["expired", "derived", 30_000]]);
    expect(found([before, { ...lost, atMs: 4 * MINUTE }])).toEqual([["unknown", "unknown", 30_000]]);
    const hour: Told = { read: 10_000, write: 1_000, write1h: 19_000 };
    expect(found([hour, { ...lost, atMs: 6 * MINUTE }])).toEqual([["unknown", "unknown", 30_000]]);
    expect(found([hour, { ...lost, atMs: 61 * MINUTE }])).toEqual([["expired", "derived", 30_000]]);
  });

  test("a subagent's first call, which is compared with no other thread", () => {
    const sub: Told = { agentId: "a", write: 7_000, fresh: 100 };
    expect(found([before, sub, { read: 30_000 }, { agentId: "a", read: 7_000 }])).toEqual([
      ["subagent", "derived", 7_100],
    ]);
  });

  test("nothing: requests that are no part of the conversation, and separate passes of an answer", () => {
    for (const aside of [{ purpose: "other" }, { isBeside: true, model: "claude-opus-4-1-20250805" }] as const)
      expect(found([before, { ...aside, fresh: 50_000 }, { read: 30_000 }])).toEqual([]);
  });

  test("nothing after a call whose figures are not known", () => {
    expect(found([before, { covers: "turn", fresh: 5_000 }, lost])).toEqual([]);
    const sub = { agentId: "a" } as const;
    expect(
      found([
        { ...sub, covers: "turn", fresh: 5_000 },
        { ...sub, fresh: 9_000 },
      ]),
    ).toEqual([]);
  });
});

describe("what must not be taken for a miss", () => {
  test("221 calls read less than the ones before them had left; 52 lost the beginning of the prompt", () => {
    // The end of a prompt is written to the cache and is not part of the next request: a reminder, for example
    const calls: Told[] = [{ write: 15_000 }];
    let prompt = 15_000;
    for (let n = 0; n < 221; n++) {
      const isReal = n % 17 < 4;
      const tail = 300 + ((n * 37) % 900);
      calls.push(isReal ? { read: 0, write: prompt + 400 } : { read: prompt - tail, write: tail + 400 });
      prompt += 400;
    }
    const naive = callsOf(calls).filter(({ call: { usage } }, i, all) => {
      const previous = all[i - 1]?.call.usage;
      return previous && (usage?.cacheRead ?? 0) < (previous.cacheRead ?? 0) + (previous.cacheWrite ?? 0);
    }).length;
    expect([naive, missesOf(calls).length]).toEqual([221, 52]);
  });

  test("a large new input, while all of the old one was read", () => {
    const warm: Told = { read: 40_000, fresh: 500, withoutWrites: true };
    expect(found([warm, warm, warm, { ...warm, fresh: 150_000 }])).toEqual([]);
  });

  test("a share of 3 % that stays the same is a miss, though no call reads less than the one before", () => {
    const cold: readonly Told[] = [3225, 6028, 9000].map((fresh) => ({ read: 192, fresh, withoutWrites: true }));
    expect(found(cold)).toEqual([
      ["unknown", "unknown", 3225],
      ["unknown", "unknown", 6028],
    ]);
  });

  test("a provider without a cache that reports 0", () => {
    const never: Told = { fresh: 9_000, withoutWrites: true };
    expect(found([never, never, never])).toEqual([]);
    expect(found([{ fresh: 9_000 }, { fresh: 9_500 }])).toEqual([]);
  });

  test("a provider that reports 0 for all writes: what the call before sent was left", () => {
    const [first, second] = [{ fresh: 9_000 }, { fresh: 1_000, read: 8_900 }];
    expect(found([first, second, { fresh: 900, read: 9_800 }])).toEqual([]);
    expect(found([first, second, { fresh: 10_700 }])).toEqual([["unknown", "unknown", 9_900]]);
  });

  test("a provider that reports no cache", () => {
    const [call] = callsOf([{ fresh: 9_000 }]);
    if (call === undefined) throw new Error("no call");
    const usage = { input: 9_000, output: 5 };
    const all = [call, { ...call, call: { ...call.call, key: "2", usage } }];
    expect(cacheMisses(all, [], "anthropic")).toEqual([]);
  });
});

test("the cost is what the tokens cost more than if they had been read from the cache", () => {
  // $3.75 per million written for five minutes, $6 for an hour, $3 fresh, $0.30 read
  const miss = (told: Told) => missesOf([{ read: 1_000, write: 99_000 }, told])[0]?.costNanoUsd;
  expect(miss({ write: 100_000 })).toBe(100_000 * (3750 - 300));
  expect(miss({ write1h: 100_000 })).toBe(100_000 * (6000 - 300));
  expect(miss({ fresh: 100_000 })).toBe(100_000 * (3000 - 300));
  expect(miss({ write: 40_000, fresh: 60_000 })).toBe(40_000 * (3750 - 300) + 60_000 * (3000 - 300));
  expect(miss({ write: 100_000, model: "a model without a price" })).toBeUndefined();
});

test("sums by cause add up to the misses; no call misses more than it paid for, in tokens and money", () => {
  const figure = fc.integer({ min: 0, max: 200_000 });
  const told: fc.Arbitrary<Told> = fc.record(
    {
      fresh: figure,
      read: figure,
      write: figure,
      write1h: figure,
      atMs: fc.integer({ min: 2_000, max: 4_000_000 }),
      model: fc.constantFrom(MODEL, "claude-opus-4-1-20250805", "no price"),
      agentId: fc.constantFrom<string[]>("a", "b"),
      cacheMiss: fc.option(
        fc.record({ reason: fc.constantFrom("tools_changed", "unavailable", "x"), tokens: figure }),
        {
          nil: undefined,
        },
      ) as fc.Arbitrary<NonNullable<Told["cacheMiss"]>>,
    },
    { requiredKeys: ["atMs"] },
  ) as fc.Arbitrary<Told>;
  fc.assert(
    fc.property(fc.array(told, { maxLength: 12 }), (all) => {
      const misses = missesOf(all);
      const sums = missSums(misses);
      const total = (of: readonly { readonly tokens: number; readonly costNanoUsd?: number }[]) => [
        of.reduce((n, one) => n + one.tokens, 0),
        of.reduce((n, one) => n + (one.costNanoUsd ?? 0), 0),
      ];
      expect(total(sums)).toEqual(total(misses));
      expect(sums.reduce((n, { calls }) => n + calls, 0)).toBe(misses.length);
      for (const { call, tokens, evidence, costNanoUsd = 0 } of misses) {
        const { input = 0, cacheRead = 0 } = call.call.usage ?? {};
        expect(tokens).toBeGreaterThan(0);
        if (evidence !== "reported") expect(tokens).toBeLessThanOrEqual(input - cacheRead);
        expect(costNanoUsd).toBeGreaterThanOrEqual(0);
        expect(costNanoUsd).toBeLessThanOrEqual(callPrice(call.call, "anthropic").costNanoUsd ?? 0);
      }
    }),
    { numRuns: runs(200) },
  );
});

test("hooks and an import read the same from Claude Code's transcript: all that the server said, once each", async () => {
  const said = new Map<string, number>();
  const withDiagnostics = (line: string): string => {
    if (!line.includes('"type":"assistant"')) return line;
    const record = JSON.parse(line);
    const { id, usage } = record.message;
    const tokens = usage.input_tokens + usage.cache_creation_input_tokens;
    said.set(id, tokens);
    // Before it has compared, the server sends no reason
    const isLast = record.message.stop_reason !== null;
    record.message.diagnostics = {
      cache_miss_reason: isLast ? { type: "tools_changed", cache_missed_input_tokens: tokens } : null,
    };
    return JSON.stringify(record);
  };
  const edit = (text: string, path: string) =>
    path === "hooks.jsonl" ? text : text.split("\n").map(withDiagnostics).join("\n");
  const found = async (read: (of: Replay) => Promise<unknown>): Promise<unknown> => {
    const of = new Replay("claude-code", "multi-turn", { edit });
    try {
      await read(of);
      const db = openDatabase(of.places.storePath);
      try {
        const view = viewOf(db, sessionById(db, 1), { agents }, spanSettings(await of.deps()));
        return explainJson(explain(db, view, { agents })).cache_misses;
      } finally {
        db.close();
      }
    } finally {
      of.remove();
    }
  };
  const byHooks = await found(async (of) => {
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
  });
  const byImport = await found((of) => importInto(of, "claude-code"));
  const tokens = [...said.values()].reduce((sum, n) => sum + n, 0);
  expect(tokens).toBeGreaterThan(0);
  expect(byHooks).toMatchObject({
    causes: [{ cause: "tools_changed", evidence: "reported", calls: said.size, tokens }],
  });
  expect(byImport).toEqual(byHooks);
});
