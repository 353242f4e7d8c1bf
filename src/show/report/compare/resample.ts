import { randomNumbers } from "#kit/random.ts";

/**
 * What one session adds to a measure: the measure of a group is the sum of `x` divided by the sum of `y`, so a session counts as much as
 * there is of it. Sessions, not turns, are drawn: the turns of one session resemble each other.
 */
export interface Unit {
  readonly x: number;
  readonly y: number;
}

/** `ratio`: how many times as much; `share`: the difference of two shares. */
export type Scale = "ratio" | "share";

/** How much B differs from A. */
export interface Difference {
  /** Of a ratio B / A - 1, of a share B - A. Absent: A is 0. */
  readonly change?: number;
  /** 95 % interval of `change`. Absent: a side is 0, or has so little to divide by that there are no bounds. */
  readonly interval?: readonly [low: number, high: number];
  /** How often sessions that are dealt to the sides at random differ at least as much. */
  readonly p: number;
}

/** Times that sessions are drawn again, and dealt to the sides again. */
export const RESAMPLES = 2000;
/** Fewer sessions on a side say nothing. */
export const MIN_SESSIONS = 8;
/** How often at least one difference may be shown where there is none. */
export const LEVEL = 0.05;

/** The measure of a group. @returns `undefined` if there is nothing to divide by */
export function measured(units: readonly Unit[]): number | undefined {
  const { x, y } = sumsOf(units);
  return y > 0 ? x / y : undefined;
}

/**
 * Compares two groups of sessions. Exchanging the sides exchanges the signs and bounds, and nothing else.
 *
 * @param isFirst false if B comes first in an order that does not depend on which side is called A
 * @returns `undefined` if the measure of a side is unknown
 */
export function differenceOf(
  a: readonly Unit[],
  b: readonly Unit[],
  scale: Scale,
  isFirst = true,
): Difference | undefined {
  const [first, second] = isFirst ? [a, b] : [b, a];
  const [sums, others] = [sumsOf(first), sumsOf(second)];
  if (!(sums.y > 0 && others.y > 0)) return undefined;
  // Where a side is 0 only the difference can be tested
  const isLog = scale === "ratio" && sums.x > 0 && others.x > 0;
  const observed = gap(sums, others, isLog);
  const p = shareOfLarger(first, second, observed, isLog);
  const bounds = scale === "ratio" && !isLog ? undefined : boundsOf(first, second, observed, isLog);
  const sign = isFirst ? 1 : -1;
  const shown = (value: number): number => (isLog ? Math.expm1(sign * value) : sign * value) + 0;
  const [low, high] = (bounds ?? []).map(shown).sort((one, other) => one - other);
  const [ofA, ofB] = isFirst ? [sums, others] : [others, sums];
  const change =
    scale === "share" || isLog ? shown(observed.difference) : ofB.x === ofA.x ? 0 : ofA.x === 0 ? undefined : -1;
  return {
    ...(change !== undefined && { change }),
    ...(low !== undefined && high !== undefined && Number.isFinite(high) && { interval: [low, high] }),
    p,
  };
}

/**
 * Corrects several p-values so that all of them together keep the level (Holm).
 *
 * @returns in the same order
 */
export function corrected(values: readonly number[]): readonly number[] {
  const order = values.map((_, at) => at).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const result = values.map(() => 1);
  let least = 0;
  for (const [rank, at] of order.entries()) {
    least = Math.max(least, Math.min(1, (values[at] ?? 1) * (values.length - rank)));
    result[at] = least;
  }
  return result;
}

// --- internal ---

/** Sums over a group, enough for its measure and the variance of it. */
interface Sums {
  n: number;
  x: number;
  y: number;
  xx: number;
  xy: number;
  yy: number;
}

const noSums = (): Sums => ({ n: 0, x: 0, y: 0, xx: 0, xy: 0, yy: 0 });

function add(sums: Sums, { x, y }: Unit): void {
  sums.n += 1;
  sums.x += x;
  sums.y += y;
  sums.xx += x * x;
  sums.xy += x * y;
  sums.yy += y * y;
}

