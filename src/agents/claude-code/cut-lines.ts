import type { FactSink } from "#core/model/fact-sink.ts";
import { asArray, asObject } from "../shared/payload/json.ts";
import { isCut } from "../shared/transcript/shorten.ts";
import type { Line } from "./line-context.ts";
import { textOf } from "./texts.ts";
import { CALL_IDS_SINCE } from "./tool-ids.ts";
import { writtenBefore } from "./version.ts";

/**
 * Whether a line whose long strings are cut contains all facts of the whole line. A length, an outcome, an edit, a command or an id
 * that it printed can be in the part that was cut.
 */
export function hasAllFacts(o: Line, sink: FactSink): boolean {
  switch (o["type"]) {
    case "user":
      return !hasCutName(o) && hasAllResultFacts(o, sink);
    case "assistant":
      return !hasCutName(o) && hasAllAnswerFacts(o);
    case "api-request":
      return typeof o["id"] !== "string" || !isCut(o["id"]);
    case "cost-state":
      return false;
    case "system":
    case "attachment":
      return !hasCutName(o);
    default:
      return true;
  }
}

// --- internal ---

/** Members of a line whose text becomes part of a fact. */
const NAMES = [
  "uuid",
  "parentUuid",
  "requestId",
  "requestRef",
  "requestedModel",
  "promptId",
  "agentId",
  "version",
  "cwd",
  "gitBranch",
  "apiErrorType",
  "error",
] as const;

function hasCutName(o: Line): boolean {
  for (const name of NAMES) if (isCutText(o[name])) return true;
  const message = asObject(o["message"]);
  if (message !== undefined) {
    if (isCutText(message["id"]) || isCutText(message["model"]) || isCutText(message["stop_reason"])) return true;
    for (const block of asArray(message["content"])) {
      const b = asObject(block);
      if (b !== undefined && (isCutText(b["id"]) || isCutText(b["name"]) || isCutText(b["tool_use_id"]))) return true;
    }
    const passes = asObject(message["usage"])?.["iterations"];
    if (passes !== undefined && asArray(passes).some((pass) => isCutText(asObject(pass)?.["model"]))) return true;
  }
  const result = asObject(o["toolUseResult"]);
  return (
    isCutText(result?.["agentId"]) ||
    isCutText(result?.["notebook_path"]) ||
    isCutText(asObject(o["forkedFrom"])?.["messageUuid"])
  );
}

const isCutText = (value: unknown): boolean => typeof value === "string" && isCut(value);

function hasAllResultFacts(o: Line, sink: FactSink): boolean {
  const outcome = o["toolUseResult"];
  let results = 0;
  let errors = 0;
  for (const value of asArray(asObject(o["message"])?.["content"])) {
    const block = asObject(value);
    if (block?.["type"] !== "tool_result") continue;
    if (block["is_error"] === true) {
      // Only the first line of an error tells its kind
      if (!hasFirstLine(textOf(block["content"])) || (typeof outcome === "string" && !hasFirstLine(outcome)))
        return false;
      errors++;
    }
    const given = block["tool_use_id"];
    if (typeof given === "string" && sink.needsResult?.(given) === true) return false;
    results++;
  }
  const isDecided = typeof outcome !== "string" || errors === results;
  return results > 0 && isDecided && !Array.isArray(asObject(outcome)?.["structuredPatch"]);
}

const hasFirstLine = (text: string | undefined): boolean => text === undefined || !isCut(text) || text.includes("\n");

function hasAllAnswerFacts(o: Line): boolean {
  for (const block of asArray(asObject(o["message"])?.["content"])) {
    const input = asObject(asObject(block)?.["input"]);
    if (input !== undefined && (isCutText(input["command"]) || writtenBefore(o, CALL_IDS_SINCE))) return false;
  }
  return true;
}
