import { asString } from "../shared/payload/json.ts";

/** The exit code at the end of a command's output. */
export function exitCodeIn(result: unknown): number | undefined {
  const code = /\[Process exited with code (-?\d{1,10})\]\s*$/.exec(asString(result)?.slice(-MAX_TAIL) ?? "")?.[1];
  return code === undefined ? undefined : Number(code);
}

/** The subagent in the result of the call that started it. */
export const spawnedIn = (result: unknown): string | undefined =>
  /^session_id: ([0-9a-f-]{36})$/m.exec(asString(result)?.slice(0, MAX_HEAD) ?? "")?.[1];

/** A subagent's first prompt is its task. */
export const isTask = (prompt: unknown): boolean =>
  typeof prompt === "string" && prompt.startsWith("# Task Tool Invocation");

/** The server of an MCP tool, which Droid names `server___tool`. */
export const mcpServerOf = (tool: string | undefined): string | undefined =>
  /^([A-Za-z0-9][\w.-]*?)___[A-Za-z0-9]/.exec(tool ?? "")?.[1];

// --- internal ---

// A result can be long
const MAX_TAIL = 200;
const MAX_HEAD = 2_000;
