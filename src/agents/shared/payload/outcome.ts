import { asArray, asExitCode, asObject, asString, type Fields } from "./json.ts";

/** The outcome of a tool call, from its result. */
export interface ToolOutcome {
  readonly status: "success" | "error";
  readonly exitCode?: number;
  /** `assumed`: neither a failure nor a success was reported. */
  readonly origin: "native" | "assumed";
}

/**
 * The outcome in a tool's result: a success or error flag, an error or an exit code, in the result or one of its parts.
 *
 * @param result of any shape; a text may be JSON
 */
export function outcomeOf(result: unknown): ToolOutcome {
  const whole = jsonIn(result);
  const parts = [whole, ...asArray(whole), ...partsOf(asObject(whole))].flatMap((part): readonly Fields[] => {
    const fields = asObject(part);
    return fields === undefined ? [] : [fields];
  });
  const exitCode = parts.map(exitCodeIn).find((code) => code !== undefined);
  const flags = parts.map(flagIn).filter((flag) => flag !== undefined);
  const failed = flags.includes(false) || (exitCode !== undefined && exitCode !== 0);
  return {
    status: failed ? "error" : "success",
    ...(exitCode !== undefined && { exitCode }),
    origin: flags.length > 0 || exitCode !== undefined ? "native" : "assumed",
  };
}

// --- internal ---

// A longer text is a tool's output, not a result that was encoded as JSON twice
const MAX_JSON_TEXT = 65_536;

function jsonIn(result: unknown): unknown {
  const text = asString(result);
  if (text === undefined || text.length > MAX_JSON_TEXT || !/^\s*[{[]/.test(text)) return result;
  try {
    return JSON.parse(text);
  } catch {
    return result;
  }
}

/** Members under the usual names of results, one level deeper. */
const partsOf = (whole: Fields | undefined): readonly unknown[] =>
  ["result", "output", "metadata"].flatMap((name) => [whole?.[name], ...asArray(whole?.[name])]);

function exitCodeIn(part: Fields): number | undefined {
  for (const name of ["exit_status", "exit_code", "exitCode", "exitStatus"]) {
    const code = asExitCode(part[name]);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** True for success. */
function flagIn(part: Fields): boolean | undefined {
  if (typeof part["success"] === "boolean") return part["success"];
  for (const name of ["is_error", "isError"]) if (typeof part[name] === "boolean") return !part[name];
  return asString(part["error"]) === undefined ? undefined : false;
}
