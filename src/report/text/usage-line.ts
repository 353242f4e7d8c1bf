import type { UsageRow } from "../usage-row.ts";

/** One line of the usage table. */
export interface UsageLine {
  readonly row: UsageRow;
  /** This line stands for so many empty ones. */
  readonly skipped?: number;
  readonly keys: readonly string[];
  readonly isTotal: boolean;
}
