import type { ToolStatus } from "../../model/transcript.ts";
import { asArray, asObject, asString } from "../shared/json.ts";

/** How a tool call ended. */
export interface Outcome {
  readonly status: ToolStatus;
  readonly exitCode?: number;
  readonly errorType?: string;
}

/**
 * Reads it from the text that the model was given: for failed patches, unknown tools and refusals, and in versions before
 * items, nothing else tells. Only the head counts, which Codex itself wrote; what a program printed stands behind it.
 */
export function outcomeOf(output: string): Outcome {
  const head = output.slice(0, HEAD_CHARS);
  const exit =
    EXIT.exec(head)
      ?.slice(1)
      .find((code) => code !== undefined) ?? jsonExit(head);
  if (exit !== undefined) return ofExit(Number(exit));
  if (DENIED.test(head)) return { status: "denied" };
  if (INTERRUPTED.test(head)) return { status: "error", errorType: "interrupted" };
  return { status: ERROR.test(head) ? "error" : "success" };
}

/** Whether an output, or its beginning, says how a process ended: nothing behind that counts. */
export const tellsExit = (output: string): boolean => EXIT.test(output.slice(0, HEAD_CHARS));

/** A process that ended. A negative code is none: it never came to an end of its own. */
export const ofExit = (code: number): Outcome => ({
  status: code === 0 ? "success" : "error",
  ...(code >= 0 && { exitCode: code }),
});

/** Outputs are a text or a list of texts and images. */
export function outputText(output: unknown): string {
  const content = asObject(output)?.["content"] ?? output;
  if (typeof content === "string") return content;
  return asArray(content)
    .flatMap((part) => asString(asObject(part)?.["text"]) ?? [])
    .join("\n");
}

// --- internal ---

const HEAD_CHARS = 1024;

/** `exec_command` with its lines above the output; `apply_patch` and the older shell with the code first. */
const EXIT =
  /^(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\nProcess exited with code (-?\d+)\n|^Exit code: (-?\d+)\s*\nWall time: /;

/** The shell of versions before 0.50: JSON with the code behind the output, which may be long. */
function jsonExit(head: string): string | undefined {
  return head.startsWith('{"output":') ? /"metadata":\s*\{\s*"exit_code":\s*(-?\d+)/.exec(head)?.[1] : undefined;
}

const DENIED =
  /^(?:Command|Tool call) blocked by PreToolUse hook\b|^(?:exec command |patch |command )?rejected by user\b|^user rejected MCP tool call|^(?:exec command|patch|writing)[^\n]* rejected by user|^`[^\n]*` rejected: |^This action was rejected\b|^Rejected\(/;

const INTERRUPTED =
  /^(?:(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\n|command )?aborted(?: by user\b|\s*$)|^user cancelled MCP tool call/;

const ERROR =
  /^(?:unsupported (?:custom tool )?call: |apply_patch verification failed: |failed to parse function arguments: |execution error: |tool call error: |err: |Script (?:failed|terminated)\b|exec_command failed\b|write_stdin failed\b|(?:tool )?[\w.]+ (?:is not available|expects JSON arguments|received unsupported payload|invoked with incompatible payload)\b|Command denied by sandbox\b|Unknown process id )/;
