import { asArray, asObject, asString } from "../shared/payload/json.ts";

/** How a tool call ended. */
export interface CallResult {
  readonly status: "success" | "error" | "denied";
  /** `partial`: one call for several files or commands, some of which failed. */
  readonly errorType?: string;
  readonly exitCode?: number;
}

/**
 * The status of a tool call, from its output. Cline's own `success` means only that the call could be made: it is true for a
 * missing file, exit code 3 and a failed MCP tool.
 *
 * @param output from the hook, or from the message file, where objects are JSON texts
 * @param failed the call itself was invalid or threw
 */
export function callResultOf(output: unknown, failed: boolean): CallResult {
  const value = parsed(output);
  const parts = Array.isArray(value) ? value : [value];
  const failedParts = parts.filter(isFailure);
  const texts = [...failedParts.map(errorOf), failed ? errorOf(value) : undefined].filter((text) => text !== undefined);
  if (texts.some((text) => REFUSAL.test(text))) return { status: "denied" };
  if (failedParts.length === 0 && !failed) return { status: "success" };
  const errorType =
    failedParts.length > 0 && failedParts.length < parts.length
      ? "partial"
      : texts.some((text) => /\b(?:was aborted|cli_run_shutdown)\b/.test(text))
        ? "interrupted"
        : texts.some((text) => /^Command timed out\b/.test(text))
          ? "timeout"
          : undefined;
  const codes = new Set(texts.flatMap((text) => /^Command exited with code (-?\d{1,10})$/.exec(text)?.[1] ?? []));
  const [code] = codes;
  return {
    status: "error",
    ...(errorType !== undefined && { errorType }),
    ...(code !== undefined && codes.size === 1 && { exitCode: Number(code) }),
  };
}

// --- internal ---

/** The text that the model receives when the user or a policy refused the call. */
const REFUSAL = /NOT a tool or system failure\. Clarify with user|^Tool "[^"]*" is disabled by policy$/;

// Failures are short; a longer text is a successful output
const MAX_JSON_TEXT = 65_536;

function parsed(output: unknown): unknown {
  const text = asString(output);
  if (text === undefined || text.length > MAX_JSON_TEXT || !/^\s*[{[]/.test(text)) return output;
  try {
    return JSON.parse(text);
  } catch {
    return output;
  }
}

function isFailure(part: unknown): boolean {
  const p = asObject(part);
  return p?.["success"] === false || p?.["isError"] === true || p?.["finishReason"] === "error";
}

function errorOf(part: unknown): string | undefined {
  const p = asObject(part);
  return asString(p?.["error"]) ?? asString(part) ?? asString(asObject(asArray(p?.["content"])[0])?.["text"]);
}
