import type { SpanRecord } from "../../model/telemetry.ts";
import * as semconv from "../../telemetry/semconv.ts";
import { count, dollars, duration, leastDollars } from "../../text/figures.ts";
import { type Piece, printable, type Style } from "../../text/terminal.ts";
import { spanName } from "../span-name.ts";
import { endMsOf, numberAt, spanKindOf, textAt } from "./shown-span.ts";
import type { TreeNode } from "./tree.ts";

export type FigureKey = "duration" | "tokens" | "cost";

/** The texts of one span's line. */
export interface Row {
  readonly guide: string;
  readonly mark: Piece | undefined;
  readonly name: string;
  /** Shown beside the name: status, error type, exit code. */
  readonly detail: string;
  readonly style: Style | undefined;
  readonly isContainer: boolean;
  readonly duration: string;
  readonly tokens: string;
  readonly cost: string;
}

/** The texts of a span's line. Figures that are unknown are `?`, those that do not apply are empty. */
export function toRow({ span: { record, open = false }, guide, turn }: TreeNode): Row {
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
    name: printable(spanName(record, turn)),
    detail: printable(details(record, open).join(", ")),
    style,
    isContainer,
    duration: `${duration(endMsOf(record) - record.startMs)}${open ? "+" : ""}`,
    tokens: tokensOf(record, kind, isContainer),
    cost: costOf(record, kind, isContainer),
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

function tokensOf(record: SpanRecord, kind: string | undefined, isContainer: boolean): string {
  const isSession = kind === "session";
  const input = numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.input : semconv.GEN_AI_USAGE_INPUT_TOKENS);
  const output = numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.output : semconv.GEN_AI_USAGE_OUTPUT_TOKENS);
  if (input === undefined && output === undefined) return isUnknown(record, kind, isContainer) ? "?" : "";
  const least = record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] === true ? "≥" : "";
  return `${count(input)}→${least}${count(output)}`;
}

function costOf(record: SpanRecord, kind: string | undefined, isContainer: boolean): string {
  const cost = numberAt(record, semconv.OPENHOOK_COST_USD);
  if (cost === undefined) return isUnknown(record, kind, isContainer) ? "?" : "";
  const isLeast =
    record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] === true ||
    (numberAt(record, semconv.OPENHOOK_UNPRICED_CALLS) ?? 0) > 0;
  return isLeast ? leastDollars(cost * 1e9) : dollars(cost * 1e9);
}

/** A model was called, so there is a number, but it was not reported. */
const isUnknown = (record: SpanRecord, kind: string | undefined, isContainer: boolean): boolean =>
  kind === "model_call" || (isContainer && (numberAt(record, semconv.OPENHOOK_MODEL_CALLS) ?? 0) > 0);
