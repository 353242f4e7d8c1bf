import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { SessionSpan } from "../../report/session-spans.ts";
import { toolTitle } from "../../report/tool-title.ts";
import { type RowCall, type RowFigures, rowFigures, type SumPlace, sumPlace } from "../../report/waterfall/row-sums.ts";
import { isPrompted, numberAt, textAt } from "../../report/waterfall/shown-span.ts";
import { inTreeOrder } from "../../report/waterfall/tree.ts";
import { FLAG, SPAN_KINDS, type SpanColumns, type SpanKind } from "../wire/spans.ts";

/** Converts the spans of all segments of a session for the waterfall. @param calls all calls of the session, for the figures */
export function toColumns(spans: Iterable<SessionSpan>, calls: Iterable<RowCall>): SpanColumns {
  // Reduced one by one, so that the records of a long session are never in memory together
  const nodes = inTreeOrder(Array.from(spans, toCells));
  const figures = rowFigures(nodes, calls);
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
    calls: [] as number[],
    input: [] as (number | null)[],
    output: [] as (number | null)[],
    costNanoUsd: [] as (number | null)[],
  };
  const ids: string[] = [];
  let turn = 0;
  for (const [index, { span, depth }] of nodes.entries()) {
    const { kind, startMs, endMs } = span;
    const shown = figures[index];
    if (shown === undefined) continue;
    if (span.isPrompted) turn++;
    ids.push(span.spanId);
    columns.label.push(strings.indexOf(labelOf(span, turn, segments)));
    columns.detail.push(strings.indexOf(span.detail));
    columns.kind.push(SPAN_KINDS.indexOf(kind));
    columns.depth.push(depth);
    columns.startMs.push(toMicros(startMs - baseMs));
    columns.durationMs.push(toMicros(Math.max(0, endMs - startMs)));
    columns.flags.push(span.flags | figureFlags(shown));
    columns.calls.push(shown.calls);
    columns.input.push(shown.input);
    columns.output.push(shown.output);
    columns.costNanoUsd.push(shown.costNanoUsd);
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
interface Cells extends SumPlace {
  readonly kind: SpanKind;
  /** The span's name without the operation, which its kind already shows. */
  readonly name: string;
  readonly ordinal: number;
  readonly isPrompted: boolean;
  readonly detail: string;
  readonly flags: number;
}

function toCells(span: SessionSpan): Cells {
  const { record } = span;
  const kind = kindOf(record);
  return {
    ...sumPlace(record, span.segment),
    kind,
    name: nameOf(record, kind),
    ordinal: kind === "session" ? (numberAt(record, semconv.OPENHOOK_SEGMENT) ?? 0) : 0,
    isPrompted: kind === "turn" && isPrompted(record),
    detail: detailsOf(record, kind, span.open).join(", "),
    flags: flagsOf(span),
  };
}

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

const kindOf = (record: SpanRecord): SpanKind => {
  const kind = textAt(record, semconv.OPENHOOK_SPAN_KIND);
  return SPAN_KINDS.find((one) => one === kind) ?? "other";
};

function labelOf({ kind, name, ordinal, isPrompted }: Cells, turn: number, segments: number): string {
  if (kind === "session") return segments === 1 ? "Session" : `Segment ${ordinal + 1}`;
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

const flag = (name: keyof typeof FLAG, isSet: boolean): number => (isSet ? FLAG[name] : 0);

function flagsOf({ record, open }: SessionSpan): number {
  const status = textAt(record, semconv.OPENHOOK_TOOL_STATUS);
  return (
    flag("error", record.status.code === "error") |
    flag("denied", status === "denied") |
    flag("unfinished", status === "unfinished") |
    flag("open", open)
  );
}

const figureFlags = (shown: RowFigures): number =>
  flag("unknownTokens", shown.hasUsage && shown.input === null && shown.output === null) |
  flag("unknownCost", shown.hasUsage && shown.costNanoUsd === null) |
  flag("inputIsLowerBound", shown.inputIsLowerBound) |
  flag("outputIsLowerBound", shown.outputIsLowerBound) |
  flag("costIsLowerBound", shown.costIsLowerBound);
