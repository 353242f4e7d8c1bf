import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";

/** The tool that runs commands. */
export const SHELL_TOOL = "run_shell_command";

/**
 * Exit code of a command if it was not 0. Only the result's text contains it, after the command's output; the agent reports the
 * call as a success.
 */
export function exitCodeIn(tool: string | undefined, text: string | undefined): number | undefined {
  if (tool !== SHELL_TOOL || text === undefined) return undefined;
  const last = [...text.slice(-TAIL_CHARS).matchAll(/^Exit Code: (\d{1,3})$/gm)].at(-1);
  return last?.[1] === undefined ? undefined : Number(last[1]);
}

/** True if the user stopped the command. Only the result's text shows it: hook and result have no field for it. */
export const isCancelled = (tool: string | undefined, text: string | undefined): boolean =>
  tool === SHELL_TOOL && /^(?:<untrusted_context>\s*)?Command was cancelled by user/.test(text?.slice(0, 128) ?? "");

/** Lines an edit added and removed, including the user's changes to it; `undefined` for results of other tools. */
export function editedLines(display: unknown): { readonly added: number; readonly removed: number } | undefined {
  const stat = asObject(asObject(display)?.["diffStat"]);
  const added = asCount(stat?.["model_added_lines"]);
  const removed = asCount(stat?.["model_removed_lines"]);
  if (added === undefined || removed === undefined) return undefined;
  return {
    added: added + (asCount(stat?.["user_added_lines"]) ?? 0),
    removed: removed + (asCount(stat?.["user_removed_lines"]) ?? 0),
  };
}

/** A text, or the texts of a list of parts, concatenated as the agent does. */
export function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? asArray(content) : [content];
  const texts = parts.flatMap((part) => (typeof part === "string" ? part : (asString(asObject(part)?.["text"]) ?? [])));
  return texts.length > 0 ? texts.join("") : undefined;
}

// --- internal ---

/** Some short lines about processes can follow the exit code. */
const TAIL_CHARS = 2_000;
