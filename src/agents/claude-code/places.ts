import { lstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { distinctParts, existingFiles, SessionCopies } from "../shared/transcript/copies.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { openJsonl } from "../shared/transcript/jsonl.ts";
import {
  below,
  type Dated,
  type Entry,
  entriesIn,
  type FileStat,
  inOrder,
  projectsBelow,
  reportProblem,
  statFile,
} from "../shared/transcript/past.ts";

/**
 * Finds the sessions of all projects by file name. If several folders contain a session, for example after a copy or in a
 * worktree, all its files count: one can be a stub, or each can have other lines.
 */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Candidate>();
  const orphans: Candidate[] = [];
  for (const project of await projectsBelow(query, LAYOUTS)) {
    const { mains, left } = await sessionsInProject(project.path, query);
    orphans.push(...left);
    for (const main of mains) {
      sessions.set(main.sessionId, merged(sessions.get(main.sessionId), main));
    }
  }
  for (const orphan of orphans) {
    const known = sessions.get(orphan.sessionId);
    // The session's file can have moved to another project without its subagents
    const startMs = known?.startMs ?? orphan.startMs;
    sessions.set(orphan.sessionId, { ...merged(known, orphan), startMs });
  }
  yield* inOrder(sessions.values(), query);
}

/**
 * The main files of all projects' folders; then everything below `<session>/subagents`, where workflows have separate folders;
 * then the `agent-*.jsonl` beside them that 2.0.77 wrote.
 */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const { path, sessionId, roots } = query;
  if (path === undefined) return [];
  const folders = query.mains?.map((main) => dirname(main)) ?? projectFolders(path, query);
  const name = `${basename(sessionId)}${LINES}`;
  const named = existingFiles([path, ...folders.map((folder) => join(folder, name)), ...(query.mains ?? [])], roots);
  const beside = new Set([path, ...named].map((file) => dirname(file)));
  const copies = query.mains === undefined ? [...beside].flatMap((folder) => COPIES.of(sessionId, folder, roots)) : [];
  const mains = copies.length === 0 ? named : existingFiles([...named, ...copies], roots);
  const found: TranscriptFile[] = mains.map((main) => ({ path: main }));
  if (query.isOwnOnly === true && mains.length > 0) return found;
  const near = new Set([
    ...mains.map((main) => dirname(main)),
    dirname(path),
    ...(query.mains === undefined ? [] : folders),
  ]);
  for (const folder of new Set([...near, ...folders])) {
    // A folder that cannot be read is reported only if it contains a part of the session
    found.push(...subagentsBelow(join(folder, sessionId, SUBAGENTS), near.has(folder) ? query : {}));
    if (!near.has(folder)) continue;
    for (const part of flatSubagents.of(folder)) {
      if ((await parentOf(part.path, roots)) === sessionId) found.push(part);
    }
  }
  return distinctParts(found);
}

// --- internal ---

/** Paths of the projects' folder, relative to a root that contains it. */
const LAYOUTS = ["projects", join(".claude", "projects"), join(".config", "claude", "projects")];
const SUBAGENTS = "subagents";
const LINES = ".jsonl";
const SESSION_ID = /"sessionId":"([A-Za-z0-9_-]+)"/;
const COPIES = new SessionCopies({
  ending: LINES,
  idIn: (name) => (name.endsWith(LINES) ? name.slice(0, -LINES.length) : undefined),
  otherStart: "agent-",
  ownId: SESSION_ID,
});

interface Candidate extends Dated {
  readonly mains: readonly string[];
  readonly parts?: NonNullable<LocatedSession["parts"]>;
}

/** Merges a session that is in two folders. */
const merged = (known: Candidate | undefined, { parts, ...other }: Candidate): Candidate =>
  known === undefined
    ? { ...other, ...(parts !== undefined && { parts }) }
    : {
        sessionId: known.sessionId,
        // Not a copy's, if the session's own file is there
        path: [known.path, other.path].find((path) => basename(path) === `${known.sessionId}${LINES}`) ?? known.path,
        startMs: Math.min(known.startMs, other.startMs),
        mains: [...known.mains, ...other.mains],
      };

const agentIdOf = (name: string): string | undefined => /^agent-([A-Za-z0-9_-]+)\.jsonl$/.exec(name)?.[1];

const flatSubagents = new FolderMemory((folder, names) => subagentsAmong(folder, names));

const subagentsAmong = (folder: string, names: readonly string[]): readonly TranscriptFile[] =>
  names.flatMap((name) => {
    const agentId = agentIdOf(name);
    return agentId === undefined ? [] : [{ path: below(folder, name), agentId }];
  });

