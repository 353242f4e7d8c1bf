import type { Capabilities } from "./capabilities.ts";
import type { Content, ContentUpdate } from "./content.ts";
import type { Event, EventType } from "./event.ts";
import type { FactSink } from "./fact-sink.ts";
import type { FileWrite } from "./file-write.ts";
import type { HookCommand } from "./hook-command.ts";
import type { ManagedInstaller } from "./managed.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Offset, TranscriptEntry } from "./transcript.ts";

export type { Capabilities } from "./capabilities.ts";
export type { HookCommand } from "./hook-command.ts";

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

/**
 * `certain`: no other agent sends this. `likely`: recognised by shape, but it may be another agent's if the command line names
 * one. `possible`: only if the command line names this agent.
 */
export type Recognition = "certain" | "likely" | "possible" | "no";

/** One readable part of a session's transcript. */
export interface TranscriptFile {
  readonly path: string;
  /** The subagent this file belongs to; absent for the main file. */
  readonly agentId?: string;
  /** Identifies this part if several sessions share one file, as in a database. @default path */
  readonly key?: string;
  /** Files whose size and time show whether there is something new, if it is not only `path`. @default [path] */
  readonly watch?: readonly string[];
  /** Everything that is read must really be inside these folders. Absent: anywhere. */
  readonly roots?: readonly string[];
  /** The name under which it is stored how far this part was read. Only the core sets it. @default key, otherwise path */
  readonly positionKey?: string;
}

/**
 * Where a session with a local id comes from: together with the id it identifies one session. Two databases give the same ids, and
 * one database can give the id of a removed session again.
 */
export interface SessionOrigin {
  /** The `path` of the session's parts: the database, or the file of the session itself. */
  readonly database: string;
  /** When the agent created the session, as the database has it; never after its first hook. In milliseconds since the epoch. */
  readonly createdMs: number;
}

