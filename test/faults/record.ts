import { appendFileSync } from "node:fs";

/** What one group of runs showed: one row of the tables in docs/reliability.md. */
export interface FaultResult {
  readonly area: "drain" | "backend" | "load" | "input" | "privacy";
  /** What was done to the program, in words that a reader of the table understands. */
  readonly fault: string;
  /** How often it was done. */
  readonly runs: number;
  /** Hook calls, or what else went in; over all runs. */
  readonly eventsIn?: number;
  /** Events or spans that were gone at the end. */
  readonly lost?: number;
  /** Spans, tokens or counts that were there twice. */
  readonly duplicates?: number;
  /** The longest time from the restart to the state of an undisturbed run. */
  readonly recoveryMs?: number;
  readonly note?: string;
  /** Figures of their own, by name with the unit: `p99Ms`, `callsPerSecond`. */
  readonly figures?: Readonly<Record<string, number>>;
}

/**
 * Appends one JSON line to the file that OPENHOOK_FAULTS_RESULTS names; does nothing where it names none. Call it after
 * the last expectation: what is recorded has been proven.
 */
export function record(result: FaultResult): void {
  const path = process.env["OPENHOOK_FAULTS_RESULTS"];
  if (path === undefined || path === "") return;
  // One write of one line: several workers append to the same file
  appendFileSync(path, `${JSON.stringify(result)}\n`);
}
