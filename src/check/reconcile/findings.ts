import type { Difference } from "./facts.ts";

/** What a comparison found, apart from agreement. */
export interface Findings {
  /** In the order of the flow: the first one is closest to the source of the tokens. */
  readonly differences: readonly Difference[];
  /** What could not be compared and why, one line each. */
  readonly unknown: readonly string[];
  /** Neither agreement nor difference, one line each. */
  readonly remarks: readonly string[];
}

/** The findings of several comparisons, in the order in which they were added. */
export class AllFindings implements Findings {
  readonly differences: Difference[] = [];
  readonly unknown: string[] = [];
  readonly remarks: string[] = [];

  add({ differences = [], unknown = [], remarks = [] }: Partial<Findings>): void {
    this.differences.push(...differences);
    this.unknown.push(...unknown);
    this.remarks.push(...remarks);
  }
}
