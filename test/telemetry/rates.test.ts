import { calcPrice, findProvider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import type { Price } from "#core/model/price-list.ts";
import { priceOf } from "#core/rules/price.ts";
import { tableList } from "#core/telemetry/rates.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const PROVIDERS = ["anthropic", "openai", "google", "x-ai", "mistral", "aws", "perplexity"];
const MODELS = PROVIDERS.flatMap((id) =>
  (findProvider({ providerId: id })?.models ?? [])
    .filter((model) => calcPrice({}, model.id, { providerId: id }) !== null)
    .map((model) => [id, model.id] as const),
);
const AT_MS = Date.UTC(2026, 9, 5, 12);

const size = fc.oneof(
  fc.nat(5_000),
  fc.nat(2_000_000),
  fc.constantFrom(0, 127_999, 128_000, 200_000, 200_001, 272_000),
);
const share = fc.float({ min: 0, max: 1, noNaN: true });
const usages = fc
  .record({ input: size, output: size, read: share, write: share, hour: share, webSearches: fc.nat(20) })
  .map(({ input, output, read, write, hour, webSearches }) => {
    const cacheRead = Math.floor(input * read);
    const cacheWrite = Math.floor((input - cacheRead) * write);
    return { input, output, cacheRead, cacheWrite, cacheWrite1h: Math.floor(cacheWrite * hour), webSearches };
  });
type Usage = typeof usages extends fc.Arbitrary<infer T> ? T : never;

/** The price according to the table itself; none for what it would charge as something cheaper. */
function tablePrice(provider: string, model: string, of: Usage, ms: number): number | undefined {
  const found = calcPrice(
    {
      input_tokens: of.input,
      output_tokens: of.output,
      cache_read_tokens: of.cacheRead,
      cache_write_tokens: of.cacheWrite,
      cache_write_1h_tokens: of.cacheWrite1h,
      web_searches: of.webSearches,
    },
    model,
    { providerId: provider, timestamp: new Date(ms) },
  );
  if (found === null) return undefined;
  const charged = [
    [of.input - of.cacheRead - of.cacheWrite, "input_mtok"],
    [of.output, "output_mtok"],
    [of.cacheWrite - of.cacheWrite1h, "cache_write_mtok"],
    [of.cacheWrite1h, "cache_write_1h_mtok"],
    [of.webSearches, "web_searches_kcount"],
  ] as const;
  return charged.every(([n, price]) => n === 0 || price in found.model_price) ? found.total_price : undefined;
}

const priced = (provider: string | undefined, model: string, usage: Partial<Usage>, ms = AT_MS): Price | undefined => {
  const list = tableList(provider, model);
  return list && priceOf(list, { input: 1_000, output: 100, ...usage }, ms);
};
const isPriced = (provider: string | undefined, model: string): boolean =>
  priced(provider, model, {})?.costNanoUsd !== undefined;

describe("a price", () => {
  test("is the table's, for every model and any usage, or not exact", () => {
    expect(MODELS.length).toBeGreaterThan(150);
    fc.assert(
      fc.property(
        fc.constantFrom(...MODELS),
        usages,
        fc.constantFrom(AT_MS, Date.UTC(2025, 1, 1), Date.UTC(2024, 5, 1)),
        ([provider, model], usage, ms) => {
          const [ours, theirs] = [priced(provider, model, usage, ms), tablePrice(provider, model, usage, ms)];
          if (ours?.noPrice === undefined && ours !== undefined)
            expect(Math.abs((ours.costNanoUsd ?? Number.NaN) / 1e9 - (theirs ?? Number.NaN))).toBeLessThan(1e-8);
          else if (ours?.noPrice === "length")
            expect(usage.input).toBeGreaterThan(tableList(provider, model)?.contextWindow ?? 0);
          else expect(theirs).toBeUndefined();
        },
      ),
      { numRuns: runs(3_000) },
    );
  });

  test("of every model of the table is known by its id", () => {
    for (const [provider, model] of MODELS)
      expect([model, tableList(provider, model) !== undefined]).toEqual([model, true]);
  });

  test.each([
    ["anthropic", "claude-sonnet-5"],
    ["anthropic", "claude-sonnet-4-5-20250929"],
    ["anthropic", "claude-sonnet-4-20250514"],
    ["anthropic", "claude-haiku-4.5"],
    ["anthropic", "claude-4.5-haiku-20251001"],
    ["anthropic", "claude-opus-4-1-20250805"],
    ["anthropic", "claude-3-5-haiku-latest"],
    ["anthropic", "claude-sonnet-4-5[1m]"],
    ["aws", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["aws", "global.anthropic.claude-opus-4-6-v1"],
    ["aws", "eu.anthropic.claude-opus-4-5-20251101-v1:0"],
    ["aws", "anthropic.claude-opus-5"],
    ["aws", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-8-v1:0"],
    ["aws", "arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-sonnet-4-6-v1:0"],
    ["google", "claude-sonnet-4-5@20250929"],
    ["google", "claude-opus-4-8@default"],
    ["google", "publishers/anthropic/models/claude-opus-5@default"],
    ["google", "gemini-2.5-pro-preview-05-06"],
    ["google", "gemini-2.0-flash-001"],
    ["google", "gemini-3.8-flash"],
    ["google", "models/gemini-3.5-flash"],
    ["openai", "gpt-5.5-codex"],
    ["openai", "gpt-5.5-2026-04-23"],
    ["openai", "gpt-5-nano-2025-08-07"],
    ["openai", "ft:gpt-4o-2024-08-06:acme::abc123"],
    ["cursor", "composer-2.5[fast=true]"],
    ["moonshotai", "kimi-k2.5"],
    [undefined, "claude-opus-4-8"],
  ])("has a name with a date, or with what a cloud adds: %s %s", (provider, model) => {
    expect(isPriced(provider, model)).toBe(true);
  });

  test.each([
    ["anthropic", "claude-sonnet-5-5"],
    ["anthropic", "claude-sonnet-5-6"],
    ["anthropic", "claude-sonnet-5-5-20260929"],
    ["anthropic", "claude-haiku-4-5-mini"],
    ["anthropic", "claude-opus-4-10"],
    ["anthropic", "claude-opus-4-8-fast"],
    ["anthropic", "claude-3-opus-xl"],
    ["aws", "us.anthropic.claude-sonnet-5-5"],
    ["aws", "global.anthropic.claude-sonnet-5-5-v1:0"],
    ["aws", "eu.anthropic.claude-opus-4-80-20261001-v1:0"],
    ["aws", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-5-6-v1:0"],
    ["google", "claude-sonnet-5-5@20260929"],
    ["google", "claude-sonnet-4-5-5@default"],
    ["google", "gemini-3.8-flash-xyz"],
    ["google", "gemini-3.8-flash-lite"],
    ["google", "gemini-1.5-flash-8b-large"],
    ["google", "gemini-2.5-pro-max"],
    ["deepseek", "deepseek-v4-pro-max"],
    ["moonshotai", "kimi-k2.5-ultra"],
    ["mistral", "magistral-medium-next"],
    ["openai", "gpt-5.5-mini"],
    ["openai", "gpt-5-nano-2"],
    ["minimax", "MiniMax-M2.1-highspeed-plus"],
    [undefined, "openrouter/anthropic/claude-opus-4-8"],
    [undefined, "claude-opus-4-8:thinking"],
    ["anthropic", "no-such-model"],
  ])("is unknown for a name that only begins like one of the table, or contains it: %s %s", (provider, model) => {
    expect(tableList(provider, model)).toBeUndefined();
  });

  test("of input larger than the context window is unknown, unless the table has a step there", () => {
    const usage = { input: 300_000, output: 1_000 };
    expect(priced("anthropic", "claude-sonnet-4-20250514", usage)).toEqual({ noPrice: "length" });
    expect(priced("anthropic", "claude-sonnet-4-5", usage)?.costNanoUsd).toBe(300_000 * 6_000 + 1_000 * 22_500);
    expect(priced("anthropic", "claude-opus-4-8", { input: 1_000_001 })).toEqual({ noPrice: "length" });
  });

  test("of a sum over calls of unknown length is the lowest, as a lower bound", () => {
    const list = tableList("anthropic", "claude-sonnet-4-5");
    const of = (input: number) => list && priceOf(list, { input, output: 0, isSum: true }, AT_MS);
    expect(of(150_000)).toEqual({ costNanoUsd: 150_000 * 3_000 });
    expect(of(755_000)).toEqual({ costNanoUsd: 755_000 * 3_000, noPrice: "length" });
  });

  test("that depends on hours is a lower bound where the table does not rule the day", () => {
    const at = (time: string, model = "deepseek-v4-flash") =>
      priced("deepseek", model, { input: 1_000_000, output: 0 }, Date.parse(time));
    // Flat before 2026-08-17, then cheaper outside 01:00 to 04:00 and 06:00 to 10:00, and on whole weekends
    expect(at("2026-10-07T12:00:00Z")).toEqual({ costNanoUsd: 220_000_000 });
    expect(at("2026-10-07T02:00:00Z")).toEqual({ costNanoUsd: 220_000_000, noPrice: "time" });
    expect(at("2026-10-10T02:00:00Z")).toEqual({ costNanoUsd: 220_000_000, noPrice: "time" });
    expect(at("2026-07-01T02:00:00Z")).toEqual({ costNanoUsd: 140_000_000, noPrice: "time" });
    expect(at("2026-07-01T12:00:00Z")).toEqual({ costNanoUsd: 140_000_000 });
  });

  test("of searches is added, once; without one the cost is a lower bound", () => {
    const usage = { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0, webSearches: 10 };
    expect(priced("anthropic", "claude-opus-4-8", usage)).toEqual({
      costNanoUsd: 130_000_000,
      feeNanoUsd: 100_000_000,
    });
    expect(priced("google", "claude-opus-4-8", usage)).toEqual({ costNanoUsd: 30_000_000, noPrice: "fees" });
  });
});
