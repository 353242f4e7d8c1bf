import type { ContentUpdate } from "./content.ts";
import type { FactSink } from "./fact-sink.ts";
import type { Offset, TranscriptEntry } from "./transcript.ts";

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
