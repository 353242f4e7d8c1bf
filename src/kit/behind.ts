/** New data on this machine that a command cannot show yet, because importing it takes longer than users should wait. */
export interface Behind {
  /** Absent: the search took too long. */
  readonly sessions?: number;
  readonly bytes: number;
  /** Another import or drain is at work and will have them. */
  readonly isRunning?: true;
}
