import type { ToolStatus } from "#core/model/transcript.ts";
import { asArray, asCount, asObject, asString } from "../payload/json.ts";

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

/**
 * Gemini CLI writes `error` also for calls that were refused by rule, and `cancelled` for calls that the user refused or
 * interrupted: only the error text distinguishes them.
 */
export function outcomeOf(
  status: unknown,
  error: string | undefined,
  cancelled: boolean,
): { readonly status: ToolStatus; readonly errorType?: string } | undefined {
  const text = error ?? "";
  switch (status) {
    case "success":
      return cancelled ? { status: "error", errorType: "interrupted" } : { status: "success" };
    case "error":
      return { status: REFUSED_BY_RULE.test(text) ? "denied" : "error" };
    case "cancelled":
      return REFUSED_BY_USER.test(text) || text === ""
        ? { status: "denied" }
        : { status: "error", errorType: "interrupted" };
    default:
      return undefined;
  }
}

// --- internal ---

/** Some short lines about processes can follow the exit code. */
const TAIL_CHARS = 2_000;

/** Refused by a BeforeTool hook or a policy, because no user could be asked, or because a hook stopped the agent. */
const REFUSED_BY_RULE =
  /^(?:Tool execution (?:blocked: |(?:for "[^"\n]{1,200}" )?(?:denied by policy|requires user confirmation, which is not supported))|Agent execution stopped by hook: )/;

/** Refused by the user: the call itself, or an earlier one in the queue. */
const REFUSED_BY_USER = /User (?:denied execution|did not allow tool call|cancelled operation)/;
