/** The server of an MCP tool, which Grok names `server__tool`. */
export const mcpServerOf = (tool: string | undefined): string | undefined =>
  /^([A-Za-z0-9][\w.-]*?)__[A-Za-z0-9]/.exec(tool ?? "")?.[1];

/** Starts of Grok's own prompts: they report that background work ended, or give a reminder. */
export const isMachinePrompt = (prompt: unknown, promptId: string | undefined): boolean =>
  (typeof prompt === "string" && /^\s*<system-reminder>/.test(prompt)) ||
  /^(?:subagent|task|monitor)-completed-/.test(promptId ?? "");
