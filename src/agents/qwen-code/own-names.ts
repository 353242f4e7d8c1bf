import type { OwnNames } from "#core/model/agent.ts";
import { GEMINI_NAMES, words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const QWEN_NAMES: OwnNames = {
  tools: [...GEMINI_NAMES.tools, ...words("agent edit skill task todo_write exit_plan_mode lsp")],
  agentTypes: words("general-purpose Explore"),
};
