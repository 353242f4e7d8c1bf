import { asArray, asString } from "../shared/payload/json.ts";

/**
 * Converts a hook's tool name to the name that the model used: hooks report `exec_command` as `Bash`, and prefix a tool's
 * name with its namespace without a separator. Only for sessions without a file: session files have the model's name.
 */
export function modelToolName(hookToolName: string | undefined): string | undefined {
  if (hookToolName === "Bash") return "exec_command";
  const mcp = /^(mcp__.+?)__(.+)$/s.exec(hookToolName ?? "");
  if (mcp !== null) return `${mcp[1]}.${mcp[2]}`;
  const collaboration = /^collaboration([a-z]\w*)$/.exec(hookToolName ?? "");
  return collaboration === null ? hookToolName : `collaboration.${collaboration[1]}`;
}

/** Server of an MCP tool, from a hook's `mcp__server__tool` or a session file's namespace `mcp__server`. */
export const mcpServerOf = (name: string | undefined): string | undefined =>
  /^mcp__(.+?)(?:__|$)/s.exec(name ?? "")?.[1];

/** True for a call by a script of the model: its id was created by the program, not by the model. */
export const isInnerCall = (callId: string | undefined): boolean =>
  /^exec-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(callId ?? "");

/** The shell command in a tool's input: `cmd` or `command`, as text or as the words of `bash -lc`. */
export function shellCommandOf(input: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const command = input?.["cmd"] ?? input?.["command"];
  const words = asArray(command);
  if (words.length === 0) return asString(command);
  const isShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(String(words[0])) && /^-\w*c$/.test(String(words[1]));
  return asString(isShell ? words[2] : words.join(" "));
}
