import { expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { statusline } from "#commands/statusline.ts";
import { placesOf } from "#config/places.ts";
import { agentNamed, meantAgent } from "#core/rules/cards.ts";
import { contextAt } from "../support/context.ts";

test.each([
  ["claude", "claude-code"],
  ["clade", "claude-code"],
  ["clade-code", "claude-code"],
  ["Claude Code", "claude-code"],
  ["Codx", "codex"],
  ["codex-cli", "codex"],
  ["copliot", "copilot"],
  ["gemni", "gemini-cli"],
  ["factory", "droid"],
  ["mistral", "vibe"],
  ["vscode", "copilot-vscode"],
  ["github", "copilot"],
  ["github-copilot", "copilot"],
  ["anthropic", "claude-code"],
  ["kilocode", "kilo"],
  ["cursor-agent", "cursor"],
  ["windsuf", "windsurf"],
  ["gh", "cli-wrapper"],
  ["zeppelin", undefined],
  ["zz", undefined],
  ["", undefined],
])("%s means the agent %s", async (name, meant) => {
  expect(meantAgent(name, await allAgents())).toBe(meant === undefined ? "" : ` (did you mean ${meant}?)`);
});

test("no two agents have the same name, and a title leads to its agent", async () => {
  const agents = await allAgents();
  const names = agents.flatMap(({ source, otherNames = [] }) => [source, ...otherNames]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  for (const { source, title } of agents) expect(meantAgent(title, agents)).toBe(` (did you mean ${source}?)`);
});

test("statusline names the agent that was probably meant", async () => {
  const { context } = contextAt(placesOf({ env: {}, home: "/nowhere", platform: "linux" }));
  await expect(statusline("clade", [], context)).rejects.toThrow(/"clade" \(did you mean claude-code\?\); /);
});

test("the beginning of a name names an agent if no other begins so; a whole name always does", async () => {
  const agents = await allAgents();
  for (const [name, source] of [
    ["claude", "claude-code"],
    ["gem", "gemini-cli"],
    ["copilot", "copilot"],
  ] as const)
    expect(agentNamed(name, agents)?.source).toBe(source);
  for (const name of ["c", "", "clade"]) expect(agentNamed(name, agents)).toBeUndefined();
});
