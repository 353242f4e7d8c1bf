import { difference, isSameUsage, type WholeUsage } from "./usage.ts";

/** A counter of a thread, with its totals. A thread can have several, whose lines alternate. */
export interface Series<Call = unknown> {
  /** The highest total so far. */
  readonly total: WholeUsage;
  /** The rate limit (`limit_id`) that its last line names. */
  readonly lane?: string | undefined;
  /** It started with smaller totals, perhaps from a snapshot that was written late. It counts when a new total continues it. */
  readonly isDoubtful?: true | undefined;
  /** The calls of a doubtful series, stored by the caller. */
  readonly calls?: readonly Call[] | undefined;
}

/** A `token_count` line, and facts about the lines before it. */
interface TotalsLine {
  readonly total: WholeUsage;
  /** `last_token_usage`: what the last call used. */
  readonly last: WholeUsage | undefined;
  readonly lane: string | undefined;
  /** The model answered since the last call. */
  readonly hasAnswer: boolean;
  /** The thread has no answer yet, so it may continue another thread's totals. */
  readonly isOpening: boolean;
  readonly isFork: boolean;
  /** A line before it is unreadable, so a call can be missing. */
  readonly isAfterGap: boolean;
}

/** The series after a line; the last one is the line's. */
interface Step<Call> {
  readonly series: readonly Series<Call>[];
  /** Usage of the line's call; `undefined` if the line has no new call: totals are written several times. */
  readonly used?: WholeUsage | undefined;
  /** The call counts only when a new total continues its series. */
  readonly isDoubtful?: true;
  /** The doubtful series that this line continues. */
  readonly confirmed?: Series<Call> | undefined;
}

/**
 * The usage that a line of running totals adds. It is taken from `last_token_usage` and checked with the total; README.md beside
 * this file has a table of the cases.
 *
 * @param series the thread's series, the most recent one last
 * @param isSeen whether an earlier line of the thread had this total
 */
export function advance<Call>(series: readonly Series<Call>[], line: TotalsLine, isSeen: boolean): Step<Call> {
  const { total, last, lane } = line;
  // Written when the context window is full: both counts are zero, and the next total restarts
  if (isZero(total)) return { series };
  if (series.some((one) => isSameUsage(one.total, total))) return { series };
  const startSeries = (used?: WholeUsage): Step<Call> => ({ series: limited([...series, { total, lane }]), used });
  const startDoubtfulSeries = (used: WholeUsage | undefined): Step<Call> => ({
    series: limited([...series, { total, lane, isDoubtful: true }]),
    used,
    isDoubtful: true,
  });
  const continueSeries = (from: Series<Call>, used: WholeUsage | undefined): Step<Call> => {
    const others = series.filter((one) => one !== from);
    // All its totals are known, so they may only be repeated
    if (from.isDoubtful && isSeen) return { series: [...others, { ...from, total }], used, isDoubtful: true };
    return { series: [...others, { total, lane }], used, confirmed: from.isDoubtful && from };
  };

  const hasLastUsage = last !== undefined && !isZero(last);
  const continued = hasLastUsage ? series.findLast((one) => isPreviousPlusLast(total, one.total, last)) : undefined;
  if (continued !== undefined) return continueSeries(continued, last);
  const isFirst = series.length === 0;
  if (line.isOpening && (line.isFork || (isFirst && hasLastUsage && total.input > last.input))) return startSeries();
  if (isSeen) return line.hasAnswer && hasLastUsage ? startDoubtfulSeries(last) : { series };
  // The total is from the parent of a fork, or from another file
  if (isFirst && last === undefined && line.isFork) return startSeries();
  if (last !== undefined && !isZero(last) && isAtLeast(last, total)) return startSeries(total);
  if (isFirst) return startSeries(last ?? total);

  const candidates = seriesOfLimit(series, lane);
  const own = candidates.at(-1);
  if (own === undefined) return startSeries(last ?? growthSinceNearest(series, total));
  const isLate = (highest: Series): boolean =>
    !isAtLeast(total, highest.total) && isFewCallsBehind(line, highest.total);
  if (hasLastUsage && candidates.some(isLate)) return startDoubtfulSeries(last);
  const growth = difference(total, own.total);
  if (growth === undefined) return isLate(own) ? { series } : startSeries(last ?? total);
  if (!hasLastUsage) return continueSeries(own, growth);
  return startSeries(line.isAfterGap || sum(growth) <= sum(last) ? growth : last);
}

// --- internal ---

/** More series were never observed in a thread; the oldest ones are dropped. */
const MAX_SERIES = 16;
const MAX_DOUBTFUL = 8;

function limited<S extends Series>(series: readonly S[]): readonly S[] {
  const excess = series.filter(({ isDoubtful }) => isDoubtful).length - MAX_DOUBTFUL;
  const oldest = excess > 0 ? series.find(({ isDoubtful }) => isDoubtful) : undefined;
  return series.filter((one) => one !== oldest).slice(-MAX_SERIES);
}

const sum = ({ input, output }: WholeUsage): number => input + output;

/** Whether no count is smaller. */
const isAtLeast = (a: WholeUsage, b: WholeUsage): boolean => a.input >= b.input && a.output >= b.output;

/** Whether a total is the one before plus the last call. */
const isPreviousPlusLast = (total: WholeUsage, before: WholeUsage, last: WholeUsage): boolean =>
  total.input - before.input === last.input && total.output - before.output === last.output;

const isZero = (usage: WholeUsage): boolean => sum(usage) === 0;

/** The series of a rate limit. Totals that name no limit can belong to any series. */
const seriesOfLimit = <S extends Series>(series: readonly S[], lane: string | undefined): readonly S[] =>
  series.filter((one) => !one.isDoubtful && (lane === undefined || one.lane === undefined || one.lane === lane));

/** For lines without the last call's usage: the smallest possible growth, since the highest total below this one. */
function growthSinceNearest(series: readonly Series[], total: WholeUsage): WholeUsage {
  const growths = series.flatMap((one) => difference(total, one.total) ?? []);
  return growths.sort((a, b) => sum(a) - sum(b))[0] ?? total;
}

/** A snapshot that is written late is at most a few calls behind. */
const isFewCallsBehind = ({ total, last }: TotalsLine, highest: WholeUsage): boolean =>
  sum(total) * 100 >= sum(highest) * 98 || sum(total) + 2 * sum(last ?? NONE) >= sum(highest);

const NONE: WholeUsage = { input: 0, output: 0 };
