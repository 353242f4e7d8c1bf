import type { ToolStatus } from "#core/model/transcript.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";

/** How a tool call ended. */
interface ToolOutcome {
  readonly status: ToolStatus;
  readonly exitCode?: number;
  readonly errorType?: string;
}

/**
 * Reads the outcome from the output that the model received, the only source for failed patches, unknown tools and refusals, and
 * in versions before items. Only its first lines are used, which Codex writes before the program's output.
 */
export function outcomeOf(output: string): ToolOutcome {
  const head = output.slice(0, HEAD_CHARS);
  const exit =
    EXIT.exec(head)
      ?.slice(1)
      .find((code) => code !== undefined) ?? jsonExit(output);
  if (exit !== undefined) return exitOutcome(Number(exit));
  if (DENIED.test(head) || isRefused(output)) return { status: "denied" };
  if (INTERRUPTED.test(head)) return { status: "error", errorType: "interrupted" };
  return { status: ERROR.test(head) ? "error" : "success" };
}

/** Whether an output, or its beginning, contains an exit code: then the rest is not used. */
export const reportsExit = (output: string): boolean => EXIT.test(output.slice(0, HEAD_CHARS));

/** The outcome of a process. A negative code means that it was killed. */
export const exitOutcome = (code: number): ToolOutcome => ({
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

/** Exit codes: `exec_command` has lines above the output; `apply_patch` and the older shell begin with the code. */
const EXIT =
  /^(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\nProcess exited with code (-?\d+)\n|^Exit code: (-?\d+)\s*\nWall time: /;

/** The shell of older versions (0.63, for example): JSON with the code after the output, which may be long. */
function jsonExit(output: string): string | undefined {
  if (!output.startsWith('{"output":')) return undefined;
  return /"metadata":\s*\{\s*"exit_code":\s*(-?\d+)[^{}]*\}\s*\}\s*$/.exec(output.slice(-TAIL_CHARS))?.[1];
}

const TAIL_CHARS = 256;

const DENIED =
  /^(?:Command|Tool call) blocked by PreToolUse hook\b|^(?:exec command |patch |command )?rejected by user\b|^user rejected MCP tool call|^(?:exec command|patch|writing)[^\n]* rejected by user|^`(?:[^\n]*|[^`]*)` rejected: |^This action was rejected\b|^Rejected\(|^approval policy is [^\n]{1,400}; reject command\b|^approval required by policy\b|^MCP tool call blocked by app configuration\b/;

/** `exec_command` reports a refusal as a process that could not be started; the command can precede it twice. */
const isRefused = (output: string): boolean =>
  output.startsWith("exec_command failed") &&
  /CreateProcess \{ message: "Rejected\(\\"(?:rejected by |approval required by policy|This action was rejected|`[\s\S]*` rejected: )/.test(
    output,
  );

const INTERRUPTED =
  /^(?:(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\n|command )?aborted(?: by user\b|\s*$)|^user cancelled MCP tool call/;

const ERROR =
  /^(?:unsupported (?:custom tool )?call: |apply_patch verification failed: |failed to parse function arguments: |execution error: |tool call error: |err: |Script (?:failed|terminated)\b|exec_command failed\b|write_stdin failed\b|patch rejected: |unable to (?:locate|read|process) image at |image path `|view_image(?: is not allowed|\.detail only supports)|collab (?:spawn failed|tool failed|manager unavailable)\b|agent with id \S+ (?:not found|is closed)|[Aa]gent depth limit reached|Unknown model `|(?:tool )?[\w.]+ (?:is not available|expects JSON arguments|received unsupported payload|invoked with incompatible payload)\b|Command denied by sandbox\b|Unknown process id )/;
