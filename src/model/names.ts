import type { OwnNames } from "./agent.ts";

/** Names as they are where only figures are kept: the agents' own stay, those that somebody gave become a kind. */

/** @returns the name of a tool of the agent's own, `mcp` for one of a server's, `other` for any other */
export function bareToolName(name: string, mcpServer: string | undefined, own: OwnNames | undefined): string {
  if (own?.tools.includes(name) === true || isKind(name)) return name;
  return mcpServer !== undefined || /^mcp(?:__|:|_)/.test(name) ? "mcp" : "other";
}

/** Whether it stands for a name that is not kept. A hook may know less of its kind than the transcript does. */
export const isKind = (name: string): boolean => KINDS.has(name);

export const isOwnAgentType = (type: string | undefined, own: OwnNames | undefined): boolean =>
  type !== undefined && own?.agentTypes.includes(type) === true;

/** How a session came to be, as far as it is one of the words that agents have for it. */
export const bareOrigin = (origin: string | undefined): string | undefined =>
  origin === undefined || ORIGINS.has(origin) ? origin : "other";

// --- internal ---

const KINDS: ReadonlySet<string> = new Set(["mcp", "other", "unknown"]);

const ORIGINS: ReadonlySet<string> = new Set(
  "startup resume continue checkpoint fork clear compact created task_start background new other".split(" "),
);
