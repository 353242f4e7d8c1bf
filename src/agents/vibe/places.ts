import { dirname, join } from "node:path";
import type { LocatedSession, LocateQuery, TranscriptFile, TranscriptQuery } from "#core/model/transcript-reader.ts";
import { asString, asTimeMs } from "../shared/payload/json.ts";
import { distinctParts } from "../shared/transcript/copies.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { type Dated, entriesIn, foldersBelow, inOrder, namesIn, statFile } from "../shared/transcript/past.ts";
import { fieldsIn } from "./journal-state.ts";
import { objectIn, readSnapshot } from "./snapshot.ts";

// unified/<session id>/CURRENT, generations/<n>/…, journal/<first line>.jsonl, meta.json. A subagent has a folder beside its
// session's, child-<id>, without meta.json.

/** `~/.vibe/logs/session/unified`; `VIBE_HOME` replaces `~/.vibe`. */
export function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [join(asString(env["VIBE_HOME"]) ?? join(home, FOLDER), SESSIONS)];
}

/** All sessions except subagents. A subagent is included if its parent session was deleted. */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Dated>();
  for (const root of await foldersBelow(query, LAYOUTS)) {
    const folders = (await entriesIn(root, query)).filter(({ name, isFolder }) => isFolder && isSessionId(name));
    const names = new Set(folders.map(({ name }) => name));
    for (const { name, path: folder } of folders) {
      const path = join(folder, CURRENT);
      const file = statFile(path, query);
      if (file === undefined || file.sizeBytes === 0) continue;
      const owner = isChild(name) ? readSnapshot(folder, query.roots)?.rootId : name;
      const sessionId = owner ?? name;
      if (sessions.has(sessionId) || (sessionId !== name && names.has(sessionId)) || !isSessionId(sessionId)) continue;
      const startMs = asTimeMs(metaOf(folder, query.roots)?.["start_time"]) ?? file.startMs;
      sessions.set(sessionId, { sessionId, path, startMs });
    }
  }
  yield* inOrder(sessions.values(), query);
}

/** The session's folder, then those of its subagents at any depth. Hooks report the folder, so no path is needed. */
export async function files(query: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const { sessionId, path, home } = query;
  if (!isSessionId(sessionId)) return [];
  const near = path === undefined ? [] : [dirname(dirname(path))];
  const folders = [...new Set([...near, ...(query.roots ?? []), ...roots(home, {})])];
  const found: TranscriptFile[] = [];
  for (const root of folders) {
    await namesIn(root, query);
    found.push(partOf(join(root, sessionId), undefined));
    for (const child of children.of(root).get(sessionId) ?? []) found.push(partOf(join(root, child), child));
  }
  return distinctParts(found);
}

/** The settings of a session; a subagent has those of its session. */
export const metaOf = (folder: string, allowed: readonly string[] | undefined) =>
  objectIn(join(folder, "meta.json"), allowed);

export const modelOf = (folder: string, rootId: string | undefined, allowed: readonly string[] | undefined) => {
  const meta =
    metaOf(folder, allowed) ?? (rootId === undefined ? undefined : metaOf(join(dirname(folder), rootId), allowed));
  return asString(fieldsIn(meta, "config")["model_name"]);
};

/** The journals of a session's folder by their first line, in order. */
export function journalsIn(folder: string): readonly Journal[] {
  return journals.of(join(folder, JOURNAL));
}

export interface Journal {
  readonly path: string;
  /** Number of its first line in the session. */
  readonly first: number;
}

// --- internal ---

const FOLDER = ".vibe";
const SESSIONS = join("logs", "session", "unified");
const LAYOUTS = [SESSIONS, join(FOLDER, SESSIONS), "unified"];
const CURRENT = "CURRENT";
const JOURNAL = "journal";

const isSessionId = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/.test(name);
const isChild = (name: string): boolean => name.startsWith("child-");

const partOf = (folder: string, agentId: string | undefined): TranscriptFile => ({
  path: join(folder, CURRENT),
  watch: [join(folder, CURRENT), ...journalsIn(folder).map(({ path }) => path)],
  ...(agentId !== undefined && { agentId }),
});

const journals = new FolderMemory<readonly Journal[]>((folder, names) =>
  names
    .flatMap((name) => {
      const first = /^(\d{1,16})\.jsonl$/.exec(name)?.[1];
      return first === undefined ? [] : [{ path: join(folder, name), first: Number(first) }];
    })
    .sort((a, b) => a.first - b.first),
);

/** Subagents by their session. */
const children = new FolderMemory((root, names) => {
  const found = new Map<string, string[]>();
  for (const name of names) {
    if (!isChild(name)) continue;
    const owner = readSnapshot(join(root, name), undefined)?.rootId;
    if (owner !== undefined && owner !== name) found.set(owner, [...(found.get(owner) ?? []), name]);
  }
  return found;
});
