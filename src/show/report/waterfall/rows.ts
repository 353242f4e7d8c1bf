import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { count, dollars, duration, exact, leastDollars } from "#kit/text/figures.ts";
import { type Piece, printable, type Style } from "#kit/text/terminal.ts";
import { toolTitle } from "../titles.ts";
import type { RowFigures } from "./row-sums.ts";
import { endMsOf, numberAt, type ShownSpan, spanKindOf, textAt } from "./tree.ts";

export type FigureKey = "duration" | "tokens" | "cost";

/** The texts of one span's line. */
export interface Row {
  readonly guide: string;
  readonly mark: Piece | undefined;
  readonly name: string;
  /** Shown beside the name: status, error type, exit code. */
  readonly detail: string;
  /** What was asked or done; empty if it is not known. */
  readonly about: string;
  readonly style: Style | undefined;
  readonly isContainer: boolean;
  readonly duration: string;
  readonly tokens: string;
  readonly cost: string;
}

interface RowTexts {
  readonly inside?: number;
  readonly notes?: readonly string[];
  readonly started?: string;
}

/**
 * The texts of a span's line. Figures that are unknown are `?`, those that do not apply are empty.
 *
 * @param inside number of rows that are hidden in it, shown in brackets
 * @param notes what the agent's own telemetry says of it
 * @param started names of the sessions that it started
 * @param turn number of a prompted turn, from 1; 0 for everything else
 * @param figures of the span and everything inside it
 * @param about what was asked or done, from the agent's own file
 */
export function toRow(
  { record, open = false, inside = 0, notes = [], started }: ShownSpan & RowTexts,
  guide: string,
  turn: number,
  figures: RowFigures,
  about?: string,
): Row {
  const kind = spanKindOf(record);
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const failed = record.status.code === "error";
  const mark: Piece | undefined = failed
    ? { text: "✗ ", style: "red" }
    : status === "unfinished"
      ? { text: "? ", style: "yellow" }
      : open
        ? { text: "… ", style: "cyan" }
        : undefined;
  const isContainer = kind === "session" || kind === "turn" || kind === "subagent";
  const style = failed ? "red" : kind === "model_call" ? "magenta" : kind === "tool_call" ? "cyan" : undefined;
  return {
    guide,
    mark,
    name: printable(spanName(record, turn, about !== undefined)) + (inside > 0 ? ` (${exact(inside)})` : ""),
    detail: printable([...(started === undefined ? [] : [started]), ...details(record, open), ...notes].join(", ")),
    about: printable(about ?? ""),
    style,
    isContainer,
    duration: `${duration(endMsOf(record) - record.startMs)}${open ? "+" : ""}`,
    tokens: tokensOf(figures),
    cost: costOf(figures),
  };
}

// --- internal ---

function details(record: SpanRecord, open: boolean): readonly string[] {
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const errorType = textAt(record, semconv.ERROR_TYPE);
  const exitCode = numberAt(record, semconv.PROCESS_EXIT_CODE);
  const origin = textAt(record, semconv.OPENHOOK_TURN_ORIGIN);
  const errors = record.events.filter((event) => event.name === "openhook.model_error").length;
  const failure =
    record.status.code !== "error" ? [] : [errorType === undefined || errorType === "_OTHER" ? "error" : errorType];
  return [
    ...(origin === "continuation" ? ["continued"] : []),
    ...(origin === "machine" ? ["by machine"] : []),
    ...failure,
    ...(exitCode !== undefined && exitCode !== 0 ? [`exit ${exitCode}`] : []),
    ...(status === "unfinished" ? ["unfinished"] : open ? ["open"] : []),
    ...(errors > 0 ? [errors === 1 ? "1 failed request" : `${errors} failed requests`] : []),
  ];
}

function tokensOf({ input, output, inputIsLowerBound, outputIsLowerBound, hasUsage }: RowFigures): string {
  if (input === null && output === null) return hasUsage ? "?" : "";
  const least = (n: number | null, isLeast: boolean): string =>
    `${isLeast && n !== null ? "≥" : ""}${count(n ?? undefined)}`;
  return `${least(input, inputIsLowerBound)}→${least(output, outputIsLowerBound)}`;
}

function costOf({ costNanoUsd, costIsLowerBound, hasUsage }: RowFigures): string {
  if (costNanoUsd === null) return hasUsage ? "?" : "";
  return costIsLowerBound ? leastDollars(costNanoUsd) : dollars(costNanoUsd);
}

/**
 * What a span is called for people: `Turn 1`, `Bash ls`, the model's name. Backends get the names of the GenAI conventions, such as
 * `execute_tool Bash ls`.
 *
 * @param turn number of a prompted turn, from 1; 0 for everything else
 * @param isDescribed what it did is shown beside its name
 */
function spanName(record: SpanRecord, turn: number, isDescribed: boolean): string {
  // The command itself is shown, so its program is not repeated
  const tool = isDescribed ? textAt(record, semconv.GEN_AI_TOOL_NAME) : undefined;
  const name = tool ?? record.name.replace(/^(?:invoke_agent|execute_tool|chat) ?/, "");
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
