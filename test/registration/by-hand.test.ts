// What `enable` says of an agent whose hook settings the user edits
import { expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { namedAgents } from "#setup/registration/settings.ts";

const agents = { list: allAgents, find: findAgent };

test("names the events and the command to paste, and the vendor's page", async () => {
  await expect(namedAgents(["windsurf"], "user", agents)).rejects.toThrow(
    /^Windsurf \(Cascade\) has no settings that enable can change\. .*\(https:\S+\), .* pre_user_prompt, .*: \S.* hook --source windsurf --event pre_user_prompt$/,
  );
});

test("every agent without an installer has events to name, unless wrappers record it", async () => {
  const byHand = (await allAgents()).filter(
    ({ installer, callsModels, runsHooksOf }) => !installer && callsModels !== false && runsHooksOf === undefined,
  );
  expect(byHand.length).toBeGreaterThan(0);
  for (const { source } of byHand)
    await expect(namedAgents([source], "user", agents), source).rejects.toThrow(/ of \w+, .* --event [A-Za-z]\w+$/);
});

test("an agent that runs other agents' hooks is not given a command to paste, which would record it twice", async () => {
  await expect(namedAgents(["copilot-vscode"], "user", agents)).rejects.toThrow(
    /^GitHub Copilot in VS Code \(local agent\) also runs the hooks of Claude Code and of GitHub Copilot CLI; one is enough: run openhook-otel enable claude-code or openhook-otel enable copilot$/,
  );
});
