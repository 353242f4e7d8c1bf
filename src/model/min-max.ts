/**
 * The least of any number of values: a turn can have more calls than `Math.min(...)` takes arguments.
 *
 * @param among one more value. @default Infinity
 * @returns `among` where there is no other
 */
export const minOf = (values: readonly number[], among = Infinity): number =>
  values.reduce((least, value) => Math.min(least, value), among);

/**
 * The greatest of any number of values, likewise.
 *
 * @param among one more value. @default -Infinity
 * @returns `among` where there is no other
 */
export const maxOf = (values: readonly number[], among = -Infinity): number =>
  values.reduce((greatest, value) => Math.max(greatest, value), among);
