import { join, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { compare } from "./compare.ts";
import { install } from "./install.ts";
import type { Machine } from "./machine.ts";
import { PROGRAMS } from "./programs.ts";
import { SCENARIOS } from "./scenarios.ts";

// The plugins of plugins/, installed by the real programs, in place of `enable`

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));
const PLUGINS = join(ROOT, "plugins");

beforeAll(ensureBuilt);

/** How users install each, and its own validator where there is one. */
const STEPS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "claude-code": [
    ["plugin", "validate", PLUGINS],
    ["plugin", "validate", join(PLUGINS, "claude-code")],
    ["plugin", "marketplace", "add", PLUGINS],
    ["plugin", "install", "openhook-otel@openhook-otel"],
  ],
  codex: [
    ["plugin", "marketplace", "add", PLUGINS],
    ["plugin", "add", "openhook-otel@openhook-otel"],
  ],
  copilot: [
    ["plugin", "marketplace", "add", PLUGINS],
    ["plugin", "install", "openhook-otel-copilot@openhook-otel"],
  ],
  "gemini-cli": [
    ["extensions", "validate", join(PLUGINS, "gemini-cli")],
    ["extensions", "install", join(PLUGINS, "gemini-cli"), "--consent"],
  ],
};

/** Users trust a plugin's hooks in the terminal, with /hooks. */
const MORE: Readonly<Record<string, readonly string[]>> = { codex: ["--dangerously-bypass-hook-trust"] };

test.each(Object.entries(STEPS))("%s: a session with the plugin is collected exactly", async (source, steps) => {
  const { program: plain, installed } = programOf(source);
  const { arguments: argumentsOf } = plain;
  const program = {
    ...plain,
    arguments: (...of: Parameters<typeof argumentsOf>) => [...argumentsOf(...of), ...(MORE[source] ?? [])],
  };
  const register = async (machine: Machine): Promise<void> => {
    // Installs the hook program. Cursor itself is not on this machine, so its registration has no effect
    await machine.openhook("enable", "cursor");
    for (const step of steps) await runs(machine, program.command, step);
  };
  await compare({ program, name: "basic", scenario: scenarioOf("basic"), installed }, register);
});

// --- internal ---

async function runs(machine: Machine, command: string, step: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await machine.start(command, step).finished;
  expect(code, `${command} ${step.join(" ")}: ${stderr}${stdout}`).toBe(0);
}

function programOf(source: string) {
  const program = PROGRAMS.find((one) => one.source === source);
  if (program === undefined) throw new Error(`${source} is not in the table of programs`);
  return { program, installed: install(program, CACHE) };
}

function scenarioOf(name: string) {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  return scenario;
}
