import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseOwnPrices } from "#config/own-prices.lazy.ts";
import { loadConfigAndPrices, usePrices } from "#config/own-prices.ts";
import { type ModelCall, UNKNOWN_TIER } from "#core/model/model-call.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { setOwnPrices } from "#core/rules/price.ts";
import { callPrice, costSource, describePrices, PRICE_TABLE, pricesOfModel } from "#core/telemetry/cost.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";

const OPUS = "claude-opus-4-8";
const FILE = {
  source: "contract of October",
  models: {
    [OPUS]: { input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5, cacheWrite1h: 8 },
    "gpt-5*": { input: 2, output: 10 },
    "gpt-5.5*": { input: 3, output: 15 },
  },
};

const PRICES = { input: 1, output: 1 };
/** A file in which the prices of a model begin in line 4. */
const of = (prices: unknown): string => JSON.stringify({ source: "s", models: { a: prices } }, null, 1);

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-prices-"));
  path = join(dir, "prices.json");
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
  setOwnPrices(undefined);
});

const call = (model: string, usage: TokenUsage, more: Partial<ModelCall> = {}): ModelCall => ({
  key: "k",
  model,
  usage,
  startMs: Date.UTC(2026, 9, 5),
  endMs: Date.UTC(2026, 9, 5, 0, 1),
  complete: true,
  ...more,
});
const cost = (model: string, usage: TokenUsage, more?: Partial<ModelCall>) =>
  callPrice(call(model, usage, more), "anthropic").costNanoUsd;

const load = (text: string) => {
  writeFileSync(path, text);
  return loadConfigAndPrices({
    env: { OPENHOOK_OTEL_PRICES_FILE: path },
    places: { configPath: join(dir, "none.json") },
  });
};

