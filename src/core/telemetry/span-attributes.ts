import { sumKnown } from "#kit/numbers.ts";
import type { SessionFacts, Subagent, Turn } from "../model/session.ts";
import type { Attributes, AttributeValue, SpanRecord } from "../model/telemetry.ts";
import { callCountOf, lastCallOf } from "../rules/calls.ts";
import { callPrices, costSource } from "./cost.ts";
import type { SpanSubject } from "./ids.ts";
import * as semconv from "./semconv.ts";
import { knownCost, type Totals, totalOfRun } from "./totals.ts";

/** Which spelling of the GenAI attributes is sent. */
export interface Spelling {
  readonly semconv: "both" | "latest" | "v1.41";
}

/** Attributes; those without a value are left out. */
export type Loose = Readonly<Record<string, AttributeValue | undefined>>;

/** Sums of a turn or subagent. */
export function runAttributes(run: Turn | Subagent, facts: SessionFacts, settings: Spelling, kind: SpanSubject): Loose {
  const totals = totalOfRun(run, callPrices(facts.provider));
  const models = [...new Set([...(run.settled?.models ?? []), ...run.modelCalls.flatMap((c) => c.model ?? [])])];
  const finish = lastCallOf(run.modelCalls)?.finishReason;
  return {
    [semconv.GEN_AI_OPERATION_NAME]: "invoke_agent",
    [semconv.GEN_AI_AGENT_NAME]: facts.source,
    [semconv.GEN_AI_REQUEST_MODEL]: models.length === 1 ? models[0] : undefined,
    [semconv.GEN_AI_RESPONSE_FINISH_REASONS]: finish === undefined ? undefined : [finish],
    [semconv.OPENHOOK_SPAN_KIND]: kind,
    [semconv.OPENHOOK_MODEL_CALLS]: callsOf(run, facts),
    [semconv.OPENHOOK_TOOL_CALLS]: totals.toolCalls,
    [semconv.GEN_AI_USAGE_INPUT_TOKENS]: totals.input,
    [semconv.GEN_AI_USAGE_OUTPUT_TOKENS]: totals.output,
    // Usage that belongs to no single call's span. The conventions removed both from `invoke_agent`, because backends added them twice
    ...(settings.semconv !== "latest" &&
      run.modelCalls.some((call) => call.covers !== undefined && call.usage !== undefined) && {
        [semconv.GEN_AI_USAGE_CACHE_READ]: totals.cacheRead,
        ...cacheWriteAttributes(totals.cacheWrite, settings),
      }),
    [semconv.OPENHOOK_USAGE_INCOMPLETE]: totals.incompleteCalls > 0 ? true : undefined,
    ...costAttributes(knownCost(totals), models.length === 1 ? models[0] : undefined),
    [semconv.OPENHOOK_UNPRICED_CALLS]: totals.unpricedCalls > 0 ? totals.unpricedCalls : undefined,
  };
}

/** The convention renamed this attribute. */
export const cacheWriteAttributes = (cacheWrite: number | undefined, { semconv: version }: Spelling): Loose => ({
  ...(version !== "v1.41" && { [semconv.GEN_AI_USAGE_CACHE_WRITE]: cacheWrite }),
  ...(version !== "latest" && { [semconv.GEN_AI_USAGE_CACHE_CREATION]: cacheWrite }),
});

/** Unknown if usage is reported per turn, without the number of calls, or the agent reports no calls. */
function callsOf(run: Turn | Subagent, { usageUnknown }: SessionFacts): number | undefined {
  const calls = callCountOf(run);
  return calls === 0 && usageUnknown === true ? undefined : calls;
}

/** A cost and the prices it is based on. @param model absent if the cost is a sum over several models */
export function costAttributes(nanoUsd: number | undefined, model?: string): Loose {
  if (nanoUsd === undefined) return {};
  const { kind, prices } = costSource(model);
  return {
    [semconv.OPENHOOK_COST_USD]: nanoUsd / 1e9,
    [semconv.OPENHOOK_COST_SOURCE]: kind,
    [semconv.OPENHOOK_PRICE_TABLE]: prices,
  };
}

/** The agent's own sums. */
export function reportedAttributes({ reported }: Totals): Loose {
  if (reported === undefined) return {};
  const sum = (pick: (u: NonNullable<Totals["reported"]>[string]) => number | undefined): number | undefined =>
    sumKnown(Object.values(reported).map(pick));
  return {
    [semconv.OPENHOOK_REPORTED.input]: sum((u) => u.input),
    [semconv.OPENHOOK_REPORTED.output]: sum((u) => u.output),
    [semconv.OPENHOOK_REPORTED.cacheRead]: sum((u) => u.cacheRead),
    [semconv.OPENHOOK_REPORTED.cacheWrite]: sum((u) => u.cacheWrite),
    [semconv.OPENHOOK_REPORTED.costUsd]: sum((u) => u.costUsd),
  };
}

/** Repository, branch and revision. */
export const repositoryAttributes = ({ repository }: SessionFacts): Loose =>
  repository === undefined
    ? {}
    : {
        [semconv.VCS_REPOSITORY_NAME]: repository.name,
        [semconv.VCS_REPOSITORY_URL]: repository.url,
        [semconv.VCS_REF_HEAD_NAME]: repository.branch,
        [semconv.VCS_REF_HEAD_REVISION]: repository.revision,
      };

/** The attributes that have a value. */
export const given = (attributes: Loose): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, v]) => v !== undefined)) as Attributes;

/** The failed requests of a turn or subagent. */
export const errorEvents = ({ errors }: Turn | Subagent): SpanRecord["events"] =>
  errors.map((e) => ({
    name: "openhook.model_error",
    timeMs: e.timeMs,
    attributes: given({
      [semconv.ERROR_TYPE]: e.errorType,
      [semconv.HTTP_RESPONSE_STATUS_CODE]: e.httpStatus,
    }),
  }));
