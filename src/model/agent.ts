import type { Content, ToldContent } from "./content.ts";
import type { Event, EventType } from "./event.ts";
import type { FactTables } from "./fact-tables.ts";
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
  /** When that parent was started, in the system's own unit; with its pid it names one process for ever. */
  readonly parentStart?: string;
  /** The intake process itself: tells two equal payloads of one moment apart. */
  readonly hookPid?: number;
  /** The few environment variables the intake keeps, by name. */
  readonly env: Readonly<Record<string, string>>;
  readonly payloadBytes: number;
  /** True where the intake had to cut the payload. */
  readonly truncated: boolean;
}

/**
 * `certain`: nobody else sends this. `likely`: the shape alone says so, and it may be another's if the command line names
 * one. `possible`: only if the command line names us.
 */
export type Recognition = "certain" | "likely" | "possible" | "no";

/** One readable part of a session's transcript. */
export interface TranscriptFile {
  readonly path: string;
  /** The subagent this file belongs to; absent for the main file. */
  readonly agentId?: string;
  /** Names this part where several sessions share one file, as in a database. @default path */
  readonly key?: string;
  /** Files whose size and time tell whether there is news, where it is not `path` alone. @default [path] */
  readonly watch?: readonly string[];
  /** Folders that everything which is read must really lie in. Absent: anywhere. */
  readonly roots?: readonly string[];
}

