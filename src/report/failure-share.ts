/** Failed calls of all calls. */
export interface Failures {
  readonly failed: number;
  readonly calls: number;
}

/** Whether more calls failed than usual: a single failure never stands out, because agents try things. */
export const standsOut = ({ failed, calls }: Failures, usual: Failures): boolean =>
  failed > 1 && failed * usual.calls > usual.failed * calls;

export const sumOfFailures = (all: readonly Failures[]): Failures =>
  all.reduce((sum, { failed, calls }) => ({ failed: sum.failed + failed, calls: sum.calls + calls }), {
    failed: 0,
    calls: 0,
  });
