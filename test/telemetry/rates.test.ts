import { calcPrice, findProvider } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pricesOf } from "../../src/telemetry/rates.ts";
import { runs } from "../support/whole.ts";

const PROVIDERS = ["anthropic", "openai", "google", "x-ai", "mistral", "aws"];
const MODELS = PROVIDERS.flatMap((id) =>
  (findProvider({ providerId: id })?.models ?? []).map((model) => [id, model.id] as const),
);
const AT_MS = Date.UTC(2026, 9, 5, 12);

const size = fc.oneof(
  fc.nat(5_000),
  fc.nat(2_000_000),
  fc.constantFrom(0, 127_999, 128_000, 199_999, 200_000, 200_001, 272_000),
);
const tokens = fc
  .record({
    input: size,
    output: size,
    read: fc.float({ min: 0, max: 1, noNaN: true }),
    write: fc.float({ min: 0, max: 1, noNaN: true }),
    hour: fc.float({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ input, output, read, write, hour }) => {
    const cacheRead = Math.floor(input * read);
    const cacheWrite = Math.floor((input - cacheRead) * write);
    return { input, output, cacheRead, cacheWrite, cacheWrite1h: Math.floor(cacheWrite * hour) };
  });

/** The price according to the table itself; none for tokens that it would charge as cheaper ones. */
function tablePrice(
  provider: string,
  model: string,
  t: { readonly [K in "input" | "output" | "cacheRead" | "cacheWrite" | "cacheWrite1h"]: number },
  ms: number,
) {
  const found = calcPrice(
    {
      input_tokens: t.input,
      output_tokens: t.output,
      cache_read_tokens: t.cacheRead,
      cache_write_tokens: t.cacheWrite,
      cache_write_1h_tokens: t.cacheWrite1h,
    },
    model,
    { providerId: provider, timestamp: new Date(ms) },
  );
  if (found === null || !Number.isFinite(found.total_price)) return undefined;
  const charged = [
    [t.output, "output_mtok"],
    [t.cacheWrite, "cache_write_mtok"],
    [t.cacheWrite1h, "cache_write_1h_mtok"],
  ] as const;
  return charged.every(([n, price]) => n === 0 || price in found.model_price) ? found.total_price : undefined;
}

describe("a price", () => {
  test("equals the table's, for every model and any usage", () => {
    expect(MODELS.length).toBeGreaterThan(150);
    fc.assert(
      fc.property(
        fc.constantFrom(...MODELS),
        tokens,
        fc.constantFrom(AT_MS, Date.UTC(2025, 1, 1), Date.UTC(2024, 5, 1)),
        ([provider, model], usage, ms) => {
          const [ours, theirs] = [pricesOf(provider, model)(usage, ms), tablePrice(provider, model, usage, ms)];
          if (theirs === undefined) expect(ours).toBeUndefined();
          else expect(Math.abs((ours ?? Number.NaN) - theirs)).toBeLessThan(1e-9);
        },
      ),
      { numRuns: runs(3_000) },
    );
  });

  test("of an unknown model is unknown", () => {
    expect(pricesOf("anthropic", "no-such-model")({ input: 1, output: 1 }, AT_MS)).toBeUndefined();
    expect(pricesOf(undefined, "no-such-model")({ input: 1, output: 1 }, AT_MS)).toBeUndefined();
  });
});
