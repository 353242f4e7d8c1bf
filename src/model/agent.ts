import type { Event, EventType } from "./event.ts";
import type { Offset, TranscriptEntry } from "./transcript.ts";

/** Facts about one intake file that the payload itself does not hold. */
export interface IntakeFacts {
  /** What the hook's command line said, where it said something. */
  readonly source?: string;
  readonly event?: string;
  /** Event time: when the payload was complete on disk. */
  readonly timeMs: number;
  readonly cwd?: string;
  /** Parent of the intake process: the agent, or a shell it started. */
  readonly parentPid?: number;
  /** The few environment variables the intake keeps, by name. */
  readonly env: Readonly<Record<string, string>>;
  readonly payloadBytes: number;
  /** True where the intake had to cut the payload. */
  readonly truncated: boolean;
}

export type Recognition = "certain" | "possible" | "no";

/**
 * Which part of a session an agent's events settle. A transcript file is read when an event of its session came in.
 */
export interface TranscriptFile {
  readonly path: string;
  /** The subagent this file belongs to; absent for the main file. */
  readonly agentId?: string;
}

export interface TranscriptReader {
  /** Every session's main file below a home directory, for `import`. Yields nothing where there is none. */
  locate(home: string): AsyncIterable<string>;
  /** All files of one session that exist now, main file first. `mainPath` need not exist. */
  files(mainPath: string, sessionId: string): Promise<readonly TranscriptFile[]>;
  /**
   * Entries from an offset on, oldest first, each with the offset that follows it. Ends at the last complete line.
   * Lines it does not know yield nothing. Throws only what the file system throws.
   */
  read(file: TranscriptFile, from: Offset): AsyncIterable<TranscriptBatch>;
}

/** What a stretch of a file held. */
export interface TranscriptBatch {
  readonly entries: readonly TranscriptEntry[];
  readonly next: Offset;
  /** Complete lines that were no JSON object of a shape we can read. */
  readonly unreadable: number;
}

/** One place where an agent keeps its settings. */
export interface InstallTarget {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Puts our hook command into an agent's settings and takes it out again. Both are pure text → text. */
export interface Installer {
  /** Scopes the agent offers. */
  readonly scopes: readonly ("user" | "project")[];
  path(scope: "user" | "project", target: InstallTarget): string;
  /**
   * @param text the settings file as it is; `undefined` when there is none
   * @param command what the agent shall run: gives the command line for one registration
   * @param version the agent's version, where it could be found out
   * @returns the file with exactly our registrations in it; the same text when they are there already
   * @throws SettingsError when the file is not what the agent itself could read
   */
  add(text: string | undefined, command: HookCommand, version: string | undefined): string;
  /** @returns the file without our registrations, or `undefined` when nothing but ours was in it */
  remove(text: string): string | undefined;
  /** Native event names that `text` has us registered for. Empty when it cannot be read. */
  registered(text: string): readonly string[];
  /** The installed agent's version, or `undefined` when it is not found. Never runs longer than a few seconds. */
  detectVersion(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined>;
}

/** Gives the command line an agent shall run. `drain`: also start a drain; `if-waiting`: only if files wait. */
export type HookCommand = (options: { readonly source: string; readonly drain: "yes" | "if-waiting" | "no" }) => string;

/** The contract of an agent folder. */
export interface Agent {
  /** Kebab-case; the envelope's `source`. */
  readonly source: string;
  readonly title: string;
  /** Vendor page the adapter was written from. */
  readonly docs: string;
  /** OpenTelemetry's name of the provider whose models it calls, where there is only one. */
  readonly provider?: string;
  /** Declared: "never sent" must not look like "zero". */
  readonly emits: readonly EventType[];
  readonly tokens: "transcript" | "payload" | "none";
  /** Constant stdout the agent waits for; absent = silence. */
  readonly reply?: string;
  recognises(payload: unknown, intake: IntakeFacts): Recognition;
  /** Pure; never throws; `[]` = nothing to tell. */
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[];
  readonly transcript?: () => Promise<{ default: TranscriptReader }>;
  readonly installer?: () => Promise<{ default: Installer }>;
}
