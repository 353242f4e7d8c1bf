import type { OwnNames } from "#core/model/agent.ts";
import { GEMINI_NAMES, words } from "../shared/names/own-names.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asObject, asString } from "../shared/payload/json.ts";

/** The agent's built-in tools and subagents. */
export const QWEN_NAMES: OwnNames = {
  tools: [...GEMINI_NAMES.tools, ...words("agent edit skill task todo_write exit_plan_mode lsp")],
  agentTypes: words("general-purpose Explore"),
};

/** The tools that change files. */
export const EDITORS: ReadonlySet<string> = new Set(["write_file", "edit", "replace"]);

/**
 * Agents that the program starts by itself, for example to extract memories. No call starts them and no hook reports them; their
 * requests belong to the main agent.
 */
export const isHiddenAgent = (agentId: string | undefined): boolean => agentId?.startsWith("managed-") === true;

/**
 * A subagent's id; `undefined` for the main agent and hidden ones. Qwen Code's id begins with the subagent's type. A type that
 * is not built in is a name that the user chose, and ids are stored at every capture level, so such an id is replaced by its digest.
 */
export function subagentIdOf(native: unknown): string | undefined {
  const id = asString(native);
  if (id === undefined || isHiddenAgent(id)) return undefined;
  return QWEN_NAMES.agentTypes.some((type) => id.startsWith(`${type}-`)) ? id : `agent-${inputDigest(id)}`;
}

/** MCP tools have the names `mcp__<server>__<tool>`. */
export const mcpServerOf = (tool: string | undefined): string | undefined => /^mcp__(.+?)__/.exec(tool ?? "")?.[1];

/** Types of errors of calls that a rule, a hook, a classifier or the user refused. */
export const isDenial = (errorType: unknown): boolean => asString(errorType) === "execution_denied";

/** The agent that a prompt id names: `<session>#<agent>#<n>`; `undefined` for the main agent. */
export const agentOf = (promptId: unknown): string | undefined =>
  /^[^#]+#([^#]+)#\d+$/.exec(asString(promptId) ?? "")?.[1];

/** The id of the subagent that a call started: its type and the call's id. */
export function spawnedAgent(
  tool: string | undefined,
  callId: string | undefined,
  display: unknown,
  input: unknown,
): string | undefined {
  if (callId === undefined || (tool !== "agent" && tool !== "task")) return undefined;
  const type = asString(asObject(display)?.["subagentName"]) ?? asString(asObject(input)?.["subagent_type"]);
  return type === undefined ? undefined : subagentIdOf(`${type}-${callId}`);
}
