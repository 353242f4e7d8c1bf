import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptQuery } from "../../../model/agent.ts";
import { openRegular, RefusedError } from "./open.ts";

// What is needed to find past sessions: looking into folders, of which some cannot be read and some are links. A folder or file
// is looked at in a hundredth of the time that a promise takes to come back.

/** A file or folder in a folder that was looked into. */
export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
}

/** A file as it lies there. */
export interface Seen {
  readonly sizeBytes: number;
  /** When it was begun. Of a copy, which is younger than what is in it, when it was last written. */
  readonly beganMs: number;
  readonly writtenMs: number;
}

/** A session, and since when it is there. */
export interface Dated {
  readonly sessionId: string;
  readonly path: string;
  readonly beganMs: number;
}

/**
 * The folders to look into, each once whatever links lead to it: the roots, and what lies below them at one of some usual
 * places, as where a root is the agent's whole folder.
 *
 * @param tails of the agent's layout, relative to a folder that can hold it
 * @returns the ones that are there, by the names they were given
 */
export async function foldersBelow(query: LocateQuery, tails: readonly string[]): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for (const root of query.roots) {
    for (const tail of ["", ...tails]) {
      const folder = join(root, tail);
      // Of a root that cannot be read it is said once
      const real = await realpath(folder).catch((e: unknown) => (tail === "" ? tell(query, folder, e) : undefined));
      if (real !== undefined && !found.has(real)) found.set(real, folder);
    }
  }
  return [...found.values()];
}

/**
 * What is in a folder, sorted by name; what is there by a link comes last, and only where it leads to something inside the
 * roots. Neither a folder that is not there nor a file in its place is a problem.
 */
export async function entriesIn(folder: string, query: LocateQuery): Promise<readonly Entry[]> {
  const entries = tried(query, folder, () => readdirSync(folder, { withFileTypes: true })) ?? [];
  const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
  const links = sorted.filter((entry) => entry.isSymbolicLink());
  const direct = sorted.filter((entry) => entry.isDirectory() || entry.isFile()).map((entry) => entryOf(folder, entry));
  const linked: Entry[] = [];
  for (const { name } of links) {
    const path = join(folder, name);
    const target = tried(query, path, () => statSync(path));
    if (target === undefined || !(target.isDirectory() || target.isFile())) continue;
    if (await leadsOut(path, query.roots)) query.onProblem(path, refusalOf(path));
    else linked.push({ name, path, isFolder: target.isDirectory() });
  }
  return [...direct, ...linked];
}

/** When a file was begun and written, and its size; `undefined` for what is no file. */
export function seen(path: string, query: LocateQuery): Seen | undefined {
  const found = tried(query, path, () => statSync(path));
  return found?.isFile() === true ? seenOf(found) : undefined;
}

/** Why a file that tells nothing does not: an error of the system is one, an empty file is none. */
export async function tellUnreadable(path: string, query: LocateQuery, otherwise: string): Promise<void> {
  try {
    const { file, stats } = await openRegular(path, query.roots);
    await file.close();
    if (stats.size > 0) query.onProblem(path, new Error(otherwise));
  } catch (error) {
    tell(query, path, error);
  }
}

/** In order of time; of one moment in order of their ids. */
export function oldestFirst<T extends Dated>(sessions: Iterable<T>): readonly T[] {
  return [...sessions].sort((a, b) => a.beganMs - b.beganMs || (a.sessionId < b.sessionId ? -1 : 1));
}

export const located = (
  { sessionId, path, only }: Omit<LocatedSession, "home">,
  { home }: LocateQuery,
): LocatedSession => ({ sessionId, path, home, ...(only !== undefined && { only }) });

/** One after another would wait for the disk each time; all at once would hold as many promises as there are files. */
export async function mapSome<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(map))));
  }
  return done;
}

/** Sorted; none of a folder that is not there. */
export const namesIn = (folder: string, query: Teller): Promise<readonly string[]> =>
  readdir(folder).then(
    (names) => names.sort(),
    (error: unknown) => tell(query, folder, error) ?? [],
  );

/** Passes an error on, if it is one: that there is nothing is none. */
export function tell(query: Teller, path: string, error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return;
  query.onProblem?.(path, error instanceof Error ? error : new Error(String(error)));
}

type Teller = Pick<TranscriptQuery, "onProblem">;

// --- internal ---

function tried<T>(query: LocateQuery, path: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    return tell(query, path, error);
  }
}

const AT_ONCE = 32;

const entryOf = (folder: string, entry: Dirent): Entry => ({
  name: entry.name,
  path: join(folder, entry.name),
  isFolder: entry.isDirectory(),
});

/** Some file systems do not know when a file was made, and say 1970. */
function seenOf({ size, birthtimeMs, mtimeMs }: Stats): Seen {
  const beganMs = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
  return { sizeBytes: size, beganMs, writtenMs: mtimeMs };
}

async function leadsOut(path: string, roots: readonly string[]): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return true;
  for (const root of roots) {
    const rest = relative(await realpath(root).catch(() => root), real);
    if (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)) return false;
  }
  return true;
}

const refusalOf = (path: string): RefusedError =>
  new RefusedError(
    `${JSON.stringify(path)} is not read: it is a link that leads out of the folders that this agent keeps its sessions in`,
  );
