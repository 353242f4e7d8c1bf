/** Facts about an intake file that the payload itself does not contain. */
export interface IntakeFacts {
  /** The source named on the hook's command line, if any. */
  readonly source?: string;
  readonly event?: string;
  /** Event time: when the payload was complete on disk. */
  readonly timeMs: number;
  readonly cwd?: string;
  /** Parent of the intake process: the agent, or a shell that it started. */
  readonly parentPid?: number;
  /** Start time of that parent in the system's unit; together with the pid it identifies one process. */
  readonly parentStart?: string;
  /** The agent's process: the parent, or the first process above it that is no shell. Absent: unknown. */
  readonly agentProcess?: { readonly pid: number; readonly start: string };
  /** The pid namespace and the running system in which these pids are valid. Absent: unknown. */
  readonly host?: string;
  /** The intake process itself: distinguishes equal payloads at the same time. */
  readonly hookPid?: number;
  /** The environment variables that the intake records, by name. */
  readonly env: Readonly<Record<string, string>>;
  readonly payloadBytes: number;
  /** True if the intake cut the payload. */
  readonly truncated: boolean;
}
