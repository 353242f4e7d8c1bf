import { isoTime, usd } from "#kit/text/figures.ts";
import type { ComparedMeasure, Comparison, NotCompared, Side } from "./compare.ts";
import { type Measure, scaleOf } from "./measures.ts";
import { LEVEL, MIN_SESSIONS, RESAMPLES } from "./resample.ts";

/** A comparison as a JSON document. Unknown is `null`, never 0. */
export const comparisonJson = (found: Comparison | NotCompared) => ({
  by: found.query.by,
  agent: found.query.agent ?? null,
  repository: found.query.repository ?? null,
  since: isoTime(found.query.sinceMs),
  until: isoTime(found.query.untilMs),
  ...("measures" in found
    ? {
        a: sideJson(found.a),
        b: sideJson(found.b),
        measures: found.measures.map(measureJson),
        left_out: {
          used_both: found.leftOut.mixed,
          used_as_helper: found.leftOut.helper,
          resumed: found.leftOut.resumed,
        },
      }
    : { a: null, b: null, measures: [], left_out: null }),
  method: { resamples: RESAMPLES, level: LEVEL, min_sessions: MIN_SESSIONS },
});

/** Whether B is better; `null` where no difference is shown, or neither direction is better. */
export function betterOf({ measure, verdict }: Pick<ComparedMeasure, "measure" | "verdict">): boolean | null {
  if (measure.better === undefined || (verdict !== "less" && verdict !== "more")) return null;
  return measure.better === verdict;
}

// --- internal ---

const sideJson = ({ name, sessions, turns, firstMs, lastMs, withoutCost }: Side) => ({
  name,
  sessions,
  turns,
  first: isoTime(firstMs),
  last: isoTime(lastMs),
  sessions_without_cost: withoutCost,
});

const measureJson = ({ measure, a, b, difference, verdict }: ComparedMeasure) => ({
  measure: measure.name,
  unit: measure.unit === "nano_usd" ? "usd" : measure.unit,
  compared_as: scaleOf(measure),
  a: valueJson(measure, a),
  b: valueJson(measure, b),
  change: difference?.change ?? null,
  interval: difference?.interval ?? null,
  p: difference?.p ?? null,
  p_corrected: difference?.corrected ?? null,
  verdict,
  better: betterOf({ measure, verdict }),
});

const valueJson = ({ unit }: Measure, { value, sessions }: ComparedMeasure["a"]) => ({
  value: unit === "nano_usd" ? usd(value) : (value ?? null),
  sessions,
});
