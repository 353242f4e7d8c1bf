import type { SpanRecord } from "../../model/telemetry.ts";
import { toolTitle } from "../../report/tool-title.ts";
import * as semconv from "../../telemetry/semconv.ts";
import { FLAG, SPAN_KINDS, type SpanColumns, type SpanKind } from "../wire/spans.ts";
import { inTreeOrder, parentOf, type TreeSpan } from "./tree.ts";

/** A span, and whether it is still open. */
export interface ShownSpan {
  readonly record: SpanRecord;
  readonly open: boolean;
}

/** Converts the spans of all segments of a session for the waterfall. */
export function toColumns(spans: Iterable<ShownSpan>): SpanColumns {
  // Reduced one by one, so that the records of a long session are never in memory together
  const nodes = inTreeOrder(Array.from(spans, toCells));
  const baseMs = nodes.reduce((ms, { span }) => Math.min(ms, span.startMs), Infinity);
  const segments = nodes.filter(({ span }) => span.kind === "session").length;
  const strings = new StringTable();
  const columns = {
    label: [] as number[],
    detail: [] as number[],
    kind: [] as number[],
    depth: [] as number[],
    startMs: [] as number[],
    durationMs: [] as number[],
    flags: [] as number[],
    input: [] as (number | null)[],
    output: [] as (number | null)[],
    costNanoUsd: [] as (number | null)[],
  };
  const ids: string[] = [];
  let turn = 0;
  for (const { span, depth } of nodes) {
    const { kind, startMs, endMs, tokens, costNanoUsd } = span;
    if (span.isPrompted) turn++;
    ids.push(span.spanId);
    columns.label.push(strings.indexOf(labelOf(span, turn, segments)));
    columns.detail.push(strings.indexOf(span.detail));
    columns.kind.push(SPAN_KINDS.indexOf(kind));
    columns.depth.push(depth);
    columns.startMs.push(toMicros(startMs - baseMs));
    columns.durationMs.push(toMicros(Math.max(0, endMs - startMs)));
    columns.flags.push(span.flags);
    columns.input.push(tokens.input ?? null);
    columns.output.push(tokens.output ?? null);
    columns.costNanoUsd.push(costNanoUsd);
  }
  return {
    count: nodes.length,
    baseMs: nodes.length === 0 ? 0 : baseMs,
    ids: ids.join(""),
    strings: strings.all,
    ...columns,
  };
}

// --- internal ---

/** What the waterfall shows of one span, and its place in the tree. */
interface Cells extends TreeSpan {
  readonly kind: SpanKind;
  /** The span's name without the operation, which its kind already shows. */
  readonly name: string;
  readonly segment: number;
  readonly isPrompted: boolean;
  readonly detail: string;
  readonly flags: number;
  readonly tokens: Tokens;
  readonly costNanoUsd: number | null;
}

function toCells(span: ShownSpan): Cells {
  const { record } = span;
  const kind = kindOf(record);
  const tokens = tokensOf(record, kind);
  const cost = numberAt(record, semconv.OPENHOOK_COST_USD);
  return {
    spanId: record.spanId,
    parentId: parentOf(record),
    startMs: record.startMs,
    endMs: record.endMs,
    kind,
    name: nameOf(record, kind),
    segment: kind === "session" ? (numberAt(record, semconv.OPENHOOK_SEGMENT) ?? 0) : 0,
    isPrompted: kind === "turn" && PROMPT_ORIGINS.has(textAt(record, semconv.OPENHOOK_TURN_ORIGIN) ?? ""),
    detail: detailsOf(record, kind, span.open).join(", "),
    flags: flagsOf(span, kind, tokens, cost),
    tokens,
    costNanoUsd: cost === undefined ? null : Math.round(cost * 1e9),
  };
}

/** Turns of other origins continue the one before and have no number. */
const PROMPT_ORIGINS: ReadonlySet<string> = new Set(["human", "machine"]);

/** Collects strings, each once. */
class StringTable {
  readonly all: string[] = [];
  readonly #indexes = new Map<string, number>();

  indexOf(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    this.#indexes.set(text, this.all.length);
    return this.all.push(text) - 1;
  }
}

