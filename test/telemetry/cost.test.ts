import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { type ModelCall, UNKNOWN_TIER } from "#core/model/model-call.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { correctedUsage } from "#core/rules/limits.ts";
import { callPrice, PRICE_TABLE } from "#core/telemetry/cost.ts";
import { defined } from "#kit/objects.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const SONNET = "claude-sonnet-4-5-20250929";

const call = (model: string | undefined, usage: TokenUsage | undefined): ModelCall => ({
  key: "response:msg_1",
  startMs: Date.UTC(2026, 9, 5),
  endMs: Date.UTC(2026, 9, 5, 0, 1),
  complete: true,
  ...(model !== undefined && { model }),
  ...(usage !== undefined && { usage }),
});

const costNanoUsd = (...of: Parameters<typeof callPrice>): number | undefined => callPrice(...of).costNanoUsd;

describe("the price of a call", () => {
  // List prices per million tokens: input 3, output 15, cache read 0.30, cache write 3.75 for 5 minutes, 6 for an hour
  test("input and output have separate prices", () => {
    expect(costNanoUsd(call(SONNET, { input: 1_000, output: 100 }), "anthropic")).toBe(3_000_000 + 1_500_000);
  });

  test("cached tokens are part of the input, at their own price", () => {
    const usage = { input: 6_000, output: 100, cacheRead: 1_000, cacheWrite: 2_000 };
    expect(costNanoUsd(call(SONNET, usage), "anthropic")).toBe(
      3_000 * 3_000 + 100 * 15_000 + 1_000 * 300 + 2_000 * 3_750,
    );
  });

  test("one-hour cache writes are part of the writes, and cost more", () => {
    const usage = {
      input: 6_000,
      output: 100,
      cacheRead: 1_000,
      cacheWrite: 2_000,
      cacheWrite5m: 1_500,
      cacheWrite1h: 500,
    };
    expect(costNanoUsd(call(SONNET, usage), "anthropic")).toBe(
      3_000 * 3_000 + 100 * 15_000 + 1_000 * 300 + 1_500 * 3_750 + 500 * 6_000,
    );
  });

  test("a provider by OpenTelemetry's name; the call's takes precedence over the session's", () => {
    const usage = { input: 1_000, output: 100 };
    expect(costNanoUsd(call("gemini-2.5-pro", usage), "gcp.gemini")).toBe(1_000 * 1_250 + 100 * 10_000);
    expect(costNanoUsd({ ...call("gpt-4.1", usage), provider: "azure.ai.openai" }, undefined)).toBe(2_800_000);
    expect(costNanoUsd({ ...call(SONNET, usage), provider: "anthropic" }, "openai")).toBe(4_500_000);
  });

  test("a Claude model by Amazon's name has Amazon's price", () => {
    const usage = { input: 1_000, output: 100 };
    expect(costNanoUsd(call("us.anthropic.claude-sonnet-4-5-20250929-v1:0", usage), "anthropic")).toBe(4_950_000);
    expect(costNanoUsd(call("global.anthropic.claude-sonnet-4-5-20250929-v1:0", usage), undefined)).toBe(4_500_000);
    expect(
      costNanoUsd(
        { ...call("anthropic.claude-sonnet-4-5-20250929-v1:0", usage), provider: "our-gateway" },
        "anthropic",
      ),
    ).toBeUndefined();
  });

  test("a provider that is not in the table has no price, whatever the model", () => {
    expect(
      costNanoUsd({ ...call(SONNET, { input: 1, output: 1 }), provider: "our-gateway" }, undefined),
    ).toBeUndefined();
  });

  test("cache writes that were not made are not priced: their sum decides, whatever the breakdown says", () => {
    const made = { input: 6_000, output: 100, cacheRead: 1_000 };
    const plain = costNanoUsd(call(SONNET, { ...made, cacheWrite: 0 }), "anthropic");
    expect(costNanoUsd(call(SONNET, { ...made, cacheWrite: 0, cacheWrite1h: 5_000 }), "anthropic")).toBe(plain);
    expect(costNanoUsd(call(SONNET, { ...made, cacheWrite: 1_000, cacheWrite1h: 5_000 }), "anthropic")).toBe(
      costNanoUsd(call(SONNET, { ...made, cacheWrite: 1_000, cacheWrite1h: 1_000 }), "anthropic"),
    );
  });

  test("is a lower bound without the writes to a cache that has a price for them", () => {
    const usage = { input: 6_000, output: 100, cacheRead: 1_000 };
    expect(callPrice(call(SONNET, usage), "anthropic")).toEqual({
      costNanoUsd: 5_000 * 3_000 + 100 * 15_000 + 1_000 * 300,
      noPrice: "part",
    });
  });

  test.each([{ cacheWrite: 1_000 }, { cacheRead: 1_000, cacheWrite1h: 500 }])(
    "is unknown for a call with other cache figures that do not fit: %j",
    (cache) => {
      const usage = { input: 6_000, output: 100, ...cache };
      expect(callPrice(call(SONNET, usage), "anthropic")).toEqual({ noPrice: "part" });
      expect(costNanoUsd(call(SONNET, { cacheRead: 0, cacheWrite: 0, ...usage }), "anthropic")).toBeGreaterThan(0);
    },
  );

  test.each([{ input: 10 }, { output: 10 }])("is unknown for a call with input or output alone: %j", (usage) => {
    expect(costNanoUsd(call(SONNET, { ...usage, cacheRead: 0, cacheWrite: 0 }), "anthropic")).toBeUndefined();
  });

  test("a cost is known or unknown whatever the numbers are, and never negative", () => {
    const size = fc.oneof(fc.nat(3_000), fc.nat(3_000_000), fc.constantFrom(0, 200_000, 1e11));
    const kind = fc.option(size, { nil: undefined });
    const usage = fc.record({
      input: size,
      output: size,
      cacheRead: kind,
      cacheWrite: kind,
      cacheWrite5m: kind,
      cacheWrite1h: kind,
    });
    // The price of the second one changed in time, so the table is asked for each call
    const model = fc.constantFrom(SONNET, "claude-sonnet-4-6", "claude-opus-4-8", "us.anthropic.claude-opus-4-8-v1:0");
    fc.assert(
      fc.property(model, usage, (name, tokens) => {
        const [asReported, corrected] = [defined<TokenUsage>(tokens), correctedUsage(defined<TokenUsage>(tokens))];
        expect(() => costNanoUsd(call(name, asReported), "anthropic")).not.toThrow();
        expect(costNanoUsd(call(name, corrected), "anthropic") ?? 0).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(500) },
    );
  });

  test("writes for an hour have no price where the table has none, never that of other writes", () => {
    const usage = { input: 6_000, output: 100, cacheRead: 0, cacheWrite: 2_000 };
    const opus = "us.anthropic.claude-opus-4-8-v1:0";
    for (const [model, provider] of [
      [opus, "aws.bedrock"],
      ["claude-opus-4-8", "gcp.vertex_ai"],
    ] as const) {
      expect(costNanoUsd(call(model, usage), provider)).toBeGreaterThan(0);
      expect(costNanoUsd(call(model, { ...usage, cacheWrite1h: 0 }), provider)).toBeGreaterThan(0);
      expect(costNanoUsd(call(model, { ...usage, cacheWrite1h: 1 }), provider)).toBeUndefined();
    }
    // No price for any cache write
    expect(costNanoUsd(call("anthropic.claude-3-haiku-20240307-v1:0", usage), "aws.bedrock")).toBeUndefined();
  });

  test("a call with another price list has no price", () => {
    expect(
      costNanoUsd({ ...call(SONNET, { input: 1_000, output: 100 }), tier: UNKNOWN_TIER }, "anthropic"),
    ).toBeUndefined();
  });

  test("no usage costs 0, which is known", () => {
    expect(costNanoUsd(call(SONNET, { input: 0, output: 0 }), "anthropic")).toBe(0);
  });

  test.each([
    ["an unknown model", call("acme-large-1", { input: 10, output: 1 })],
    ["no model", call(undefined, { input: 10, output: 1 })],
    ["no usage", call(SONNET, undefined)],
  ])("%s: unknown, never 0", (_, unknown) => {
    expect(costNanoUsd(unknown, "anthropic")).toBeUndefined();
    expect(costNanoUsd(unknown, undefined)).toBeUndefined();
  });
});

test("the reported price table is the installed one, so its date is set anew with each update", () => {
  const installed = createRequire(import.meta.url)("../../node_modules/@pydantic/genai-prices/package.json") as {
    version: string;
  };
  const todo = "set version and published of TABLE in src/core/telemetry/cost.ts: npm view @pydantic/genai-prices time";
  expect(PRICE_TABLE, todo).toBe(`genai-prices/${installed.version}`);
});
