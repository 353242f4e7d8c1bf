import { asArray, asObject, asString } from "../shared/payload/json.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** The tool that runs commands. */
export const SHELL_TOOL = "Bash";

/** The tools that change files. */
export const EDITORS: Editors = { Write: "whole", Edit: "part" };

/** MCP tools have the names `mcp__<server>__<tool>`. */
export const mcpServerOf = (tool: string | undefined): string | undefined => /^mcp__(.+?)__/.exec(tool ?? "")?.[1];

/** Whether the error of a call says that it was refused before it ran: by the user, a rule or a hook of a mode. */
export const isDenial = (error: string | undefined): boolean =>
  /^Tool "[^"\n]{1,200}" was (?:not run because the (?:approval request was cancelled|user )|denied by permission policy)/.test(
    error ?? "",
  );

/** Exit code of a command that failed; only the error's text contains it. */
export function exitCodeIn(tool: string | undefined, error: string | undefined): number | undefined {
  if (tool !== SHELL_TOOL) return undefined;
  const code = /Command failed with exit code: (\d{1,3})\.?\s*$/.exec(error?.slice(-TAIL_CHARS) ?? "")?.[1];
  return code === undefined ? undefined : Number(code);
}

/** The text of a prompt; `undefined` if it has other parts. */
export function promptText(prompt: unknown): string | undefined {
  const parts = asArray(prompt);
  return asString(prompt) ?? (parts.length === 1 ? asString(asObject(parts[0])?.["text"]) : undefined);
}

// --- internal ---

const TAIL_CHARS = 200;
