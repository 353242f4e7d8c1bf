import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProvider } from "@pydantic/genai-prices";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { loadConfig } from "#config/load.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { PRICE_PROVIDERS, TABLE_IDS } from "#core/model/price-providers.ts";
import { setOwnPrices, setPriceProviders } from "#core/rules/price.ts";
import { pricesInUse, pricesOfModel } from "#core/telemetry/cost.ts";
import { priceFromTable } from "#core/telemetry/price-table.lazy.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { Replay, ROOT } from "../support/replay.ts";

afterEach(() => {
  setPriceProviders({});
  setOwnPrices(undefined);
});

const USAGE = { input: 10_000, output: 1_000 };
const priced = (model: string, provider: string | undefined) => pricesOfModel(model, provider)(USAGE, Date.now());
const listed = (model: string, providerId: string): number => {
  const found = priceFromTable({ input_tokens: USAGE.input, output_tokens: USAGE.output }, model, { providerId });
  return Math.round((found?.total_price ?? Number.NaN) * 1e9);
};

test("the known providers are those of the price table", async () => {
  const agents = await allAgents();
  const table = readFileSync(join(ROOT, "node_modules/@pydantic/genai-prices/dist/index.js"), "utf8");
  const ids = new Set([...table.matchAll(/\bid:\s*["'`]([a-z0-9_-]+)["'`]/g)].map(([, id = ""]) => id));
  const found = [...ids].filter(
    (id) => findProvider({ providerId: id })?.id === id && !agents.some(({ source }) => id.split("-").includes(source)),
  );
  expect(found.length).toBeGreaterThan(10);
  expect([...PRICE_PROVIDERS].sort()).toEqual(found.sort());
  for (const id of TABLE_IDS.values()) expect(PRICE_PROVIDERS).toContain(id);
});

describe("the provider of a model", () => {
  test("gives it that provider's list price, whatever the agent reports", () => {
    expect(priced("glm-4.7", "anthropic")).toEqual({ noPrice: "model" });
    setPriceProviders({ "glm-*": "zhipuai", "kimi-k2-thinking": "moonshot_ai" });
    expect(priced("glm-4.7", "anthropic")).toEqual({ costNanoUsd: listed("glm-4.7", "zhipuai") });
    expect(priced("kimi-k2-thinking", "anthropic")).toEqual({ costNanoUsd: listed("kimi-k2-thinking", "moonshotai") });
    // Others are as before
    expect(priced("claude-sonnet-4-5", "anthropic")).toEqual({ costNanoUsd: listed("claude-sonnet-4-5", "anthropic") });
    expect(priced("kimi-k2", "anthropic")).toEqual({ noPrice: "model" });
  });

  test("of several names the whole one counts, then the longest beginning; own prices count before all of them", () => {
    setPriceProviders({ "glm-*": "openai", "glm-4*": "zhipuai", "*": "openai" });
    expect(priced("glm-4.7", "anthropic")).toEqual({ costNanoUsd: listed("glm-4.7", "zhipuai") });
    setPriceProviders({ "glm-4*": "openai", "glm-4.7": "zhipuai" });
    expect(priced("glm-4.7", "anthropic")).toEqual({ costNanoUsd: listed("glm-4.7", "zhipuai") });
    const rules = [{ rates: { input: 1, output: 1 } }];
    setOwnPrices({ source: "contract", models: new Map([["glm-4.7", { rules }]]), digest: "d" });
    expect(priced("glm-4.7", "anthropic")).toEqual({ costNanoUsd: 11e6 });
  });

  test("a provider that does not have the model gives no price, never another provider's", () => {
    setPriceProviders({ "glm-*": "openai" });
    expect(priced("glm-4.7", "zhipuai")).toEqual({ noPrice: "model" });
  });

  test("a wrong name is refused, with the one that was meant", async () => {
    const of = new Replay("claude-code", "basic", { withTranscripts: false });
    mkdirSync(dirname(of.places.configPath), { recursive: true });
    writeFileSync(of.places.configPath, JSON.stringify({ prices: { providers: { "glm-*": "zhipu", "x-*": "x_ai" } } }));
    const { config, errors } = await loadConfig({ env: {}, places: of.places });
    expect(config.prices.providers).toEqual({ "x-*": "x_ai" });
    expect(errors.join()).toContain(
      'prices.providers.glm-* must be a provider of the price table, not "zhipu": deepseek, moonshotai, zhipuai, openrouter or another. Did you mean zhipuai?',
    );
    of.remove();
  });

  test.each(["drain", "import"])(
    "calls without a price get it from the next %s, once; known costs stay",
    async (way) => {
      const of = new Replay("claude-code", "basic", {
        // Gateways report no cache writes
        edit: (text) =>
          text
            .replaceAll(/claude-[a-z]+-4-\d(-\d{8})?/g, "glm-4.7")
            .replaceAll(/("(?:cache_creation_input_tokens|ephemeral_\w+)": ?)\d+/g, "$10"),
      });
      const cost = () =>
        readStore(of.places.storePath, (db) => db.prepare("SELECT sum(cost_nano_usd) AS n FROM usage").get()?.["n"]);
      const drainWith = async (providers: object): Promise<void> => {
        mkdirSync(dirname(of.places.configPath), { recursive: true });
        writeFileSync(of.places.configPath, JSON.stringify({ prices: { providers } }));
        const loaded = await loadConfigAndPrices({ env: {}, places: of.places });
        await (way === "import"
          ? importInto(of, "claude-code")
          : of.drain({ isEager: true, endIdle: true }, { loaded }));
      };
      if (way === "drain") for (const call of of.calls) of.put(call);
      await drainWith({});
      expect([cost(), pricesInUse()]).toEqual([null, expect.stringMatching(/; $/)]);
      await drainWith({ "glm-*": "zhipuai" });
      expect(pricesInUse()).toMatch(/; glm-\* zhipuai$/);
      const known = cost();
      expect(known).toBeGreaterThan(0);
      await drainWith({ "glm-*": "cerebras" });
      expect(cost()).toBe(known);
      of.remove();
    },
  );
});
