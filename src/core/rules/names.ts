import type { OwnNames } from "../model/agent.ts";

// Names at `capture: none`: names built into the agent stay, all others are replaced by a category.

/** @returns a built-in tool's name, `mcp` for a tool of an MCP server, `other` for any other */
export function reduceToolName(name: string, mcpServer: string | undefined, own: OwnNames | undefined): string {
  if (own?.tools.includes(name) === true || isCategory(name)) return name;
  return mcpServer !== undefined || /^mcp(?:__|:|_)/.test(name) ? "mcp" : "other";
}

/** Whether the name is already a category, for example because a hook reports less about the tool than the transcript. */
export const isCategory = (name: string): boolean => CATEGORIES.has(name);

export const isOwnAgentType = (type: string | undefined, own: OwnNames | undefined): boolean =>
  type !== undefined && own?.agentTypes.includes(type) === true;

/** How the session began, if it is one of the values that agents use; otherwise `other`. */
export const reduceOrigin = (origin: string | undefined): string | undefined =>
  origin === undefined || ORIGINS.has(origin) ? origin : "other";

// --- internal ---

const CATEGORIES: ReadonlySet<string> = new Set(["mcp", "other", "unknown"]);

const ORIGINS: ReadonlySet<string> = new Set(
  "startup resume continue checkpoint fork clear compact created task_start background new other".split(" "),
);