/** Size and last modification of one part of a session, over all its files. */
export interface PartSize {
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** What is known of a session whose transcript is needed. */
export interface TranscriptQuery {
  readonly sessionId: string;
  /** As reported by hooks; may not exist. Absent if hooks never report it. */
  readonly path?: string;
  /** The session's own files in all folders, if a search found them; they may not exist. Absent: `files` searches for them. */
  readonly mains?: readonly string[];
  /** Only the session's own files are wanted. A reader may return those of its subagents too. @default false */
  readonly isOwnOnly?: boolean;
  readonly home: string;
  /** Everything that is read must really be inside these folders. Absent: anywhere. */
  readonly roots?: readonly string[];
  /** Called for a folder that cannot be read, so that parts may be missing. @default ignored */
  readonly onProblem?: (path: string, error: Error) => void;
}

/** Where to look for past sessions. */
export interface LocateQuery {
  readonly home: string;
  /**
   * The folders (or files) to search: those of `roots` for the default and every known environment, and any that the user named.
   * The agent's folder, or the home folder above it, is accepted too. A session that is in two of them is returned once.
   */
  readonly roots: readonly string[];
  /** Called with the reason for what was skipped: an unreadable folder, a link that leads out, an unknown format. */
  readonly onProblem: (path: string, error: Error) => void;
}

/** A query for `files`, without the folders that may be read. `path` may not exist. */
export type LocatedSession = Omit<TranscriptQuery, "roots"> & {
  readonly path: string;
  /** Required if the card's session ids are `local`. */
  readonly origin?: SessionOrigin;
  /** What `files` would return, with sizes, if the search has seen all of it. Looking again takes longer than the search. */
  readonly parts?: readonly (PartSize & { readonly file: TranscriptFile })[];
};

export interface TranscriptReader {
  /**
   * The folders (or files) in which this agent keeps its sessions. Nothing else is read, even if a payload contains another
   * path. Absolute, as narrow as the agent's layout allows; they may not exist.
   *
   * @param env as recorded by the intake: variables that move the agent's folders
   */
  roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[];
  /**
   * Every past session, for `import`: each once, under the id that the agent's hooks send, as `files` and `read` accept it. The
   * order is stable, oldest first if that can be seen without reading, so that a copy follows the session it was copied from.
   * Files are opened only if their name is not enough. A session may turn out to be empty.
   *
   * Subagents are not sessions. A subagent whose session was deleted is returned as that session: `path` is then where the
   * session would be, or the subagent's own file, and `files` returns what is left.
   *
   * @throws never; what cannot or must not be read is passed to `onProblem`, and the rest is found
   */
  locate(query: LocateQuery): AsyncIterable<LocatedSession>;
  /**
   * All existing parts of one session, the main ones first; empty if there are none. If several folders contain a file of the
   * session, all of them: one can be a stub, or each can have other lines.
   */
  files(query: TranscriptQuery): Promise<readonly TranscriptFile[]>;
  /**
   * The sessions that have this id now: one for each database that contains it. Required if the card's session ids are `local`, and
   * only then. Throws only what the file system or the database throws.
   */
  originsOf?(query: TranscriptQuery): Promise<readonly SessionOrigin[]>;
  /**
   * Entries from an offset on, oldest first, each batch with the offset that follows it. Line-based files end at the last complete
   * line; files that agents rewrite as a whole give all their entries again, with an empty memo. Unknown records yield nothing.
   * Throws only what the file system throws.
   */
  read(file: TranscriptFile, from: Offset, options?: ReadOptions): AsyncIterable<TranscriptBatch>;
}

export interface ReadOptions {
  /** Also return content. Otherwise none is built. @default false */
  readonly content?: boolean;
  /** Read synchronously, for short files and for worker threads that do nothing else. @default false */
  readonly isSync?: boolean;
  /** Size of a batch, for callers that need only the beginning. Readers that read files as a whole ignore it. @default the reader's */
  readonly batchBytes?: number;
  /**
   * Search for a prompt to display: called with the facts of each line until it returns true. The batch then ends, can lack all
   * facts but prompts, and its offset must not be stored. A reader may ignore it.
   */
  readonly untilPrompt?: (entries: readonly TranscriptEntry[], content: readonly ContentUpdate[]) => boolean;
  /**
   * Receives the facts in place of the batches' `entries`. A reader may ignore it, so the caller must also use the
   * `entries` that it returns.
   */
  readonly sink?: FactSink;
}

/** The contents of one stretch of a file. */
export interface TranscriptBatch {
  readonly entries: readonly TranscriptEntry[];
  /** Only on request. Texts as in the file, secrets included. */
  readonly content?: readonly ContentUpdate[];
  readonly next: Offset;
  /** Complete lines that are no JSON object of a known shape. */
  readonly unreadable: number;
  /** Lines, or their equivalent, that were read, whether or not they had entries. @default 0 */
  readonly records?: number;
  /** Record kinds that the reader does not know, with their number. */
  readonly unknownKinds?: ReadonlyMap<string, number>;
  /** Those of them that have token usage, with the number of their records. The entries say that it is unknown. */
  readonly unreadUsage?: ReadonlyMap<string, number>;
  /** Records that are too large: they were read without their large values or, if that was not possible, not at all. */
  readonly setAside?: { readonly records: number; readonly reason: string };
}

/** Where to install. */
export interface InstallTarget {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A settings file's current or new text; `undefined`: no file. */
export interface SettingsText {
  readonly path: string;
  readonly text: string | undefined;
}

/** What to register. */
export interface Registration {
  readonly scope: "user" | "project";
  readonly target: InstallTarget;
  /** Returns the command line of one registration. */
  readonly command: HookCommand;
  /** The agent's version, if it is known and matters; in user scope only. */
  readonly version: string | undefined;
  /** The command line of the agent's status line, if it is wanted. Absent: one of ours stays. */
  readonly statusLine?: string;
}

/** What keeps registered hooks from running, with the remedy. No content, no secrets. */
export interface Finding {
  readonly level: "broken" | "remark";
  readonly text: string;
}

/**
 * Adds our hook command to an agent's settings and removes it. `add`, `remove` and `registered` are pure: the texts of all files
 * of one scope in, the texts of the same files out, in the same order.
 */
export interface Installer {
  /** Scopes that the agent offers. */
  readonly scopes: readonly ("user" | "project")[];
  /** The files that hold a scope's registrations, in the order they must be written; never empty. */
  paths(scope: "user" | "project", target: InstallTarget): Promise<readonly string[]>;
  /**
   * @returns the files with exactly our registrations in them; the same texts if they are there already
   * @throws SettingsError if the agent itself could not read a file
   */
  add(files: readonly SettingsText[], registration: Registration): readonly SettingsText[];
  /** @returns the files without our registrations; a text of `undefined` for a file that contained nothing else */
  remove(files: readonly SettingsText[]): readonly SettingsText[];
  /** Native event names that the files register us for. Empty if they cannot be read. Never throws. */
  registered(files: readonly SettingsText[]): readonly string[];
  /** Whose status line the files have; `undefined`: none. Never throws. Absent: the agent has no status line that programs fill. */
  statusLine?(files: readonly SettingsText[]): "ours" | "other" | undefined;
  /** What keeps these registrations from running: trust, versions, shadowed files. Read-only. Empty if nothing does. */
  check?(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]>;
  /** Absent: the agent documents no place for an administrator's hooks. */
  readonly managed?: ManagedInstaller;
  /** Whether the agent is installed, and its version if it can be found. Takes a few seconds at most. */
  detect(target: InstallTarget): Promise<{ readonly present: boolean; readonly version?: string }>;
}

/** The agent's built-in names, as in its events and entries. All others were added by users. */
export interface OwnNames {
  readonly tools: readonly string[];
  /** Of subagents. */
  readonly agentTypes: readonly string[];
}

/** The facts of one payload. */
export interface PayloadFacts {
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
}

/**
 * Names that the agent's payloads contain, recorded or documented. Others are counted, so that an update of the agent is noticed
 * before it causes losses. Snake case and camel case count as one name.
 */
export interface KnownNames {
  /** Of events, converted or not. */
  readonly events: readonly string[];
  /**
   * Events from which `toEvents` makes nothing because nothing in them is needed, or not in each of them. A payload of any other
   * event that gives no event is quarantined.
   *
   * @default none
   */
  readonly notNeeded?: readonly string[];
  /** Of top-level members. */
  readonly fields: readonly string[];
  /**
   * The event's name in a payload. Pure; never throws.
   *
   * @default `hook_event_name`, otherwise the name on the command line
   */
  eventOf?(payload: object, intake: IntakeFacts): string | undefined;
  /**
   * Unknown names below the top level that cannot be content. Pure; never throws.
   *
   * @default none
   */
  unknownWithin?(payload: object): readonly string[];
}

/** The contract of an agent folder. */
export interface Agent {
  /** Kebab-case; the envelope's `source`. */
  readonly source: string;
  readonly title: string;
  /** What else users may type, in kebab-case: the vendor's name, a former name. The source and the title need not be repeated. @default none */
  readonly otherNames?: readonly string[];
  /** Vendor page that the adapter was written from. */
  readonly docs: string;
  /** OpenTelemetry's name of the provider of its models, if there is only one. */
  readonly provider?: string;
  /** Declared, so that "never sent" does not look like "zero". */
  readonly emits: readonly EventType[];
  readonly tokens: "transcript" | "payload" | "none";
  /** False: it calls no model, so no token usage means none was used. @default true */
  readonly callsModels?: boolean;
  /** True: not one program but all that send OpenHook themselves, so it is never missing on a machine. @default false */
  readonly isAnyProgram?: boolean;
  /** True: its sessions can end while subagents still work. @default false */
  readonly endsBeforeSubagents?: boolean;
  /**
   * True: an ordinary session ends without an event. A session that goes idle then ended like its last turn, instead of having
   * been killed or left open.
   *
   * @default true if `emits` has no `session.end`
   */
  readonly endsSilently?: boolean;
  /**
   * Set if the agent's process runs its hooks, directly or through a shell, and works on their sessions as long as it runs: when it is
   * gone, its sessions are over, and the next process of a session begins a segment. Not for agents whose hooks are run by a server or
   * by a helper that ends first. `agent`: seen with the real program; `likely`: applied only after two different events of a session
   * named the same process.
   *
   * @default unknown: a session without an end event ends when it is idle
   */
  readonly hooksRunIn?: "agent" | "likely";
  /**
   * True: it writes a model call into its transcript after the tools of the answer, so the call is lost if it is killed in a tool.
   *
   * @default false
   */
  readonly writesAfterTools?: boolean;
  /**
   * Set if hooks say which agent a tool call belongs to: a call without an agent's id is then the main agent's, and never matches an
   * equal call of a subagent. `with-prompts`: only payloads that also name their prompt say it.
   *
   * @default unknown: a call without an agent's id can be any agent's
   */
  readonly hooksNameAgents?: true | "with-prompts";
  readonly capabilities: Capabilities;
  readonly known?: KnownNames;
  recognises(payload: unknown, intake: IntakeFacts): Recognition;
  /** Pure; never throws; `[]`: nothing to report. */
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[];
  /**
   * Model calls in a payload, in the transcript's form, for agents that record token usage nowhere else. Pure; never throws. They
   * belong to the session of the payload's events, of which there is at least one.
   */
  toEntries?(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[];
  /**
   * Prompts, arguments, results and answers in a payload, unchanged. Called only if the user wants content, and to find ids of commits
   * and changes after a command line that can make some. Pure; never throws.
   *
   * @param facts the result of `toEvents` and `toEntries`; each content refers to one of these
   */
  toContent?(payload: unknown, facts: PayloadFacts): readonly Content[];
  /**
   * Files that a tool call changed, from the payload of its end, without their texts. Called only for payloads with an event whose call
   * did not fail. Pure; never throws; `[]`: none, or unknown.
   */
  toFileWrites?(payload: unknown, facts: PayloadFacts): readonly FileWrite[];
  /** Project files, relative to the project, from which the agent sets environment variables, in addition to `.env`. */
  readonly setsVariablesFrom?: readonly string[];
  /**
   * Names of environment variables that the intake records with every event, whichever agent sent it: ids of sessions, folders,
   * versions; never secrets. hook.sh has them in a generated block, see scripts/hook-variables.mjs.
   *
   * @default none
   */
  readonly environment?: readonly string[];
  /**
   * What the hook prints when the agent waits for an answer: exact bytes without the newline, by the event's name on the command
   * line; `*` for all other events.
   *
   * @default the hook prints nothing: to some agents even `{}` is an answer, or a text for the model
   */
  readonly replies?: Readonly<Record<string, string>>;
  /** The agent's built-in names. Absent: it has none. */
  readonly own?: OwnNames;
  /** The rate limits in the last lines of a session's file. Pure; never throws. Absent: its files have none. */
  rateLimitsOf?(lines: readonly string[]): readonly RateLimit[];
  /** When the last of these lines was written, in milliseconds, if it shows that the account is a subscription. Never throws. */
  subscriptionOf?(lines: readonly string[]): number | undefined;
  /** Remarks for the log about a payload that was accepted with reservations, one line each. No content. */
  remarks?(payload: unknown): readonly string[];
  readonly transcript?: () => Promise<{ default: TranscriptReader }>;
  /**
   * Folders in the home folder, with slashes: all `roots` of its reader are in them unless one of `environment` is set. If none
   * of them exists, there is nothing to read, and the reader is not loaded. Absent: `hasSessions` or the reader has to be asked.
   */
  readonly sessionsBelow?: readonly string[];
  /** Whether there is something to read in the reader's `roots`, for agents whose sessions are in projects. Never throws. */
  hasSessions?(home: string, env: Readonly<Record<string, string | undefined>>): boolean;
  /** Sentences with the number of sessions that its reader cannot read because their format is unknown. Never throws. */
  unreadFormats?(query: LocateQuery): Promise<readonly string[]>;
  /** Where else its transcripts are, and what is unknown without them, if users need to know; `doctor` shows it. */
  readonly transcriptNote?: string;
  readonly installer?: () => Promise<{ default: Installer }>;
  /** Sources of the agents whose registered hooks it runs too, so that it needs no installer. @default none */
  readonly runsHooksOf?: readonly string[];
}