describe("own prices", () => {
  test("replace the list price of a model, by kind of tokens", async () => {
    const { errors } = await load(JSON.stringify(FILE));
    expect(errors).toEqual([]);
    const usage = {
      input: 10_000,
      output: 100,
      cacheRead: 2_000,
      cacheWrite: 3_000,
      cacheWrite5m: 2_000,
      cacheWrite1h: 1_000,
    };
    expect(cost(OPUS, usage)).toBe(5_000 * 4_000 + 100 * 20_000 + 2_000 * 400 + 2_000 * 5_000 + 1_000 * 8_000);
    expect(pricesOfModel(OPUS, "aws.bedrock")(usage, 0)).toEqual({ costNanoUsd: cost(OPUS, usage) });
    expect(costSource(OPUS)).toEqual({ kind: "own_prices", prices: "own: contract of October" });
  });

  test("a name wins over a beginning, a longer beginning over a shorter one; other models keep the list price", async () => {
    await load(JSON.stringify(FILE));
    const usage = { input: 1_000, output: 0 };
    expect(cost("gpt-5.5-mini", usage)).toBe(3_000_000);
    expect(cost("gpt-5-codex", usage)).toBe(2_000_000);
    expect(cost("claude-sonnet-4-5-20250929", usage)).toBe(3_000_000);
    expect(costSource("claude-sonnet-4-5-20250929")).toEqual({ kind: "price_table", prices: PRICE_TABLE });
    expect(costSource()).toEqual({ kind: "mixed", prices: `${PRICE_TABLE}; own: contract of October` });
    expect(describePrices()).toContain("own prices (contract of October)");
  });

  test("a kind without a price, and another service tier: no cost, never a cheaper one", async () => {
    await load(JSON.stringify(FILE));
    expect(cost("gpt-5.5", { input: 1_000, output: 1, cacheRead: 1 })).toBeUndefined();
    expect(cost("gpt-5.5", { input: 1_000, output: 1, cacheRead: 0 })).toBe(1_000 * 3_000 + 15_000);
    expect(cost(OPUS, { input: 1, output: 1 }, { tier: UNKNOWN_TIER })).toBeUndefined();
  });

  test("of one call change when the prices change", async () => {
    const one = call(OPUS, { input: 1_000, output: 0 });
    const list = callPrice(one, "anthropic").costNanoUsd;
    await load(JSON.stringify(FILE));
    expect(callPrice(one, "anthropic").costNanoUsd).toBe(4_000_000);
    await loadConfigAndPrices({ env: {}, places: { configPath: join(dir, "none.json") } });
    expect(callPrice(one, "anthropic").costNanoUsd).toBe(list);
  });

  test.each([
    ["no JSON", "{", /not valid JSON/],
    ["no comma", '{"source": "s"\n"models": {}}', /: line 2: not valid JSON \(comma expected\); /],
    ["no source", JSON.stringify({ models: {} }), /: line 1: "source" is missing: Where the prices come from/],
    ["no output", of({ input: 1 }), /: line 4: model "a", "output" is missing: USD per million output tokens; /],
    [
      "a price as text",
      of([PRICES, { ...PRICES, input: "3" }]),
      /: line 10: model "a", price 2, "input" must be a number, such as 2\.5; /,
    ],
    [
      "no price",
      of(null),
      /: line 4: model "a" must be prices, such as \{"input": 2, "output": 10\}, or a list of them; /,
    ],
    ["an empty list", of([]), /: line 4: model "a" must not be empty; /],
    ["a negative price", of({ ...PRICES, input: -1 }), /: line 5: model "a", "input" must not be negative; /],
    [
      "a misspelt kind",
      of({ ...PRICES, cached: 1 }),
      /: line 4: model "a" has "cached", which is unknown; known are input, output, cacheRead, /,
    ],
    ["a length of 0", of({ ...PRICES, above: 0 }), /: line 7: model "a", "above" must be larger than 0; /],
    [
      "an unknown weekday",
      of({ ...PRICES, days: ["mo"] }),
      /: line 8: model "a", "days", entry 1 must be one of sun, mon, /,
    ],
    [
      "no date",
      of({ ...PRICES, from: "2026-13-01" }),
      /: line 7: model "a", "from" must be a date, such as 2026-10-01 or /,
    ],
    [
      "an end before its start",
      of({ ...PRICES, from: "2026-10-02", to: "2026-10-01" }),
      /: line 8: model "a", "to" must be after "from"; /,
    ],
    [
      "a model without a name",
      JSON.stringify({ source: "s", models: { "": PRICES } }),
      /: line 1: model "" has a name that is empty, /,
    ],
    [
      "a control character",
      JSON.stringify({ source: "\u001b[31m", models: {} }),
      /: line 1: "source" contains a control character; /,
    ],
  ])("that cannot be read (%s): an error, and no cost until it is fixed", async (_, text, problem) => {
    const { errors } = await load(text);
    expect(errors).toEqual([expect.stringMatching(problem)]);
    expect(errors[0]).toMatch(/no call has a cost until this is fixed$/);
    expect(cost(OPUS, { input: 1, output: 1 })).toBeUndefined();
  });

  test("in a file that does not exist, or is a folder: an error", async () => {
    for (const [at, problem] of [
      [join(dir, "missing.json"), "no such file"],
      [dir, "not a regular file"],
    ] as const) {
      mkdirSync(dir, { recursive: true });
      const env = { OPENHOOK_OTEL_PRICES_FILE: at };
      const { errors } = await loadConfigAndPrices({ env, places: { configPath: join(dir, "none.json") } });
      expect(errors).toEqual([expect.stringContaining(problem)]);
    }
  });

  test("any JSON is prices or a problem", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const read = parseOwnPrices(text);
        expect("prices" in read || read.problem.length > 0).toBe(true);
      }),
    );
  });
});

describe("exported costs", () => {
  let receiver: Receiver;
  let replay: Replay;
  beforeEach(async () => {
    receiver = await startReceiver();
    replay = new Replay("claude-code", "basic");
  });
  afterEach(async () => {
    await receiver.close();
    replay.remove();
  });

  test("say that they are from own prices, in spans and metrics", async () => {
    const rates = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWrite1h: 1 };
    writeFileSync(path, JSON.stringify({ source: "contract of October", models: { "claude-*": rates } }));
    await usePrices(path);
    replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
    for (const one of replay.calls) replay.put(one);
    await replay.drain({ isEager: true, endIdle: true });
    const chats = receiver.spans.filter(({ attributes }) => attributes["openhook.span.kind"] === "model_call");
    expect(chats.length).toBeGreaterThan(0);
    for (const { attributes } of chats) {
      const tokens = Number(attributes["gen_ai.usage.input_tokens"]) + Number(attributes["gen_ai.usage.output_tokens"]);
      expect(attributes["openhook.cost.usd"]).toBeCloseTo(tokens / 1e6, 9);
      expect(attributes["openhook.cost.source"]).toBe("own_prices");
      expect(attributes["openhook.cost.price_table"]).toBe("own: contract of October");
    }
    const costs = receiver.metricPoints.filter(({ name }) => name === "openhook.cost.usage");
    expect(new Set(costs.map(({ attributes }) => attributes["openhook.cost.source"]))).toEqual(new Set(["own_prices"]));
  });
});
