/** Adds a value to a sum of several calls. Unknown is not 0: a sum stays unknown (`null` or `undefined`) until a value is known. */
export const plusKnown = <Unknown extends null | undefined>(
  sum: number | Unknown,
  value: number | null | undefined,
): number | Unknown => (value === undefined || value === null ? sum : (sum ?? 0) + value);

/** The sum of the known values; `undefined` if none is known. */
export const sumKnown = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce<number | undefined>(plusKnown, undefined);

/**
 * A figure that includes others, such as input that includes the cache. A part that is not reported adds nothing; without the
 * figure itself the result is unknown, even if its parts are known.
 */
export const withParts = (own: number | undefined, ...parts: readonly (number | undefined)[]): number | undefined =>
  own === undefined ? undefined : sumKnown([own, ...parts]);

/** The sum of values that are all needed: unknown if one of them is. */
export const sumOfAll = (...values: readonly (number | undefined)[]): number | undefined =>
  values.includes(undefined) ? undefined : sumKnown(values);
