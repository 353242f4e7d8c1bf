import { asArray, asObject, asString } from "../shared/payload/json.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** The tool with which the model runs commands. */
export const SHELL_TOOL = "bash";

/** The tools that change files. */
export const EDITORS: Editors = { write_file: "whole", edit: "part" };

/** The tool that starts a subagent. */
export const SPAWN_TOOL = "agents.spawn";

/**
 * A tool by the name that the model uses. Hooks and journals have the program's name, with its group: `file_system.bash`. Tools that
 * only programs of `run_typescript` can call, such as `process.start`, keep their group.
 */
export function toolName(name: string): string {
  const own = /^(?:file_system|self|skill|vibe)\.(.+)$/.exec(name)?.[1];
  return name === "skill.read" ? "skill" : (own ?? name);
}

/** The group of a tool that is not built in: an MCP server or a connector. */
export function mcpServerOf(name: string | undefined): string | undefined {
  const group = /^([^.]+)\../.exec(name ?? "")?.[1];
  return group === undefined || BUILT_IN.has(group) ? undefined : group;
}

/** The name of a call in a journal. */
export function calledTool(call: unknown): string | undefined {
  const fields = asObject(call);
  const [group, tool] = [asString(fields?.["group_name"]), asString(fields?.["tool_name"])];
  const name = group !== undefined && tool !== undefined ? `${group}.${tool}` : asString(fields?.["name"]);
  return name === undefined ? undefined : toolName(name);
}

/** Whether an error means that a policy, a hook or the user refused the call. */
export const isDenial = (code: unknown): boolean => DENIALS.has(asString(code) ?? "");

/**
 * Whether a command was killed with the agent. A resumed process reports such a call as a success, with the exit code of the signal.
 * A command that ran out of time has the same code.
 */
export function isKilled(tool: string | undefined, output: unknown): boolean {
  const fields = asObject(output);
  return tool === SHELL_TOOL && fields?.["returncode"] === -9 && fields["timed_out"] !== true;
}

/** The text of a list of blocks; `undefined` if there is none. */
export function promptText(blocks: unknown): string | undefined {
  const texts = asArray(blocks).flatMap((block) => asString(asObject(block)?.["text"]) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}

// --- internal ---

const BUILT_IN = new Set(["agents", "file_system", "process", "self", "skill", "subagent", "vibe"]);
const DENIALS = new Set([
  "approval_failed",
  "approval_required",
  "permission_denied",
  "policy_rejected",
  "tool_denied",
  "tool_skipped",
]);
