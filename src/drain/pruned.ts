/** What pruning removed. */
export interface Pruned {
  readonly sessions: number;
  readonly rows: number;
  /** Old enough, but waiting for a backend or not settled. */
  readonly kept: number;
  readonly quarantined: number;
  /** By which the store's file is smaller. */
  readonly freedBytes: number;
  /** Why the file was not made smaller, where it could have been. */
  readonly notSmaller?: string;
}
