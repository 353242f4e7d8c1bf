import { expect, test } from "vitest";
import { knownProvider, providerName } from "#agents/shared/names/providers.ts";
import { pricesOfModel } from "#core/telemetry/cost.ts";

test.each([
  ["azure-cognitive-services", "azure.ai.openai", "gpt-5"],
  ["google-vertex-anthropic", "gcp.vertex_ai", "claude-sonnet-4-5@20250929"],
  ["moonshot", "moonshot_ai", "kimi-k2-thinking"],
  ["moonshotai", "moonshot_ai", "kimi-k2-thinking"],
  ["xai", "x_ai", "grok-4"],
])("%s maps to its name in the convention, and to its list price", (id, name, model) => {
  expect(providerName(id)).toBe(name);
  expect(pricesOfModel(model, name)({ input: 1_000, output: 10 }, Date.UTC(2026, 9, 1)).costNanoUsd).toBeGreaterThan(0);
});

test("keeps ids that the convention does not name, and drops invalid ids", () => {
  expect(providerName("github-copilot")).toBe("github-copilot");
  expect(providerName("a proxy of ours")).toBeUndefined();
  expect(knownProvider("our-proxy")).toBeUndefined();
});
