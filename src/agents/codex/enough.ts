import { asObject } from "../shared/payload/json.ts";
import { isCut } from "../shared/transcript/shorten.ts";
import type { Line } from "./line-context.ts";
import { reportsExit } from "./outcome.ts";

/**
 * Whether a line without the rest of its long strings has all facts of the whole line. Most bytes of a rollout are printed by
 * programs: in the output that the model got, below the lines that Codex added, and again in the item of the command.
 */
export function isEnough(line: Line): boolean {
  const p = asObject(line["payload"]);
  if (p === undefined || !isWhole(line)) return false;
  const { output, item, ...rest } = p;
  if (!isWhole(rest)) return false;
  if (typeof output === "string") return item === undefined && reportsExit(output);
  const itemFields = asObject(item);
  return (
    itemFields !== undefined &&
    output === undefined &&
    PRINTED.has(String(itemFields["type"])) &&
    isWhole(named(itemFields))
  );
}

// --- internal ---

/** Items whose long strings are not used. */
const PRINTED: ReadonlySet<string> = new Set(["CommandExecution", "McpToolCall", "AgentMessage", "Reasoning"]);

const named = ({ id, call_id, status }: Line): Line => ({ id, call_id, status });

/** Whether none of its direct members was cut. */
function isWhole(members: Line): boolean {
  for (const name in members) {
    const value = members[name];
    if (typeof value === "string" && isCut(value)) return false;
  }
  return true;
}
