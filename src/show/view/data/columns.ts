import type { JoinedNative } from "#core/model/native.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { plural } from "#kit/text/figures.ts";
import { nativeNotes, waitsOf } from "../../report/native/notes.ts";
import type { SessionSpan } from "../../report/session-spans.ts";
import { toolTitle } from "../../report/titles.ts";
import { type RowCall, type RowFigures, rowFigures, type SumPlace, sumPlace } from "../../report/waterfall/row-sums.ts";
import { inTreeOrder, isPrompted, numberAt, textAt } from "../../report/waterfall/tree.ts";
import { FLAG, SPAN_KINDS, type SpanCells, type SpanColumns, type SpanKind } from "../wire/spans.ts";

/**
 * Converts the spans of all segments of a session for the waterfall.
 *
 * @param calls all calls of the session, for the figures
 * @param native what the agent's own telemetry adds, by the ids of spans
 */
export function toColumns(
  spans: Iterable<SessionSpan>,
  calls: Iterable<RowCall>,
  native: ReadonlyMap<string, JoinedNative>,
): SpanColumns {
  // Reduced one by one, so that the records of a long session are never in memory together
  const nodes = inTreeOrder(Array.from(spans, toPlaced));
  const baseMs = nodes.length === 0 ? 0 : nodes.reduce((ms, { span }) => Math.min(ms, span.startMs), Infinity);
  const strings = new StringTable();
  const waits = native.size === 0 ? [] : waitsOf(nodes, native);
  const labels = labelsOf(nodes.map(({ span }) => span.shown));
  const rows = rowFigures(nodes, calls).map((figures, i): Row => {
    const { span, depth } = nodes[i] as (typeof nodes)[number];
    const notes = nativeNotes(native.get(span.spanId), span.isRun ? waits[i] : undefined);
    const details = [span.shown.detail, ...notes].filter((text) => text !== "").join(", ");
    const [label, detail] = [strings.indexOf(labels[i] ?? ""), strings.indexOf(details)];
    return { span, depth, figures, baseMs, label, detail };
  });
  return {
    count: nodes.length,
    baseMs,
    ids: nodes.map(({ span }) => span.spanId).join(""),
    strings: strings.all,
    ...columnsOf(rows),
  };
}

// --- internal ---

/** What the waterfall shows of one span by itself. */
interface Shown {
  readonly kind: SpanKind;
  /** The span's name without the operation, which its kind already shows. */
  readonly name: string;
  readonly ordinal: number;
  readonly isPrompted: boolean;
  readonly detail: string;
  readonly flags: number;
}

/** A line of the waterfall. */
interface Row {
  readonly span: SumPlace & { readonly shown: Shown };
  readonly depth: number;
  /** Of the span and everything inside it. */
  readonly figures: RowFigures;
  readonly baseMs: number;
  /** Indexes of its texts. */
  readonly label: number;
  readonly detail: number;
}

const columnsOf = (rows: readonly Row[]): Pick<SpanColumns, keyof SpanCells> => ({
  label: rows.map(({ label }) => label),
  detail: rows.map(({ detail }) => detail),
  kind: rows.map(({ span }) => SPAN_KINDS.indexOf(span.shown.kind)),
  depth: rows.map(({ depth }) => depth),
  startMs: rows.map(({ span, baseMs }) => toMicros(span.startMs - baseMs)),
  durationMs: rows.map(({ span }) => toMicros(Math.max(0, span.endMs - span.startMs))),
  flags: rows.map(({ span, figures }) => span.shown.flags | figureFlags(figures)),
  calls: rows.map(({ figures }) => figures.calls),
  input: rows.map(({ figures }) => figures.input),
  output: rows.map(({ figures }) => figures.output),
  costNanoUsd: rows.map(({ figures }) => figures.costNanoUsd),
});

function toPlaced(span: SessionSpan): Row["span"] {
  const { record } = span;
  const kind = kindOf(record);
  return sumPlace(record, span.segment, {
    kind,
    name: nameOf(record, kind),
    ordinal: kind === "session" ? (numberAt(record, semconv.OPENHOOK_SEGMENT) ?? 0) : 0,
    isPrompted: kind === "turn" && isPrompted(record),
    detail: detailOf(span, kind),
    flags: flagsOf(span),
  });
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
  return SPAN_KINDS.find((known) => known === kind) ?? "other";
};

/** Turns are counted in the order of the waterfall; segments have numbers if there are several. */
function labelsOf(spans: readonly Shown[]): readonly string[] {
  const segments = spans.filter(({ kind }) => kind === "session").length;
  let turn = 0;
  return spans.map(({ kind, name, ordinal, isPrompted }) => {
    if (kind === "session") return segments === 1 ? "Session" : `Segment ${ordinal + 1}`;
    if (kind === "turn") return isPrompted ? `Turn ${++turn}` : "Turn, continued";
    return name;
  });
}

function nameOf(record: SpanRecord, kind: SpanKind): string {
  const name = record.name.replace(/^(?:invoke_agent|execute_tool|chat) (?=.)/, "");
  return kind === "tool_call" ? toolTitle(name, textAt(record, semconv.OPENHOOK_MCP_SERVER)) : name;
}

/** What is notable about a span, in words. */
function detailOf({ record, open }: SessionSpan, kind: SpanKind): string {
  const details: string[] = [];
  if (textAt(record, semconv.OPENHOOK_TURN_ORIGIN) === "machine") details.push("by machine");
  if (kind === "session") details.push(textAt(record, semconv.OPENHOOK_START_ORIGIN) ?? "");
  if (record.status.code === "error") details.push(failureOf(record));
  const exitCode = numberAt(record, semconv.PROCESS_EXIT_CODE) ?? 0;
  if (exitCode !== 0) details.push(`exit ${exitCode}`);
  if (textAt(record, semconv.OPENHOOK_TOOL_STATUS) === "unfinished") details.push("unfinished");
  else if (open) details.push("running");
  const failedRequests = record.events.filter((event) => event.name === "openhook.model_error").length;
  if (failedRequests > 0) details.push(plural(failedRequests, "failed request"));
  return details.filter((detail) => detail !== "").join(", ");
}

function failureOf(record: SpanRecord): string {
  const errorType = textAt(record, semconv.ERROR_TYPE);
  return errorType === undefined || NO_REASON.has(errorType) ? "failed" : errorType;
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
