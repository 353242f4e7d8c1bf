import type { TokenUsage } from "../../model/transcript.ts";
import { difference, isSameUsage } from "./usage.ts";

/** A counter whose totals were seen in a thread. A thread can have several: their lines alternate. */
export interface Series<Call = unknown> {
  /** The highest total so far. */
  readonly total: TokenUsage;
  /** The rate limit (`limit_id`) that its last line names. */
  readonly lane?: string | undefined;
  /** Began with a fall that may be a snapshot written late. It counts when a new total continues it. */
  readonly isDoubtful?: true | undefined;
  /** The calls of a doubtful series, kept by the caller. */
  readonly calls?: readonly Call[] | undefined;
}

/** A `token_count` line, with what precedes it. */
export interface TotalsLine {
  readonly total: TokenUsage;
  /** `last_token_usage`: what the last call used. */
  readonly last: TokenUsage | undefined;
  readonly lane: string | undefined;
  /** The model answered since the last call. */
  readonly hasAnswer: boolean;
  /** The thread may continue another thread's totals, and has no answer so far. */
  readonly isOpening: boolean;
  readonly isFork: boolean;
  /** An unreadable line precedes it: a call can be missing. */
  readonly isAfterGap: boolean;
}

/** The series after a line, the one the line belongs to last. */
export interface Step<Call> {
  readonly series: readonly Series<Call>[];
  /** What the line's call used. `undefined` if it has none: totals are written several times. */
  readonly used?: TokenUsage | undefined;
  /** The call may be none: it counts when a new total continues its series. */
  readonly isDoubtful?: true;
  /** The doubtful series that this line continues. */
  readonly confirmed?: Series<Call> | undefined;
}

/**
 * What a line of running totals adds. The last call's own figures decide, the total is the check; README.md beside this file has
 * the table of shapes.
 *
 * @param series the thread's series, the most recent one last
 * @param isSeen whether the thread had this total before
 */
export function advance<Call>(series: readonly Series<Call>[], line: TotalsLine, isSeen: boolean): Step<Call> {
  const { total, last, lane } = line;
  // Written when the context window is full: both counts are zero, and the next total begins anew
  if (isZero(total)) return { series };
  if (series.some((one) => isSameUsage(one.total, total))) return { series };
  const begin = (used?: TokenUsage): Step<Call> => ({ series: bounded([...series, { total, lane }]), used });
  const doubt = (used: TokenUsage | undefined): Step<Call> => ({
    series: bounded([...series, { total, lane, isDoubtful: true }]),
    used,
    isDoubtful: true,
  });
  const goOn = (from: Series<Call>, used: TokenUsage | undefined): Step<Call> => {
    const others = series.filter((one) => one !== from);
    // All of it was there before: it may be written again
    if (from.isDoubtful && isSeen) return { series: [...others, { ...from, total }], used, isDoubtful: true };
    return { series: [...others, { total, lane }], used, confirmed: from.isDoubtful && from };
  };

  const isTelling = last !== undefined && !isZero(last);
  const continued = isTelling ? series.findLast((one) => isNext(total, one.total, last)) : undefined;
  if (continued !== undefined) return goOn(continued, last);
  const isFirst = series.length === 0;
  if (line.isOpening && (line.isFork || (isFirst && isTelling && total.input > last.input))) return begin();
  if (isSeen) return line.hasAnswer && isTelling ? doubt(last) : { series };
  // The whole total is a fork's parent's, or of another file
  if (isFirst && last === undefined && line.isFork) return begin();
  if (last !== undefined && !isZero(last) && isAtLeast(last, total)) return begin(total);
  if (isFirst) return begin(last ?? total);

  const rivals = rivalsOf(series, lane);
  const own = rivals.at(-1);
  if (own === undefined) return begin(last ?? sinceNearest(series, total));
  const isLate = (highest: Series): boolean => !isAtLeast(total, highest.total) && isNear(line, highest.total);
  if (isTelling && rivals.some(isLate)) return doubt(last);
  const growth = difference(total, own.total);
  if (growth === undefined) return isLate(own) ? { series } : begin(last ?? total);
  if (!isTelling) return goOn(own, growth);
  return begin(line.isAfterGap || sum(growth) <= sum(last) ? growth : last);
}

// --- internal ---

/** Threads with more series were not seen; the oldest ones are dropped. */
const MAX_SERIES = 16;
const MAX_DOUBTFUL = 8;

function bounded<S extends Series>(series: readonly S[]): readonly S[] {
  const excess = series.filter(({ isDoubtful }) => isDoubtful).length - MAX_DOUBTFUL;
  const oldest = excess > 0 ? series.find(({ isDoubtful }) => isDoubtful) : undefined;
  return series.filter((one) => one !== oldest).slice(-MAX_SERIES);
}

const sum = ({ input, output }: TokenUsage): number => input + output;

/** Whether no count is smaller. */
const isAtLeast = (a: TokenUsage, b: TokenUsage): boolean => a.input >= b.input && a.output >= b.output;

/** Whether a total is the one before plus the last call. */
const isNext = (total: TokenUsage, before: TokenUsage, last: TokenUsage): boolean =>
  total.input - before.input === last.input && total.output - before.output === last.output;

const isZero = (usage: TokenUsage): boolean => sum(usage) === 0;

/** The series of a rate limit. Totals without one can belong to any. */
const rivalsOf = <S extends Series>(series: readonly S[], lane: string | undefined): readonly S[] =>
  series.filter((one) => !one.isDoubtful && (lane === undefined || one.lane === undefined || one.lane === lane));

/** Without the last call's figures: the growth since the highest total below, the smallest that is possible. */
function sinceNearest(series: readonly Series[], total: TokenUsage): TokenUsage {
  const growths = series.flatMap((one) => difference(total, one.total) ?? []);
  return growths.sort((a, b) => sum(a) - sum(b))[0] ?? total;
}

/** A snapshot that is written late is at most a few calls behind. */
const isNear = ({ total, last }: TotalsLine, highest: TokenUsage): boolean =>
  sum(total) * 100 >= sum(highest) * 98 || sum(total) + 2 * sum(last ?? NONE) >= sum(highest);

const NONE: TokenUsage = { input: 0, output: 0 };
