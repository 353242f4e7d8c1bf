import { lstatSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { firstBytes } from "#kit/open.ts";
import { asTimeMs } from "../payload/json.ts";
import { FolderMemory } from "./folder-memory.ts";

/**
 * The existing files among some paths. A file to which several paths link is returned once. Files are sorted by the first time in
 * their text, so the order does not depend on which one was copied or written last.
 *
 * @param paths of files that can all contain lines of one session
 */
export function existingFiles(
  paths: Iterable<string>,
  roots: readonly string[] | undefined,
): readonly [string, ...string[]] | readonly [] {
  const byFile = new Map<string, string>();
  for (const path of new Set(paths)) {
    const file = identityOf(path);
    if (file !== undefined && !byFile.has(file)) byFile.set(file, path);
  }
  const [first, ...others] = byFile.values();
  if (first === undefined) return [];
  if (others.length === 0) return [first];
  const dated = [first, ...others].map((path) => ({ path, startMs: firstTimeIn(path, roots) }));
  const [oldest, ...rest] = dated
    .sort((a, b) => a.startMs - b.startMs || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
  return [oldest ?? first, ...rest];
}

/**
 * Parts of a session, without duplicates of the same file (links) and without files that do not exist. Files that cannot be read
 * are kept, so that the reader reports them.
 */
export function distinctParts(parts: readonly TranscriptFile[]): readonly TranscriptFile[] {
  const seen = new Set<string>();
  return parts.filter(({ path }) => {
    const file = identityOf(path) ?? (isThere(path) ? path : undefined);
    if (file === undefined || seen.has(file)) return false;
    seen.add(file);
    return true;
  });
}

/** In the name of a file. */
export const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** How the files of an agent's sessions are named, and where else their sessions' ids are. */
interface SessionNames {
  readonly ending: string;
  /** The id in a file's name. A copy's name may contain more: `… 2`, `… (1)`, `….sync-conflict-…`. */
  idIn(name: string): string | undefined;
  /** Finds the id in the first bytes of a file. */
  readonly ownId: RegExp;
  /** Begins the names of files that are something else. @default none */
  readonly otherStart?: string;
}

/**
 * Which session a file belongs to. Sync programs and users make copies beside a session's file, perhaps with fewer or more lines: they
 * are files of the same session, and no sessions of their own.
 */
export class SessionCopies {
  readonly #names: SessionNames;
  readonly #known = new Map<string, string>();
  readonly #others: FolderMemory<readonly string[]>;

  constructor(names: SessionNames) {
    this.#names = names;
    this.#others = new FolderMemory((_, all) => all.filter((name) => this.#canBeCopy(name)));
  }

  /** The session of a file; `undefined` for files that are not named like one and say nothing of a session. */
  idOf(path: string, roots: readonly string[] | undefined): string | undefined {
    const name = basename(path);
    const { ownId, idIn } = this.#names;
    if (!this.#canBeCopy(name)) return idIn(name);
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const own = ownId.exec(firstBytes(path, HEAD_BYTES, roots).toString("utf8"))?.[1];
    if (own === undefined) return UUID.exec(name)?.[0] ?? idIn(name);
    if (this.#known.size >= MAX_COPIES) this.#known.clear();
    this.#known.set(path, own);
    return own;
  }

  /** The copies of a session's file in a folder, and the file itself if its id is no UUID. */
  of(sessionId: string, folder: string, roots: readonly string[] | undefined): readonly string[] {
    return this.#others
      .of(folder)
      .map((name) => join(folder, name))
      .filter((path) => this.idOf(path, roots) === sessionId);
  }

  /** Not if the name has nothing but a UUID: the lines of such a file need not be read. */
  #canBeCopy(name: string): boolean {
    const { ending, otherStart, idIn } = this.#names;
    if (!name.endsWith(ending) || (otherStart !== undefined && name.startsWith(otherStart))) return false;
    const id = idIn(name);
    return id === undefined || UUID.exec(id)?.[0] !== id.replace(/^T-/, "");
  }
}

// --- internal ---

const HEAD_BYTES = 16_384;

/** Device and inode of a regular file; `undefined` if there is none, or if it is not accessible. */
function identityOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stats?.isFile() === true ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/** Whether anything has this path, such as a folder, a FIFO or a dangling link. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Infinite if its first bytes contain no time. */
function firstTimeIn(path: string, roots: readonly string[] | undefined): number {
  const head = firstBytes(path, HEAD_BYTES, roots).toString("utf8");
  const time = /"(?:timestamp|startTime)":\s*"([^"\\]{1,40})"/.exec(head)?.[1];
  return asTimeMs(time) ?? Number.POSITIVE_INFINITY;
}

const MAX_COPIES = 10_000;
