import type { CallSums, ModelCall, PricedCall } from "#core/model/model-call.ts";
import type { SessionFacts } from "#core/model/session.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { addCall, addTo, emptySums, NO_CALLS } from "#core/rules/call-sums.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import type { Writable } from "#kit/objects.ts";
import { hasUsage, lowerBounds } from "../call-totals.ts";
import { endMsOf, type Node, numberAt, parentOf, type SpanPlace, spanKindOf, textAt } from "./tree.ts";

/** A model call and the span that shows it. */
export interface RowCall {
  readonly spanId: string;
  readonly segment: number;
  readonly call: Pick<ModelCall, "usage" | "complete" | "covers" | "coveredCalls" | "agentId" | "endMs">;
  readonly costNanoUsd?: number;
  readonly noPrice?: NonNullable<PricedCall["noPrice"]>;
}

/** The place of a span, and whether it has sums that no span below it shows. */
export interface SumPlace extends SpanPlace {
  /** It is of a turn or a subagent. */
  readonly isRun: boolean;
  /** It is of a run whose usage, or a part of it, was reported without its calls. */
  readonly hasOwnSums: boolean;
  /** The subagent whose run it is. */
  readonly agentId: string | undefined;
  readonly isCall: boolean;
}

/** What a row shows of its span and everything inside it. */
export interface RowFigures {
  readonly calls: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly costNanoUsd: number | null;
  readonly inputIsLowerBound: boolean;
  readonly outputIsLowerBound: boolean;
  readonly costIsLowerBound: boolean;
  /** A model was called, or may have been, so figures that are `null` are unknown. Otherwise they do not apply. */
  readonly hasUsage: boolean;
}

/** @param shown what else is known of the span; a member, because copying the places of a long session into larger objects is slow */
export function sumPlace<T>(record: SpanRecord, segment: number, shown: T): SumPlace & { readonly shown: T } {
  const kind = spanKindOf(record);
  return {
    spanId: record.spanId,
    parentId: parentOf(record),
    segment,
    isRoot: kind === "session",
    startMs: record.startMs,
    endMs: endMsOf(record),
    isCall: kind === "model_call",
    isRun: RUNS.has(kind ?? ""),
    hasOwnSums: RUNS.has(kind ?? "") && numberAt(record, semconv.OPENHOOK_MODEL_CALLS) === undefined,
    agentId: textAt(record, semconv.OPENHOOK_SUBAGENT_ID),
    shown,
  };
}

/** The calls of a session for `rowFigures`. */
export const rowCalls = <T extends { readonly call: Pick<ModelCall, "key"> }>(
  calls: readonly T[],
  facts: SessionFacts,
): readonly (T & { readonly spanId: string })[] =>
  calls.map((placed) => ({ ...placed, spanId: spanIdOf(facts, "model_call", placed.call.key) }));

/** The calls that spans of model calls show, for spans of which nothing else is known. */
export const callsOfSpans = (spans: readonly { readonly record: SpanRecord; readonly segment: number }[]): RowCall[] =>
  spans
    .filter(({ record }) => spanKindOf(record) === "model_call")
    .map(({ record, segment }) => {
      const [input, output] = TOKENS.map((name) => numberAt(record, name));
      const cost = numberAt(record, semconv.OPENHOOK_COST_USD);
      return {
        spanId: record.spanId,
        segment,
        call: {
          endMs: record.endMs,
          complete: record.attributes[semconv.OPENHOOK_USAGE_INCOMPLETE] !== true,
          usage: { ...(input !== undefined && { input }), ...(output !== undefined && { output }) },
        },
        ...(cost !== undefined && { costNanoUsd: Math.round(cost * 1e9) }),
        ...(record.attributes[semconv.OPENHOOK_UNPRICED_CALLS] !== undefined && { noPrice: "part" as const }),
      };
    });

/**
 * Finds the row that shows a call. A sum over several calls is in the row of its run, and a call without a span in the row of the
 * segment's root.
 */
export function rowFinder(nodes: readonly Node<SumPlace>[]): (call: RowCall) => number {
  const indexes = new Map<string, number>();
  const roots = new Map<number, number>();
  const runs: { readonly span: SumPlace; readonly index: number }[] = [];
  for (const [index, { span }] of nodes.entries()) {
    indexes.set(span.spanId, index);
    if (span.isRoot) roots.set(span.segment, index);
    else if (span.isRun) runs.push({ span, index });
  }
  const withSums = runs.filter(({ span }) => span.hasOwnSums);
  const rowOf = (one: RowCall): number | undefined => {
    const { covers } = one.call;
    if (covers === undefined) return indexes.get(one.spanId);
    // The sum of a turn belongs to it also if it says how many calls it covers
    return runOf(withSums, one) ?? (covers === "turn" ? runOf(runs, one) : undefined);
  };
  return (one) => rowOf(one) ?? roots.get(one.segment) ?? 0;
}

/**
 * Figures of all rows. Each call is counted in its row and in all rows above, so the rows of one level add up to the row above, except
 * for sums that an agent reports without their calls: these are in the row of their run and above.
 */
export function rowFigures(nodes: readonly Node<SumPlace>[], calls: Iterable<RowCall>): readonly RowFigures[] {
  // Added to in place: a long session has many calls, in rows that are deep
  const sums = new Array<Writable<CallSums> | undefined>(nodes.length).fill(undefined);
  const sumsAt = (index: number): Writable<CallSums> => {
    const known = sums[index] ?? emptySums();
    sums[index] = known;
    return known;
  };
  const rowOf = rowFinder(nodes);
  for (const one of calls) {
    addCall(sumsAt(rowOf(one)), one);
  }
  const lacksUsage = nodes.map(() => false);
  const figures: RowFigures[] = [];
  // Backwards, so that the rows inside are done before the row above
  for (let index = nodes.length - 1; index >= 0; index--) {
    const { span, parent } = nodes[index] ?? { span: undefined, parent: -1 };
    const all = sums[index] ?? NO_CALLS;
    if (span?.hasOwnSums === true && !hasUsage(all)) lacksUsage[index] = true;
    const lacks = lacksUsage[index] === true;
    // Which figures of a single call are known is exact
    const isLeaf = span?.isCall === true;
    const unpricedCalls = all.costNanoUsd === undefined ? 0 : all.unpricedCalls;
    const bounds = lowerBounds(isLeaf ? { ...all, callsWithoutUsage: 0, unpricedCalls } : all, lacks);
    figures[index] = {
      calls: all.modelCalls,
      input: all.input ?? null,
      output: all.output ?? null,
      costNanoUsd: all.costNanoUsd ?? null,
      ...bounds,
      hasUsage: hasUsage(all) || lacks,
    };
    if (parent < 0) continue;
    if (all !== NO_CALLS) addTo(sumsAt(parent), all);
    if (lacks) lacksUsage[parent] = true;
  }
  return figures;
}

// --- internal ---

const RUNS: ReadonlySet<string> = new Set(["session", "turn", "subagent", "late_part"]);
const TOKENS = [semconv.GEN_AI_USAGE_INPUT_TOKENS, semconv.GEN_AI_USAGE_OUTPUT_TOKENS] as const;

/** The run of a sum over several calls: the last that had started and not ended when the sum was reported. */
function runOf(
  runs: readonly { readonly span: SumPlace; readonly index: number }[],
  { segment, call }: RowCall,
): number | undefined {
  return runs
    .filter(({ span }) => span.segment === segment && span.agentId === call.agentId)
    .findLast(({ span }) => span.startMs <= call.endMs && call.endMs <= span.endMs)?.index;
}
