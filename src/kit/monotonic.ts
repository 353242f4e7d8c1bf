/** Milliseconds of a clock that is never set. Not `performance.now()`: Node loads its module on first use, which takes 2 ms. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
