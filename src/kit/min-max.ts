/**
 * The minimum of any number of values: a turn can have more calls than `Math.min(...)` accepts arguments.
 *
 * @param among one more value. @default Infinity
 * @returns `among` if there are no values
 */
export const minOf = (values: readonly number[], among = Infinity): number =>
  values.reduce((least, value) => Math.min(least, value), among);

/**
 * The maximum of any number of values, see `minOf`.
 *
 * @param among one more value. @default -Infinity
 * @returns `among` if there are no values
 */
export const maxOf = (values: readonly number[], among = -Infinity): number =>
  values.reduce((greatest, value) => Math.max(greatest, value), among);
