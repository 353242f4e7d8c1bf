import { asArray, asCount, asExitCode, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { lineCount } from "../shared/payload/patches.ts";

/** What a tool's result shows: hooks (`toolResult`) and session files (`rawOutput`) have the same object. */
interface GrokResult {
  readonly status: "success" | "error";
  readonly exitCode?: number;
  readonly errorType?: string;
  readonly spawnedAgentId?: string;
  readonly linesAdded?: number;
  readonly linesRemoved?: number;
}

/**
 * The outcome of a tool call. A command with an exit code other than 0 is a completed call in `updates.jsonl` and a failed one
 * in `events.jsonl`; it counts as failed.
 *
 * @param state the call's status in `updates.jsonl`; absent in hooks
 */
export function resultOf(result: unknown, state?: string): GrokResult {
  const r = asObject(result);
  const exitCode = asExitCode(r?.["exit_code"]);
  const failure = Object.keys(r ?? {}).find((name) => FAILURES.has(name));
  const isTimedOut = r?.["timed_out"] === true;
  const isKilled = asString(r?.["signal"]) !== undefined || asCount(r?.["signal"]) !== undefined;
  const isFailed =
    state === "failed" || (exitCode ?? 0) !== 0 || failure !== undefined || isTimedOut || isKilled || isMcpError(r);
  const lines = editsIn(r).map(linesOf);
  const sum = (name: "added" | "removed"): number => lines.reduce((total, one) => total + one[name], 0);
  const spawnedAgentId = spawnedIn(r);
  return {
    status: isFailed ? "error" : "success",
    ...(exitCode !== undefined && { exitCode }),
    ...(isTimedOut && { errorType: "timeout" }),
    ...(spawnedAgentId !== undefined && { spawnedAgentId }),
    ...(lines.length > 0 && { linesAdded: sum("added"), linesRemoved: sum("removed") }),
  };
}

// --- internal ---

/** Members of results that report a failure, by the tools of 1.0.41. */
const FAILURES: ReadonlySet<string> = new Set([
  "FileNotFound",
  "NoMatchesFound",
  "MultipleMatchesFound",
  "FileAlreadyExists",
  "InvalidInput",
  "FilenameTooLong",
  "ParseError",
  "EmptyPatch",
  "TaskNotFound",
]);

const isMcpError = (result: Fields | undefined): boolean =>
  result?.["type"] === "MCP" && (result["is_error"] === true || result["isError"] === true);

const editsIn = (result: Fields | undefined): readonly Fields[] =>
  asArray(asObject(asObject(result?.["EditsApplied"])?.["edits"])?.["details"]).flatMap((edit): readonly Fields[] => {
    const fields = asObject(edit);
    return fields === undefined ? [] : [fields];
  });

const linesOf = (edit: Fields) => ({
  added: lineCount(asString(edit["new_string"])),
  removed: lineCount(asString(edit["old_string"])),
});

/** A background subagent is named only in the text of the result. */
function spawnedIn(result: Fields | undefined): string | undefined {
  if (result?.["type"] === "SubagentCompleted") return asString(result["subagent_id"]);
  const text = result?.["type"] === "Text" ? asString(result["text"]) : undefined;
  return /^Subagent [^\n]*\nsubagent_id: (\S+)/.exec(text ?? "")?.[1];
}
