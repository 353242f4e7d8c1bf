import { defined } from "../../model/defined.ts";
import type { ToolStatus } from "../../model/transcript.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";

/** What is the same for a tool's result in a hook and its part in the database. */
export interface ToolOutcome {
  readonly status: ToolStatus;
  readonly errorType?: string;
  readonly exitCode?: number;
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
  readonly spawnedAgentId?: string;
}

/** The tool as the model called it: what it got wrong is run as `invalid`, with the wanted name in the arguments. */
export const toolNameOf = (tool: string, input: unknown): string =>
  tool === INVALID ? (asString(asObject(input)?.["tool"]) ?? INVALID) : tool;

/** How a call that `completed` really ended. A command that fails is completed, so is a call of a tool that is not there. */
export function completedOutcome(tool: string, metadata: unknown, isError?: unknown): ToolOutcome {
  const m = asObject(metadata) ?? {};
  const exit = m["exit"];
  const exitCode = typeof exit === "number" && Number.isSafeInteger(exit) ? exit : undefined;
  const errorType =
    tool === INVALID
      ? "invalid_call"
      : // it was stopped: time was up, or the user's wish
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

/** How a call that did not come to its end ended: a refusal has no other mark than its wording. */
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
 * The id that hooks know a call by. A subtask of a slash command is told to hooks by the id of its part, while the part itself
 * has a call id that no provider gave.
 */
export const callIdOf = (tool: string, callId: string | undefined, partId: string | undefined): string | undefined =>
  tool === "task" && callId !== undefined && partId !== undefined && ULID.test(callId) ? partId : callId;

// --- internal ---

const INVALID = "invalid";
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** A rule, the user, the user with a remark, and the user who would not answer a question. */
const DENIED =
  /^(?:Error: )?The user (?:has specified a rule which prevents|rejected permission|dismissed this question)\b/;

/** `edit` tells one file, `apply_patch` many; others none. */
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
