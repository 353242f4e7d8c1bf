/** Adds a value to a sum. Unknown is not 0: a sum stays unknown (`null` or `undefined`) until a value is known. */
export const plusKnown = <Unknown extends null | undefined>(
  sum: number | Unknown,
  value: number | null | undefined,
): number | Unknown => (value === undefined || value === null ? sum : (sum ?? 0) + value);

/** The sum of the known values; `undefined` if none is known. */
export const sumKnown = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce<number | undefined>(plusKnown, undefined);
