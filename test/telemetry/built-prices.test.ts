import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import { beforeAll, expect, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";

const require = createRequire(import.meta.url);
const PACKAGE = readFileSync(require.resolve("@pydantic/genai-prices"), "utf8");
/** Also ids of models, for which no provider is found. */
const IDS = new Set([...PACKAGE.matchAll(/\bid:\s*["'`]([^"'`]+)/g)].map(([, id]) => id));
const PROVIDERS = [...IDS].flatMap((providerId) => (providerId && findProvider({ providerId })) || []);
/** Members that say nothing about prices. */
const NOT_BUILT = new Set(["description", "extractors", "name", "price_comments", "pricing_urls"]);
const USAGE = { input_tokens: 1_000, output_tokens: 100 };
const OPTIONS = { timestamp: new Date(Date.UTC(2026, 9, 5, 12)) };

beforeAll(ensureBuilt);

test("the built price table has the prices of its package", () => {
  const { priceFromTable } = require(join(ROOT, "dist", "lib", "commands", "price-table.cjs")) as {
    priceFromTable: typeof calcPrice;
  };
  let compared = 0;
  for (const { id, models } of PROVIDERS) {
    const priced = models.find(
      (model) => calcPrice(USAGE, model.id, { ...OPTIONS, providerId: id })?.provider.id === id,
    );
    if (priced === undefined) continue;
    const [own, wanted] = [priceFromTable, calcPrice].map((price) =>
      price(USAGE, priced.id, { ...OPTIONS, providerId: id }),
    );
    // With all its models, and with texts that have characters beyond ASCII
    expect(JSON.stringify(own)).toBe(
      JSON.stringify(wanted, (name, value: unknown) => (NOT_BUILT.has(name) ? undefined : value)),
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(40);
});