function sumsOf(units: readonly Unit[]): Sums {
  const sums = noSums();
  for (const unit of units) add(sums, unit);
  return sums;
}

const without = (all: Sums, part: Sums): Sums => ({
  n: all.n - part.n,
  x: all.x - part.x,
  y: all.y - part.y,
  xx: all.xx - part.xx,
  xy: all.xy - part.xy,
  yy: all.yy - part.yy,
});

/** The difference of two groups, and its standard error from the sessions' distances to the measure of their group. */
interface Gap {
  readonly difference: number;
  readonly error: number;
}

function gap(a: Sums, b: Sums, isLog: boolean): Gap {
  const [one, other] = [a.x / a.y, b.x / b.y];
  const [ofOne, ofOther] = [variance(a, one), variance(b, other)];
  if (!isLog) return { difference: snapped(other - one, one), error: Math.sqrt(ofOne + ofOther) };
  const difference = snapped(Math.log(other) - Math.log(one), 1);
  return { difference, error: Math.sqrt(ofOne / one ** 2 + ofOther / other ** 2) };
}

function variance({ n, y, xx, xy, yy }: Sums, ratio: number): number {
  const sum = xx - 2 * ratio * xy + ratio ** 2 * yy;
  // What is left of equal numbers after rounding
  if (n < 2 || sum <= ROUNDING * (xx + ratio ** 2 * yy)) return 0;
  return ((n / (n - 1)) * sum) / y ** 2;
}

/** Any number: the same sessions always give the same answer. */
const SEED = 20_261_130;
const ROUNDING = 1e-12;
const snapped = (difference: number, size: number): number =>
  Math.abs(difference) <= ROUNDING * Math.abs(size) ? 0 : difference;

/** Differences are compared in units of their error: one large session changes both. */
const inErrors = (difference: number, error: number): number => (difference === 0 ? 0 : difference / error);

/** Deals all sessions to two sides of the same sizes again and again. */
function shareOfLarger(a: readonly Unit[], b: readonly Unit[], observed: Gap, isLog: boolean): number {
  const isFewer = a.length <= b.length;
  const units = [...a, ...b];
  const all = sumsOf(units);
  const least = Math.abs(inErrors(observed.difference, observed.error)) * (1 - 1e-9);
  const next = randomNumbers(SEED);
  let larger = 0;
  for (let round = 0; round < RESAMPLES; round++) {
    const part = noSums();
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      const chosen = at + Math.floor(next() * (units.length - at));
      const unit = units[chosen] as Unit;
      units[chosen] = units[at] as Unit;
      units[at] = unit;
      add(part, unit);
    }
    const rest = without(all, part);
    const { difference, error } = isFewer ? gap(part, rest, isLog) : gap(rest, part, isLog);
    // Sides without a measure are as far apart as can be
    const distance = Math.abs(inErrors(difference, error));
    if (Number.isNaN(distance) || distance >= least) larger++;
  }
  return (larger + 1) / (RESAMPLES + 1);
}

/** Draws the sessions of each side again, with replacement (symmetric bootstrap-t). */
function boundsOf(
  a: readonly Unit[],
  b: readonly Unit[],
  { difference, error }: Gap,
  isLog: boolean,
): readonly [number, number] {
  if (error === 0) return [difference, difference];
  const next = randomNumbers(SEED);
  const distances = new Float64Array(RESAMPLES);
  for (let round = 0; round < RESAMPLES; round++) {
    const drawn = gap(drawnFrom(a, next), drawnFrom(b, next), isLog);
    const distance = inErrors(drawn.difference - difference, drawn.error);
    // A side that was drawn without anything to divide by is as far away as can be
    distances[round] = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : Math.abs(distance);
  }
  const most = distances.sort()[Math.ceil((1 - LEVEL) * (RESAMPLES + 1)) - 1] ?? 0;
  return [difference - most * error, difference + most * error];
}

function drawnFrom(units: readonly Unit[], next: () => number): Sums {
  const sums = noSums();
  for (let drawn = 0; drawn < units.length; drawn++) add(sums, units[Math.floor(next() * units.length)] as Unit);
  return sums;
}