/** One project's sessions; `left`: those of which only files of subagents remain. */
async function sessionsInProject(
  project: string,
  query: LocateQuery,
): Promise<{ mains: Candidate[]; left: Candidate[] }> {
  const entries = await entriesIn(project, query);
  const isMain = ({ name, isFolder }: Entry): boolean =>
    !isFolder && name.endsWith(LINES) && !name.startsWith("agent-");
  // Sessions that a subagent's file may belong to: by folder name, or any session beside it
  const shared = new Set(entries.filter(({ isFolder }) => isFolder).map(({ name }) => name));
  const hasNoSubagentFiles = !entries.some(({ name, isFolder }) => !isFolder && agentIdOf(name) !== undefined);
  const mains = entries.filter(isMain).flatMap(({ name, path }): readonly Candidate[] => {
    const file = statFile(path, query);
    if (file === undefined || file.sizeBytes === 0) return [];
    const sessionId = COPIES.idOf(path, query.roots) ?? name.slice(0, -LINES.length);
    const folder = shared.has(sessionId) ? below(below(project, sessionId), SUBAGENTS) : undefined;
    const subagents = folder === undefined ? [] : subagentsBelow(folder, query);
    const parts = hasNoSubagentFiles ? seenParts(path, file, subagents, query) : undefined;
    return [{ sessionId, path, startMs: file.startMs, mains: [path], ...(parts !== undefined && { parts }) }];
  });
  const known = new Set(mains.map(({ sessionId }) => sessionId));
  const left = new Map<string, Candidate>();
  const add = async (sessionId: string, part: string): Promise<void> => {
    const file = known.has(sessionId) || left.has(sessionId) ? undefined : statFile(part, query);
    if (file !== undefined && file.sizeBytes > 0) {
      const main = join(project, `${sessionId}${LINES}`);
      left.set(sessionId, { sessionId, path: main, startMs: file.startMs, mains: [main] });
    }
  };
  for (const { name, path, isFolder } of entries) {
    if (isFolder && !known.has(name)) {
      const [part] = subagentsBelow(join(path, SUBAGENTS), query);
      if (part !== undefined) await add(name, part.path);
    }
    const sessionId = isFolder || agentIdOf(name) === undefined ? undefined : await parentOf(path, query.roots);
    if (sessionId !== undefined) await add(sessionId, path);
  }
  return { mains, left: [...left.values()] };
}

/** All parts of a session, if no two can be the same file; otherwise `files` has to compare them. */
function seenParts(
  main: string,
  { sizeBytes, writtenMs }: FileStat,
  subagents: readonly TranscriptFile[],
  query: LocateQuery,
): Candidate["parts"] {
  const parts = [{ file: { path: main }, sizeBytes, modifiedMs: writtenMs }];
  for (const file of subagents) {
    const seen = statFile(file.path, query, lstatSync);
    if (seen === undefined || seen.isShared) return undefined;
    parts.push({ file, sizeBytes: seen.sizeBytes, modifiedMs: seen.writtenMs });
  }
  return parts;
}

/**
 * The folders of all projects: siblings of the reported file's folder, and those below the roots. EnterWorktree moves the file to
 * another project while the session runs, and can leave a stub or a part of the file in the old one.
 */
function projectFolders(path: string, { roots = [], ...query }: TranscriptQuery): readonly string[] {
  const reported = dirname(dirname(path));
  const all = roots.flatMap((root) => ["", ...LAYOUTS].map((tail) => join(root, tail)));
  return [...new Set([reported, ...all])].flatMap((projects) => {
    const folders = projectsIn.of(projects);
    // Reports why, if the folder cannot be read
    if (folders.length === 0 && projects === reported) inFolder(projects, query, () => readdirSync(projects));
    return folders;
  });
}

/** Other files among them do no harm: nothing is below these. */
const projectsIn = new FolderMemory((folder, names) => names.map((name) => join(folder, name)));

/** Files in the folder, then those in its subfolders (`workflows/<run>/`). Links are not followed. */
function subagentsBelow(folder: string, query: ProblemQuery, depth = 0): readonly TranscriptFile[] {
  const names = inFolder(folder, query, () => readdirSync(folder)).sort();
  const found = [...subagentsAmong(folder, names)];
  if (depth === MAX_DEPTH) return found;
  for (const name of names) {
    const path = below(folder, name);
    // Names alone are read faster than names with their kinds
    if (!OF_SUBAGENT.test(name) && isFolder(path, query)) found.push(...subagentsBelow(path, query, depth + 1));
  }
  return found;
}
const MAX_DEPTH = 4;
const OF_SUBAGENT = /^agent-.*\.(?:jsonl|meta\.json)$/;

function isFolder(path: string, query: ProblemQuery): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    return reportProblem(query, path, error) ?? false;
  }
}

/**
 * 2.0.77 keeps the subagents of all sessions in one folder; their lines have the parent's session id. The id in the first line
 * never changes, so each file is read once instead of once per session.
 */
async function parentOf(path: string, roots: TranscriptQuery["roots"]): Promise<string | undefined> {
  const known = parents.get(path);
  if (known !== undefined) return known;
  // Files that cannot be opened, and other kinds of entries, are skipped
  const jsonl = await openJsonl(path, { fromBytes: 0, chunkBytes: 16_384, maxLineBytes: 1 << 20, roots }).catch(
    () => undefined,
  );
  if (jsonl === undefined) return undefined;
  try {
    for await (const { lines } of jsonl.batches) {
      const parentId = lines.map((line) => SESSION_ID.exec(line.text())?.[1]).find((id) => id !== undefined);
      if (parentId === undefined) return undefined;
      if (parents.size >= MAX_PARENTS) parents.clear();
      parents.set(path, parentId);
      return parentId;
    }
    return undefined;
  } finally {
    await jsonl.close();
  }
}
const MAX_PARENTS = 50_000;
const parents = new Map<string, string>();

/** Empty if the folder does not exist, as for most sessions' subagents. */
function inFolder<T>(folder: string, query: ProblemQuery, read: () => T[]): T[] {
  try {
    return statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : read();
  } catch (error) {
    return reportProblem(query, folder, error) ?? [];
  }
}

type ProblemQuery = Pick<TranscriptQuery, "onProblem">;
