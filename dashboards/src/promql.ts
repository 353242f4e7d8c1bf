import * as semconv from "#core/telemetry/semconv.ts";
import { promLabel, promName } from "./names.ts";

/** Labels by meaning. */
export const LABEL = {
  agent: promLabel(semconv.SERVICE_NAME),
  environment: "deployment_environment_name",
  machine: "instance",
  repository: promLabel(semconv.VCS_REPOSITORY_NAME),
  model: promLabel(semconv.GEN_AI_REQUEST_MODEL),
  tool: promLabel(semconv.GEN_AI_TOOL_NAME),
  mcpServer: promLabel(semconv.OPENHOOK_MCP_SERVER),
  skill: promLabel(semconv.GEN_AI_SKILL_NAME),
  toolStatus: promLabel(semconv.OPENHOOK_TOOL_STATUS),
  decision: promLabel(semconv.GEN_AI_TOOL_CALL_DECISION),
  decidedBy: promLabel(semconv.OPENHOOK_PERMISSION_SOURCE),
  tokenType: promLabel(semconv.OPENHOOK_TOKEN_TYPE),
  subagent: promLabel(semconv.OPENHOOK_SUBAGENT),
  missCause: promLabel(semconv.OPENHOOK_CACHE_MISS_CAUSE),
  errorType: promLabel(semconv.ERROR_TYPE),
  endReason: promLabel(semconv.OPENHOOK_END_REASON),
  turnOrigin: promLabel(semconv.OPENHOOK_TURN_ORIGIN),
  turnState: promLabel(semconv.OPENHOOK_TURN_STATE),
  lineChange: promLabel(semconv.OPENHOOK_LINE_CHANGE),
  commitFate: promLabel(semconv.OPENHOOK_COMMIT_FATE),
  lineFate: promLabel(semconv.OPENHOOK_LINE_FATE),
  lineAge: promLabel(semconv.OPENHOOK_LINE_AGE),
  outcome: promLabel(semconv.OPENHOOK_OUTCOME),
  rateWindow: promLabel(semconv.OPENHOOK_RATE_LIMIT_WINDOW),
  reason: promLabel(semconv.OPENHOOK_REASON),
  signal: promLabel(semconv.OPENHOOK_SIGNAL),
  driftKind: promLabel(semconv.OPENHOOK_DRIFT_KIND),
  source: promLabel(semconv.OPENHOOK_SOURCE),
  sourceVersion: promLabel(semconv.OPENHOOK_SOURCE_VERSION),
  coverage: promLabel(semconv.OPENHOOK_COVERAGE),
  collectorVersion: promLabel(semconv.OPENHOOK_COLLECTOR_VERSION),
  /** Of `target_info`, from resource.attributes.team of the settings. */
  team: "team",
  /** Only in the rules of rules/budgets.yaml. */
  budget: "budget",
  /** Only where versions are compared: the name of what is compared, and which counter of its ratio a series is. */
  measure: "measure",
  part: "part",
} as const;
export type LabelKey = keyof typeof LABEL;

/** How far back the last value of an idle machine is searched. A machine idle for longer is missing at both ends of a difference. */
export const IDLE = "30d";

/**
 * A counter's exact growth over a time range: its value at the end minus its value at the start; a series that did not exist at
 * the start counts from 0. Correct for pushes and scrapes, sparse points, restarts of the Collector, and duplicate points;
 * `increase()` is not (it extrapolates, and counts the first value of a series as no growth).
 *
 * @param selector an instant vector selector
 * @param range a duration, or a variable that becomes one
 */
export const exact = (selector: string, range = "$__range"): string =>
  `(last_over_time(${selector}[${IDLE}]) - (last_over_time(${selector}[${IDLE}] offset ${range}) or 0 * last_over_time(${selector}[${IDLE}])))`;

/** What an expression was at the start of the time range: for its totals, those of the period before. */
export const before = (expr: string): string => `last_over_time((${expr})[1s:1s] offset $__range)`;

/** By how much an expression changed since the period before, as a share of what it was; no value if it was 0. */
export const change = (expr: string): string => `${expr} / (${before(expr)} > 0) - 1`;

/**
 * A counter's growth since the start of the time range, for a line that ends at the total. Use only in range queries.
 *
 * @param isBefore the same for the period before, from its start
 */
export const soFar = (selector: string, isBefore = false): string => {
  const at = (moment: string): string =>
    `last_over_time(${selector}[${IDLE}]${moment}${isBefore ? " offset $__range" : ""})`;
  return `sum(${at("")} - (${at(" @ start()")} or 0 * ${at("")}))`;
};

/** Series with labels that did not exist a step ago. @param step a duration: that of the query */
export const appeared = (by: readonly LabelKey[], selector: string, step: string): string => {
  const there = (moment: string): string => `group by (${labels(by)}) (last_over_time(${selector}[${IDLE}]${moment}))`;
  return `${there("")} unless ${there(` offset ${step}`)}`;
};

/** The same, summed. @param by labels to keep */
export const exactSum = (selector: string, by: readonly LabelKey[] = [], range = "$__range"): string =>
  sumBy(by, exact(selector, range));

/** `sum by (…) (…)` over labels by their meaning. */
export const sumBy = (by: readonly (LabelKey | "le")[], expr: string): string =>
  by.length === 0 ? `sum(${expr})` : `sum by (${labels(by)}) (${expr})`;

/** Label names, joined by commas. */
export const labels = (keys: readonly (LabelKey | "le")[]): string =>
  keys.map((key) => (key === "le" ? key : LABEL[key])).join(", ");

/** Names series without a label, which would have an empty legend in Grafana. No other series has this text. */
export const named = (key: LabelKey, otherwise: string, expr: string): string =>
  `label_replace(${expr}, "${LABEL[key]}", "${otherwise}", "${LABEL[key]}", "")`;

/** Texts for work outside any repository, and for calls without a reported model. */
export const NO_REPOSITORY = "(no repository)";
export const NO_MODEL = "(not reported)";

/** Keeps the ten series with the largest totals at the end. */
export const mostUsed = (key: LabelKey, selector: string, expr: string): string =>
  `${expr} and on (${LABEL[key]}) topk(10, ${sumBy([key], `last_over_time(${selector}[${IDLE}] @ end())`)})`;

/** A share from 0 to 1; no value if the whole is 0. */
export const ratio = (part: string, whole: string): string => `${part} / (${whole} > 0)`;

/** A quantile of a histogram over a range. @param by labels to keep */
export const quantile = (q: number, bucket: string, by: readonly LabelKey[] = [], range = "$__range"): string =>
  `histogram_quantile(${q}, ${sumBy(["le", ...by], exact(bucket, range))})`;

/** A metric as it is sent, one series for each machine. @param part of a histogram */
export const raw = (otelName: string, part: "" | "_bucket" | "_sum" | "_count" = ""): string =>
  `${promName(otelName)}${part}`;

/**
 * The same summed over machines, as in `rules/recording.yaml`: `openhook_…` → `openhook:…`, `gen_ai_…` → `gen_ai:…`.
 */
export const recorded = (otelName: string, part: "" | "_bucket" | "_sum" | "_count" = ""): string =>
  raw(otelName, part).replace(PREFIX, "$1:");

/** One of the two, depending on the dashboard's variable `series`: `_` or `:`. */
export const either = (otelName: string, part: "" | "_bucket" | "_sum" | "_count" = ""): string =>
  raw(otelName, part).replace(PREFIX, `$1${SERIES}`);

export const SERIES = `\${series}`;

// --- internal ---

const PREFIX = /^(openhook|gen_ai)_/;
