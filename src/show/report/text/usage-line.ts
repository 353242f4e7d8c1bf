import type { UsageRow } from "../usage-row.ts";

/** One line of the usage table. */
export interface UsageLine {
  readonly row: UsageRow;
  /** Number of empty lines that this line replaces. */
  readonly skipped?: number;
  readonly keys: readonly string[];
  readonly isTotal: boolean;
}
