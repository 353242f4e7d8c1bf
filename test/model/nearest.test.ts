import { expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import { statusline } from "../../src/commands/statusline.ts";
import { placesOf } from "../../src/config/places.ts";
import { meantAgent } from "../../src/model/nearest.ts";
import { contextAt } from "../support/context.ts";

test.each([
  ["claude", "claude-code"],
  ["clade", "claude-code"],
  ["clade-code", "claude-code"],
  ["Codx", "codex"],
  ["copliot", "copilot"],
  ["gemni", "gemini-cli"],
  ["zeppelin", undefined],
])("%s means the agent %s", async (name, meant) => {
  const known = (await allAgents()).map(({ source }) => source);
  expect(meantAgent(name, known)).toBe(meant === undefined ? "" : ` (did you mean ${meant}?)`);
});

test("statusline names the agent that was probably meant", async () => {
  const { context } = contextAt(placesOf({ env: {}, home: "/nowhere", platform: "linux" }));
  await expect(statusline("clade", [], context)).rejects.toThrow(/"clade" \(did you mean claude-code\?\); /);
});
