import type { Agent } from "../model/agent.ts";

/** Every agent we know, one line each; loaded on demand. */
const AGENTS: Readonly<Record<string, () => Promise<{ default: Agent }>>> = {
  openhook: () => import("./openhook/index.ts"),
  "claude-code": () => import("./claude-code/index.ts"),
  copilot: () => import("./copilot/index.ts"),
  "copilot-vscode": () => import("./copilot-vscode/index.ts"),
  cline: () => import("./cline/index.ts"),
  cursor: () => import("./cursor/index.ts"),
  codex: () => import("./codex/index.ts"),
  opencode: () => import("./opencode/index.ts"),
  "gemini-cli": () => import("./gemini-cli/index.ts"),
  kiro: () => import("./kiro/index.ts"),
  "qwen-code": () => import("./qwen-code/index.ts"),
  droid: () => import("./droid/index.ts"),
  windsurf: () => import("./windsurf/index.ts"),
  antigravity: () => import("./antigravity/index.ts"),
  goose: () => import("./goose/index.ts"),
  crush: () => import("./crush/index.ts"),
  grok: () => import("./grok/index.ts"),
  kimi: () => import("./kimi/index.ts"),
  "hook-contract": () => import("./hook-contract/index.ts"),
  "cli-wrapper": () => import("./cli-wrapper/index.ts"),
};

/** All cards, in the order of the registry. */
export const allAgents = (): Promise<readonly Agent[]> =>
  Promise.all(Object.values(AGENTS).map(async (load) => (await load()).default));

/** One card, or `undefined` for an agent we do not know. */
export async function findAgent(source: string): Promise<Agent | undefined> {
  return Object.hasOwn(AGENTS, source) ? (await AGENTS[source]?.())?.default : undefined;
}

/** The names that `findAgent` knows. */
export const agentNames: readonly string[] = Object.keys(AGENTS);
