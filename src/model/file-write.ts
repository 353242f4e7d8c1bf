/**
 * One contiguous change of one file by a tool call, without its text. A call that changes several places of a file gives one for each,
 * so that ranges have no lines in them that were not written, and sums over them are the call's sums.
 */
export interface FileWrite {
  /** As the agent names it: absolute, or relative to the event's folder. */
  readonly path: string;
  /** Absent: unknown, for example whether a file was there before. */
  readonly operation?: "create" | "update" | "delete";
  /** First and last written line in the new file, from 1. Absent if unknown, and where lines were only removed. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** Lines. Absent: unknown. */
  readonly added?: number;
  readonly removed?: number;
}
