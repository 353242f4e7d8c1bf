/** Failed calls of all calls. */
export interface Failures {
  readonly failed: number;
  readonly calls: number;
}

/**
 * Whether clearly more calls failed than usual: two standard deviations, so that not half of all rows stand out by
 * chance. A single failure never does, because agents try things.
 */
export function standsOut({ failed, calls }: Failures, usual: Failures): boolean {
  const expected = usual.calls === 0 ? 0 : (usual.failed / usual.calls) * calls;
  return failed > 1 && failed > expected + 2 * Math.sqrt(expected);
}

export const sumOfFailures = (all: readonly Failures[]): Failures =>
  all.reduce((sum, { failed, calls }) => ({ failed: sum.failed + failed, calls: sum.calls + calls }), {
    failed: 0,
    calls: 0,
  });

/** Whether a session is worth a look for its failures alone: at least three calls, and more than twice the usual share. */
export const failsOften = ({ failed, calls }: Failures, usual: Failures): boolean =>
  failed >= 3 && failed * usual.calls > 2 * usual.failed * calls;
