import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const PI_NAMES: OwnNames = { tools: words("bash edit find grep ls read write"), agentTypes: [] };
