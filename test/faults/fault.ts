import type { FaultPoint } from "#kit/fault-points.ts";

/** A fault of the program: at the n-th pass of a step, before or after the step's work. */
export interface Fault {
  readonly step: FaultPoint;
  /** From 1. */
  readonly occurrence: number;
  readonly when: "before" | "after";
  readonly kind: FaultKind;
}

/** `kill`: SIGKILL to itself; `throw`: an error without a code; otherwise the file system's code. */
export type FaultKind = (typeof KINDS)[number];

export const KINDS = ["kill", "throw", "ENOSPC", "EIO", "EACCES"] as const;

/**
 * The faults for a traced run: each step that it passed, before and after, of each kind. Of a step that is passed often, the first
 * passes, the last, and some in between.
 *
 * @param trace names of the steps in the order in which they were passed
 * @param most maximum number of faults per step, by kind
 */
export function faultsFor(trace: readonly FaultPoint[], most: (kind: FaultKind) => number): readonly Fault[] {
  const times = new Map<FaultPoint, number>();
  for (const step of trace) times.set(step, (times.get(step) ?? 0) + 1);
  return [...times].flatMap(([step, n]) =>
    KINDS.flatMap((kind) =>
      spread(n, most(kind)).flatMap((occurrence) =>
        (["before", "after"] as const).map((when) => ({ step, occurrence, when, kind })),
      ),
    ),
  );
}

export const nameOf = ({ step, occurrence, when, kind }: Fault): string => `${kind} ${when} ${step} #${occurrence}`;

// --- internal ---

/** At most `count` numbers from 1 to n, including the first and the last. */
function spread(n: number, count: number): readonly number[] {
  if (n <= count) return Array.from({ length: n }, (_, i) => i + 1);
  if (count === 1) return [Math.ceil(n / 2)];
  return Array.from({ length: count }, (_, i) => 1 + Math.round((i * (n - 1)) / (count - 1)));
}
