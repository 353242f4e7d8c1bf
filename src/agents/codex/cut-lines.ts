import type { FactSink } from "#core/model/fact-sink.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { isCut } from "../shared/transcript/shorten.ts";
import type { Line } from "./line-context.ts";
import { reportsExit } from "./outcome.ts";
import { scriptCall } from "./script-changes.ts";
import { isInnerCall } from "./tools.ts";

/**
 * Whether a line whose long strings are cut contains all facts of the whole line. Most bytes of a rollout are the output of
 * programs: once as the model received it, below the lines that Codex added, and again in the item of the command.
 */
export function hasAllFacts(line: Line, sink: FactSink): boolean {
  const p = asObject(line["payload"]);
  if (p === undefined || !isComplete(line)) return false;
  if (line["type"] === "session_meta") return isWhole(withoutInstructions(p));
  if (!isComplete(p, "output")) return false;
  const { output, item } = p;
  if (typeof output === "string") {
    const given = p["call_id"];
    if (typeof given === "string" && sink.needsResult?.(given) === true) return false;
    return item === undefined && reportsExit(output);
  }
  const itemFields = asObject(item);
  return (
    itemFields !== undefined &&
    output === undefined &&
    ITEMS_WITH_UNUSED_TEXT.has(String(itemFields["type"])) &&
    isComplete(usedFields(itemFields)) &&
    !mayHaveChanges(itemFields)
  );
}

// --- internal ---

/** Items whose long strings are not used. */
const ITEMS_WITH_UNUSED_TEXT: ReadonlySet<string> = new Set([
  "CommandExecution",
  "McpToolCall",
  "AgentMessage",
  "Reasoning",
]);

/** A thread's first line has more than 20 kB of instructions, as an object or, in older versions, as text. */
const withoutInstructions = ({ base_instructions: _, instructions: __, ...rest }: Line): Line => rest;

/** Whether no string in a value was cut. */
function isWhole(value: unknown): boolean {
  if (typeof value === "string") return !isCut(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isWhole);
}

/** Whether the result of a call by a script must be examined. */
const mayHaveChanges = (item: Line): boolean =>
  isInnerCall(asString(item["id"])) &&
  (scriptCall(item) !== undefined || asArray(item["command"]).some((word) => typeof word === "string" && isCut(word)));

const usedFields = ({ id, call_id, status }: Line): Line => ({ id, call_id, status });

/** Whether no direct member was cut, apart from one. */
function isComplete(members: Line, except?: string): boolean {
  for (const name in members) {
    const value = members[name];
    if (typeof value === "string" && name !== except && isCut(value)) return false;
  }
  return true;
}
