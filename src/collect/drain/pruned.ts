/** What pruning removed. */
export interface Pruned {
  readonly sessions: number;
  readonly rows: number;
  /** Sessions that are old enough, but not sent or not settled. */
  readonly kept: number;
  /** Deleted quarantined payloads. */
  readonly quarantined: number;
  /** How much smaller the store's file is. */
  readonly freedBytes: number;
}