/** Rounds to microseconds, which shortens the JSON. */
const toMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

const numberAt = ({ attributes }: SpanRecord, name: string): number | undefined => {
  const value = attributes[name];
  return typeof value === "number" ? value : undefined;
};
const textAt = ({ attributes }: SpanRecord, name: string): string | undefined => {
  const value = attributes[name];
  return typeof value === "string" ? value : undefined;
};
const kindOf = (record: SpanRecord): SpanKind => {
  const kind = textAt(record, semconv.OPENHOOK_SPAN_KIND);
  return SPAN_KINDS.find((one) => one === kind) ?? "other";
};
const isContainer = (kind: SpanKind): boolean => kind === "session" || kind === "turn" || kind === "subagent";

function labelOf({ kind, name, segment, isPrompted }: Cells, turn: number, segments: number): string {
  if (kind === "session") return segments === 1 ? "Session" : `Segment ${segment + 1}`;
  if (kind === "turn") return isPrompted ? `Turn ${turn}` : "Turn, continued";
  return name;
}

function nameOf(record: SpanRecord, kind: SpanKind): string {
  const name = record.name.replace(/^(?:invoke_agent|execute_tool|chat) (?=.)/, "");
  return kind === "tool_call" ? toolTitle(name, textAt(record, semconv.OPENHOOK_MCP_SERVER)) : name;
}

function detailsOf(record: SpanRecord, kind: SpanKind, open: boolean): readonly string[] {
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const errorType = textAt(record, semconv.ERROR_TYPE);
  const exitCode = numberAt(record, semconv.PROCESS_EXIT_CODE);
  const failedRequests = record.events.filter((event) => event.name === "openhook.model_error").length;
  return [
    ...(textAt(record, semconv.OPENHOOK_TURN_ORIGIN) === "machine" ? ["by machine"] : []),
    ...(kind === "session" ? [textAt(record, semconv.OPENHOOK_START_ORIGIN)].flatMap((origin) => origin ?? []) : []),
    ...(record.status.code !== "error"
      ? []
      : [errorType === undefined || NO_REASON.has(errorType) ? "failed" : errorType]),
    ...(exitCode !== undefined && exitCode !== 0 ? [`exit ${exitCode}`] : []),
    ...(status === "unfinished" ? ["unfinished"] : open ? ["running"] : []),
    ...(failedRequests > 0 ? [failedRequests === 1 ? "1 failed request" : `${failedRequests} failed requests`] : []),
  ];
}

/** Values of `error.type` that say only that something failed, of which the second is an MCP server's. */
const NO_REASON: ReadonlySet<string> = new Set(["_OTHER", "tool_error"]);

interface Tokens {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

const tokensOf = (record: SpanRecord, kind: SpanKind): Tokens => {
  const isSession = kind === "session";
  return {
    input: numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.input : semconv.GEN_AI_USAGE_INPUT_TOKENS),
    output: numberAt(record, isSession ? semconv.OPENHOOK_TOTAL.output : semconv.GEN_AI_USAGE_OUTPUT_TOKENS),
  };
};

function flagsOf({ record, open }: ShownSpan, kind: SpanKind, tokens: Tokens, cost: number | undefined): number {
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  const hasModelCalls =
    kind === "model_call" || (isContainer(kind) && (numberAt(record, semconv.OPENHOOK_MODEL_CALLS) ?? 0) > 0);
  const isUsageUnknown = tokens.input === undefined && tokens.output === undefined;
  const isIncomplete = record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] === true;
  const isUnpriced = (numberAt(record, semconv.OPENHOOK_UNPRICED_CALLS) ?? 0) > 0;
  const flag = (name: keyof typeof FLAG, isSet: boolean): number => (isSet ? FLAG[name] : 0);
  return (
    flag("error", record.status.code === "error") |
    flag("denied", status === "denied") |
    flag("unfinished", status === "unfinished") |
    flag("open", open) |
    flag("unknownTokens", hasModelCalls && isUsageUnknown) |
    flag("unknownCost", hasModelCalls && cost === undefined) |
    flag("outputIsLowerBound", isIncomplete) |
    flag("costIsLowerBound", isIncomplete || isUnpriced)
  );
}
