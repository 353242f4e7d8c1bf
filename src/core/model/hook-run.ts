import type { TranscriptFile } from "./transcript-reader.ts";

/** One run of a hook, or, if the agent does not tell them apart, of all hooks of an event. No text of any kind. */
export interface HookRun {
  /** Unique over all sessions: a copy of a record, as in a forked session, has the same one. */
  readonly id: string;
  readonly timeMs: number;
  /** As the agent calls it. */
  readonly event: string;
  /** The program, without its arguments, or the agent's own name of the hook. Absent: the agent does not say which hook it was. */
  readonly hook?: string | undefined;
  /** Whether `enable` registered it. Absent: unknown, or others ran with it. */
  readonly isOurs?: boolean | undefined;
  /** `blocked`: it refused, and the agent told its model so. Absent: the agent does not say. */
  readonly outcome?: "ok" | "failed" | "blocked" | undefined;
  readonly durationMs?: number | undefined;
}

/** Finds the runs of hooks in an agent's session files. */
export interface HookRunReader {
  /** False: the agent writes only some runs of this event down, or several as one, so their number is a lower bound. */
  writesAll(event: string): boolean;
  /** False: this version wrote nothing down, so a session without runs says nothing. @default true */
  isIn?(agentVersion: string | undefined): boolean;
  /**
   * The runs in one part of a session, in the order of the file. Of two with one id the last one counts. Throws only what the file
   * system throws.
   */
  read(file: TranscriptFile): AsyncIterable<HookRun>;
}
