import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { toolTitle } from "./tool-title.ts";
import { spanKindOf, textAt } from "./waterfall/shown-span.ts";

/**
 * What a span is called for people: `Turn 1`, `Bash ls`, the model's name. Backends get the names of the GenAI conventions, such as
 * `execute_tool Bash ls`.
 *
 * @param turn number of a prompted turn, from 1; 0 for everything else
 */
export function spanName(record: SpanRecord, turn: number): string {
  const name = record.name.replace(/^(?:invoke_agent|execute_tool|chat) ?/, "");
  switch (spanKindOf(record)) {
    case "session":
      return "Session";
    case "turn":
      return turn > 0 ? `Turn ${turn}` : "Turn";
    case "subagent":
      return `Subagent ${name}`.trimEnd();
    case "late_part":
      return `Late part ${name.replace("late_part ", "")}`;
    case "model_call":
      return name === "" ? "Model call" : name;
    case "tool_call":
      return name === "" ? "Tool call" : toolTitle(name, textAt(record, semconv.OPENHOOK_MCP_SERVER));
    default:
      return record.name;
  }
}
