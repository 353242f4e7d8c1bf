import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { openRegular, RefusedError } from "#kit/open.ts";

// Helpers to find past sessions in folders, some of which are unreadable or links. File access is synchronous: a promise takes a
// hundred times as long to resolve as a call takes.

/** A file or folder in a folder. */
export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
}

/** Size and times of a file. */
export interface FileStat {
  readonly sizeBytes: number;
  /** Creation time; the modification time if that is earlier, as for a copied file. */
  readonly startMs: number;
  readonly writtenMs: number;
  /** Whether other paths lead to the same file. */
  readonly isShared: boolean;
}

/** A session with its start time. */
export interface Dated {
  readonly sessionId: string;
  readonly path: string;
  readonly startMs: number;
}

/**
 * The folders to search: the roots, and the agent's usual folders below them, for roots that are a folder above. A folder to which
 * several paths link is returned once.
 *
 * @param layouts the agent's layout, relative to a folder that can contain it
 * @returns existing folders, under the paths by which they were found
 */
export async function foldersBelow(query: LocateQuery, layouts: readonly string[]): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for (const root of query.roots) {
    for (const tail of ["", ...layouts]) {
      const folder = join(root, tail);
      // Report an unreadable root once, not for each layout
      const real = realOf(folder, tail === "" ? query : {});
      if (real === undefined && tail === "") break;
      if (real !== undefined && !found.has(real)) found.set(real, folder);
    }
  }
  return [...found.values()];
}

/** The folders in the folders of `foldersBelow`: most agents have one for each project. */
export async function projectsBelow(query: LocateQuery, layouts: readonly string[]): Promise<readonly Entry[]> {
  const projects: Entry[] = [];
  for (const folder of await foldersBelow(query, layouts))
    projects.push(...(await entriesIn(folder, query)).filter(({ isFolder }) => isFolder));
  return projects;
}

/**
 * Files and folders in a folder, sorted by name; links come last, and only if their target is inside the roots. A missing
 * folder, or a file in its place, is not a problem.
 */
export async function entriesIn(folder: string, query: LocateQuery): Promise<readonly Entry[]> {
  const entries = tryStat(query, folder, () => readdirSync(folder, { withFileTypes: true })) ?? [];
  const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
  const links = sorted.filter((entry) => entry.isSymbolicLink());
  const direct = sorted.filter((entry) => entry.isDirectory() || entry.isFile()).map((entry) => entryOf(folder, entry));
  const linked: Entry[] = [];
  for (const { name } of links) {
    const path = join(folder, name);
    const target = tryStat(query, path, () => statSync(path));
    if (target === undefined || !(target.isDirectory() || target.isFile())) continue;
    if (await isOutside(path, query.roots)) query.onProblem(path, refusalOf(path));
    else linked.push({ name, path, isFolder: target.isDirectory() });
  }
  return [...direct, ...linked];
}

/**
 * Size and times of a file; `undefined` if it is not a file.
 *
 * @param stat `lstatSync`: links are not files
 */
export function statFile(path: string, query: LocateQuery, stat = statSync): FileStat | undefined {
  const found = tryStat(query, path, () => stat(path));
  return found?.isFile() === true ? fileStatOf(found) : undefined;
}

/** Reports why a file has no session: the system's error, or the given reason unless the file is empty. */
export async function reportUnreadable(path: string, query: LocateQuery, otherwise: string): Promise<void> {
  try {
    const { file, stats } = await openRegular(path, query.roots);
    await file.close();
    if (stats.size > 0) query.onProblem(path, new Error(otherwise));
  } catch (error) {
    reportProblem(query, path, error);
  }
}

/** By time, then by id. */
export function oldestFirst<T extends Dated>(sessions: Iterable<T>): readonly T[] {
  return [...sessions].sort((a, b) => a.startMs - b.startMs || (a.sessionId < b.sessionId ? -1 : 1));
}

/**
 * Sessions that have one file each, which names the session.
 *
 * @param layouts see `foldersBelow`
 * @param idOf the session that a file belongs to; `undefined` for other files. Copies of a session's file have its id too
 * @returns oldest first
 */
