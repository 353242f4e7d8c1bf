import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { bucketsBetween, compareBuckets } from "../../report/buckets.ts";
import type { TimeUnit, UsageQuery } from "../../report/query.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import type { Split } from "../wire/api.ts";
import { type FilterValues, STARTED } from "./filter-values.ts";

/** What the views with figures are asked for. */
export interface FiguresQuery extends Pick<UsageQuery, "agent" | "model" | "repository" | "timeZone"> {
  /** @default start of the first session */
  readonly sinceMs?: number;
  /** @default now */
  readonly untilMs?: number;
  readonly nowMs: number;
}

export type FiguresDeps = Pick<SessionSource, "agents"> & { readonly filterValues: (db: Database) => FilterValues };

/** A group's display name; `null`: unknown. */
export const nameOfKey = (deps: Pick<FiguresDeps, "agents">, split: Split, key: string | null): string | null =>
  key === null || split !== "agent" ? key : (cardOf(deps, key)?.title ?? key);

/** Start of the first session. */
export function firstMs(db: Database): number | undefined {
  const first = db
    .prepare(`SELECT min(${STARTED}) AS ms FROM sessions s WHERE s.pruned_ms IS NULL AND s.excluded = 0`)
    .get()?.["ms"];
  return typeof first === "number" ? first : undefined;
}

interface ChartPeriod {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly unit: TimeUnit;
  readonly timeZone?: string;
}

/**
 * The buckets of a period, also empty ones, and those outside it that have figures: totals include sessions that a wrong clock dated into
 * the future, so a chart must too.
 *
 * @param byTime rows by the period's unit
 * @throws RangeError for an unknown time zone
 */
export function chartBuckets(
  { sinceMs, untilMs, unit, timeZone }: ChartPeriod,
  byTime: readonly UsageRow[],
): { readonly buckets: readonly string[]; readonly rows: ReadonlyMap<string, UsageRow> } {
  const rows = new Map(byTime.flatMap((row) => (row.key[unit] == null ? [] : [[row.key[unit], row]])));
  const names = new Set([...bucketsBetween(sinceMs, untilMs, unit, timeZone), ...rows.keys()]);
  return { buckets: [...names].sort(compareBuckets), rows };
}

/**
 * Refuses a chart that could not be read, before anything is queried for it.
 *
 * @param remedy added to the message
 * @throws RangeError for more bars than a chart can show
 */
export function checkBarCount({ sinceMs, untilMs, unit }: ChartPeriod, remedy = ""): void {
  if ((untilMs - sinceMs) / UNIT_MS[unit] > MAX_BARS) throw new RangeError(`more than ${MAX_BARS} bars${remedy}`);
}

// --- internal ---

const MAX_BARS = 1000;

const UNIT_MS = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
} as const satisfies Record<TimeUnit, number>;