/** How large one part of a session is, and when it was last written: of all files that it consists of, together. */
export interface PartSize {
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** What is known of a session whose transcript is wanted. */
export interface TranscriptQuery {
  readonly sessionId: string;
  /** As hooks told it; need not exist. Absent where they never do. */
  readonly path?: string;
  readonly home: string;
  /** Folders that everything which is read must really lie in. Absent: anywhere. */
  readonly roots?: readonly string[];
  /** A folder that cannot be looked into, so that parts may be missing. @default nobody hears of it */
  readonly onProblem?: (path: string, error: Error) => void;
}

/** Where past sessions are looked for. */
export interface LocateQuery {
  readonly home: string;
  /**
   * The folders (or files) to look in: those of `roots` for the usual and every other environment, and any the user named. The
   * agent's folder, or the home above it, does as well. What lies in two of them is found once.
   */
  readonly roots: readonly string[];
  /** What was passed over, with the reason: a folder that cannot be read, a link that leads out, a form we cannot read. */
  readonly onProblem: (path: string, error: Error) => void;
}

/** A query for `files`; the folders that may be read are still to be said. `path` need not exist. */
export type LocatedSession = Omit<TranscriptQuery, "roots"> & {
  readonly path: string;
  /** Of the file at `path`, where looking for it has shown that it is all there is: `files` would give that one alone. */
  readonly only?: PartSize;
};

export interface TranscriptReader {
  /**
   * The folders (or files) that this agent keeps its sessions in: nothing else is read, whatever path a payload tells.
   * Absolute, as narrow as the agent's own layout allows; they need not exist.
   *
   * @param env as the intake kept it: variables that move the agent's folders
   */
  roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[];
  /**
   * Every past session, for `import`: each once, under the id that the agent's hooks tell, as `files` and `read` know it. The
   * order is the same each time, the oldest first as far as that is known without reading: who copied another's history
   * comes after it. No file is opened where its name says enough. What a session holds is not known yet: it can be nothing.
   *
   * Subagents are no sessions of their own. One whose session is gone is given as that session: `path` is then where the
   * session would be, or the subagent's own file, and `files` gives what is left.
   *
   * @throws never; what cannot be looked at, or must not, is told to `onProblem`, and the rest is found
   */
  locate(query: LocateQuery): AsyncIterable<LocatedSession>;
  /** All parts of one session that exist now, the main one first; empty when there is none. */
  files(query: TranscriptQuery): Promise<readonly TranscriptFile[]>;
  /**
   * Entries from an offset on, oldest first, each batch with the offset that follows it. Files of lines end at the last
   * complete line; files that are rewritten as a whole give all their entries again, with an empty memo. Records it does not know yield
   * nothing. Throws only what the file system throws.
   */
  read(file: TranscriptFile, from: Offset, options?: ReadOptions): AsyncIterable<TranscriptBatch>;
  /**
   * The same for a whole session at once, as tables, and many times as fast; for readers that have nothing else to do. One at
   * a time: the next one begins anew.
   *
   * @param guard what every entry passes on its way into the store
   * @returns `undefined` where this engine cannot
   */
  scan?(guard: (entries: readonly TranscriptEntry[]) => readonly TranscriptEntry[]): SessionScan | undefined;
}

/** A session that is read at once. What it gives is what `read` gives from the start, merged; or it gives nothing. */
export interface SessionScan {
  /**
   * @returns `undefined`: it holds something that must be weighed. Then the whole session is to be read by `read`
   * @throws only what the file system throws
   */
  file(file: TranscriptFile): FileScan | undefined;
  /**
   * Of all files so far; to be used before the next scan begins.
   *
   * @returns `undefined` likewise
   */
  tables(): FactTables | undefined;
}

/** What a file held beside what is in the tables. */
export interface FileScan extends Required<Pick<TranscriptBatch, "next" | "unreadable" | "records" | "unknownKinds">> {
  /** What is told of the session as a whole, guarded. */
  readonly entries: readonly TranscriptEntry[];
  /** Of the file, before it was read: what came meanwhile is news. */
  readonly before: PartSize;
}

export interface ReadOptions {
  /** Also give what was written. Without it nothing of that is built. @default false */
  readonly content?: boolean;
  /** Wait for the disk, as threads do that have nothing else to do. @default false */
  readonly blocks?: boolean;
}

/** What a stretch of a file held. */
export interface TranscriptBatch {
  readonly entries: readonly TranscriptEntry[];
  /** Only where it was asked for. Texts as they stand there, whatever is secret in them. */
  readonly content?: readonly ToldContent[];
  readonly next: Offset;
  /** Complete lines that were no JSON object of a shape we can read. */
  readonly unreadable: number;
  /** Lines, or what stands in their place, that were read, whether or not they told anything. @default 0 */
  readonly records?: number;
  /** Kinds of records that the reader has never heard of, with how often they came. */
  readonly unknownKinds?: ReadonlyMap<string, number>;
}

/** Whose settings. */
export interface InstallTarget {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A settings file as it is, or shall be; `undefined`: there is none. */
export interface SettingsText {
  readonly path: string;
  readonly text: string | undefined;
}

/** What is to be registered. */
export interface Registration {
  readonly scope: "user" | "project";
  readonly target: InstallTarget;
  /** Gives the command line of one registration. */
  readonly command: HookCommand;
  /** The agent's version, where it could be found out and counts: in the user's own settings. */
  readonly version: string | undefined;
}

/** Something that keeps registered hooks from doing their work, with what to do. No content, no secrets. */
export interface Finding {
  readonly level: "broken" | "remark";
  readonly text: string;
}

/**
 * Puts our hook command into an agent's settings and takes it out again. `add`, `remove` and `registered` are pure: texts
 * of all files of one scope in, texts of the same files out, in the same order.
 */
export interface Installer {
  /** Scopes the agent offers. */
  readonly scopes: readonly ("user" | "project")[];
  /** The files that registrations of a scope are in or go to, in the order they must be written; never empty. */
  paths(scope: "user" | "project", target: InstallTarget): Promise<readonly string[]>;
  /**
   * @returns the files with exactly our registrations in them; the same texts when they are there already
   * @throws SettingsError when a file is not what the agent itself could read
   */
  add(files: readonly SettingsText[], registration: Registration): readonly SettingsText[];
  /** @returns the files without our registrations; a text of `undefined` where nothing but ours was in it */
  remove(files: readonly SettingsText[]): readonly SettingsText[];
  /** Native event names that the files have us registered for. Empty when they cannot be read. Never throws. */
  registered(files: readonly SettingsText[]): readonly string[];
  /** What keeps these registrations from running: trust, versions, shadowed files. Looks only. Empty when all is well. */
  check?(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]>;
  /** Whether the agent is on this machine, and its version where it tells. Never runs longer than a few seconds. */
  detect(target: InstallTarget): Promise<{ readonly present: boolean; readonly version?: string }>;
}

/**
 * Gives the command line an agent shall run. `event` where the payload does not name it; `reply` where stdout must not stay
 * empty. `drain`: also start a drain; `if-waiting`: only if files wait. `shell`: `user` where the agent runs it in the shell that
 * its user has chosen, which may be none that POSIX knows.
 */
export type HookCommand = (options: {
  readonly source: string;
  readonly event?: string;
  readonly reply?: string;
  readonly drain: "yes" | "if-waiting" | "no";
  readonly shell?: "user";
}) => string;

/** What an agent gives us, as far as its events and `tokens` do not say it: one row of the README's table. */
export interface Capabilities {
  /** `recorded`: the real program ran; `documented`: public documentation and captures alone. */
  readonly basis: "recorded" | "documented";
  /** Versions that were looked at, e.g. `2.0.77 to 2.1.329`. */
  readonly versions?: string;
  readonly subagents: boolean;
  /** Where session ids come from; `minted` where some payloads have none. */
  readonly sessionIds: "native" | "minted";
  /** Where ids of tool calls come from; `transcript`: hooks have none, the transcript does. */
  readonly callIds: "native" | "transcript" | "minted";
  /** `payload`: a payload told twice is one event; `arrival`: nothing in it tells two equal ones apart but their time. */
  readonly eventIds: "payload" | "arrival";
}

/** Names that the agent came with, as its events and entries have them. What is not here, somebody added. */
export interface OwnNames {
  readonly tools: readonly string[];
  /** Of subagents. */
  readonly agentTypes: readonly string[];
}

/** The facts that one payload told. */
export interface ToldFacts {
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
}

/**
 * What names an agent's payloads hold, recorded or documented: what is beyond them is counted, so that an agent's update is
 * seen before it costs anything. Snake case and camel case are one name.
 */
export interface KnownNames {
  /** Of events, told or not. */
  readonly events: readonly string[];
  /** Of the members at the top of a payload. */
  readonly fields: readonly string[];
  /**
   * The event's name in a payload. Pure; never throws.
   *
   * @default `hook_event_name`, else what the command line says
   */
  eventOf?(payload: object, intake: IntakeFacts): string | undefined;
}

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
  /** False: what it runs calls no model. That no tokens are told then means that none were used. @default true */
  readonly callsModels?: boolean;
  /** True: it tells that a session is complete while subagents are at work, and these go on. @default false */
  readonly endsBeforeSubagents?: boolean;
  /**
   * True: an ordinary session of it ends without a word. One that went silent then ended as its last turn did, instead of
   * having been killed or left open.
   *
   * @default true where `emits` has no `session.end`
   */
  readonly endsSilently?: boolean;
  readonly capabilities: Capabilities;
  readonly known?: KnownNames;
  recognises(payload: unknown, intake: IntakeFacts): Recognition;
  /** Pure; never throws; `[]` = nothing to tell. */
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[];
  /**
   * What a payload tells in the transcript's stead, in the transcript's form: model calls of agents that write their
   * tokens nowhere else. Pure; never throws. The session is that of the payload's events: there is at least one.
   */
  toEntries?(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[];
  /**
   * What a payload says beside metadata: prompts, arguments, results, answers, as they stand there. Asked for only where
   * the user wants content kept. Pure; never throws.
   *
   * @param told what `toEvents` and `toEntries` made of it; each content names one of these
   */
  toContent?(payload: unknown, told: ToldFacts): readonly Content[];
  /** Files of a project, relative to its folder, that it takes environment variables from; beside `.env`. */
  readonly setsVariablesFrom?: readonly string[];
  /** Names that are the agent's own; any other was given by somebody. Absent: there is none. */
  readonly own?: OwnNames;
  /** One line each for the log, where a payload was taken with reservations. No content. */
  remarks?(payload: unknown): readonly string[];
  readonly transcript?: () => Promise<{ default: TranscriptReader }>;
  readonly installer?: () => Promise<{ default: Installer }>;
}