export async function* sessionFiles(
  query: LocateQuery,
  layouts: readonly string[],
  idOf: (path: string, roots: readonly string[]) => string | undefined,
): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, SessionFiles>();
  for (const folder of await foldersBelow(query, layouts)) {
    for (const { path, isFolder } of await entriesIn(folder, query)) {
      const sessionId = isFolder ? undefined : idOf(path, query.roots);
      const file = sessionId === undefined ? undefined : statFile(path, query);
      if (sessionId === undefined || file === undefined || file.sizeBytes === 0) continue;
      addFile(sessions, { sessionId, path, startMs: file.startMs });
    }
  }
  yield* inOrder(sessions.values(), query);
}

/** A session with its own files in all folders. */
export type SessionFiles = Dated & { readonly mains: readonly string[] };

/** Adds a file to the session that it belongs to. The session's path is that of its first file, its start the earliest one. */
export function addFile(sessions: Map<string, SessionFiles>, { sessionId, path, startMs }: Dated): void {
  const known = sessions.get(sessionId);
  sessions.set(sessionId, {
    sessionId,
    path: known?.path ?? path,
    startMs: Math.min(known?.startMs ?? startMs, startMs),
    mains: [...(known?.mains ?? []), path],
  });
}

/** What `locate` yields for the sessions that it found: oldest first. */
export const inOrder = (
  sessions: Iterable<Dated & Pick<LocatedSession, "mains" | "parts">>,
  query: LocateQuery,
): readonly LocatedSession[] => oldestFirst(sessions).map((session) => located(session, query));

export const located = (
  { sessionId, path, mains, parts }: Omit<LocatedSession, "home">,
  { home }: LocateQuery,
): LocatedSession => ({
  sessionId,
  path,
  home,
  ...(mains !== undefined && { mains }),
  ...(parts !== undefined && { parts }),
});

/** `join` for thousands of names in folders whose paths `join` made: it looks at every character. */
export const below = (folder: string, name: string): string =>
  folder.endsWith(sep) ? `${folder}${name}` : `${folder}${sep}${name}`;

/** Sequential calls would wait for the disk each time; a single batch would need a promise for each file. */
export async function mapInBatches<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += BATCH_SIZE) {
    done.push(...(await Promise.all(items.slice(at, at + BATCH_SIZE).map(map))));
  }
  return done;
}

/** Sorted; empty if the folder does not exist, or cannot be read. */
export const namesIn = (folder: string, query: ProblemQuery): Promise<readonly string[]> =>
  readdir(folder).then(
    (names) => names.sort(),
    (error: unknown) => reportProblem(query, folder, error) ?? [],
  );

/** False also for a path that cannot be reached. */
export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Reports an error, unless it means that the path does not exist. */
export function reportProblem(query: ProblemQuery, path: string, error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return;
  query.onProblem?.(path, error instanceof Error ? error : new Error(String(error)));
}

type ProblemQuery = Pick<TranscriptQuery, "onProblem">;

// --- internal ---

function tryStat<T>(query: LocateQuery, path: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    return reportProblem(query, path, error);
  }
}

const BATCH_SIZE = 32;

const entryOf = (folder: string, entry: Dirent): Entry => ({
  name: entry.name,
  path: below(folder, entry.name),
  isFolder: entry.isDirectory(),
});

function realOf(folder: string, query: ProblemQuery): string | undefined {
  try {
    return realpathSync.native(folder);
  } catch (error) {
    return reportProblem(query, folder, error);
  }
}

/** Some file systems do not record creation times and report 1970. */
function fileStatOf({ size, birthtimeMs, mtimeMs, nlink }: Stats): FileStat {
  const startMs = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
  return { sizeBytes: size, startMs, writtenMs: mtimeMs, isShared: nlink > 1 };
}

async function isOutside(path: string, roots: readonly string[]): Promise<boolean> {
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
    `${JSON.stringify(path)} is not read: it is a link that leads out: its target is outside this agent's session folders; the setting transcripts.folders can add the folder`,
  );
