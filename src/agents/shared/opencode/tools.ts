import type { ToolStatus } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asArray, asCount, asObject, asString } from "../payload/json.ts";

/** What a tool's result in a hook and its part in the database have in common. */
export interface ToolOutcome {
  readonly status: ToolStatus;
  readonly errorType?: string;
  readonly exitCode?: number;
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
  readonly spawnedAgentId?: string;
}

/** The tool as the model called it: an unknown one runs as `invalid`, with the wanted name in the arguments. */
export const toolNameOf = (tool: string, input: unknown): string =>
  tool === INVALID ? (asString(asObject(input)?.["tool"]) ?? INVALID) : tool;

/** How a `completed` call really ended: a failed command is completed, and so is a call of an unknown tool. */
export function completedOutcome(tool: string, metadata: unknown, isError?: unknown): ToolOutcome {
  const m = asObject(metadata) ?? {};
  const exit = m["exit"];
  const exitCode = typeof exit === "number" && Number.isSafeInteger(exit) ? exit : undefined;
  const errorType =
    tool === INVALID
      ? "invalid_call"
      : // Stopped by a timeout or by the user
        exit === null
        ? "terminated"
        : undefined;
  const failed = errorType !== undefined || isError === true || (exitCode !== undefined && exitCode !== 0);
  return defined<ToolOutcome>({
    status: failed ? "error" : "success",
    errorType,
    exitCode,
    ...linesOf(m),
    spawnedAgentId: asString(m["sessionId"]),
  });
}

/** How a call that was not completed ended: only the wording shows a refusal. */
export function failedOutcome(error: unknown, metadata: unknown): ToolOutcome {
  const m = asObject(metadata) ?? {};
  const text = asString(error) ?? "";
  const interrupted = m["interrupted"] === true || /^(?:Tool execution aborted|Cancelled)\b/.test(text);
  return defined<ToolOutcome>({
    status: DENIED.test(text) ? "denied" : "error",
    errorType: interrupted ? "interrupted" : undefined,
    exitCode: undefined,
    linesAdded: undefined,
    linesRemoved: undefined,
    spawnedAgentId: asString(m["sessionId"]),
  });
}

/**
 * The id under which hooks report a call. For a slash command's subtask, hooks use the part's id, and the part itself has a call id
 * that no provider gave.
 */
export const callIdOf = (tool: string, callId: string | undefined, partId: string | undefined): string | undefined =>
  tool === "task" && callId !== undefined && partId !== undefined && ULID.test(callId) ? partId : callId;

// --- internal ---

const INVALID = "invalid";
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Refused by a rule, by the user, by the user with a remark, and a question that the user dismissed. */
const DENIED =
  /^(?:Error: )?The user (?:has specified a rule which prevents|rejected permission|dismissed this question)\b/;

/** `edit` reports one file, `apply_patch` several, others none. */
function linesOf(metadata: Readonly<Record<string, unknown>>): { linesAdded?: number; linesRemoved?: number } {
  const files = [metadata["filediff"], ...asArray(metadata["files"])].map(asObject);
  const sum = (name: "additions" | "deletions"): number | undefined => {
    const counts = files.map((file) => asCount(file?.[name])).filter((count) => count !== undefined);
    return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
  };
  return defined<{ linesAdded: number; linesRemoved: number }>({
    linesAdded: sum("additions"),
    linesRemoved: sum("deletions"),
  });
}
