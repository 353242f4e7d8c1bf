import type { OwnNames } from "#core/model/agent.ts";
import { OPENCODE_NAMES, words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const KILO_NAMES: OwnNames = {
  tools: OPENCODE_NAMES.tools,
  agentTypes: [...OPENCODE_NAMES.agentTypes, ...words("ask code debug orchestrator")],
};
