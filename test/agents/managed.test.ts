import { expect, test } from "vitest";
import { allAgents, findAgent } from "../../src/agents/registry.ts";
import { enableManaged } from "../../src/commands/managed.ts";
import { placesOf } from "../../src/config/places.ts";
import type { HookCommand } from "../../src/model/agent.ts";
import { contextAt } from "../support/context.ts";

const command: HookCommand = ({ source }) => `/usr/local/lib/openhook-otel/hook ${source}`;
const managed = (
  await Promise.all((await allAgents()).map(async (card) => ({ card, of: await card.installer?.() })))
).flatMap(({ card, of }) => (of?.default.managed === undefined ? [] : [[card.source, of.default.managed] as const]));

/** What an administrator may already have in the file, by agent. */
const EXISTING: Readonly<Record<string, readonly string[]>> = {
  copilot: ['{\n  "version": 1,\n  "hooks": { "sessionStart": [{ "type": "command", "bash": "audit" }] }\n}\n'],
  droid: ['{\n  "allowManagedHooksOnly": true\n}\n'],
  "qwen-code": ['{\n  // ours\n  "ui": { "theme": "x" }\n}\n'],
  "claude-code": [],
  codex: ['allowed_sandbox_modes = ["read-only"] # ours\n', "[features]\r\nweb = true\r\n", "a = 1"],
  "gemini-cli": ['{\n  // ours\n  "ui": { "theme": "x" }\n}\n'],
  cursor: ['{\n  "version": 1,\n  "hooks": { "stop": [{ "command": "audit" }] }\n}\n'],
};

test("the agents with a place for an administrator's hooks", () => {
  expect(managed.map(([source]) => source).sort()).toEqual(Object.keys(EXISTING).sort());
});

test.each(managed)("%s: adding twice is adding once, and removing leaves what was there", (source, one) => {
  for (const text of [undefined, ...(EXISTING[source] ?? [])]) {
    const added = one.add(text, command);
    expect(one.registered(added).length).toBeGreaterThan(4);
    expect(one.add(added, command)).toBe(added);
    const left = one.remove(added);
    expect(left?.replace(/\r?\n$/, "")).toBe(text?.replace(/\r?\n$/, ""));
    expect(left === undefined ? [] : one.registered(left)).toEqual([]);
  }
  expect(one.path("linux")).toMatch(/^\/etc\//);
  expect(one.path("darwin") ?? "/etc/").toMatch(/^\/(?:etc|Library)\//);
});

test("codex: hooks of others are not mixed with ours", async () => {
  const [, codex] = managed.find(([source]) => source === "codex") ?? [];
  expect(() => codex?.add('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "audit"\n', command)).toThrow(
    /has hooks already/,
  );
  expect(() => codex?.add('[hooks]\nmanaged_dir = "/x"\n', command)).toThrow(/has hooks already/);
  expect(() => codex?.add("not toml", command)).toThrow(/not valid TOML/);
});

test.each([
  "/var/cache/npm/_npx/5f1e/node_modules/openhook-otel/dist/openhook-otel.cjs",
  "/var/cache/pnpm/dlx/5f1e/node_modules/openhook-otel/dist/openhook-otel.cjs",
  "/tmp/bunx-0-openhook-otel@latest/node_modules/openhook-otel/dist/openhook-otel.cjs",
])("a program in a cache is not registered for all users: %s", async (programPath) => {
  const places = placesOf({ env: {}, home: "/nowhere", platform: "linux" });
  const { context, out } = contextAt(places, { programPath });
  for (const print of [true, false]) {
    const enabled = enableManaged([], { print, hookSource: "" }, context, { list: allAgents, find: findAgent });
    await expect(enabled).rejects.toThrow(/a cache that may be emptied at any time: install the package first/);
  }
  expect(out()).toBe("");
});
