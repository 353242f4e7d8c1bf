import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { readSmallSync } from "#kit/open.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";
import { type Dated, entriesIn, inOrder, namesIn, projectsBelow, statFile } from "../shared/transcript/past.ts";

// sessions/<encoded working directory>/<session id>/updates.jsonl. A subagent's session is a folder of the same kind; its parent's
// folder has subagents/<its id>/meta.json.

export const UPDATES_FILE = "updates.jsonl";
const SUBAGENTS = "subagents";
const SESSIONS = "sessions";

/** In a parent's folder: what it knows of a subagent. */
const META_FILE = "meta.json";

/** Key of a subagent's file that is read for its own session id. */
export const PARENT_OF = "parent of ";

/** `sessions` in `GROK_HOME`, or else in `~/.grok`. */
export function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [join(asString(env["GROK_HOME"]) ?? join(home, ".grok"), SESSIONS)];
}

/** All sessions that are no subagents of another one that is still there. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Dated>();
  const children = new Set<string>();
  for (const project of await projectsBelow(query, [SESSIONS, join(".grok", SESSIONS)])) {
    for (const { name, path, isFolder } of await entriesIn(project.path, query)) {
      if (!isFolder || !isSessionId(name)) continue;
      const below = await namesIn(join(path, SUBAGENTS), query);
      for (const child of below) children.add(child);
      const file = join(path, UPDATES_FILE);
      const found = statFile(file, query);
      // Subagents of a deleted session can still exist
      const first = below.flatMap((child) => statFile(join(project.path, child, UPDATES_FILE), query) ?? [])[0];
      const startMs = found?.startMs ?? first?.startMs;
      if ((found?.sizeBytes ?? first?.sizeBytes ?? 0) === 0 || startMs === undefined || sessions.has(name)) continue;
      sessions.set(name, { sessionId: name, path: file, startMs });
    }
  }
  for (const child of children) sessions.delete(child);
  yield* inOrder(sessions.values(), query);
}

/** The session's file, then one for each of its subagents, at any depth. */
export async function files({
  sessionId,
  path,
  home,
  roots: given,
}: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  if (!isSessionId(sessionId)) return [];
  const reported = path !== undefined && basename(path) === UPDATES_FILE ? dirname(path) : undefined;
  const near = reported === undefined ? [] : [dirname(dirname(reported))];
  const searched = [...new Set([...near, ...(given ?? roots(home, {}))])];
  const isOwn = reported !== undefined && basename(reported) === sessionId;
  const folders = [...new Set([...(isOwn ? [reported] : []), ...foldersOf(searched, sessionId)])];
  const found: TranscriptFile[] = [];
  const known = new Set([sessionId]);
  for (const folder of folders) {
    const file = join(folder, UPDATES_FILE);
    if (isSubagent(folder, given) && parentOf(searched, sessionId) !== undefined) {
      return existsSync(file) ? [{ path: file, key: `${PARENT_OF}${file}` }] : [];
    }
    if (existsSync(file)) found.push({ path: file });
  }
  for (const folder of folders) found.push(...childrenOf(folder, searched, known));
  return found;
}

/** The session that has this one as a subagent. */
export function parentOf(searched: readonly string[], childId: string): string | undefined {
  for (const root of searched) {
    for (const project of foldersIn(root)) {
      const parent = foldersIn(join(root, project)).find((session) =>
        existsSync(join(root, project, session, SUBAGENTS, childId)),
      );
      if (parent !== undefined) return parent;
    }
  }
  return undefined;
}

/** The folder that contains all projects' sessions. */
export const rootOfFile = (path: string): string => dirname(dirname(dirname(path)));

/** Folders of a session: below several working directories, if it was continued in another one. */
export function foldersOf(searched: readonly string[], sessionId: string): readonly string[] {
  return searched.flatMap((root) =>
    foldersIn(root)
      .map((project) => join(root, project, sessionId))
      .filter((folder) => existsSync(folder)),
  );
}

/** A session's summary file; `undefined` if there is none. */
export function summaryIn(folder: string, roots: readonly string[] | undefined) {
  const bytes = readSmallSync(join(folder, "summary.json"), MAX_SUMMARY_BYTES, roots);
  return bytes === undefined ? undefined : parsedObject(bytes);
}

/** True for a plain folder name: no separators, no leading dot. */
const isSessionId = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);

/** Whether a file is what a parent knows of a subagent. */
export const isMeta = ({ path }: TranscriptFile): boolean => basename(path) === META_FILE;

/** Whether the session in a folder is a subagent's. */
export const isSubagent = (folder: string, roots: readonly string[] | undefined): boolean =>
  summaryIn(folder, roots)?.["session_kind"] === "subagent";

// --- internal ---

const MAX_SUMMARY_BYTES = 1 << 20;

function childrenOf(folder: string, searched: readonly string[], known: Set<string>): readonly TranscriptFile[] {
  return foldersIn(join(folder, SUBAGENTS)).flatMap((childId) => {
    if (known.has(childId) || !isSessionId(childId)) return [];
    known.add(childId);
    const own = [...new Set([join(dirname(folder), childId), ...foldersOf(searched, childId)])];
    return own.flatMap((child): readonly TranscriptFile[] => {
      const file = join(child, UPDATES_FILE);
      const below = existsSync(child) ? childrenOf(child, searched, known) : [];
      if (!existsSync(file)) return below;
      const meta = join(folder, SUBAGENTS, childId, META_FILE);
      const about = existsSync(meta) ? [{ path: meta, agentId: childId }] : [];
      return [{ path: file, agentId: childId }, ...about, ...below];
    });
  });
}

/** Sorted; empty if the folder does not exist or cannot be read. */
function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}
