import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { firstBytes } from "#kit/open.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";
import { SessionCopies } from "../shared/transcript/copies.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { type Dated, entriesIn, inOrder, projectsBelow, statFile } from "../shared/transcript/past.ts";

// sessions/<working directory, dashed>/<session id>.jsonl, and <session id>.settings.json with its tokens. A subagent is a separate
// session, whose first line names the session and the call that started it.

const SESSIONS = "sessions";
const EXTENSION = ".jsonl";

/** Begins the key of a subagent's file that is read for its own session id: then only its parent is reported. */
export const PARENT_OF = "parent of ";

/** The sessions, and the settings, which have the names of the user's own models. */
export const roots = (home: string): readonly string[] => [
  join(home, ".factory", SESSIONS),
  join(home, ".factory", SETTINGS_FILE),
];

export const SETTINGS_FILE = "settings.json";

/** Where Droid keeps a session's token sums. */
export const sumsFileOf = (path: string): string => `${path.slice(0, -EXTENSION.length)}.settings.json`;

/** All sessions except subagents. A subagent is included if its parent session was deleted. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Dated>();
  const orphans = new Map<string, Dated>();
  for (const project of await projectsBelow(query, [SESSIONS, join(".factory", SESSIONS)])) {
    for (const { name, path, isFolder } of await entriesIn(project.path, query)) {
      const sessionId = isFolder ? undefined : COPIES.idOf(path, query.roots);
      if (sessionId === undefined || !isSessionId(sessionId)) continue;
      const found = statFile(path, query);
      const head = found === undefined || found.sizeBytes === 0 ? undefined : headOf(path, query.roots);
      if (found === undefined || head === undefined) continue;
      const dated = { path, startMs: found.startMs };
      if (head.callerId === undefined) {
        const isOriginal = name === `${sessionId}${EXTENSION}`;
        if (isOriginal || !sessions.has(sessionId)) sessions.set(sessionId, { sessionId, ...dated });
      } else if (!orphans.has(head.callerId)) orphans.set(head.callerId, { sessionId: head.callerId, ...dated });
    }
  }
  for (const [caller, orphan] of orphans) if (!hasSession(orphan.path, caller)) sessions.set(caller, orphan);
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
  const near = path === undefined ? [] : [dirname(dirname(path))];
  const searched = [...new Set([...near, ...(given ?? roots(home)).filter((root) => basename(root) === SESSIONS)])];
  const isOwn = path !== undefined && basename(path) === `${sessionId}${EXTENSION}` && existsSync(path);
  const named = [...new Set([...(isOwn ? [path] : []), ...searched.flatMap((root) => filesOf(root, sessionId))])];
  const beside = new Set([...named, ...(path === undefined ? [] : [path])].map((file) => dirname(file)));
  const copies = [...beside].flatMap((folder) => COPIES.of(sessionId, folder, given));
  const mains = [...new Set([...named, ...copies])];
  const caller = mains.map((main) => headOf(main, given)?.callerId).find((id) => id !== undefined);
  const first = mains[0];
  if (caller !== undefined && first !== undefined) {
    const hasCaller = searched.some((root) => filesOf(root, caller).length > 0);
    if (hasCaller) return [partOf(first, undefined, `${PARENT_OF}${first}`)];
  }
  const found = mains.map((main) => partOf(main, undefined));
  const known = new Set([sessionId]);
  // Subagents work in the folder of their session; those of a deleted session can be in any
  const folders = mains.length > 0 ? mains.map((main) => dirname(main)) : searched.flatMap(foldersIn);
  return [...found, ...[...new Set(folders)].flatMap((folder) => calledBy(folder, sessionId, known))];
}

/** What a file's first record says; `undefined` if it is no session. */
export function headOf(path: string, roots: readonly string[] | undefined): Head | undefined {
  const lines = firstBytes(path, HEAD_BYTES, roots).toString("utf8").split("\n");
  // Empty and torn lines can precede it. With a long title or list, the line is longer than what was read
  const line = lines.find((one, at) => at === lines.length - 1 || parsedObject(one) !== undefined) ?? "";
  const o = parsedObject(line);
  const member = (name: string): string | undefined =>
    o === undefined ? new RegExp(`"${name}":\\s*"([\\w.-]+)"`).exec(line)?.[1] : asString(o[name]);
  if (o === undefined ? !/^\{\s*"type":\s*"session_start"/.test(line) : o["type"] !== "session_start") return undefined;
  return { callerId: member("callingSessionId"), callId: member("callingToolUseId") };
}

/** The session that a file belongs to. */
export const sessionOf = (path: string, roots: readonly string[] | undefined): string =>
  COPIES.idOf(path, roots) ?? basename(path, EXTENSION);

/** True for a plain file name: no separators, no dots. */
const isSessionId = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/.test(name);

/** Whether the file of a session exists, below any working directory. */
const hasSession = (path: string, sessionId: string): boolean => filesOf(dirname(dirname(path)), sessionId).length > 0;

// --- internal ---

interface Head {
  /** The session and the call that started this subagent. */
  readonly callerId: string | undefined;
  readonly callId: string | undefined;
}

const HEAD_BYTES = 16_384;

const COPIES = new SessionCopies({
  ending: EXTENSION,
  idIn: (name) => (name.endsWith(EXTENSION) ? basename(name, EXTENSION) : undefined),
  ownId: /"type":\s*"session_start"[^\n]*?"id":\s*"([\w-]+)"/,
});

const partOf = (path: string, agentId: string | undefined, key?: string): TranscriptFile => ({
  path,
  watch: [path, sumsFileOf(path)],
  ...(agentId !== undefined && { agentId }),
  ...(key !== undefined && { key }),
});

const projects = new FolderMemory((_, names) => names);

const foldersIn = (root: string): readonly string[] => projects.of(root).map((project) => join(root, project));

/** The files of a session below any working directory. */
const filesOf = (root: string, sessionId: string): readonly string[] =>
  foldersIn(root)
    .map((folder) => join(folder, `${sessionId}${EXTENSION}`))
    .filter((file) => existsSync(file));

/** Names of session files by the session that called them. */
const callers = new FolderMemory((folder, names) => {
  const found = new Map<string, string[]>();
  for (const name of names) {
    if (!name.endsWith(EXTENSION)) continue;
    const caller = headOf(join(folder, name), undefined)?.callerId;
    if (caller !== undefined) found.set(caller, [...(found.get(caller) ?? []), name]);
  }
  return found;
});

function calledBy(folder: string, sessionId: string, known: Set<string>): readonly TranscriptFile[] {
  return (callers.of(folder).get(sessionId) ?? []).flatMap((name): readonly TranscriptFile[] => {
    const childId = sessionOf(join(folder, name), undefined);
    if (known.has(childId) || !isSessionId(childId)) return [];
    known.add(childId);
    return [partOf(join(folder, name), childId), ...calledBy(folder, childId, known)];
  });
}
