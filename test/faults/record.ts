import { appendFileSync } from "node:fs";

/** The result of one group of runs: one row of the tables in docs/reliability.md. */
export interface FaultResult {
  readonly area: "drain" | "backend" | "load" | "input" | "privacy";
  /** What was done to the program, for a reader of the table. */
  readonly fault: string;
  /** How often it was done. */
  readonly runs: number;
  /** Hook calls or other input; over all runs. */
  readonly eventsIn?: number;
  /** Events or spans that were missing at the end. */
  readonly lost?: number;
  /** Spans, tokens or counts that were there twice. */
  readonly duplicates?: number;
  /** The longest time from the restart to the state of an undisturbed run. */
  readonly recoveryMs?: number;
  readonly note?: string;
  /** Additional figures, by name with unit: `p99Ms`, `callsPerSecond`. */
  readonly figures?: Readonly<Record<string, number>>;
}

/**
 * Appends one JSON line to the file that OPENHOOK_FAULTS_RESULTS names; does nothing without it. Call it after the last
 * expectation, so that only proven results are recorded.
 */
export function record(result: FaultResult): void {
  const path = process.env["OPENHOOK_FAULTS_RESULTS"];
  if (path === undefined || path === "") return;
  // One write per line: several workers append to the same file
  appendFileSync(path, `${JSON.stringify(result)}\n`);
}
