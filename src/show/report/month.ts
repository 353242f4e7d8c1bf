import { plansInUse } from "#core/rules/plans.ts";
import { dollars, exact, leastDollars, usd } from "#kit/text/figures.ts";
import { printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { bucketsOf } from "./buckets.ts";
import { knownAmounts, lowerBounds } from "./call-totals.ts";
import { dayAfter, FORECAST_METHOD, type Forecast, forecastMonth, MIN_HISTORY_DAYS } from "./forecast.ts";
import type { UsageQuery } from "./query.ts";
import { usage } from "./usage.ts";
import { NOTHING } from "./usage-facts.ts";
import type { UsageRow } from "./usage-rows.ts";
import { countedSessions } from "./usage-sessions.ts";

/** What a month may cost, in US dollars: of all repositories, and of single ones by their name in reports. */
export interface Budget {
  readonly month?: number | undefined;
  readonly repositories: Readonly<Record<string, number>>;
}

export const NO_BUDGET: Budget = { repositories: {} };

/** What the current month has cost so far, where it will end, and what its budget is. */
export interface MonthOutlook {
  /** `2026-11` */
  readonly month: string;
  /** Absent: all repositories. */
  readonly repository?: string;
  /** False: no repository with sessions has this name, so perhaps it is wrong, and its cost is unknown. */
  readonly hasSessions: boolean;
  /** In 10⁻⁹ USD. Absent: the cost of nothing is known. */
  readonly costNanoUsd?: number;
  /** At list price, what flat plans cover of the month; it is not part of any other figure. Absent: nothing, or no plan is set. */
  readonly coveredNanoUsd?: number;
  /** A part of the cost is unknown. */
  readonly isLowerBound: boolean;
  /** Absent: it cannot be estimated yet, or no cost is known. */
  readonly forecast?: Forecast;
  /** A part of the costs that the forecast is made from is unknown. */
  readonly isForecastLowerBound: boolean;
  /** Absent: none is set. */
  readonly budgetUsd?: number;
}

/** The whole month, and that of each repository with a budget. */
export function monthOutlooks(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  { month, repositories }: Budget,
  query: Omit<MonthQuery, "repository">,
): readonly MonthOutlook[] {
  return [
    { ...outlookOf(db, deps, query), ...(month !== undefined && { budgetUsd: month }) },
    ...Object.entries(repositories).map(([repository, budgetUsd]) => ({
      ...outlookOf(db, deps, { ...query, repository }),
      repository,
      budgetUsd,
    })),
  ];
}

/** For JSON, in the units of `report --json`. Unknown is `null`. */
export const outlookJson = (outlook: MonthOutlook) => ({
  month: outlook.month,
  repository: outlook.repository ?? null,
  cost_usd: usd(outlook.costNanoUsd),
  cost_is_lower_bound: outlook.isLowerBound,
  forecast:
    outlook.forecast === undefined
      ? null
      : {
          low_usd: usd(outlook.forecast.low),
          median_usd: usd(outlook.forecast.median),
          high_usd: usd(outlook.forecast.high),
          is_lower_bound: outlook.isForecastLowerBound,
        },
  /** At list price, covered by flat plans, in none of the other figures. `null`: nothing. */
  covered_usd: usd(outlook.coveredNanoUsd),
  budget_usd: outlook.budgetUsd ?? null,
  /** Negative: the budget is exceeded. At most this, if the cost is a lower bound. */
  left_usd: usd(leftOf(outlook)),
});

/** One line for each, and the method if anything is forecast. */
export function* outlookLines(outlooks: readonly MonthOutlook[], terminal: Terminal): Generator<string> {
  for (const outlook of outlooks) {
    const { repository } = outlook;
    const whose = repository === undefined ? "" : `, ${printable(repository)}`;
    yield* wrapped({ text: "" }, `${outlook.month}${whose}: ${outlookParts(outlook).join("; ")}`, terminal);
  }
  if (outlooks.some(({ forecast }) => forecast !== undefined)) yield* wrapped({ text: "" }, FORECAST_METHOD, terminal);
}

/** All of it in parts, for one line. */
export const outlookParts = (outlook: MonthOutlook): readonly string[] =>
  outlook.hasSessions
    ? [costPart(outlook), leftPart(outlook) ?? [], forecastPart(outlook), coveredPart(outlook)].flat()
    : ["no session of a repository with this name"];

// --- internal ---

/** `$142.10 so far` */
const costPart = ({ costNanoUsd, isLowerBound }: MonthOutlook): string =>
  `${costNanoUsd === undefined ? "?" : amount(costNanoUsd, isLowerBound)} so far`;

/** `$57.90 of $200 left`, `at most …`, `$12.00 over $200`, `? of $200 left`; `undefined` without a budget. */
function leftPart(outlook: MonthOutlook): string | undefined {
  if (outlook.budgetUsd === undefined) return undefined;
  const [left, budget] = [leftOf(outlook), `$${exact(outlook.budgetUsd)}`];
  if (left === undefined) return `? of ${budget} left`;
  if (left < 0) return `${amount(-left, outlook.isLowerBound)} over ${budget}`;
  return `${outlook.isLowerBound ? "at most " : ""}${dollars(left)} of ${budget} left`;
}

/** `ends at $180.00 to $230.00`, or why this is unknown. */
function forecastPart({ forecast, isForecastLowerBound, costNanoUsd }: MonthOutlook): string {
  if (forecast === undefined) {
    return costNanoUsd === undefined
      ? "no forecast: no cost is known"
      : `no forecast yet: needs ${MIN_HISTORY_DAYS} days`;
  }
  const [low, high] = [forecast.low, forecast.high].map((end) => amount(end, isForecastLowerBound));
  return low === high ? `ends at ${low}` : `ends at ${low} to ${high}`;
}

/** What is in none of the other parts. */
const coveredPart = ({ coveredNanoUsd }: MonthOutlook): readonly string[] =>
  coveredNanoUsd === undefined ? [] : [`${dollars(coveredNanoUsd)} more at list price, covered by plans`];

interface MonthQuery extends Pick<UsageQuery, "repository" | "timeZone"> {
  readonly nowMs: number;
}

/** More than the forecast and the longest month need. */
const READ_MS = 58 * 86_400_000;

function outlookOf(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  { nowMs, ...filters }: MonthQuery,
): Omit<MonthOutlook, "repository" | "budgetUsd"> {
  const dayOf = (ms: number): string => bucketsOf(filters.timeZone)(ms, "day");
  const today = dayOf(nowMs);
  const month = today.slice(0, 7);
  const read = { ...filters, by: ["day"], costOnly: true, sinceMs: nowMs - READ_MS } as const;
  const rows = usage(db, deps, { ...read, paidOnly: true });
  const days = rows.map(({ key, calls = NOTHING, sessionsWithoutUsage }) => ({
    day: key.day ?? "",
    cost: knownAmounts(calls, sessionsWithoutUsage > 0).costNanoUsd,
    isLowerBound: lowerBounds(calls, sessionsWithoutUsage > 0).costIsLowerBound,
  }));
  const ofMonth = days.filter(({ day }) => day.startsWith(month));
  const sumOf = (some: typeof days): number | undefined =>
    some.length > 0 && some.every(({ cost }) => cost === null)
      ? undefined
      : some.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  const sessions = [...countedSessions(db, deps, filters).values()];
  const hasSessions = filters.repository === undefined || sessions.length > 0;
  const costNanoUsd = hasSessions ? sumOf(ofMonth) : undefined;
  const firstMs = sessions.reduce((ms, one) => Math.min(ms, one.firstMs), nowMs);
  const forecast =
    sumOf(days) === undefined
      ? undefined
      : forecastMonth(new Map(days.map(({ day, cost }) => [day, cost ?? 0])), today, dayOf(firstMs));
  const covered = plansInUse() === undefined ? 0 : coveredIn(month, usage(db, deps, read), rows);
  return {
    month,
    hasSessions,
    ...(covered > 0 && { coveredNanoUsd: covered }),
    ...(costNanoUsd !== undefined && { costNanoUsd }),
    isLowerBound: ofMonth.some((one) => one.isLowerBound),
    ...(forecast !== undefined && { forecast }),
    isForecastLowerBound: days.some(
      (one) => one.isLowerBound && (one.day.startsWith(month) || one.day >= dayAfter(today, -56)),
    ),
  };
}

/** The cost of a month's days, less what was paid for. */
function coveredIn(month: string, all: readonly UsageRow[], paid: readonly UsageRow[]): number {
  const sumOf = (rows: readonly UsageRow[]): number =>
    rows.reduce((sum, { key, calls }) => sum + (key.day?.startsWith(month) ? (calls?.costNanoUsd ?? 0) : 0), 0);
  return sumOf(all) - sumOf(paid);
}

const leftOf = ({ costNanoUsd, budgetUsd }: MonthOutlook): number | undefined =>
  costNanoUsd === undefined || budgetUsd === undefined ? undefined : budgetUsd * 1e9 - costNanoUsd;

const amount = (nanoUsd: number, isLowerBound: boolean): string =>
  isLowerBound ? leastDollars(nanoUsd) : dollars(nanoUsd);
